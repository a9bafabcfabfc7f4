// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { largest } from "./shared_rows";

const LABELS: [string, string][] = [
  ["launch", "has a launch call"],
  ["operator", "has a host operator"],
  ["iteration", "belongs to an iteration"],
  ["phase", "has a phase"],
  ["layer", "layer is known"],
  ["operation", "has an operation"],
  ["class", "has a class"],
];

export const panel: Panel = {
  id: "coverage",
  title: "Coverage of labels",
  shows: "How much of the GPU work each kind of label reaches. What is not covered is shown as unlabelled, never dropped.",
  reads: ["coverage"],
  build(view) {
    const rows = view.rows("coverage");
    if (rows.length === 0) return no_rows("coverage", "the traces hold no GPU work.");
    const rules = view.distinct("coverage", "iteration_rule");
    const weakest = largest(LABELS, ([label]) => {
      const time = view.min("coverage", `${label}_time`);
      return { ...time, value: time.value === null ? null : -time.value };
    });
    return {
      says: [
        weakest === undefined ? "" : `The weakest label is ${weakest[0]}: `,
        ...(weakest === undefined ? [] : [view.min("coverage", `${weakest[0]}_time`), " of the time of the least covered GPU. "]),
        `Iterations are told by: ${rules.map((rule) => rule.replaceAll("_", " ")).join(", ") || "nothing"}.`,
      ],
      how: `coverage: smallest and mean share over ${view.who}, of summed duration and of records.`,
      table: {
        columns: ["GPU work that", "time, least GPU", "mean", "records, least GPU", "mean"],
        meters: [1, 2, 3, 4],
        rows: LABELS.map(([label, words]) => [
          words,
          view.min("coverage", `${label}_time`),
          view.mean("coverage", `${label}_time`),
          view.min("coverage", `${label}_records`),
          view.mean("coverage", `${label}_records`),
        ]),
      },
      table_open: true,
    };
  },
};
