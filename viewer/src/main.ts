// SPDX-License-Identifier: Apache-2.0
// Builds the page from the two JSON texts that the program has put into it.
import { table_names } from "./columns";
import { chart_box, dispose_charts, legend } from "./draw/chart_box";
import { element, quantity_element, sentence_nodes, sentence_text } from "./draw/elements";
import { figure_table, report_table } from "./draw/tables";
import type { Panel } from "./figure";
import { is_nothing } from "./figure";
import { sections } from "./panels/sections";
import type { Gpu, LeftOut, PageFacts, Report } from "./report";
import { parse_report, rows_of } from "./report";
import { cards, run_line } from "./summary";
import { View } from "./view";

function embedded_text(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

/** One sentence for each rule by which rows were chosen, with the tables it concerns. */
function left_out_texts(left_out: readonly LeftOut[]): string[] {
  const by_rule = new Map<string, string[]>();
  for (const left of left_out) {
    const counts = `${left.table} ${left.embedded.toLocaleString("en-US")} of ${left.rows.toLocaleString("en-US")}`;
    by_rule.set(left.rule, [...(by_rule.get(left.rule) ?? []), counts]);
  }
  return [...by_rule].map(([rule, counts]) => `In this page are ${rule} (rows: ${counts.join(", ")}).`);
}

function panel_element(panel: Panel, view: View): HTMLElement {
  const box = element("section", { class: panel.wide ? "panel wide" : "panel", id: panel.id });
  box.append(element("h3", {}, panel.title));
  const result = panel.build(view);
  if (is_nothing(result)) {
    box.classList.add("nothing");
    box.append(element("p", { class: "empty" }, result.nothing));
    return box;
  }
  const says = sentence_text(result.says);
  box.append(element("p", { class: "says" }, ...sentence_nodes(result.says)));
  if (result.chart !== undefined) {
    const names = legend(result.chart);
    if (names !== null) box.append(names);
    box.append(chart_box(result.chart, `${panel.title}. ${panel.shows} ${says}`));
  }
  if (result.table.rows.length > 0) {
    if (result.table_open) box.append(figure_table(panel.title, result.table));
    else box.append(lazy_details("Numbers", () => figure_table(panel.title, result.table)));
  }
  const notes = [...(result.notes ?? []), ...left_out_texts(view.facts.left_out.filter((left) => panel.reads.includes(left.table)))];
  for (const note of notes) box.append(element("p", { class: "note" }, note));
  box.append(element("p", { class: "how" }, `${panel.shows} ${result.how}`));
  return box;
}

// Large tables are made when they are opened.
function lazy_details(summary: string, content: () => HTMLElement): HTMLDetailsElement {
  const details = element("details", {}, element("summary", {}, summary));
  details.addEventListener(
    "toggle",
    () => {
      details.append(content());
    },
    { once: true },
  );
  return details;
}

function tables_section(report: Report, facts: PageFacts): HTMLElement {
  const names = [...table_names.filter((name) => report.tables.has(name))];
  const section = element("section", { class: "group", id: "tables" }, heading("tables", "Tables", "All rows behind this page"));
  const list = element("div", { class: "tables" });
  for (const name of names) {
    const rows = rows_of(report, name);
    const left = facts.left_out.find((each) => each.table === name);
    const count = rows.length === 0 ? "no rows" : `${rows.length.toLocaleString("en-US")} ${rows.length === 1 ? "row" : "rows"}`;
    const details = lazy_details(name, () => (rows.length === 0 ? element("p", { class: "empty" }, "No rows.") : report_table(report, name)));
    details.setAttribute("data-table", name);
    details.querySelector("summary")?.append(element("span", { class: "count" }, left === undefined ? count : `${count} of ${left.rows.toLocaleString("en-US")}`));
    list.append(details);
  }
  section.append(list);
  return section;
}

function heading(id: string, title: string, question: string): HTMLElement {
  return element("h2", { "aria-label": `${title}: ${question}` }, element("a", { href: `#${id}` }, question));
}

function head(view: View, everything: View): HTMLElement {
  const run = view.facts.run === "" ? "run" : view.facts.run;
  const made = element("header", { class: "head" }, element("h1", {}, run), element("p", { class: "run" }, run_line(everything)));
  const list = element("dl", { class: "cards" });
  for (const card of cards(view)) {
    const tone = card.tone === undefined ? {} : { class: card.tone };
    list.append(element("div", tone, element("dt", {}, card.title), element("dd", {}, quantity_element(card.value), element("p", {}, ...sentence_nodes(card.note)))));
  }
  made.append(list);
  return made;
}

function navigation(view: View, choose: (gpu: Gpu | null) => void, everything: View): HTMLElement {
  const links = [...sections.map((section) => [section.id, section.title]), ["tables", "Tables"]] as [string, string][];
  const nav = element("nav", { "aria-label": "Sections" }, element("p", { class: "brand" }, "Chopper"));
  nav.append(element("ul", {}, ...links.map(([id, title]) => element("li", {}, element("a", { href: `#${id}` }, title)))));
  if (everything.gpus.length > 1) {
    const select = element("select", { id: "choose-gpu" }, element("option", { value: "" }, `All ${everything.gpus.length.toLocaleString("en-US")} GPUs`));
    everything.gpus.forEach((gpu, index) => select.append(element("option", { value: String(index) }, gpu.label)));
    select.value = view.only === null ? "" : String(everything.gpus.findIndex((gpu) => gpu.label === view.only?.label));
    select.addEventListener("change", () => choose(select.value === "" ? null : (everything.gpus[Number(select.value)] ?? null)));
    nav.append(element("label", { for: "choose-gpu" }, "Show"), select);
  }
  return nav;
}

function build(report: Report, facts: PageFacts): void {
  const everything = new View(report, facts);
  const page = document.getElementById("page");
  if (page === null) return;
  const show = (only: Gpu | null): void => {
    const view = only === null ? everything : new View(report, facts, only);
    dispose_charts();
    const main = element("main", {});
    main.append(head(view, everything));
    if (facts.left_out.length > 0) {
      main.append(element("div", { class: "left-out", role: "note" }, element("p", {}, "This run is too large for one page. Sums and shares below are over the rows that are in it."), element("ul", {}, ...left_out_texts(facts.left_out).map((text) => element("li", {}, text)))));
    }
    for (const section of sections) {
      main.append(
        element("section", { class: "group", id: section.id }, heading(section.id, section.title, section.question), element("div", { class: "panels" }, ...section.panels.map((panel) => panel_element(panel, view)))),
      );
    }
    main.append(tables_section(report, facts));
    main.append(
      element(
        "footer",
        {},
        element("p", {}, `Chopper ${report.version}, JSON schema ${report.schema}. The title of a column in a table tells its meaning when the pointer rests on it.`),
        lazy_details("Licences of the software in this page", () => element("pre", {}, embedded_text("licences"))),
      ),
    );
    page.replaceChildren(navigation(view, show, everything), main);
  };
  show(null);
  document.title = `${facts.run === "" ? "" : `${facts.run} - `}Chopper report`;
}

function start(): void {
  const facts = { run: "", left_out: [], ...(JSON.parse(embedded_text("page-facts") || "{}") as Partial<PageFacts>) };
  build(parse_report(embedded_text("report")), facts);
  document.documentElement.setAttribute("data-ready", "true");
}

start();
