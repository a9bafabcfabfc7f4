// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { over, plus } from "../view";
import { number_in, operations_by } from "./shared_rows";

const MAX_SHOWN = 16;

export const panel: Panel = {
  id: "launch_gaps",
  title: "Idle in front of operations",
  shows: "Where the GPU waits for the host, and where it waits for dispatch.",
  reads: ["operations", "timeline"],
  build(view) {
    if (view.rows("operations").length === 0) return no_rows("operations", "GPU work has phase and operation");
    const lost = (row: Parameters<typeof number_in>[0]): number => number_in(row, "prep_idle_ns") + number_in(row, "call_idle_ns");
    const all = operations_by(view, lost, (row) => lost(row) > 0);
    if (all.length === 0) return { nothing: "No operation has idle time in front of its kernels." };
    const shown = all.slice(0, MAX_SHOWN);
    const span = view.sum("timeline", "span_ns", { scope: "trace" });
    return {
      says: [
        "The GPUs idle ",
        view.sum("operations", "prep_idle_ns"),
        " before work that the host had not launched yet, and ",
        view.sum("operations", "call_idle_ns"),
        " between launch call and start: together ",
        over(plus(view.sum("operations", "prep_idle_ns"), view.sum("operations", "call_idle_ns")), span),
        " of the GPU time.",
      ],
      how: `Sum over ${view.who} of operations.prep_idle_ns and call_idle_ns: gaps in front of compute kernels with the device idle.`,
      chart: {
        kind: "bars",
        direction: "rows",
        categories: shown.map((entry) => entry.label),
        category_title: "operation",
        value_title: "idle time",
        unit: "ns",
        series: [
          { name: "host late", colour: "prep", values: shown.map((entry) => view.sum("operations", "prep_idle_ns", entry.where)) },
          { name: "dispatch", colour: "call", values: shown.map((entry) => view.sum("operations", "call_idle_ns", entry.where)) },
        ],
      },
      table: {
        columns: ["operation", "phase", "host late, idle", "dispatch, idle", "host late, all", "dispatch, all", "without launch record"],
        rows: shown.map((entry) => [
          entry.operation,
          entry.phase,
          view.sum("operations", "prep_idle_ns", entry.where),
          view.sum("operations", "call_idle_ns", entry.where),
          view.sum("operations", "prep_ns", entry.where),
          view.sum("operations", "call_ns", entry.where),
          view.sum("operations", "num_no_launch", entry.where),
        ]),
      },
      notes: all.length > shown.length ? [`${shown.length} of ${all.length} operations with such idle time are drawn.`] : [],
    };
  },
};
