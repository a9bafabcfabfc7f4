// SPDX-License-Identifier: Apache-2.0
// Computes an expression over the tables again, written apart from src/view.ts on purpose: row by row, no index.

type Row = Record<string, unknown>;
type Tables = Record<string, Row[]>;

const present = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";

export function evaluate(expression: unknown, tables: Tables): number | null {
  const [kind, first, second, third] = expression as [string, unknown, unknown, unknown];
  if (kind === "number") return first as number;
  if (kind === "+" || kind === "-" || kind === "/") {
    const a = evaluate(first, tables);
    const b = evaluate(second, tables);
    if (a === null || b === null) return null;
    if (kind === "/") return b === 0 ? null : a / b;
    return kind === "+" ? a + b : a - b;
  }
  const rows = tables[first as string] ?? [];
  if (kind === "row") {
    const value = rows[second as number]?.[third as string];
    return present(value) ? Number(value) : null;
  }
  const values: number[] = [];
  for (const row of rows) {
    const matches = Object.entries(third as Row).every(([column, value]) => {
      const own = row[column] ?? null;
      return column === "gpu" && value === "*" ? own !== null : own === value;
    });
    const value = row[second as string];
    if (matches && present(value)) values.push(Number(value));
  }
  if (kind === "count") return values.length;
  if (values.length === 0) return null;
  values.sort((a, b) => a - b);
  let sum = 0;
  for (const value of values) sum += value;
  switch (kind) {
    case "sum":
      return sum;
    case "mean":
      return sum / values.length;
    case "min":
      return values[0]!;
    case "max":
      return values[values.length - 1]!;
    case "median":
      return (values[Math.floor((values.length - 1) / 2)]! + values[Math.ceil((values.length - 1) / 2)]!) / 2;
    default:
      throw new Error(`no such aggregate: ${kind}`);
  }
}

/** Whether two numbers are equal but for the order of additions. */
export function is_same(a: number | null, b: number | null): boolean {
  if (a === null || b === null) return a === b;
  return Math.abs(a - b) <= 1e-9 * Math.max(1e-300, Math.abs(a), Math.abs(b));
}
