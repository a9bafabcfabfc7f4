// SPDX-License-Identifier: Apache-2.0
// Panels over small reports. What a figure says, draws and lists is compared with test/snapshots/<panel>.txt;
// CHOPPER_BLESS=1 writes them: read the difference.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { columns_of, table_names } from "../src/columns";
import type { Chart, Figure, Sentence } from "../src/figure";
import { is_nothing } from "../src/figure";
import { kernel_label, text_of_value } from "../src/format";
import { option_of } from "../src/draw/options";
import { light } from "../src/palette";
import { all_panels } from "../src/panels/sections";
import { parse_report } from "../src/report";
import type { Report } from "../src/report";
import { cards, run_line } from "../src/summary";
import type { Quantity, View } from "../src/view";
import { reason_text } from "../src/view";
import { evaluate, is_same } from "./evaluate";
import { example_report_text } from "./example_report";
import { empty_report, small_report, tables, view_of } from "./small_report";

const snapshots = process.env["CHOPPER_SNAPSHOTS"] ?? "test/snapshots";

const quantity_text = (quantity: Quantity | null): string => {
  if (quantity === null) return ".";
  if (quantity.value === null) return `(${reason_text(quantity.reason)})`;
  return text_of_value(quantity.value, quantity.unit) + (quantity.num_missing === undefined ? "" : ` (${quantity.num_missing} missing)`);
};
const sentence_text = (sentence: Sentence): string => sentence.map((part) => (typeof part === "string" ? part : quantity_text(part))).join("");

function chart_lines(chart: Chart): string[] {
  if (chart.kind === "scatter") {
    const lines = [`scatter: x ${chart.x_title} [${chart.x_unit}], y ${chart.y_title} [${chart.y_unit}]`];
    for (const series of chart.series) {
      for (const point of series.points) lines.push(`  ${series.name} (${series.colour}, ${series.symbol}): ${quantity_text(point.x)}, ${quantity_text(point.y)}, ${point.name}${point.label === undefined ? "" : `, labelled ${point.label}`}`);
    }
    return lines;
  }
  const lines = [`${chart.kind} in ${chart.direction}: ${chart.value_title} [${chart.unit}] over ${chart.category_title}: ${chart.categories.join(", ")}`];
  for (const series of chart.series) {
    const name = `  ${series.name} (${series.colour})`;
    if ("values" in series) lines.push(`${name}: ${series.values.map(quantity_text).join(", ")}`);
    else for (const point of series.points) lines.push(`${name}, ${chart.categories[point.category]}: ${[point.low, point.middle, point.high].map(quantity_text).join(" .. ")}`);
  }
  return lines;
}

function figure_text(figure: Figure): string {
  const table = [figure.table.columns, ...figure.table.rows.map((row) => row.map((cell) => (typeof cell === "string" ? cell : quantity_text(cell))))];
  const lines = [
    sentence_text(figure.says),
    ...(figure.chart === undefined ? [] : chart_lines(figure.chart)),
    ...table.map((row) => `| ${row.join(" | ")} |`),
    ...(figure.notes ?? []),
    figure.how,
  ];
  // ASCII, so that the files can be read anywhere.
  return lines.join("\n").replace(/[^\n -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`) + "\n";
}

for (const panel of all_panels) {
  test(`${panel.id} is as in its snapshot`, () => {
    const result = panel.build(view_of(small_report()));
    const text = is_nothing(result) ? `nothing: ${result.nothing}\n` : figure_text(result);
    const file = path.join(snapshots, `${panel.id}.txt`);
    if (process.env["CHOPPER_BLESS"] === "1") writeFileSync(file, text);
    assert.equal(text, existsSync(file) ? readFileSync(file, "utf8") : "", `${file}; CHOPPER_BLESS=1 writes it`);
  });

  test(`${panel.id} of an empty report says why there is nothing`, () => {
    const result = panel.build(view_of(empty_report()));
    if (panel.id === "health") {
      assert.ok(!is_nothing(result));
      return;
    }
    assert.ok(is_nothing(result) && result.nothing.length > 10, panel.id);
  });

  test(`${panel.id} reads tables that there are, and tells what it shows`, () => {
    for (const table of panel.reads) assert.ok(table_names.includes(table), table);
    assert.match(panel.shows, /[.?]$/);
    assert.ok(panel.title.length > 3);
  });
}

function quantities_of(view: View): Quantity[] {
  const found: Quantity[] = [];
  const add = (parts: readonly unknown[]): void => {
    for (const part of parts) if (typeof part === "object" && part !== null && "from" in part) found.push(part as Quantity);
  };
  for (const card of cards(view)) add([card.value, ...card.note]);
  for (const panel of all_panels) {
    const figure = panel.build(view);
    if (is_nothing(figure)) continue;
    add(figure.says);
    for (const row of figure.table.rows) add(row);
    for (const series of figure.chart?.series ?? []) {
      if ("values" in series) add(series.values);
      else for (const point of series.points) add("x" in point ? [point.x, point.y] : [point.low, point.middle, point.high]);
    }
  }
  return found;
}

test("every quantity is what its expression gives", () => {
  const report = parse_report(example_report_text({ ranks: 4, iterations: 3, layers: 2 }));
  const tables = Object.fromEntries(report.tables);
  const everything = view_of(report);
  for (const view of [everything, view_of(report, everything.gpus[2]!), view_of(small_report())]) {
    const own = view.report === report ? tables : Object.fromEntries(view.report.tables);
    const quantities = quantities_of(view);
    assert.ok(quantities.length > 200);
    for (const quantity of quantities) {
      const again = evaluate(JSON.parse(JSON.stringify(quantity.from)), own);
      assert.ok(is_same(again, quantity.value), `${JSON.stringify(quantity)} against ${again}`);
      assert.ok(quantity.value !== null || quantity.reason !== undefined);
    }
  }
});

test("parts of the time add up to the whole", () => {
  const view = view_of(small_report());
  const figure = all_panels.find((panel) => panel.id === "gpu_split")!.build(view) as Figure;
  for (const row of figure.table.rows) {
    const [span, ...parts] = row.slice(1).map((cell) => (cell as Quantity).value!);
    assert.equal(parts.reduce((a, b) => a + b), span);
  }
});

test("all charts can be drawn, with a unit at each axis of times, bytes and shares", () => {
  const view = view_of(parse_report(example_report_text({ ranks: 20, iterations: 3, layers: 2 })));
  for (const panel of all_panels) {
    const figure = panel.build(view);
    if (is_nothing(figure) || figure.chart === undefined) continue;
    const option = option_of(figure.chart, light, 500) as { xAxis: { name?: string; type: string }; yAxis: { name?: string; type: string }; series: unknown[] };
    assert.ok(option.series.length > 0, panel.id);
    for (const axis of [option.xAxis, option.yAxis]) {
      if (axis.type !== "category") assert.match(axis.name ?? "", /, (s|ms|\u00b5s|ns|%|GiB|MiB|GB\/s)$|^message size$|^records in the queue$/, panel.id);
    }
  }
});

test("thousands of gpus are drawn in part, and it is said", () => {
  const ranks = Array.from({ length: 3000 }, (_, rank) => ({ input: rank, rank, gpu: 0, num_windows: 1, window_ns: 5, window_compute_ns: 1000 + rank, comm_wait_ns: 10, compute_ratio: 1 + rank / 1e5 }));
  const view = view_of(parse_report(JSON.stringify({ chopper: { version: "1", schema: 1 }, ranks })));
  for (const id of ["ranks", "rank_waits"]) {
    const figure = all_panels.find((panel) => panel.id === id)!.build(view) as Figure;
    const chart = figure.chart!;
    const drawn = chart.kind === "scatter" ? chart.series.flatMap((series) => series.points).length : (chart as { categories: string[] }).categories.length;
    assert.ok(drawn <= 2000, id);
    assert.ok(figure.notes!.some((note) => /3,?000/.test(note)), id);
  }
});

test("integers beyond 2^53 keep their digits, fractions and strings stay as they are", () => {
  const report = parse_report('{"chopper":{"version":"1","schema":1},"timeline":[{"start_ns":1768423881454707502,"x":0.12345678901234567,"y":-9223372036854775807,"z":12345678901234567890.5,"name":"1768423881454707502 \\"9223372036854775807\\""}]}');
  const row = report.tables.get("timeline")![0]!;
  assert.equal(row["start_ns"], 1768423881454707502n);
  assert.equal(row["y"], -9223372036854775807n);
  assert.equal(row["x"], 0.12345678901234567);
  assert.equal(row["z"], 12345678901234567890.5);
  assert.equal(row["name"], '1768423881454707502 "9223372036854775807"');
});

test("columns carry their unit from the schema", () => {
  assert.equal(columns_of("timeline").get("span_ns")?.unit, "ns");
  assert.equal(columns_of("operations").get("overlap_ratio")?.unit, "1");
  assert.equal(columns_of("collectives").get("busbw_gbps")?.unit, "GB/s");
  assert.equal(columns_of("gpus").get("spec")?.unit, "");
});

test("values read well", () => {
  assert.equal(text_of_value(612_400_000, "ns"), "612.4 ms");
  assert.equal(text_of_value(999, "ns"), "999 ns");
  assert.equal(text_of_value(12_345, "ns"), "12.35 \u00b5s");
  assert.equal(text_of_value(0, "ns"), "0 ns");
  assert.equal(text_of_value(0.1234, "1"), "12.3 %");
  assert.equal(text_of_value(0.9999, "1"), ">99.9 %");
  assert.equal(text_of_value(0.0001, "1"), "<0.1 %");
  assert.equal(text_of_value(1, "1"), "100.0 %");
  assert.equal(text_of_value(1234567, ""), "1,234,567");
  assert.equal(text_of_value(3 * 2 ** 30, "B"), "3.000 GiB");
  assert.equal(text_of_value(9889.5, "1/s"), "9,890 /s");
});

test("labels of kernels are those of the text answer", () => {
  assert.equal(kernel_label("void at::native::elementwise_kernel<4, (anonymous namespace)::Add>(int, float*)", 60), "elementwise_kernel<4, Add>");
  assert.equal(kernel_label("Cijk_Alik_Bljk_BBS_BH_MT256x128x64_MI16", 60), "Cijk_Alik_Bljk..._MT256x128x64_MI16");
  assert.equal(kernel_label("abcdefgh", 6), "abc...");
});

// The small report again, as two jobs of one rank each.
function report_of_jobs(): Report {
  const rows = structuredClone(tables);
  rows["inputs"]!.forEach((row, i) => Object.assign(row, { job: i, rank: 0 }));
  for (const table of ["gpus", "timeline", "ranks"]) for (const row of rows[table]!) row["rank"] = 0;
  for (const table of ["steps", "throughput"]) rows[table] = [0, 1].flatMap((job) => rows[table]!.map((row) => ({ job, ...row, num_gpus: 1 })));
  rows["steps"]!.forEach((row, i) => Object.assign(row, { step_ns: 1_000_000 + 100_000 * i }));
  return parse_report(JSON.stringify({ chopper: { version: "1", schema: 1 }, ...rows }));
}

test("several jobs have no step time in common", () => {
  const report = report_of_jobs();
  const view = view_of(report);
  assert.match(run_line(view), /^2 jobs, 2 ranks, 2 x NVIDIA H100/);
  assert.ok(cards(view).every((card) => !["Step time", "Tokens per GPU", "MFU"].includes(card.title)));
  const figure = (id: string, of: View): Figure => all_panels.find((panel) => panel.id === id)!.build(of) as Figure;
  assert.match(sentence_text(figure("steps", view).says), /2 jobs/);
  assert.equal(figure("steps", view).chart, undefined);
  assert.deepEqual(figure("steps", view).table.rows.map((row) => row[0]), ["0", "0", "1", "1"]);
  assert.match(sentence_text(figure("throughput", view).says), /2 jobs/);
  assert.deepEqual(figure("throughput", view).table.columns, ["convention", "job 0 causal", "job 1 causal"]);
  assert.deepEqual(figure("ranks", view).table.rows.map((row) => row[0]).sort(), ["rank 0 (input 0)", "rank 0 (input 1)"]);
  assert.ok(figure("ranks", view).notes!.some((note) => /several jobs/.test(note)));
  // A chosen gpu has the steps of its job.
  const second = view_of(report, view.gpus.find((gpu) => gpu.input === 1)!);
  assert.deepEqual(cards(second)[0]!.value.value, 1_200_000);
  assert.match(sentence_text(figure("steps", second).says), /^The only step that counts takes 1\.200 ms/);
  assert.deepEqual(figure("throughput", second).table.columns, ["convention", "causal"]);
  for (const of of [view, second]) {
    for (const quantity of quantities_of(of)) {
      assert.ok(is_same(evaluate(JSON.parse(JSON.stringify(quantity.from)), Object.fromEntries(report.tables)), quantity.value), JSON.stringify(quantity));
    }
  }
});

const range_points = (view: View): { low: number; middle: number | null; high: number }[] => {
  const figure = all_panels.find((panel) => panel.id === "steps")!.build(view) as Figure;
  assert.equal(figure.chart?.kind, "ranges");
  const chart = figure.chart as Extract<Chart, { kind: "ranges" }>;
  return chart.series[0]!.points.map((point) => ({ low: point.low.value!, middle: point.middle.value, high: point.high.value! }));
};

test("the median window of a step lies between its shortest and its longest", () => {
  const points = range_points(view_of(parse_report(example_report_text({ ranks: 20, iterations: 5, layers: 2 }))));
  assert.equal(points.length, 6);
  for (const point of points) assert.ok(point.low <= point.middle! && point.middle! <= point.high, JSON.stringify(point));
});

test("iterations of ranks whose traces begin at different ones meet by their number", () => {
  const view = view_of(parse_report(example_report_text({ ranks: 2, iterations: 2, layers: 1 })));
  const figure = all_panels.find((panel) => panel.id === "window_split")!.build(view) as Figure;
  assert.deepEqual(figure.table.rows.map((row) => row[0]), ["10", "11", "12"]);
  const windows = view.report.tables.get("timeline")!.filter((row) => row["iteration"] === 11);
  assert.deepEqual(windows.map((row) => row["ordinal"]), [1, 0]);
  assert.equal((figure.table.rows[1]![1] as Quantity).value, (Number(windows[0]!["window_ns"]) + Number(windows[1]!["window_ns"])) / 2);
  assert.match(run_line(view), /, 3 iterations, /);
});

// Two files of one gpu, one after the other, each with two iterations, and two steps of a gpu that has all four in one.
function report_of_files(numbers: (number | null)[]): Report {
  const inputs = [0, 1, 2].map((input) => ({ input, rank: input === 2 ? 1 : 0 }));
  const windows = [...[0, 1, 0, 1].map((ordinal, i) => ({ input: i >> 1, rank: 0, ordinal, i })), ...[0, 1, 2, 3].map((i) => ({ input: 2, rank: 1, ordinal: i, i }))];
  const number = (i: number): Record<string, unknown> => (numbers[i] === null ? { iteration: null, unavailable: { iteration: "no_mark" } } : { iteration: numbers[i] });
  const timeline = windows.map(({ i, ...row }) => ({ ...row, gpu: 0, scope: "iteration", window_ns: 100 * (i + 1) + row.rank, complete: true, last: i === 3, ...number(i) }));
  const steps = [0, 1, 2, 3].map((i) => ({ ordinal: i, num_gpus: 2, step_ns: 100 * (i + 1) + 1, shortest_ns: 100 * (i + 1), complete: true, last: i === 3, ...number(i) }));
  return parse_report(JSON.stringify({ chopper: { version: "1", schema: 1 }, inputs, timeline, steps }));
}

test("consecutive files of a gpu count their iterations anew", () => {
  assert.deepEqual(range_points(view_of(report_of_files([5, 6, 7, 8]))).map((point) => point.middle), [100.5, 200.5, 300.5, 400.5]);
  for (const numbers of [[null, null, null, null], [5, 6, 5, 6]]) {
    const view = view_of(report_of_files(numbers));
    assert.deepEqual(range_points(view).map((point) => point.middle), [null, null, null, null]);
    const figure = all_panels.find((panel) => panel.id === "window_split")!.build(view) as Figure;
    assert.ok(figure.notes!.some((note) => /follow each other/.test(note)));
  }
});

test("the median step is the step time of the head", () => {
  const view = view_of(parse_report(example_report_text({ ranks: 4, iterations: 4, layers: 2 })));
  const figure = all_panels.find((panel) => panel.id === "steps")!.build(view) as Figure;
  const card = cards(view).find((each) => each.title === "Step time")!;
  assert.match(sentence_text(figure.says), new RegExp(`^\\d complete steps take .*, median ${quantity_text(card.value)}\\.$`));
  const lengths = view.rows("steps", { complete: true, last: false }).map((row) => Number(row["step_ns"]));
  assert.ok(lengths.length > 1 && lengths.includes(card.value.value!));
});

test("the head names the run", () => {
  assert.equal(run_line(view_of(small_report())), "2 ranks, 2 x NVIDIA H100, 2 iterations, 2.000 KiB of kineto-json");
});
