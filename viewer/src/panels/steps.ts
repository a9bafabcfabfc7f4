// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { jobs_of, rows_of_jobs } from "../jobs";
import type { Row } from "../report";
import { text_of } from "../report";
import { has_consecutive_files, MAX_ITERATIONS } from "./shared_rows";
import type { Quantity, View } from "../view";

const label_of = (row: Row): string => {
  const number = text_of(row, "iteration");
  const label = number === "" ? `#${text_of(row, "ordinal")}` : number;
  return row["complete"] === false ? `${label}*` : label;
};

// The windows of a step: those with its number, when each step has one of its own; else those of its place.
function median_windows(view: View, rows: readonly Row[]): Quantity[] {
  const scope = { scope: "iteration" };
  const numbers = new Set(rows.map((row) => row["iteration"]));
  const numbered = numbers.size === rows.length && [...numbers].every((number) => typeof number === "number");
  if (!numbered && has_consecutive_files(view, view.rows("timeline", scope)))
    return rows.map(() => view.unknown("timeline", "window_ns", "files_without_numbers"));
  const column = numbered ? "iteration" : "ordinal";
  return rows.map((row) => view.median("timeline", "window_ns", { ...scope, [column]: Number(row[column]) }));
}

export const panel: Panel = {
  id: "steps",
  title: "Steps of the run",
  shows: "How long each step takes on the GPUs: a step lasts as long as its longest window.",
  reads: ["steps", "timeline", "throughput"],
  build(view) {
    const all = rows_of_jobs(view, "steps");
    const rows = all.slice(0, MAX_ITERATIONS);
    if (rows.length === 0) return no_rows("steps", "iterations are found");
    const jobs = jobs_of(all);
    if (jobs.length > 1) {
      return {
        says: [`The steps are of ${jobs.length} jobs, and none is of all: choose a GPU, or report each job by itself.`],
        how: "steps: rows of each job.",
        table: {
          columns: ["job", "iteration", "shortest", "longest (step)", "slowest rank", "complete", "last"],
          rows: rows.map((row) => [
            text_of(row, "job"),
            label_of(row),
            view.at("steps", row, "shortest_ns"),
            view.at("steps", row, "step_ns"),
            view.at("steps", row, "slowest_rank"),
            text_of(row, "complete"),
            text_of(row, "last"),
          ]),
        },
        notes: rows.length < all.length ? [`The first ${rows.length} of ${all.length} steps are listed.`] : [],
      };
    }
    const middle = median_windows(view, rows);
    const throughput = rows_of_jobs(view, "throughput")[0];
    const counted = { complete: true, last: false, ...(jobs.length === 1 ? { job: jobs[0]! } : {}) };
    const num_counted = view.count("steps", "step_ns", counted);
    const notes: string[] = [];
    if (rows.length < all.length) notes.push(`The first ${rows.length} of ${all.length} steps are drawn.`);
    if (rows.some((row) => row["complete"] === false)) notes.push("* incomplete on some GPU: left out of statistics.");
    if (rows.some((row) => row["last"] === true)) {
      notes.push("The last step ends with its work, not with a next step: it is drawn, and left out of statistics.");
    }
    return {
      says:
        num_counted.value === 0
          ? ["No step is complete on every GPU, so there are no statistics of step time."]
          : num_counted.value === 1
          ? ["The only step that counts takes ", view.max("steps", "step_ns", counted), "."]
          : [
              num_counted,
              " complete steps take ",
              view.min("steps", "step_ns", counted),
              " to ",
              view.max("steps", "step_ns", counted),
              ...(throughput === undefined ? [] : [", median ", view.at("throughput", throughput, "step_time_ns")]),
              ".",
            ],
      how: "steps.shortest_ns and step_ns; the dot is the median of timeline.window_ns over the GPUs; the median step is throughput.step_time_ns.",
      chart: {
        kind: "ranges",
        direction: "columns",
        categories: rows.map(label_of),
        category_title: "iteration",
        value_title: "window",
        unit: "ns",
        logarithmic: false,
        parts: ["shortest", "median", "longest"],
        series: [
          {
            name: "windows of all GPUs",
            colour: "accent",
            points: rows.map((row, category) => ({
              category,
              low: view.at("steps", row, "shortest_ns"),
              middle: middle[category]!,
              high: view.at("steps", row, "step_ns"),
            })),
          },
        ],
      },
      table: {
        columns: ["iteration", "shortest", "median", "longest (step)", "slowest rank", "complete", "last"],
        rows: rows.map((row, i) => [
          label_of(row),
          view.at("steps", row, "shortest_ns"),
          middle[i]!,
          view.at("steps", row, "step_ns"),
          view.at("steps", row, "slowest_rank"),
          text_of(row, "complete"),
          text_of(row, "last"),
        ]),
      },
      notes,
    };
  },
};
