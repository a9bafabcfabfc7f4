// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { over } from "../view";
import { gpu_where } from "../view";
import { iterations_of, largest } from "./shared_rows";

const why = "the traces hold allocator events (profile_memory=True records them)";

export const peaks_panel: Panel = {
  id: "memory_peaks",
  title: "Memory peaks of each GPU",
  shows: "The most memory the allocator had given out, and had taken from the device.",
  reads: ["memory"],
  build(view) {
    const gpus = view.gpus.filter((gpu) => view.rows("memory", { ...gpu_where(gpu), scope: "trace" }).length > 0);
    if (gpus.length === 0) return no_rows("memory", why);
    const wheres = gpus.map((gpu) => ({ ...gpu_where(gpu), scope: "trace" }));
    const top = largest(gpus, (gpu) => view.max("memory", "peak_allocated_bytes", { ...gpu_where(gpu), scope: "trace" }));
    const whole = { scope: "trace", gpu: "*" };
    return {
      says: [
        "The highest peak is ",
        view.max("memory", "peak_allocated_bytes", whole),
        top === undefined ? "" : ` on ${top.label}`,
        "; reserved at most ",
        view.max("memory", "peak_reserved_bytes", whole),
        ".",
      ],
      how: "memory, scope trace: peak_allocated_bytes and peak_reserved_bytes.",
      chart: {
        kind: "bars",
        direction: gpus.length > 16 ? "columns" : "rows",
        categories: gpus.map((gpu) => gpu.label),
        category_title: "GPU",
        value_title: "memory",
        unit: "B",
        series: [
          { name: "allocated", stack: "allocated", colour: "accent", values: wheres.map((where) => view.max("memory", "peak_allocated_bytes", where)) },
          { name: "reserved", stack: "reserved", colour: "quiet", values: wheres.map((where) => view.max("memory", "peak_reserved_bytes", where)) },
        ],
      },
      table: {
        columns: ["GPU", "peak allocated", "peak reserved", "lowest allocated", "variation of peaks", "events"],
        rows: gpus.map((gpu, i) => [
          gpu.label,
          view.max("memory", "peak_allocated_bytes", wheres[i]!),
          view.max("memory", "peak_reserved_bytes", wheres[i]!),
          view.min("memory", "lowest_allocated_bytes", wheres[i]!),
          view.max("memory", "peak_variation", wheres[i]!),
          view.sum("memory", "num_events", wheres[i]!),
        ]),
      },
    };
  },
};

export const iterations_panel: Panel = {
  id: "memory_iterations",
  title: "Memory peaks of each iteration",
  shows: "Whether peaks repeat from iteration to iteration, or vary as with late reuse of blocks.",
  reads: ["memory"],
  build(view) {
    // Rows without a gpu are of memory that is on none.
    const scope = { scope: "iteration", gpu: "*" };
    const { shown, notes } = iterations_of(view, "memory", scope);
    if (shown.length === 0) return no_rows("memory with scope iteration", why);
    const points = shown.map((iteration, category) => ({
      category,
      low: view.min("memory", "peak_allocated_bytes", iteration.where),
      middle: view.median("memory", "peak_allocated_bytes", iteration.where),
      high: view.max("memory", "peak_allocated_bytes", iteration.where),
    }));
    const highest = view.max("memory", "peak_allocated_bytes", scope);
    const lowest = view.min("memory", "peak_allocated_bytes", scope);
    return {
      says: lowest.value === highest.value ? ["Every iteration peaks at ", highest, "."] : ["Peaks of iterations lie between ", lowest, " and ", highest, ", a ratio of ", over(lowest, highest), "."],
      how: `memory of GPUs, scope iteration: smallest, median and largest peak_allocated_bytes over ${view.who}.`,
      chart: {
        kind: "ranges",
        direction: "columns",
        categories: shown.map((iteration) => iteration.label),
        category_title: "iteration",
        value_title: "peak allocated",
        unit: "B",
        logarithmic: false,
        parts: ["smallest", "median", "largest"],
        series: [{ name: "peaks of all GPUs", colour: "accent", points }],
      },
      table: {
        columns: ["iteration", "smallest", "median", "largest"],
        rows: points.map((point) => [shown[point.category]!.label, point.low, point.middle, point.high]),
      },
      notes,
    };
  },
};
