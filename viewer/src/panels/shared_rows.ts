// SPDX-License-Identifier: Apache-2.0
// How panels choose and name rows: iterations, operations, and the largest few of many.
import type { Row } from "../report";
import { text_of } from "../report";
import type { Quantity, View, Where } from "../view";

export const PHASES = ["forward", "backward", "optimizer", "other", "unlabelled"] as const;
export const COMPUTE_CLASSES = ["gemm", "attention", "vector", "other"] as const;
export const CLASSES = [...COMPUTE_CLASSES, "comm", "memcpy", "memset"] as const;

/** An iteration in the order of the run, with its label: the number of its mark when all gpus agree on it. */
export interface Iteration {
  label: string;
  where: Where;
}

// More columns than this cannot be told apart on a screen.
export const MAX_ITERATIONS = 120;

/** Names a gpu over the files it wrote one after the other; an input without a rank is one of its own. */
function gpu_name(view: View, row: Row): string {
  const job = text_of(view.input_of(row), "job");
  return [job, text_of(row, "rank") || `input ${text_of(row, "input")}`, text_of(row, "gpu")].join("/");
}

/** Whether a gpu has several files, each of which counts its iterations from 0. */
export function has_consecutive_files(view: View, rows: readonly Row[]): boolean {
  const inputs = new Map<string, unknown>();
  return rows.some((row) => {
    const name = gpu_name(view, row);
    if (!inputs.has(name)) inputs.set(name, row["input"]);
    return inputs.get(name) !== row["input"];
  });
}

// Numbers tell which iterations are the same when all rows have one, none twice in a gpu; else their order does.
function have_numbers(view: View, rows: readonly Row[]): boolean {
  const seen = new Set<string>();
  return rows.every((row) => {
    const key = `${gpu_name(view, row)}/${text_of(row, "iteration")}`;
    if (typeof row["iteration"] !== "number" || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const is_number = (value: unknown): value is number => typeof value === "number";

export function iterations_of(view: View, table: string, scope: Where): { shown: Iteration[]; num_all: number; notes: string[] } {
  const rows = view.rows(table, scope);
  const numbered = have_numbers(view, rows);
  const column = numbered ? "iteration" : "ordinal";
  const keys = [...new Set(rows.map((row) => row[column]))].filter(is_number).sort((a, b) => a - b);
  const shown = keys.slice(0, MAX_ITERATIONS).map((key) => {
    const where = { ...scope, [column]: key };
    const matching = view.rows(table, where);
    const numbers = new Set(matching.map((row) => text_of(row, "iteration")));
    const number = [...numbers][0] ?? "";
    let label = numbers.size === 1 && number !== "" ? number : `#${key}`;
    if (matching.some((row) => row["complete"] === false)) label += "*";
    return { label, where };
  });
  const notes: string[] = [];
  if (shown.length < keys.length) notes.push(`The first ${shown.length} of ${keys.length} iterations are drawn.`);
  if (shown.some((iteration) => iteration.label.endsWith("*"))) {
    notes.push("* incomplete on some GPU: left out of statistics.");
  }
  if (!numbered && has_consecutive_files(view, rows)) {
    notes.push("Files of a GPU that follow each other count their iterations anew, and no numbers tell them apart: those of one place are drawn together.");
  }
  return { shown, num_all: keys.length, notes };
}

/** An operation in one phase. */
export interface Operation {
  phase: string;
  operation: string;
  gpu_class: string;
  label: string;
  where: Where;
  weight: number;
}

const PREFIX: Record<string, string> = { forward: "f", backward: "b", optimizer: "opt" };

/** The operations whose rows `keep` accepts, largest first by the sum of `weight` over their rows. */
export function operations_by(view: View, weight: (row: Row) => number, keep: (row: Row) => boolean): Operation[] {
  const found = new Map<string, Operation>();
  for (const row of view.rows("operations")) {
    if (!keep(row)) continue;
    const phase = text_of(row, "phase");
    const operation = text_of(row, "operation");
    const key = `${phase}\u0001${operation}`;
    let entry = found.get(key);
    if (entry === undefined) {
      const prefix = PREFIX[phase];
      entry = {
        phase,
        operation,
        gpu_class: text_of(row, "class"),
        label: prefix === undefined || operation.startsWith(`${prefix}_`) ? operation : `${prefix} \u00b7 ${operation}`,
        where: { phase, operation },
        weight: 0,
      };
      found.set(key, entry);
    }
    entry.weight += weight(row);
  }
  return [...found.values()].sort((a, b) => b.weight - a.weight || (a.label < b.label ? -1 : 1));
}

export function number_in(row: Row, column: string): number {
  const value = row[column];
  return typeof value === "number" ? value : 0;
}

export const is_compute = (row: Row): boolean => (COMPUTE_CLASSES as readonly string[]).includes(text_of(row, "class"));

/** The entry with the largest value. */
export function largest<T>(entries: readonly T[], quantity: (entry: T) => Quantity): T | undefined {
  let best: T | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const entry of entries) {
    const value = quantity(entry).value;
    if (value !== null && value > most) {
      most = value;
      best = entry;
    }
  }
  return best;
}
