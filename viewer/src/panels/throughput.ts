// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { jobs_of, rows_of_jobs } from "../jobs";
import { text_of } from "../report";

const COLUMNS: [string, string][] = [
  ["step_time_ns", "step time"],
  ["num_steps", "steps"],
  ["tokens_per_step", "tokens a step"],
  ["tokens_per_s", "tokens"],
  ["tokens_per_s_per_gpu", "tokens of a GPU"],
  ["flops_per_step", "FLOPs a step"],
  ["peak_tflops", "peak of a GPU"],
  ["mfu", "MFU"],
  ["hfu", "HFU"],
];

export const panel: Panel = {
  id: "throughput",
  title: "Throughput",
  shows: "What the run achieves, by each convention of counting FLOPs.",
  reads: ["throughput"],
  build(view) {
    const rows = rows_of_jobs(view, "throughput");
    const first = rows[0];
    if (first === undefined) return no_rows("throughput", "steps are complete");
    const time = view.at("throughput", first, "step_time_ns");
    const tokens = view.at("throughput", first, "tokens_per_s");
    const num_jobs = jobs_of(rows).length;
    return {
      says:
        num_jobs > 1
          ? [`The traces are of ${num_jobs} jobs: each has its own throughput, and there is none of all.`]
          : time.value === null
          ? ["There is no step time."]
          : [
              "A step takes ",
              time,
              ", median of ",
              view.at("throughput", first, "num_steps"),
              ...(tokens.value === null ? ["."] : ["; tokens of all GPUs together: ", tokens, "."]),
            ],
      how: "throughput, one column for each convention: FLOPs from recorded shapes, causal attention counted half, or the PaLM formula.",
      table: {
        columns: ["convention", ...rows.map((row) => (num_jobs > 1 ? `job ${text_of(row, "job")} ` : "") + text_of(row, "convention"))],
        rows: COLUMNS.map(([column, title]) => [title, ...rows.map((row) => view.at("throughput", row, column))]),
      },
      table_open: true,
    };
  },
};
