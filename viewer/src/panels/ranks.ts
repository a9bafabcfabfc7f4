// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { jobs_of } from "../jobs";
import type { Row } from "../report";
import { text_of } from "../report";
import { number_in } from "./shared_rows";

const MAX_SHOWN = 40; // with more gpus: the slowest and the fastest half of that

export const panel: Panel = {
  id: "ranks",
  title: "Slow and fast GPUs",
  shows: "The same operations take longer on some GPUs; the others wait for them in collectives.",
  reads: ["ranks"],
  build(view) {
    const all = view.rows("ranks");
    if (all.length === 0) return no_rows("ranks", "GPUs have complete iterations to compare them by");
    const known = all.filter((row) => typeof row["compute_ratio"] === "number");
    const by_speed = [...known].sort((a, b) => number_in(b, "compute_ratio") - number_in(a, "compute_ratio"));
    const is_cut = by_speed.length > MAX_SHOWN;
    const shown = is_cut ? [...by_speed.slice(0, MAX_SHOWN / 2), ...by_speed.slice(-MAX_SHOWN / 2)] : by_speed;
    const listed = shown.length > 0 ? shown : all.slice(0, MAX_SHOWN);
    const hinted = all.filter((row) => text_of(row, "hint") === "straggler");
    const label = (row: Row): string => rank_label(row, all);
    const slowest = by_speed[0];
    const fastest = by_speed[by_speed.length - 1];
    return {
      says:
        slowest === undefined || fastest === undefined
          ? ["The GPUs could not be compared."]
          : [
              `${capital(label(slowest))} is the slowest at `,
              view.at("ranks", slowest, "compute_ratio"),
              ` of the usual time, ${label(fastest)} the fastest at `,
              view.at("ranks", fastest, "compute_ratio"),
              hinted.length > 0 ? `; straggler: ${hinted.slice(0, 5).map(label).join(", ")}.` : "; none stands out as a straggler.",
            ],
      how: "ranks.compute_ratio: time of the GPU's operations over the usual time, the sum of the operations' medians over GPUs; the bar is its distance from 100 %. Other columns are medians over complete windows.",
      chart: {
        kind: "bars",
        direction: shown.length > 16 ? "columns" : "rows",
        categories: shown.map(label),
        category_title: "GPU",
        value_title: "time against the usual",
        unit: "1",
        series: [
          {
            name: "longer than usual",
            colour: "warm",
            values: shown.map((row) => (number_in(row, "compute_ratio") >= 1 ? distance(row) : null)),
          },
          {
            name: "shorter",
            colour: "accent",
            values: shown.map((row) => (number_in(row, "compute_ratio") < 1 ? distance(row) : null)),
          },
        ],
      },
      table: {
        columns: ["GPU", "hint", "compute ratio", "window", "computation", "exposed comm", "exposed copies", "idle", "wait in collectives"],
        rows: listed.map((row) => [
          label(row),
          text_of(row, "hint"),
          ...["compute_ratio", "window_ns", "window_compute_ns", "window_exposed_comm_ns", "window_exposed_memcpy_ns", "window_idle_ns", "comm_wait_ns"].map(
            (column) => view.at("ranks", row, column),
          ),
        ]),
      },
      notes: [
        ...(jobs_of(view.rows("inputs")).length > 1 ? ["The traces are of several jobs: each GPU is compared with those of its own."] : []),
        ...(is_cut ? [`Of ${by_speed.length.toLocaleString("en-US")} GPUs the ${MAX_SHOWN / 2} slowest and the ${MAX_SHOWN / 2} fastest are shown.`] : []),
      ],
    };

    // ratio - 1; the 1 is the gpus' own median by definition.
    function distance(row: Row): ReturnType<typeof view.at> {
      const ratio = view.at("ranks", row, "compute_ratio");
      return { value: ratio.value === null ? null : ratio.value - 1, unit: "1", from: ["-", ratio.from, ["number", 1]] };
    }
  },
};

// ranks can hold gpus that other tables of a large run leave out, so the label is of the row itself.
export function rank_label(row: Row, all: readonly Row[]): string {
  const process = row["rank"] === null || row["rank"] === undefined ? `input ${text_of(row, "input")}` : `rank ${text_of(row, "rank")}`;
  const several = all.some((other) => other !== row && other["rank"] === row["rank"] && other["input"] === row["input"]);
  const label = several ? `${process} gpu ${text_of(row, "gpu")}` : process;
  const is_elsewhere = typeof row["rank"] === "number" && all.some((other) => other["rank"] === row["rank"] && other["input"] !== row["input"]);
  return is_elsewhere ? `${label} (input ${text_of(row, "input")})` : label; // of another job, or another window
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
