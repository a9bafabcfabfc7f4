// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { class_colour } from "../palette";
import { over } from "../view";
import { CLASSES, is_compute, largest, number_in, operations_by } from "./shared_rows";

const MAX_SHOWN = 24;

export const panel: Panel = {
  id: "distributions",
  title: "Distribution of operation durations",
  shows: "How much the executions of an operation differ, on all GPUs together.",
  reads: ["operations"],
  build(view) {
    const all = operations_by(view, (row) => number_in(row, "duration_ns"), is_compute);
    if (all.length === 0) return no_rows("operations", "computation has phase and operation");
    const shown = all.slice(0, MAX_SHOWN);
    const points = shown.map((entry, category) => ({
      entry,
      category,
      low: view.min("operations", "p05_ns", entry.where),
      middle: view.median("operations", "p50_ns", entry.where),
      high: view.max("operations", "p95_ns", entry.where),
    }));
    const widest = largest(points, (point) => over(point.high, point.low)) ?? points[0]!;
    const used = new Set(shown.map((entry) => entry.gpu_class));
    return {
      says: [
        `Among the largest, ${widest.entry.label} differs most: from `,
        widest.low,
        " to ",
        widest.high,
        ", median ",
        widest.middle,
        ".",
      ],
      how: `operations: smallest p05_ns, median of p50_ns and largest p95_ns over ${view.who}, of the durations of single executions. Computation only, by total time.`,
      chart: {
        kind: "ranges",
        direction: "rows",
        categories: shown.map((entry) => entry.label),
        category_title: "operation",
        value_title: "duration of one execution",
        unit: "ns",
        logarithmic: true,
        parts: ["5th percentile", "median", "95th percentile"],
        series: CLASSES.filter((word) => used.has(word)).map((word) => ({
          name: word,
          colour: class_colour(word),
          points: points.filter((point) => point.entry.gpu_class === word),
        })),
      },
      table: {
        columns: ["operation", "phase", "class", "executions", "p05", "p50", "p95"],
        rows: points.map((point) => [
          point.entry.operation,
          point.entry.phase,
          point.entry.gpu_class,
          view.sum("operations", "num_instances", point.entry.where),
          point.low,
          point.middle,
          point.high,
        ]),
      },
      notes: all.length > shown.length ? [`${shown.length} of ${all.length} operations are drawn, by total time.`] : [],
    };
  },
};
