// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import type { Colour } from "../palette";
import { text_of } from "../report";
import { rank_label } from "./ranks";

const MAX_POINTS = 2000;

const GROUPS: { hint: string; name: string; colour: Colour; symbol: "circle" | "diamond" | "triangle" }[] = [
  // The last is drawn on top.
  { hint: "", name: "neither", colour: "accent", symbol: "circle" },
  { hint: "waits", name: "waits for others", colour: "third", symbol: "triangle" },
  { hint: "straggler", name: "straggler", colour: "warm", symbol: "diamond" },
];

export const panel: Panel = {
  id: "rank_waits",
  title: "Who computes longer waits less",
  shows: "A GPU at the lower right holds the others up: it computes longer and waits less in collectives.",
  reads: ["ranks"],
  build(view) {
    const all = view.rows("ranks");
    if (all.length === 0) return no_rows("ranks", "GPUs have complete iterations to compare them by");
    const usable = all.filter((row) => typeof row["comm_wait_ns"] === "number" && typeof row["window_compute_ns"] === "number");
    if (usable.length === 0) {
      return { nothing: `No GPU has both computation and waiting time (${all[0]?.unavailable?.["comm_wait_ns"] ?? "not stated"}).` };
    }
    const step = Math.ceil(usable.length / MAX_POINTS);
    const drawn = usable.filter((row, index) => index % step === 0 || text_of(row, "hint") !== "");
    return {
      says: [
        "Waiting in collectives takes ",
        view.min("ranks", "comm_wait_ns"),
        " to ",
        view.max("ranks", "comm_wait_ns"),
        " of an iteration, computation ",
        view.min("ranks", "window_compute_ns"),
        " to ",
        view.max("ranks", "window_compute_ns"),
        ".",
      ],
      how: "ranks.window_compute_ns and comm_wait_ns: medians over complete windows.",
      chart: {
        kind: "scatter",
        x_title: "computation of an iteration",
        y_title: "waiting in collectives",
        x_unit: "ns",
        y_unit: "ns",
        x_logarithmic: false,
        y_logarithmic: false,
        series: GROUPS.map((group) => ({
          name: group.name,
          colour: group.colour,
          symbol: group.symbol,
          points: drawn
            .filter((row) => text_of(row, "hint") === group.hint)
            .map((row) => ({
              x: view.at("ranks", row, "window_compute_ns"),
              y: view.at("ranks", row, "comm_wait_ns"),
              name: rank_label(row, all),
              ...(drawn.length <= 32 || group.hint !== "" ? { label: group.hint === "straggler" ? rank_label(row, all) : rank_label(row, all).replace("rank ", "") } : {}),
            })),
        })).filter((series) => series.points.length > 0),
      },
      table: {
        columns: ["GPU", "hint", "windows", "computation", "wait in collectives"],
        rows: drawn.slice(0, 64).map((row) => [
          rank_label(row, all),
          text_of(row, "hint"),
          view.at("ranks", row, "num_windows"),
          view.at("ranks", row, "window_compute_ns"),
          view.at("ranks", row, "comm_wait_ns"),
        ]),
      },
      notes: drawn.length < usable.length ? [`${drawn.length} of ${usable.length} GPUs are drawn, evenly chosen.`] : [],
    };
  },
};
