// SPDX-License-Identifier: Apache-2.0
// Questions to the tables. Every answer is a Quantity: a number with its unit and the expression over the embedded JSON it
// comes from, so that a test (or a reader) can compute it again.
import { columns_of } from "./columns";
import type { Gpu, PageFacts, Report, Row } from "./report";
import { gpu_label, gpus_of, rows_of } from "./report";

/** Rows whose columns have these values; null also matches a key that is absent, and `gpu: "*"` any gpu that is known. */
export type Where = Record<string, string | number | boolean | null>;
export type Aggregate = "sum" | "mean" | "min" | "max" | "median" | "count";
export type Expression =
  | [Aggregate, string, string, Where]
  | ["row", string, number, string] // table, index of the row in the table, column
  | ["number", number]
  | ["+" | "-" | "/", Expression, Expression];

export interface Quantity {
  value: number | null;
  unit: string; // "ns", "B", "1" for a ratio, "" for a count, ...
  from: Expression;
  reason?: string; // why there is no value
  num_missing?: number; // rows that should have had a part in it and have no value
}

/** Why values are missing, in words: the closed list of the JSON contract, and what only a figure lacks. */
const REASONS: Record<string, string> = {
  rank_unknown: "the rank is unknown",
  device_unknown: "the device is unknown",
  stream_unknown: "the stream is unknown",
  host_unknown: "the trace does not name its host",
  vendor_unknown: "the vendor is unknown",
  no_device_facts: "the trace says nothing about the device",
  unknown_gpu: "this GPU is not in the table of peaks",
  no_launch_record: "there is no launch record",
  first_of_chain: "it is the first kernel",
  not_compute: "it is no computation",
  zero_length: "it takes no time",
  no_extent: "grid or block are not recorded",
  no_records: "there are no records of it",
  files_without_numbers: "consecutive files of a GPU, and no numbers tell their iterations apart",
  no_link: "it is not linked to a launch",
  no_mark: "no iteration mark",
  no_label: "it has no label",
  outside_layers: "it lies outside the layers",
  no_shapes: "shapes were not recorded, or do not tell it",
  no_group: "the process group is not recorded",
  no_links_known: "the links of this GPU are not known",
  single_rank: "there is one rank only",
  unmatched_ranks: "the ranks could not be matched",
  no_peak: "the peak of this GPU is not known",
  no_batch: "batch and sequence are not stated",
  no_model: "the model is not stated",
  no_complete_iteration: "no iteration is complete",
  no_memory_totals: "the allocator's events state no totals",
  instances_differ: "its instances differ",
  peak_exceeded: "it is faster than the peak of its number format: another format was used (TF32)",
};

export function reason_text(reason: string | undefined): string {
  return reason === undefined ? "no value" : (REASONS[reason] ?? reason.replaceAll("_", " "));
}

function value_of(row: Row, column: string): number | null {
  const value = row[column];
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  return null;
}

function aggregate(kind: Aggregate, values: number[]): number {
  if (kind === "count") return values.length;
  if (kind === "min") return values.reduce((a, b) => Math.min(a, b));
  if (kind === "max") return values.reduce((a, b) => Math.max(a, b));
  if (kind === "median") {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  }
  const sum = values.reduce((a, b) => a + b, 0);
  return kind === "sum" ? sum : sum / values.length;
}

/** The tables, or those rows of them that belong to one gpu. */
export class View {
  readonly gpus: Gpu[];
  private readonly indexes = new Map<string, Map<string, Row[]>>();

  constructor(
    readonly report: Report,
    readonly facts: PageFacts,
    readonly only: Gpu | null = null,
  ) {
    const all = gpus_of(report);
    this.gpus = only === null ? all : all.filter((gpu) => gpu.label === only.label);
  }

  label_of(row: Row): string {
    return gpu_label(this.gpus, row);
  }

  /** "8 gpus", or the label of the only one. */
  get who(): string {
    const only = this.gpus.length === 1 ? this.gpus[0] : undefined;
    return only ? only.label : `${this.gpus.length.toLocaleString("en-US")} GPUs`;
  }

  /** Adds the gpu the view is restricted to. */
  where(table: string, where: Where = {}): Where {
    if (this.only === null || !columns_of(table).has("gpu")) return where;
    return { ...where, input: this.only.input, rank: this.only.rank, gpu: this.only.gpu };
  }

  rows(table: string, where: Where = {}): Row[] {
    return this.matching(table, this.where(table, where));
  }

  /** The row of `inputs` that a row is of; an empty one where the page has none. */
  input_of(row: Row): Row {
    return this.matching("inputs", { input: Number(row["input"] ?? 0) })[0] ?? {};
  }

  /** The different texts of a column, in the order of the rows. */
  distinct(table: string, column: string, where: Where = {}): string[] {
    const found = new Set<string>();
    for (const row of this.rows(table, where)) {
      const value = row[column];
      if (value !== null && value !== undefined) found.add(String(value));
    }
    return [...found];
  }

  sum(table: string, column: string, where: Where = {}): Quantity {
    return this.aggregate("sum", table, column, where);
  }
  mean(table: string, column: string, where: Where = {}): Quantity {
    return this.aggregate("mean", table, column, where);
  }
  min(table: string, column: string, where: Where = {}): Quantity {
    return this.aggregate("min", table, column, where);
  }
  max(table: string, column: string, where: Where = {}): Quantity {
    return this.aggregate("max", table, column, where);
  }
  median(table: string, column: string, where: Where = {}): Quantity {
    return this.aggregate("median", table, column, where);
  }
  count(table: string, column: string, where: Where = {}): Quantity {
    return { ...this.aggregate("count", table, column, where), unit: "" };
  }

  /** The value of a row itself. */
  at(table: string, row: Row, column: string): Quantity {
    const index = this.index_of(table, row);
    const value = value_of(row, column);
    const quantity: Quantity = { value, unit: unit_of(table, column), from: ["row", table, index, column] };
    if (value === null) quantity.reason = row.unavailable?.[column] ?? "not applicable";
    return quantity;
  }

  /** A value that no row has, and why. */
  unknown(table: string, column: string, reason: string): Quantity {
    return { ...this.at(table, {}, column), reason };
  }

  private readonly positions = new Map<string, Map<Row, number>>();
  private index_of(table: string, row: Row): number {
    let positions = this.positions.get(table);
    if (positions === undefined) {
      positions = new Map(rows_of(this.report, table).map((each, index) => [each, index]));
      this.positions.set(table, positions);
    }
    return positions.get(row) ?? -1;
  }

  private aggregate(kind: Aggregate, table: string, column: string, where: Where): Quantity {
    const full = this.where(table, where);
    const rows = this.matching(table, full);
    const values: number[] = [];
    let reason: string | undefined;
    for (const row of rows) {
      const value = value_of(row, column);
      if (value !== null) values.push(value);
      else reason ??= row.unavailable?.[column];
    }
    const quantity: Quantity = { value: null, unit: unit_of(table, column), from: [kind, table, column, full] };
    if (values.length > 0 || kind === "count") quantity.value = aggregate(kind, values);
    else quantity.reason = rows.length === 0 ? "no_rows" : (reason ?? "not applicable");
    const num_missing = rows.filter((row) => row[column] === null).length;
    if (num_missing > 0) quantity.num_missing = num_missing;
    return quantity;
  }

  // Rows are found by an index over the columns asked for, built once for each set of columns.
  private matching(table: string, where: Where): Row[] {
    const columns = Object.keys(where).sort();
    const all = rows_of(this.report, table);
    if (columns.length === 0) return all;
    const name = `${table}|${columns.map((column) => (column === "gpu" && where[column] === "*" ? "gpu*" : column)).join("|")}`;
    const any = new Set(columns.filter((column) => column === "gpu" && where[column] === "*"));
    const text = (value: unknown, column: string): string => (any.has(column) && value !== null && value !== undefined ? "*" : String(value ?? null));
    const key = (row: Row | Where): string => columns.map((column) => text(row[column], column)).join("\u0001");
    let index = this.indexes.get(name);
    if (index === undefined) {
      index = new Map();
      for (const row of all) {
        const found = index.get(key(row));
        if (found === undefined) index.set(key(row), [row]);
        else found.push(row);
      }
      this.indexes.set(name, index);
    }
    return index.get(key(where)) ?? [];
  }
}

export function unit_of(table: string, column: string): string {
  return columns_of(table).get(column)?.unit ?? "";
}

export function gpu_where(gpu: Gpu): Where {
  return { input: gpu.input, rank: gpu.rank, gpu: gpu.gpu };
}

function combined(operator: "+" | "-" | "/", a: Quantity, b: Quantity, value: number | null, unit: string): Quantity {
  const quantity: Quantity = { value, unit, from: [operator, a.from, b.from] };
  if (value === null) quantity.reason = a.reason ?? b.reason ?? "zero_length";
  const num_missing = Math.max(a.num_missing ?? 0, b.num_missing ?? 0);
  if (num_missing > 0) quantity.num_missing = num_missing;
  return quantity;
}

export function plus(a: Quantity, b: Quantity): Quantity {
  return combined("+", a, b, a.value === null || b.value === null ? null : a.value + b.value, a.unit);
}

export function minus(a: Quantity, b: Quantity): Quantity {
  return combined("-", a, b, a.value === null || b.value === null ? null : a.value - b.value, a.unit);
}

/** a / b: a share when both have the same unit. */
export function over(a: Quantity, b: Quantity): Quantity {
  const value = a.value === null || b.value === null || b.value === 0 ? null : a.value / b.value;
  return combined("/", a, b, value, a.unit === b.unit ? "1" : `${a.unit}/${b.unit}`);
}
