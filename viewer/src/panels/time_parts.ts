// SPDX-License-Identifier: Apache-2.0
// The parts that add up to the time of a gpu: computation + exposed communication + exposed copies + idle, and idle by
// who was late. One list for traces and windows.
import type { Colour } from "../palette";
import type { Quantity, View, Where } from "../view";
import { minus } from "../view";

export interface TimePart {
  name: string;
  colour: Colour;
  of(view: View, aggregate: "sum" | "mean", where: Where): Quantity;
}

export function time_parts(prefix: "" | "window_"): TimePart[] {
  const column = (name: string, colour: Colour, key: string): TimePart => ({
    name,
    colour,
    of: (view, aggregate, where) => view[aggregate]("timeline", `${prefix}${key}`, where),
  });
  return [
    column("computation", "compute", "compute_ns"),
    column("exposed communication", "exposed_comm", "exposed_comm_ns"),
    column("exposed copies", "exposed_copies", "exposed_memcpy_ns"),
    column("idle: host late", "prep", "prep_idle_ns"),
    column("idle: dispatch", "call", "call_idle_ns"),
    {
      name: "idle: other",
      colour: "other_idle",
      of: (view, aggregate, where) => {
        const ask = (key: string): Quantity => view[aggregate]("timeline", `${prefix}${key}`, where);
        return minus(minus(ask("idle_ns"), ask("prep_idle_ns")), ask("call_idle_ns"));
      },
    },
  ];
}
