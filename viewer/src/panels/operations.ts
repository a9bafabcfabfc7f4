// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { phase_colour } from "../palette";
import { text_of } from "../report";
import type { Quantity } from "../view";
import { minus, over } from "../view";
import { number_in, PHASES } from "./shared_rows";

const MAX_SHOWN = 20; // more rows do not fit a screen

export const panel: Panel = {
  id: "operations",
  title: "Operations",
  shows: "Which pieces of the model take the time, forward and backward together.",
  reads: ["operations"],
  build(view) {
    const weights = new Map<string, number>();
    const classes = new Map<string, string>();
    for (const row of view.rows("operations")) {
      const name = text_of(row, "operation");
      weights.set(name, (weights.get(name) ?? 0) + number_in(row, "duration_ns"));
      if (!classes.has(name)) classes.set(name, text_of(row, "class"));
    }
    if (weights.size === 0) return no_rows("operations", "GPU work has phase and operation");
    const names = [...weights.keys()].sort((a, b) => weights.get(b)! - weights.get(a)! || (a < b ? -1 : 1));
    const shown = names.slice(0, MAX_SHOWN);
    const total = view.sum("operations", "duration_ns");
    const duration = (where: Record<string, string>): Quantity => view.sum("operations", "duration_ns", where);
    const present = view.distinct("operations", "phase");
    const phases = PHASES.filter((phase) => present.includes(phase));
    const rest = shown.reduce((left, operation) => minus(left, duration({ operation })), total);
    const first = shown[0]!;
    return {
      says: [
        `The largest is ${first} with `,
        over(duration({ operation: first }), total),
        " of the durations of all GPU work",
        ...(names.length > shown.length
          ? [`; ${names.length - shown.length} smaller operations, `, over(rest, total), ", are in the tables only."]
          : ["."]),
      ],
      how: `Sum of operations.duration_ns over ${view.who}, communication and copies included.`,
      chart: {
        kind: "bars",
        direction: "rows",
        categories: shown,
        category_title: "operation",
        value_title: "summed duration",
        unit: "ns",
        series: phases.map((phase) => ({
          name: phase,
          colour: phase_colour(phase),
          values: shown.map((operation) =>
            view.rows("operations", { phase, operation }).length === 0 ? null : duration({ phase, operation }),
          ),
        })),
      },
      table: {
        columns: ["operation", "class", "all", "share", ...phases],
        meters: [3],
        rows: shown.map((operation) => {
          const all = duration({ operation });
          return [
            operation,
            classes.get(operation) ?? "",
            all,
            over(all, total),
            ...phases.map((phase) =>
              view.rows("operations", { phase, operation }).length === 0 ? "" : duration({ phase, operation }),
            ),
          ];
        }),
      },
    };
  },
};
