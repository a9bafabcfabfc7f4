// SPDX-License-Identifier: Apache-2.0
// The report as the page holds it: the tables of `report --json` (docs/schema.json), and facts about the page itself.

export interface Example {
  where: string;
  what: string;
}
export type Cell = number | bigint | string | boolean | null | undefined | number[] | Example[];
export interface Row {
  [column: string]: Cell | Record<string, string>;
  unavailable?: Record<string, string>;
}

export interface Report {
  version: string;
  schema: number;
  tables: Map<string, Row[]>;
}

/** Rows of a table that are in the run and not in the page. */
export interface LeftOut {
  table: string;
  rows: number; // of the run
  embedded: number; // in the page
  rule: string; // which ones are in the page
}

/** What is true of the page, not of the run. */
export interface PageFacts {
  run: string;
  left_out: LeftOut[];
}

// Integers beyond 2^53 (absolute times) would lose digits as numbers: they are read as bigint. The marker cannot be in a
// text of ours: the JSON writer escapes control characters.
const MARK = "\u0001";
// Strings and numbers with a fraction or an exponent are matched to be passed over.
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.|[eE])[\d.eE+-]*|-?\d{16,}/g;
const LONG_INTEGER = /^-?\d+$/;

function restore(row: Row): void {
  for (const column in row) {
    const value = row[column];
    if (typeof value === "string" && value.startsWith(MARK)) row[column] = BigInt(value.slice(1));
  }
}

export function parse_report(text: string): Report {
  const marked = text.replace(STRING_OR_NUMBER, (found) => (LONG_INTEGER.test(found) ? `"\\u0001${found}"` : found));
  const parsed = JSON.parse(marked) as Record<string, unknown>;
  const about = (parsed["chopper"] ?? {}) as { version?: string; schema?: number };
  const tables = new Map<string, Row[]>();
  for (const [name, rows] of Object.entries(parsed)) {
    if (!Array.isArray(rows)) continue;
    for (const row of rows as Row[]) restore(row);
    tables.set(name, rows as Row[]);
  }
  return { version: about.version ?? "", schema: about.schema ?? 0, tables };
}

export function rows_of(report: Report, table: string): Row[] {
  return report.tables.get(table) ?? [];
}

export function text_of(row: Row, column: string): string {
  const value = row[column];
  return value === null || value === undefined ? "" : String(value);
}

/** One device as one input saw it: what the rows of other tables refer to. */
export interface Gpu {
  input: number;
  rank: number | null;
  gpu: number | null;
  label: string;
}

const number_or_null = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** The gpus that have rows, by rank, gpu and input, with the shortest label that tells them apart. */
export function gpus_of(report: Report): Gpu[] {
  const seen = new Map<string, Gpu>();
  for (const table of ["gpus", "timeline"]) {
    for (const row of rows_of(report, table)) {
      const gpu = {
        input: Number(row["input"] ?? 0),
        rank: number_or_null(row["rank"]),
        gpu: number_or_null(row["gpu"]),
        label: "",
      };
      const key = `${gpu.input}/${gpu.rank}/${gpu.gpu}`;
      if (!seen.has(key)) seen.set(key, gpu);
    }
  }
  const last = Number.MAX_SAFE_INTEGER; // unknown ones come last
  const gpus = [...seen.values()].sort(
    (a, b) => (a.rank ?? last) - (b.rank ?? last) || (a.gpu ?? last) - (b.gpu ?? last) || a.input - b.input,
  );
  const count = (key: (gpu: Gpu) => string): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const gpu of gpus) counts.set(key(gpu), (counts.get(key(gpu)) ?? 0) + 1);
    return counts;
  };
  const process = (gpu: Gpu): string => (gpu.rank === null ? `input ${gpu.input}` : `rank ${gpu.rank}`);
  const device = (gpu: Gpu): string => `${process(gpu)} gpu ${gpu.gpu ?? "?"}`;
  const by_process = count(process);
  const by_device = count(device);
  for (const gpu of gpus) {
    gpu.label = by_process.get(process(gpu)) === 1 ? process(gpu) : device(gpu);
    if ((by_device.get(device(gpu)) ?? 0) > 1) gpu.label += ` (input ${gpu.input})`;
  }
  return gpus;
}

/** How a row names its gpu. */
export function gpu_label(gpus: readonly Gpu[], row: Row): string {
  const found = gpus.find(
    (gpu) =>
      gpu.input === row["input"] &&
      gpu.rank === number_or_null(row["rank"]) &&
      gpu.gpu === number_or_null(row["gpu"]),
  );
  return found?.label ?? `input ${text_of(row, "input")}`;
}
