// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { largest } from "./shared_rows";

const LABELS: [string, string][] = [
  ["launch", "launch call"],
  ["operator", "host operator"],
  ["iteration", "iteration"],
  ["phase", "phase"],
  ["layer", "layer"],
  ["operation", "operation"],
  ["class", "class"],
];

const ITERATION_RULES: Record<string, string> = {
  user: "the mark given on the command line",
  iteration: "ranges named Iteration<N>",
  profiler_step: "ProfilerStep marks",
  optimizer: "optimizer steps",
  periodic: "the period of the launches",
  none: "nothing: the trace is one iteration",
};

export const panel: Panel = {
  id: "coverage",
  title: "Coverage of labels",
  shows: "How much of the GPU work each kind of label reaches. What is not covered is shown as unlabelled, never dropped.",
  reads: ["coverage"],
  build(view) {
    const rows = view.rows("coverage");
    if (rows.length === 0) return no_rows("coverage", "the traces hold GPU work");
    const rules = view.distinct("coverage", "iteration_rule");
    const weakest = largest(LABELS, ([label]) => {
      const time = view.min("coverage", `${label}_time`);
      return { ...time, value: time.value === null ? null : -time.value };
    });
    return {
      says: [
        weakest === undefined ? "" : `The weakest label is ${weakest[0]}: `,
        ...(weakest === undefined ? [] : [view.min("coverage", `${weakest[0]}_time`), " of the time of the least covered GPU. "]),
        `Iterations are delimited by ${rules.map((rule) => ITERATION_RULES[rule] ?? rule).join(" or ") || ITERATION_RULES["none"]}.`,
      ],
      how: `coverage: smallest and mean share over ${view.who}, of summed duration and of records.`,
      table: {
        columns: ["GPU work with", "time, least GPU", "mean", "records, least GPU", "mean"],
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
