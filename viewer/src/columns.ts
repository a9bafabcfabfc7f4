// SPDX-License-Identifier: Apache-2.0
// Columns of the tables with unit and meaning: read from docs/schema.json when the page is built, so that they are
// written down once (src/model/rows.h).
import schema from "../../docs/schema.json";

export interface ColumnInfo {
  unit: string; // "1" for a ratio, "" for counts, names and flags
  summary: string;
}

interface SchemaProperty {
  description?: string;
  items?: { properties?: Record<string, { description?: string }> };
}

const UNITS: Record<string, string> = { ratio: "1" };
const KNOWN_UNITS = new Set(["ratio", "ns", "B", "GB/s", "1/s", "FLOP", "TFLOP/s"]);

function info_of(description: string): ColumnInfo {
  const found = /^(.*) \(([^()]+)\)$/s.exec(description);
  if (found === null || !KNOWN_UNITS.has(found[2]!)) return { unit: "", summary: description };
  return { unit: UNITS[found[2]!] ?? found[2]!, summary: found[1]! };
}

const tables = new Map<string, Map<string, ColumnInfo>>();
for (const [table, property] of Object.entries(schema.properties as Record<string, SchemaProperty>)) {
  const columns = new Map<string, ColumnInfo>();
  for (const [name, column] of Object.entries(property.items?.properties ?? {})) {
    if (name !== "unavailable") columns.set(name, info_of(column.description ?? ""));
  }
  if (columns.size > 0) tables.set(table, columns);
}

/** The tables of the contract, in their order. */
export const table_names: readonly string[] = [...tables.keys()];

const none = new Map<string, ColumnInfo>();
export function columns_of(table: string): ReadonlyMap<string, ColumnInfo> {
  return tables.get(table) ?? none;
}
