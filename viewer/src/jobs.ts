// SPDX-License-Identifier: Apache-2.0
// A run of several jobs: steps and throughput have rows for each of them, and none for all.
import type { Row } from "./report";
import type { View } from "./view";

/** Rows of a table with the column `job`: all, or those of the job that the chosen gpu is of. */
export function rows_of_jobs(view: View, table: string): Row[] {
  const rows = view.rows(table);
  if (view.only === null) return rows;
  const input = view.rows("inputs", { input: view.only.input })[0];
  return rows.filter((row) => row["job"] === undefined || row["job"] === input?.["job"]);
}

/** The jobs of these rows; empty when the run is one job. */
export function jobs_of(rows: readonly Row[]): number[] {
  return [...new Set(rows.map((row) => row["job"]))].filter((job): job is number => typeof job === "number");
}
