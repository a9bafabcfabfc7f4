// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { text_of } from "../report";
import type { Quantity, Where } from "../view";
import { minus, over, plus } from "../view";
import { number_in } from "./shared_rows";

const NAMES: Record<string, string> = {
  ag: "all-gather",
  rs: "reduce-scatter",
  ar: "all-reduce",
  bc: "broadcast",
  a2a: "all-to-all",
  p2p: "point-to-point",
};

export function collective_name(kind: string): string {
  return NAMES[kind] ?? kind;
}

export const panel: Panel = {
  id: "collective_kinds",
  title: "Collectives",
  shows: "Two views of the same time: is it hidden by computation, and is it transfer or waiting for another rank?",
  reads: ["collectives"],
  build(view) {
    const groups = new Map<string, { label: string; where: Where; weight: number }>();
    for (const row of view.rows("collectives")) {
      const [kind, dimension] = [text_of(row, "kind"), text_of(row, "dimension")];
      const key = `${kind}\u0001${dimension}`;
      const label = collective_name(kind) + (dimension === "" ? "" : ` (${dimension})`);
      const entry = groups.get(key) ?? { label, where: { kind, dimension: dimension === "" ? null : dimension }, weight: 0 };
      entry.weight += number_in(row, "duration_ns");
      groups.set(key, entry);
    }
    if (groups.size === 0) return no_rows("collectives", "the traces hold communication");
    const shown = [...groups.values()].sort((a, b) => b.weight - a.weight || (a.label < b.label ? -1 : 1));
    const sum = (column: string, where: Where = {}): Quantity => view.sum("collectives", column, where);
    const wait_known = sum("wait_ns").value !== null;
    return {
      says: [
        over(sum("exposed_ns"), sum("duration_ns")),
        " of the time in collectives is exposed",
        ...(wait_known
          ? ["; of the time of those matched across ranks, ", over(sum("wait_ns"), plus(sum("transfer_ns"), sum("wait_ns"))), " is waiting for another one."]
          : ["; how much of it is waiting is not known, since ranks could not be matched."]),
      ],
      how: `Sums over ${view.who} of collectives.exposed_ns, duration_ns - exposed_ns, transfer_ns (the shortest duration over the ranks) and wait_ns (the rest).`,
      chart: {
        kind: "bars",
        direction: "rows",
        categories: shown.map((entry) => entry.label),
        category_title: "collective",
        value_title: "summed duration",
        unit: "ns",
        series: [
          { name: "exposed", stack: "cover", colour: "exposed_comm", values: shown.map((entry) => sum("exposed_ns", entry.where)) },
          {
            name: "hidden by computation",
            stack: "cover",
            colour: "compute",
            values: shown.map((entry) => minus(sum("duration_ns", entry.where), sum("exposed_ns", entry.where))),
          },
          { name: "transfer", stack: "wait", colour: "third", values: shown.map((entry) => sum("transfer_ns", entry.where)) },
          { name: "waiting for a rank", stack: "wait", colour: "quiet", values: shown.map((entry) => sum("wait_ns", entry.where)) },
        ],
      },
      table: {
        columns: ["collective", "number", "duration", "exposed", "exposed share", "transfer", "wait", "median bus bandwidth"],
        meters: [4],
        rows: shown.map((entry) => [
          entry.label,
          view.count("collectives", "duration_ns", entry.where),
          sum("duration_ns", entry.where),
          sum("exposed_ns", entry.where),
          over(sum("exposed_ns", entry.where), sum("duration_ns", entry.where)),
          sum("transfer_ns", entry.where),
          sum("wait_ns", entry.where),
          view.median("collectives", "busbw_gbps", entry.where),
        ]),
      },
    };
  },
};
