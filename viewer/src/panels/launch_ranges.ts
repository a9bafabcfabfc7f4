// SPDX-License-Identifier: Apache-2.0
// Launch delay and queue depth by phase: two panels over one table.
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { phase_colour } from "../palette";
import type { Quantity, View, Where } from "../view";
import { PHASES } from "./shared_rows";

interface Range {
  phase: string;
  low: Quantity;
  middle: Quantity;
  high: Quantity;
}

function ranges_of(view: View, columns: [string, string, string]): Range[] {
  const present = view.distinct("launch", "phase");
  return PHASES.filter((phase) => present.includes(phase)).map((phase) => {
    const where: Where = { phase };
    return {
      phase,
      low: view.min("launch", columns[0], where),
      middle: view.median("launch", columns[1], where),
      high: view.max("launch", columns[2], where),
    };
  });
}

function series_of(ranges: Range[]): { name: string; colour: ReturnType<typeof phase_colour>; points: (Range & { category: number })[] }[] {
  return ranges.map((range, category) => ({ name: range.phase, colour: phase_colour(range.phase), points: [{ ...range, category }] }));
}

const why = "GPU work is linked to launch calls and phases";

export const delay_panel: Panel = {
  id: "launch_delay",
  title: "From launch call to start",
  shows: "How long launched work waits in the queue before it starts.",
  reads: ["launch"],
  build(view) {
    const ranges = ranges_of(view, ["delay_p05_ns", "delay_p50_ns", "delay_p95_ns"]);
    if (ranges.length === 0) return no_rows("launch", why);
    return {
      says: ranges.flatMap((range, i) => [
        i === 0 ? "Median delay: " : "",
        `${range.phase} `,
        range.middle,
        i === ranges.length - 1 ? "." : ", ",
      ]),
      how: `launch: smallest delay_p05_ns, median of delay_p50_ns and largest delay_p95_ns over ${view.who}. Long delays are good: the host is ahead.`,
      chart: {
        kind: "ranges",
        direction: "rows",
        categories: ranges.map((range) => range.phase),
        category_title: "phase",
        value_title: "delay",
        unit: "ns",
        logarithmic: true,
        parts: ["5th percentile", "median", "95th percentile"],
        series: series_of(ranges),
      },
      table: {
        columns: ["phase", "launched records", "started before the call", "p05", "p50", "p95"],
        rows: ranges.map((range) => [
          range.phase,
          view.sum("launch", "num_kernels", { phase: range.phase }),
          view.sum("launch", "num_negative_delay", { phase: range.phase }),
          range.low,
          range.middle,
          range.high,
        ]),
      },
    };
  },
};

export const queue_panel: Panel = {
  id: "queue_depth",
  title: "Queue in front of the GPU",
  shows: "How much work is launched and not yet started, when more is launched. Near zero the host limits.",
  reads: ["launch"],
  build(view) {
    const ranges = ranges_of(view, ["queue_p05", "queue_p50", "queue_p95"]);
    if (ranges.length === 0) return no_rows("launch", why);
    return {
      says: ranges.flatMap((range, i) => [
        i === 0 ? "Median depth: " : "",
        `${range.phase} `,
        range.middle,
        i === ranges.length - 1 ? "." : ", ",
      ]),
      how: `launch: smallest queue_p05, median of queue_p50 and largest queue_p95 over ${view.who}, in GPU records.`,
      chart: {
        kind: "ranges",
        direction: "rows",
        categories: ranges.map((range) => range.phase),
        category_title: "phase",
        value_title: "records in the queue",
        unit: "",
        logarithmic: false,
        parts: ["5th percentile", "median", "95th percentile"],
        series: series_of(ranges),
      },
      table: {
        columns: ["phase", "p05", "p50", "p95"],
        rows: ranges.map((range) => [range.phase, range.low, range.middle, range.high]),
      },
    };
  },
};
