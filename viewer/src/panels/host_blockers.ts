// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { shortened } from "../format";
import { text_of } from "../report";
import { number_in } from "./shared_rows";

const MAX_SHOWN = 14;

export const panel: Panel = {
  id: "host_blockers",
  title: "What keeps the host from launching",
  shows: "Host calls that block, and the idle time of the GPU that follows them.",
  reads: ["host_blockers"],
  build(view) {
    const weights = new Map<string, { kind: string; name: string; idle: number; duration: number }>();
    for (const row of view.rows("host_blockers")) {
      const [kind, name] = [text_of(row, "kind"), text_of(row, "name")];
      const entry = weights.get(`${kind}\u0001${name}`) ?? { kind, name, idle: 0, duration: 0 };
      entry.idle += number_in(row, "idle_ns");
      entry.duration += number_in(row, "duration_ns");
      weights.set(`${kind}\u0001${name}`, entry);
    }
    if (weights.size === 0) return no_rows("host_blockers", "calls on the host block, such as synchronisation, item() or data loading");
    const all = [...weights.values()].sort((a, b) => b.idle - a.idle || b.duration - a.duration || (a.name < b.name ? -1 : 1));
    const shown = all.slice(0, MAX_SHOWN);
    const where = (entry: { kind: string; name: string }): { kind: string; name: string } => ({ kind: entry.kind, name: entry.name });
    return {
      says: [
        "Blocking calls cost the GPUs ",
        view.sum("host_blockers", "idle_ns"),
        " of idle time",
        ...(shown[0]!.idle > 0
          ? [`, most of it behind ${shortened(shown[0]!.name, 44)} (`, view.sum("host_blockers", "idle_ns", where(shown[0]!)), ")."]
          : ["."]),
      ],
      how: `Sum over ${view.who} of host_blockers.idle_ns: launch gaps before the kernels launched next.`,
      chart: {
        kind: "bars",
        direction: "rows",
        categories: shown.map((entry) => `${entry.kind.replaceAll("_", " ")}: ${shortened(entry.name, 28)}`),
        category_title: "call or range",
        value_title: "idle time of the GPU",
        unit: "ns",
        series: [
          { name: "idle time behind it", colour: "prep", values: shown.map((entry) => view.sum("host_blockers", "idle_ns", where(entry))) },
        ],
      },
      table: {
        columns: ["kind", "name", "calls", "on the host", "idle behind it"],
        rows: shown.map((entry) => [
          entry.kind,
          entry.name,
          view.sum("host_blockers", "num", where(entry)),
          view.sum("host_blockers", "duration_ns", where(entry)),
          view.sum("host_blockers", "idle_ns", where(entry)),
        ]),
      },
      notes: all.length > shown.length ? [`${shown.length} of ${all.length} are drawn.`] : [],
    };
  },
};
