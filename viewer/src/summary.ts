// SPDX-License-Identifier: Apache-2.0
// The head of the page: what the run is, and the few numbers that answer most questions.
import { plain, text_of_value } from "./format";
import type { Sentence } from "./figure";
import { jobs_of, rows_of_jobs } from "./jobs";
import { iterations_of } from "./panels/shared_rows";
import { text_of } from "./report";
import type { Quantity, View } from "./view";
import { over } from "./view";

export interface Card {
  title: string;
  value: Quantity;
  note: Sentence;
  tone?: "good" | "warn";
}

/** "8 ranks, 8 x AMD Instinct MI300X, 4 iterations, 27.8 MiB of kineto-json traces" */
export function run_line(view: View): string {
  const parts: string[] = [];
  const inputs = view.rows("inputs");
  const num_jobs = jobs_of(inputs).length;
  if (num_jobs > 1) parts.push(`${plain(num_jobs, 0)} jobs`);
  const ranked = inputs.filter((row) => typeof row["rank"] === "number");
  const ranks = new Set(ranked.map((row) => `${text_of(row, "job")}/${text_of(row, "rank")}`));
  if (ranks.size > 0) parts.push(`${plain(ranks.size, 0)} ${ranks.size === 1 ? "rank" : "ranks"}`);
  const cut = view.facts.left_out.find((left) => left.table === "gpus");
  if (cut !== undefined) parts.push(`${plain(cut.rows, 0)} GPUs`);
  const names = new Map<string, number>();
  for (const row of view.rows("gpus")) {
    const name = text_of(row, "name") || `unknown ${text_of(row, "vendor")} GPU`;
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  for (const [name, count] of names) parts.push(`${cut === undefined ? "" : "in this page "}${plain(count, 0)} x ${name}`);
  const num_iterations = iterations_of(view, "timeline", { scope: "iteration" }).num_all;
  if (num_iterations > 0) parts.push(`${plain(num_iterations, 0)} ${num_iterations === 1 ? "iteration" : "iterations"}`);
  const bytes = inputs.reduce((sum, row) => sum + Number(row["bytes"] ?? 0), 0);
  const formats = view.distinct("inputs", "format");
  if (inputs.length > 0) parts.push(`${text_of_value(bytes, "B")} of ${formats.join(", ")}`);
  return parts.join(", ");
}

export function cards(view: View): Card[] {
  const trace = { scope: "trace" };
  const span = view.sum("timeline", "span_ns", trace);
  const share = (column: string): Quantity => over(view.sum("timeline", column, trace), span);
  const found: Card[] = [];
  const throughput = rows_of_jobs(view, "throughput");
  const first = throughput[0];
  if (first !== undefined && jobs_of(throughput).length < 2) {
    found.push({
      title: "Step time",
      value: view.at("throughput", first, "step_time_ns"),
      note: ["slowest GPU, median of ", view.at("throughput", first, "num_steps"), " steps"],
    });
    const tokens = view.at("throughput", first, "tokens_per_s_per_gpu");
    found.push({ title: "Tokens per GPU", value: tokens, note: [view.at("throughput", first, "tokens_per_step"), " tokens a step"] });
    const told = throughput.filter((row) => typeof row["mfu"] === "number");
    const rated = told.find((row) => Number(row["mfu"]) <= 1) ?? told[0] ?? first;
    const doubt = Number(rated["mfu"]) > 1 ? ", above 100 %: chopper check" : "";
    found.push({ title: "MFU", value: view.at("throughput", rated, "mfu"), note: [`convention ${text_of(rated, "convention")}${doubt}`] });
  } else if (span.value !== null) {
    found.push({ title: "Span of a GPU", value: view.mean("timeline", "span_ns", trace), note: [`first to last work, mean of ${view.who}`] });
  }
  if (span.value !== null) {
    found.push({ title: "Computation", value: share("compute_ns"), note: ["of the GPU time"] });
    found.push({ title: "Exposed comm", value: share("exposed_comm_ns"), note: ["of ", view.mean("timeline", "comm_ns", trace), " of communication a GPU"] });
    found.push({ title: "Idle", value: share("idle_ns"), note: ["host late ", share("prep_idle_ns"), ", dispatch ", share("call_idle_ns")] });
  }
  if (view.rows("coverage").length > 0) {
    const linked = view.min("coverage", "launch_time");
    const lost = view.rows("health").some((row) => row["severity"] !== "note");
    found.push({
      title: "Launches linked",
      value: linked,
      note: [lost ? "records were lost or set aside" : "least covered GPU; nothing lost"],
      tone: lost || (linked.value ?? 0) < 0.9 ? "warn" : "good",
    });
  }
  return found;
}
