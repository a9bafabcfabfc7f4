// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { kernel_label } from "../format";
import { class_colour } from "../palette";
import { text_of } from "../report";
import type { Quantity } from "../view";
import { minus, over } from "../view";
import { CLASSES, number_in } from "./shared_rows";

const MAX_SHOWN = 20;

export const panel: Panel = {
  id: "kernels",
  title: "Top kernels",
  shows: "Which kernels take the time, over all GPUs and launch shapes.",
  reads: ["kernel_summary"],
  wide: true,
  build(view) {
    const found = new Map<string, { name: string; gpu_class: string; weight: number }>();
    for (const row of view.rows("kernel_summary")) {
      const [name, gpu_class] = [text_of(row, "name"), text_of(row, "class")];
      const entry = found.get(`${gpu_class}\u0001${name}`) ?? { name, gpu_class, weight: 0 };
      entry.weight += number_in(row, "total_ns");
      found.set(`${gpu_class}\u0001${name}`, entry);
    }
    if (found.size === 0) return no_rows("kernel_summary", "the traces hold GPU work");
    const all = [...found.values()].sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
    const shown = all.slice(0, MAX_SHOWN).map((entry) => ({ ...entry, where: { name: entry.name, class: entry.gpu_class } }));
    const total = view.sum("kernel_summary", "total_ns");
    const sum = (where: Record<string, string>): Quantity => view.sum("kernel_summary", "total_ns", where);
    const rest = shown.reduce((left, entry) => minus(left, sum(entry.where)), total);
    const used = new Set(shown.map((entry) => entry.gpu_class));
    const first = shown[0]!;
    return {
      says: [
        `${kernel_label(first.name, 48)} takes `,
        over(sum(first.where), total),
        ` of the time of all kernels and copies`,
        ...(all.length > shown.length ? [`; ${all.length - shown.length} smaller ones, `, over(rest, total), ", are not drawn."] : ["."]),
      ],
      how: `Sum over ${view.who}, grids and blocks of kernel_summary.total_ns.`,
      chart: {
        kind: "bars",
        direction: "rows",
        categories: shown.map((entry) => kernel_label(entry.name, 60)),
        category_title: "kernel",
        value_title: "summed duration",
        unit: "ns",
        series: [...CLASSES.filter((word) => used.has(word)), ...[...used].filter((word) => !(CLASSES as readonly string[]).includes(word))].map((word) => ({
          name: word,
          colour: class_colour(word),
          values: shown.map((entry) => (entry.gpu_class === word ? sum(entry.where) : null)),
        })),
      },
      table: {
        columns: ["kernel", "class", "launches", "total", "share", "mean", "shortest", "longest"],
        meters: [4],
        rows: shown.map((entry) => [
          entry.name,
          entry.gpu_class,
          view.sum("kernel_summary", "num", entry.where),
          sum(entry.where),
          over(sum(entry.where), total),
          mean_of(sum(entry.where), view.sum("kernel_summary", "num", entry.where)),
          view.min("kernel_summary", "min_ns", entry.where),
          view.max("kernel_summary", "max_ns", entry.where),
        ]),
      },
    };
  },
};

function mean_of(total: Quantity, number: Quantity): Quantity {
  return { ...over(total, number), unit: total.unit };
}
