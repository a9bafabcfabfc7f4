// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import type { Quantity, Where } from "../view";
import { minus, over, plus } from "../view";
import { iterations_of } from "./shared_rows";

export const panel: Panel = {
  id: "launch_edges",
  title: "Launch gaps at the edges of iterations",
  shows: "How much of the launch gaps lies between iterations: data loading, logging, the optimizer's end.",
  reads: ["timeline"],
  build(view) {
    const scope = { scope: "iteration" };
    const { shown, notes } = iterations_of(view, "timeline", scope);
    if (shown.length === 0) return no_rows("timeline with scope iteration", "iterations are found");
    const gaps = (aggregate: "sum" | "mean", where: Where): Quantity =>
      plus(view[aggregate]("timeline", "prep_ns", where), view[aggregate]("timeline", "call_ns", where));
    const edge = (aggregate: "sum" | "mean", where: Where): Quantity => view[aggregate]("timeline", "inter_iteration_ns", where);
    return {
      says: ["Of all launch gaps, ", over(edge("sum", scope), gaps("sum", scope)), " lie at the edge of an iteration."],
      how: `timeline, scope iteration: prep_ns + call_ns of the work launched in it, and the part inter_iteration_ns; mean over ${view.who}. Gaps covered by communication are included.`,
      chart: {
        kind: "bars",
        direction: "columns",
        categories: shown.map((iteration) => iteration.label),
        category_title: "iteration",
        value_title: "launch gaps",
        unit: "ns",
        series: [
          {
            name: "inside the iteration",
            colour: "call",
            values: shown.map((iteration) => minus(gaps("mean", iteration.where), edge("mean", iteration.where))),
          },
          { name: "at its edge", colour: "warm", values: shown.map((iteration) => edge("mean", iteration.where)) },
        ],
      },
      table: {
        columns: ["iteration", "host late", "dispatch", "of these at the edge", "host late, idle", "dispatch, idle"],
        rows: shown.map((iteration) => [
          iteration.label,
          ...["prep_ns", "call_ns", "inter_iteration_ns", "window_prep_idle_ns", "window_call_idle_ns"].map((column) =>
            view.mean("timeline", column, iteration.where),
          ),
        ]),
      },
      notes,
    };
  },
};
