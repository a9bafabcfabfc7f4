// SPDX-License-Identifier: Apache-2.0
import type { Panel, ScatterPoint } from "../figure";
import { no_rows } from "../figure";
import { phase_colour } from "../palette";
import { over } from "../view";
import { COMPUTE_CLASSES, is_compute, number_in, operations_by, PHASES } from "./shared_rows";

// With more gpus than this, fewer operations: about a thousand points are what the eye can take in.
const MAX_POINTS = 1000;
const MAX_OPERATIONS = 16;

const SYMBOLS = ["circle", "diamond", "triangle", "rect", "circle"] as const;

export const panel: Panel = {
  id: "overlap",
  title: "Overlap with communication, and duration",
  shows: "Whether operations that run beside communication take longer: one point for each operation and GPU.",
  reads: ["operations"],
  build(view) {
    const all = operations_by(view, (row) => number_in(row, "duration_ns"), is_compute);
    if (all.length === 0) return no_rows("operations", "computation has phase and operation");
    const num_shown = Math.max(3, Math.min(MAX_OPERATIONS, Math.floor(MAX_POINTS / view.gpus.length)));
    const shown = all.slice(0, num_shown);
    const series = PHASES.map((phase, index) => {
      const points: ScatterPoint[] = [];
      for (const entry of shown.filter((operation) => operation.phase === phase)) {
        const first = points.length;
        for (const row of view.rows("operations", entry.where)) {
          const x = view.at("operations", row, "overlap_ratio");
          const y = view.at("operations", row, "p50_ns");
          if (x.value !== null) points.push({ x, y, name: `${entry.label}, ${view.label_of(row)}` });
        }
        // One label for each operation, at the end of its cloud that has room.
        const cloud = points.slice(first).sort((a, b) => a.x.value! - b.x.value!);
        const end = (cloud[0]?.x.value ?? 0) > 0.6 ? cloud[0] : cloud[cloud.length - 1];
        if (end) end.label = entry.operation;
      }
      return { name: phase, colour: phase_colour(phase), symbol: SYMBOLS[index]!, points };
    }).filter((each) => each.points.length > 0);
    if (series.length === 0) return { nothing: "No operation has an overlap ratio." };
    // The sums are over the classes of computation one by one, since a sum is over rows that equal something.
    const parts = COMPUTE_CLASSES.filter((word) => view.rows("operations", { class: word }).length > 0);
    return {
      says: [
        ...parts.flatMap((word, i) => [
          i === 0 ? "Communication runs beside " : i === parts.length - 1 ? " and " : ", ",
          over(view.sum("operations", "overlap_ns", { class: word }), view.sum("operations", "duration_ns", { class: word })),
          ` of the time of ${word}`,
        ]),
        ".",
      ],
      how: "operations.overlap_ratio (share of its time with communication beside it) and p50_ns (median duration of one execution), of each GPU.",
      chart: {
        kind: "scatter",
        x_title: "overlap ratio",
        y_title: "median duration of one execution",
        x_unit: "1",
        y_unit: "ns",
        x_logarithmic: false,
        y_logarithmic: true,
        series,
      },
      table: {
        columns: ["operation", "phase", "class", "overlap ratio", "smallest p50", "largest p50"],
        meters: [3],
        rows: shown.map((entry) => [
          entry.operation,
          entry.phase,
          entry.gpu_class,
          over(view.sum("operations", "overlap_ns", entry.where), view.sum("operations", "duration_ns", entry.where)),
          view.min("operations", "p50_ns", entry.where),
          view.max("operations", "p50_ns", entry.where),
        ]),
      },
      notes: all.length > shown.length ? [`${shown.length} of ${all.length} operations are drawn, by total time.`] : [],
    };
  },
};
