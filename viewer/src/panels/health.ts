// SPDX-License-Identifier: Apache-2.0
import type { Figure, Panel } from "../figure";
import type { Example, Row } from "../report";
import { text_of } from "../report";
import type { Quantity } from "../view";

const ORDER = ["data_loss", "skipped", "note"];

function first_example(row: Row): string {
  const example = (row["examples"] as Example[] | undefined)?.[0];
  return example === undefined ? "" : `${example.where}${example.what === "" ? "" : `: ${example.what}`}`;
}

export const panel: Panel = {
  id: "health",
  title: "Health of the traces",
  shows: "Everything odd that was met in reading. Nothing is dropped uncounted; chopper check says what it costs.",
  reads: ["health"],
  build(view): Figure {
    const rows = view.rows("health");
    const worst = ORDER.filter((severity) => severity !== "note" && rows.some((row) => row["severity"] === severity));
    const kinds = [...new Set(rows.map((row) => text_of(row, "kind")))].sort((a, b) => rank(rows, a) - rank(rows, b) || (a < b ? -1 : 1));
    const sum = (where: Record<string, string>): Quantity => view.sum("health", "count", where);
    return {
      says:
        rows.length === 0
          ? ["Nothing odd was met: every record was read."]
          : worst.length === 0
            ? ["Nothing was lost. What was odd is noted below."]
            : worst.flatMap((severity, i) => [
                i === 0 ? "" : ", ",
                sum({ severity }),
                `${severity === "skipped" ? " records were set aside" : " losses of data"}${i === worst.length - 1 ? "." : ""}`,
              ]),
      how: "health: sum of count over inputs, with the first example.",
      table: {
        columns: ["what", "severity", "count", "first example"],
        rows: kinds.map((kind) => {
          const matching = view.rows("health", { kind });
          return [
            kind.replaceAll("_", " "),
            text_of(matching[0]!, "severity").replaceAll("_", " "),
            sum({ kind }),
            first_example(matching[0]!),
          ];
        }),
      },
      table_open: rows.length > 0,
    };
  },
};

function rank(rows: readonly Row[], kind: string): number {
  const row = rows.find((each) => each["kind"] === kind);
  return row === undefined ? ORDER.length : ORDER.indexOf(text_of(row, "severity"));
}
