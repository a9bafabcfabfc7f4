// SPDX-License-Identifier: Apache-2.0
// Opens the page in Chromium, from a file and without a network, and checks what it shows against the JSON in it.
//
//   node browser_test.mjs --viewer viewer --template PAGE.html --chopper PROGRAM [--screenshots FOLDER] [--chromium PROGRAM]
//   node browser_test.mjs --viewer viewer PAGE.html...      checks these pages of report -o alone
//
// Three pages: a synthetic run of eight ranks through the program; a made-up report with every table filled; a run of
// 200 gpus of which the page holds a part. Ends with 77, which ctest takes for "skipped", where there is no browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import type * as Playwright from "playwright-core";
import type { Browser, Page } from "playwright-core";

import { evaluate, is_same } from "./evaluate";
import { example_report_text } from "./example_report";
import { fill_page } from "./fill_page";

const MAX_PAGE_BYTES = 6_000_000; // of a run of eight ranks

const { values: options, positionals: pages } = parseArgs({
  allowPositionals: true,
  options: { viewer: { type: "string" }, template: { type: "string" }, chopper: { type: "string" }, screenshots: { type: "string" }, chromium: { type: "string", default: "/usr/bin/chromium" } },
});

function skip(why: string): never {
  console.log(`browser test skipped: ${why}`);
  process.exit(77);
}

if (!options.chromium || !existsSync(options.chromium)) skip(`there is no ${options.chromium} (tools/setup.sh browser installs it)`);

function load_playwright(): typeof Playwright {
  try {
    return createRequire(path.resolve(options.viewer!, "package.json"))("playwright-core") as typeof Playwright;
  } catch {
    return skip("playwright-core is missing (tools/setup.sh viewer installs it)");
  }
}
const playwright = load_playwright();

type Row = Record<string, unknown>;

/** The report in a page, read apart from src/report.ts: long integers as bigint, by the column they are in. */
function tables_in(html: string): Record<string, Row[]> {
  const found = /<script type="application\/json" id="report">([^]*?)<\/script>/.exec(html);
  assert.ok(found, "no report in the page");
  const text = found[1]!;
  assert.ok(!text.includes("<"), "an unescaped < in the data");
  const parsed = JSON.parse(text.replace(/("\w*start_ns"|"launch_ns"):(-?\d+)/g, '$1:"$2"')) as Record<string, Row[]>;
  delete parsed["chopper"];
  for (const rows of Object.values(parsed)) {
    for (const row of rows) {
      for (const column of Object.keys(row)) {
        if (/(start_ns|^launch_ns)$/.test(column) && typeof row[column] === "string") row[column] = BigInt(row[column] as string);
      }
    }
  }
  return parsed;
}

interface Shown {
  from: string;
  value: string;
  unit: string;
  text: string;
}

const FACTORS: Record<string, number> = { ns: 1, "\u00b5s": 1e3, ms: 1e6, s: 1e9, "%": 0.01, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, MFLOP: 1e6, GFLOP: 1e9, TFLOP: 1e12, PFLOP: 1e15, FLOP: 1 };

/** Whether the text shows the value, up to half of its last digit. */
function shows(printed: string, value: number): boolean {
  const text = printed.replace("\u2020", ""); // the mark of rows without a value
  if (text === "<0.1 %") return value > 0 && value < 0.0005;
  if (text === ">99.9 %") return value < 1 && value >= 0.9995;
  const found = /^(-?[\d,]+)(?:\.(\d+))?(?: (\S+))?$/.exec(text);
  if (found === null) return false;
  const factor = FACTORS[found[3] ?? ""] ?? 1;
  const number = Number(`${found[1]!.replaceAll(",", "")}.${found[2] ?? "0"}`);
  return Math.abs(number * factor - value) <= 0.5001 * factor * 10 ** -(found[2]?.length ?? 0);
}

async function check_quantities(page: Page, tables: Record<string, Row[]>, least: number): Promise<number> {
  const shown: Shown[] = await page.$$eval(".quantity", (all) =>
    all.map((each) => ({ from: each.getAttribute("data-from") ?? "", value: each.getAttribute("data-value") ?? "", unit: each.getAttribute("data-unit") ?? "", text: each.textContent ?? "" })),
  );
  assert.ok(shown.length >= least, `only ${shown.length} numbers`);
  for (const each of shown) {
    const again = evaluate(JSON.parse(each.from), tables);
    const value = each.value === "null" ? null : Number(each.value);
    assert.ok(is_same(again, value), `${each.text} stands for ${each.value}, and ${each.from} gives ${again}`);
    if (value === null) assert.match(each.text, /^\u2013 \w/, "a missing value gives its reason");
    else assert.ok(shows(each.text, value), `${JSON.stringify(each.text)} does not show ${value}`);
  }
  return shown.length;
}

/** Cells of the tables of the report, letter for letter where they are whole numbers or texts. */
async function check_tables(page: Page, tables: Record<string, Row[]>): Promise<number> {
  const cells = await page.$$eval(".tables details[data-table] td[data-column]", (all) =>
    all.map((cell) => [cell.closest("details")!.getAttribute("data-table")!, cell.parentElement!.getAttribute("data-row")!, cell.getAttribute("data-column")!, cell.textContent!, cell.className] as const),
  );
  for (const [table, index, column, text, classes] of cells) {
    const row = tables[table]![Number(index)]!;
    const value = row[column];
    const where = `${table}[${index}].${column}`;
    if (value === null) {
      const reason = (row["unavailable"] as Record<string, string>)[column]!;
      assert.ok(classes.includes("missing") && text === reason.replaceAll("_", " "), where);
    } else if (value === undefined) {
      assert.equal(text, "", where);
    } else if (typeof value === "bigint" || Number.isInteger(value)) {
      assert.equal(text.replaceAll(",", ""), String(value), where);
    } else if (typeof value === "number") {
      assert.ok(Math.abs(Number.parseFloat(text.replaceAll(",", "")) - value) <= 5.001e-4 * Math.max(1, Math.abs(value)) || FACTORS[text.split(" ")[1] ?? ""] !== undefined, `${where}: ${text} for ${value}`);
    } else if (!Array.isArray(value)) {
      assert.equal(text, String(value), where);
    }
  }
  return cells.length;
}

interface Expectation {
  name: string;
  file: string;
  numbers: number; // least
  is_full: boolean; // every panel has a figure
}

async function check_page(browser: Browser, expected: Expectation): Promise<void> {
  const html = readFileSync(expected.file, "utf8");
  const tables = tables_in(html);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  const problems: string[] = [];
  page.on("console", (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  const address = pathToFileURL(expected.file).href;
  page.on("request", (request) => {
    if (request.url() !== address && !request.url().startsWith("data:")) problems.push(`request: ${request.url()}`);
  });
  const begin = Date.now();
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  const load_ms = Date.now() - begin;

  const panels = await page.$$eval(".panel", (all) => all.map((panel) => ({ id: panel.id, empty: panel.querySelector(".empty")?.textContent ?? "", svgs: panel.querySelectorAll(".chart svg").length, charts: panel.querySelectorAll(".chart").length, label: panel.querySelector(".chart")?.getAttribute("aria-label") ?? "" })));
  assert.ok(panels.length >= 20);
  for (const panel of panels) {
    assert.equal(panel.svgs, panel.charts, `${panel.id} is drawn`);
    if (panel.charts > 0) assert.ok(panel.label.length > 60, `${panel.id} has a summary in words`);
    if (expected.is_full) assert.equal(panel.empty, "", panel.id);
    else if (panel.empty !== "") assert.match(panel.empty, /^No [^]*\.$/, panel.id);
  }
  // Tables inside closed details are made when they open.
  await page.$$eval("details", (all) => all.forEach((each) => ((each as HTMLDetailsElement).open = true)));
  await page.waitForFunction(() => [...document.querySelectorAll("details")].every((each) => each.children.length > 1));
  const num_quantities = await check_quantities(page, tables, expected.numbers);
  const num_cells = await check_tables(page, tables);

  // A heading sorts: the largest first, then the smallest.
  if ((tables["kernel_summary"] ?? []).length > 3) {
    const heading = page.locator('.tables details[data-table="kernel_summary"] th button', { hasText: /^total_ns$/ });
    for (const [click, largest_first] of [[1, true], [2, false]] as const) {
      await heading.click();
      const column = await page.$$eval('.tables details[data-table="kernel_summary"] td[data-column="total_ns"]', (all) => all.map((cell) => Number(cell.textContent!.replaceAll(",", ""))));
      const sorted = [...column].sort((a, b) => (largest_first ? b - a : a - b));
      assert.deepEqual(column, sorted, `click ${click}`);
    }
  }
  await page.$$eval("details", (all) => all.forEach((each) => ((each as HTMLDetailsElement).open = false)));

  for (const [width, height] of [[1280, 900], [1920, 1080], [800, 900]] as const) {
    for (const scheme of ["light", "dark"] as const) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: scheme });
      await page.waitForTimeout(200); // charts follow the size of their frame in the next frame
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${expected.name} at ${width} is too wide`);
      const overflowing = await page.$$eval(".chart", (all) => all.filter((chart) => (chart.querySelector("svg")?.clientWidth ?? 0) > chart.clientWidth + 1).length);
      assert.equal(overflowing, 0, `charts at ${width}`);
      if (options.screenshots) await page.screenshot({ path: path.join(options.screenshots, `${expected.name}-${width}x${height}-${scheme}.png`), fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  const printed = await page.pdf({ format: "A4" });
  if (options.screenshots) writeFileSync(path.join(options.screenshots, `${expected.name}.pdf`), printed);

  // One gpu alone: the same numbers, of its rows.
  const choice = page.locator("#choose-gpu");
  if ((await choice.count()) > 0) {
    await choice.selectOption({ index: 2 });
    await check_quantities(page, tables, 1);
    const froms = await page.$$eval("#gpu_split .quantity", (all) => all.map((each) => each.getAttribute("data-from") ?? ""));
    assert.ok(froms.length > 0 && froms.every((from) => from.includes('"input":')), "all numbers are of one gpu");
  }
  assert.deepEqual(problems, []);
  await page.close();
  console.log(`${expected.name}: ${statSync(expected.file).size.toLocaleString("en-US")} bytes, drawn in ${load_ms} ms, ${num_quantities} numbers and ${num_cells} cells as in the JSON`);
}

async function check_these(files: string[]): Promise<void> {
  const browser = await playwright.chromium.launch({ executablePath: options.chromium!, headless: true, args: ["--no-sandbox"] });
  for (const file of files) await check_page(browser, { name: path.basename(file, ".html"), file, numbers: 1, is_full: false });
  await browser.close();
}

if (pages.length > 0) {
  if (options.screenshots) mkdirSync(options.screenshots, { recursive: true });
  await check_these(pages);
  process.exit(0);
}

const folder = mkdtempSync(path.join(os.tmpdir(), "chopper-page-"));
try {
  if (options.screenshots) mkdirSync(options.screenshots, { recursive: true });
  const template = readFileSync(options.template!, "utf8");
  const in_folder = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const run = path.join(folder, "run");
  execFileSync(options.chopper!, ["synth", "--preset", "paper-b2s4-fsdp2", "-q", "-o", run]);
  const real = path.join(folder, "real.html");
  execFileSync(options.chopper!, ["report", run, "-q", "-o", real], { stdio: ["ignore", "ignore", "inherit"] });
  assert.ok(statSync(real).size < MAX_PAGE_BYTES, "size of the page of eight ranks");

  const browser = await playwright.chromium.launch({ executablePath: options.chromium, headless: true, args: ["--no-sandbox"] });
  await check_page(browser, { name: "real", file: real, numbers: 100, is_full: false });
  const full = fill_page(template, example_report_text({ ranks: 8, iterations: 4, layers: 32 }), { run: "made-up", left_out: [] });
  await check_page(browser, { name: "full", file: in_folder("full.html", full), numbers: 800, is_full: true });
  const left_out = [{ table: "timeline", rows: 9000, embedded: 600, rule: "those of 200 of 3000 gpus" }];
  const many = fill_page(template, example_report_text({ ranks: 200, iterations: 2, layers: 2 }), { run: "200 gpus", left_out });
  await check_page(browser, { name: "many", file: in_folder("many.html", many), numbers: 800, is_full: true });
  await browser.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
