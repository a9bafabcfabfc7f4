// SPDX-License-Identifier: Apache-2.0
import type { Colour } from "../palette";
import type { Panel, ScatterPoint } from "../figure";
import { no_rows } from "../figure";
import type { Row } from "../report";
import { text_of } from "../report";
import { largest, number_in } from "./shared_rows";
import { collective_name } from "./collective_kinds";

// Transfers are alike on all ranks and in all iterations: a thousand points show the cloud.
const MAX_POINTS = 1000;
const MAX_SIZES = 24;

const COLOURS: Colour[] = ["accent", "warm", "third", "fourth", "optimizer", "quiet"];
const SYMBOLS = ["circle", "diamond", "triangle", "rect"] as const;

export const panel: Panel = {
  id: "bus_bandwidth",
  title: "Bus bandwidth against message size",
  shows: "How well transfers use the links: small messages pay latency, large ones should reach the links' limit.",
  reads: ["collectives"],
  build(view) {
    const all = view.rows("collectives");
    if (all.length === 0) return no_rows("collectives", "the traces hold communication");
    const usable = all.filter((row) => number_in(row, "bytes") > 0 && number_in(row, "busbw_gbps") > 0);
    if (usable.length === 0) {
      const reasons = new Set(all.map((row) => row.unavailable?.["busbw_gbps"] ?? row.unavailable?.["bytes"] ?? "not stated"));
      return { nothing: `No collective has both a message size and a bus bandwidth (${[...reasons].join(", ")}).` };
    }
    // A transfer is the same on each rank of its group: one point for it.
    const seen = new Set<string>();
    const once = usable.filter((row) => {
      if (typeof row["seq"] !== "number" || text_of(row, "group") === "") return true;
      const iteration = text_of(row, "iteration") === "" ? "ordinal" : "iteration";
      const key = ["kind", "group", "seq", iteration, "transfer_ns"].map((column) => text_of(row, column)).join("\u0001");
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
    const step = Math.ceil(once.length / MAX_POINTS);
    const drawn = once.filter((_, index) => index % step === 0);
    const kinds = [...new Set(once.map((row) => text_of(row, "kind")))].sort();
    const point_of = (row: Row): ScatterPoint => ({
      x: view.at("collectives", row, "bytes"),
      y: view.at("collectives", row, "busbw_gbps"),
      name: `${collective_name(text_of(row, "kind"))}${text_of(row, "group") === "" ? "" : `, group ${text_of(row, "group")}`}`,
    });
    const sizes = [...new Set(usable.map((row) => `${text_of(row, "kind")}\u0001${number_in(row, "bytes")}`))]
      .map((key) => ({ kind: key.split("\u0001")[0]!, bytes: Number(key.split("\u0001")[1]) }))
      .map((size) => ({ ...size, busbw: view.median("collectives", "busbw_gbps", size_where(size)) }))
      .sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : b.bytes - a.bytes));
    const best = largest(sizes, (size) => size.busbw)!;
    const notes: string[] = [];
    if (once.length < usable.length) notes.push("A transfer seen by several ranks is one point.");
    if (step > 1) notes.push(`${drawn.length} of ${once.length} transfers are drawn, evenly chosen.`);
    if (usable.length < all.length) notes.push(`${all.length - usable.length} of ${all.length} collectives have no bus bandwidth.`);
    if (sizes.length > MAX_SIZES) notes.push(`The numbers below are of ${MAX_SIZES} of ${sizes.length} sizes.`);
    return {
      says: [
        `The best median is ${collective_name(best.kind)} with messages of `,
        view.max("collectives", "bytes", size_where(best)),
        ": ",
        best.busbw,
        ".",
      ],
      how: "collectives.bytes and busbw_gbps (bytes times the share that crosses the links, over the shortest duration of the group).",
      chart: {
        kind: "scatter",
        x_title: "message size",
        y_title: "bus bandwidth",
        x_unit: "B",
        y_unit: "GB/s",
        x_logarithmic: true,
        y_logarithmic: false,
        series: kinds.map((kind, index) => ({
          name: collective_name(kind),
          colour: COLOURS[index % COLOURS.length]!,
          symbol: SYMBOLS[index % SYMBOLS.length]!,
          points: drawn.filter((row) => text_of(row, "kind") === kind).map(point_of),
        })),
      },
      table: {
        columns: ["collective", "message size", "number", "median bus bandwidth", "median transfer", "median wait"],
        rows: sizes.slice(0, MAX_SIZES).map((size) => [
          collective_name(size.kind),
          view.max("collectives", "bytes", size_where(size)),
          view.count("collectives", "duration_ns", size_where(size)),
          size.busbw,
          view.median("collectives", "transfer_ns", size_where(size)),
          view.median("collectives", "wait_ns", size_where(size)),
        ]),
      },
      notes,
    };
  },
};

function size_where(size: { kind: string; bytes: number }): { kind: string; bytes: number } {
  return { kind: size.kind, bytes: size.bytes };
}
