// SPDX-License-Identifier: Apache-2.0
// Tables: numbers of a figure, and the tables of the report as they are, sortable.
import { columns_of } from "../columns";
import type { FigureTable } from "../figure";
import { text_of_value } from "../format";
import type { Cell, Example, Report, Row } from "../report";
import { rows_of } from "../report";
import type { Quantity } from "../view";
import { reason_text } from "../view";
import { element, quantity_element } from "./elements";

type Sortable = number | bigint | string | null;

// Values before what is missing; numbers by size, texts by letters.
function compare(a: Sortable, b: Sortable): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b), "en", { numeric: true });
  return a < b ? -1 : a > b ? 1 : 0;
}

function sorted_indexes(keys: Sortable[], is_descending: boolean): number[] {
  const order = keys.map((_, index) => index);
  order.sort((i, j) => {
    const [a, b] = [keys[i] ?? null, keys[j] ?? null];
    if (a === null || b === null) return compare(a, b) || i - j; // missing ones stay last
    return (is_descending ? -compare(a, b) : compare(a, b)) || i - j;
  });
  return order;
}

interface Heading {
  title: string;
  hint: string;
  is_number: boolean;
}

// A table whose headings sort: first click largest first, second click the reverse.
function sortable_table(
  caption: string,
  headings: Heading[],
  keys_of: (column: number) => Sortable[],
  row_element: (index: number) => HTMLTableRowElement,
  num_rows: number,
  limit: number,
): HTMLElement {
  const body = element("tbody");
  const frame = element("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": caption });
  const more = element("button", { class: "more", type: "button" });
  let order = Array.from({ length: num_rows }, (_, index) => index);
  let shown = Math.min(limit, num_rows);
  const draw = (): void => {
    body.replaceChildren(...order.slice(0, shown).map(row_element));
    more.textContent = `Show all ${num_rows.toLocaleString("en-US")} rows (${shown.toLocaleString("en-US")} shown)`;
    more.hidden = shown >= num_rows;
  };
  more.addEventListener("click", () => {
    shown = num_rows;
    draw();
  });
  const cells = headings.map((heading, column) => {
    const button = element("button", { type: "button", title: heading.hint }, heading.title);
    const cell = element("th", { scope: "col", ...(heading.is_number ? { class: "number" } : {}) }, button);
    button.addEventListener("click", () => {
      const was = cell.getAttribute("aria-sort");
      const is_descending = was === null ? heading.is_number : was === "ascending";
      for (const other of cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", is_descending ? "descending" : "ascending");
      order = sorted_indexes(keys_of(column), is_descending);
      draw();
    });
    return cell;
  });
  draw();
  const table = element("table", {}, element("caption", { class: "for-readers" }, caption), element("thead", {}, element("tr", {}, ...cells)), body);
  frame.append(table);
  return element("div", {}, frame, more);
}

const is_quantity = (cell: string | Quantity): cell is Quantity => typeof cell !== "string";

export function figure_table(title: string, table: FigureTable): HTMLElement {
  const is_number = table.columns.map((_, column) => table.rows.some((row) => is_quantity(row[column]!)));
  const row_element = (index: number): HTMLTableRowElement => {
    const row = table.rows[index]!;
    const made = element("tr");
    row.forEach((cell, column) => {
      if (!is_quantity(cell)) {
        made.append(element(column === 0 ? "th" : "td", column === 0 ? { scope: "row" } : is_number[column] ? { class: "number" } : {}, cell));
        return;
      }
      const data = element("td", { class: "number" }, quantity_element(cell));
      if (table.meters?.includes(column) && cell.value !== null) {
        data.classList.add("meter");
        data.style.setProperty("--share", `${Math.max(0, Math.min(1, cell.value)) * 100}%`);
      }
      made.append(data);
    });
    return made;
  };
  return sortable_table(
    `${title}: numbers`,
    table.columns.map((column, i) => ({ title: column, hint: `Sort by ${column}`, is_number: is_number[i]! })),
    (column) => table.rows.map((row) => (is_quantity(row[column]!) ? row[column].value : row[column]!)),
    row_element,
    table.rows.length,
    200,
  );
}

// Rows drawn at once; more on request.
const FIRST_ROWS = 100;

function cell_text(value: Cell | Record<string, string>, unit: string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") {
    if (unit === "ns" || unit === "B" || Number.isInteger(value)) return value.toLocaleString("en-US");
    return unit === "1" ? value.toLocaleString("en-US", { maximumFractionDigits: 4 }) : text_of_value(value, unit);
  }
  if (typeof value === "bigint") return value.toLocaleString("en-US");
  if (Array.isArray(value)) {
    return value.map((each) => (typeof each === "number" ? String(each) : `${(each as Example).where}: ${(each as Example).what}`)).join(typeof value[0] === "number" ? " x " : "; ");
  }
  return String(value);
}

function sort_key(value: Cell | Record<string, string>): Sortable {
  if (value === null || value === undefined) return null;
  if (typeof value === "number" || typeof value === "bigint") return value;
  return cell_text(value, "");
}

/** A table of the report with all its columns. */
export function report_table(report: Report, name: string): HTMLElement {
  const rows = rows_of(report, name);
  const infos = columns_of(name);
  // Columns that no row has are left out: they do not apply.
  const columns = [...infos.keys()].filter((column) => rows.some((row) => column in row));
  const is_number = columns.map((column) => rows.some((row) => typeof row[column] === "number" || typeof row[column] === "bigint"));
  const row_element = (index: number): HTMLTableRowElement => {
    const row: Row = rows[index]!;
    const made = element("tr", { "data-row": String(index) });
    columns.forEach((column, i) => {
      const value = row[column];
      const cell = element("td", { "data-column": column, ...(is_number[i] ? { class: "number" } : {}) });
      const reason = value === null ? row.unavailable?.[column] : undefined;
      if (reason !== undefined) {
        cell.classList.add("missing");
        cell.title = reason_text(reason);
        cell.append(reason.replaceAll("_", " "));
      } else {
        const text = cell_text(value, infos.get(column)?.unit ?? "");
        cell.append(text);
        if (text.length > 60) cell.classList.add("long");
      }
      made.append(cell);
    });
    return made;
  };
  const headings = columns.map((column, i) => {
    const info = infos.get(column)!;
    const unit = info.unit === "" ? "" : info.unit === "1" ? " (ratio)" : ` (${info.unit})`;
    return { title: column, hint: `${info.summary}${unit}`, is_number: is_number[i]! };
  });
  return sortable_table(`Table ${name}`, headings, (column) => rows.map((row) => sort_key(row[columns[column]!])), row_element, rows.length, FIRST_ROWS);
}
