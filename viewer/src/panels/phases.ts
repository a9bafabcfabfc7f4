// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { class_colour } from "../palette";
import { over } from "../view";
import { CLASSES, largest, PHASES } from "./shared_rows";

export const panel: Panel = {
  id: "phases",
  title: "Phases",
  shows: "What kind of work each phase of training is made of.",
  reads: ["operations"],
  build(view) {
    const present = view.distinct("operations", "phase");
    if (present.length === 0) return no_rows("operations", "GPU work has phase and operation");
    const phases = [...PHASES.filter((phase) => present.includes(phase)), ...present.filter((phase) => !(PHASES as readonly string[]).includes(phase))];
    const used = view.distinct("operations", "class");
    const classes = [...CLASSES.filter((word) => used.includes(word)), ...used.filter((word) => !(CLASSES as readonly string[]).includes(word))];
    const total = view.sum("operations", "duration_ns");
    const first = largest(phases, (phase) => view.sum("operations", "duration_ns", { phase }))!;
    return {
      says: [
        `Most time goes to ${first}: `,
        over(view.sum("operations", "duration_ns", { phase: first }), total),
        " of the durations of all GPU work.",
      ],
      how: `Sum of operations.duration_ns over ${view.who}. Work that runs side by side counts twice, so this is not wall time.`,
      chart: {
        kind: "bars",
        direction: "rows",
        categories: phases,
        category_title: "phase",
        value_title: "summed duration",
        unit: "ns",
        series: classes.map((word) => ({
          name: word,
          colour: class_colour(word),
          values: phases.map((phase) =>
            view.rows("operations", { phase, class: word }).length === 0
              ? null
              : view.sum("operations", "duration_ns", { phase, class: word }),
          ),
        })),
      },
      table: {
        columns: ["phase", "all", "share", ...classes],
        meters: [2],
        rows: phases.map((phase) => {
          const all = view.sum("operations", "duration_ns", { phase });
          return [
            phase,
            all,
            over(all, total),
            ...classes.map((word) =>
              view.rows("operations", { phase, class: word }).length === 0
                ? ""
                : view.sum("operations", "duration_ns", { phase, class: word }),
            ),
          ];
        }),
      },
    };
  },
};
