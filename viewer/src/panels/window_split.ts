// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { over } from "../view";
import { iterations_of } from "./shared_rows";
import { time_parts } from "./time_parts";

export const panel: Panel = {
  id: "window_split",
  title: "Time of each iteration",
  shows: "The window of each iteration, mean over the GPUs, split into parts that add up to it.",
  reads: ["timeline"],
  build(view) {
    const scope = { scope: "iteration" };
    const { shown, notes } = iterations_of(view, "timeline", scope);
    if (shown.length === 0) return no_rows("timeline with scope iteration", "iterations are found");
    const parts = time_parts("window_");
    const window = view.sum("timeline", "window_ns", scope);
    return {
      says: [
        "Over all windows, computation covers ",
        over(parts[0]!.of(view, "sum", scope), window),
        " and exposed communication ",
        over(parts[1]!.of(view, "sum", scope), window),
        " of the time.",
      ],
      how: `timeline, scope iteration, window_ columns: mean over ${view.who}. A window runs from the first computation of an iteration to that of the next.`,
      chart: {
        kind: "bars",
        direction: "columns",
        categories: shown.map((iteration) => iteration.label),
        category_title: "iteration",
        value_title: "time",
        unit: "ns",
        series: parts.map((part) => ({
          name: part.name,
          colour: part.colour,
          values: shown.map((iteration) => part.of(view, "mean", iteration.where)),
        })),
      },
      table: {
        columns: ["iteration", "window", ...parts.map((part) => part.name)],
        rows: shown.map((iteration) => [
          iteration.label,
          view.mean("timeline", "window_ns", iteration.where),
          ...parts.map((part) => part.of(view, "mean", iteration.where)),
        ]),
      },
      notes,
    };
  },
};
