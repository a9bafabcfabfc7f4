// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import type { Quantity } from "../view";
import { gpu_where, over } from "../view";
import { time_parts } from "./time_parts";

export const panel: Panel = {
  id: "gpu_split",
  title: "Time of each GPU",
  shows: "The whole trace of each GPU, split into parts that add up to its span.",
  reads: ["timeline"],
  build(view) {
    const parts = time_parts("");
    const gpus = view.gpus.filter((gpu) => view.rows("timeline", { ...gpu_where(gpu), scope: "trace" }).length > 0);
    if (gpus.length === 0) return no_rows("timeline", "the traces hold GPU work");
    const whole = { scope: "trace" };
    const span = view.sum("timeline", "span_ns", whole);
    const share = (index: number): Quantity => over(parts[index]!.of(view, "sum", whole), span);
    const wheres = gpus.map((gpu) => ({ ...gpu_where(gpu), scope: "trace" }));
    return {
      says: [
        "Computation covers ",
        share(0),
        " of the GPU time, communication that nothing hides ",
        share(1),
        "; the GPUs are idle ",
        over(view.sum("timeline", "idle_ns", whole), span),
        ".",
      ],
      how: `timeline, scope trace; shares are sums over ${view.who} divided by the sum of their spans. Idle other = idle - host late - dispatch.`,
      chart: {
        kind: "bars",
        direction: gpus.length > 16 ? "columns" : "rows",
        categories: gpus.map((gpu) => gpu.label),
        category_title: "GPU",
        value_title: "time",
        unit: "ns",
        series: parts.map((part) => ({
          name: part.name,
          colour: part.colour,
          values: wheres.map((where) => part.of(view, "sum", where)),
        })),
      },
      table: {
        columns: ["GPU", "span", ...parts.map((part) => part.name)],
        rows: gpus.map((gpu, i) => [
          gpu.label,
          view.sum("timeline", "span_ns", wheres[i]!),
          ...parts.map((part) => part.of(view, "sum", wheres[i]!)),
        ]),
      },
    };
  },
};
