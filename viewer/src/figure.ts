// SPDX-License-Identifier: Apache-2.0
// What a panel makes of the tables: a figure, described without a drawing library. The chart and the table of numbers
// beside it hold the same quantities.
import type { Colour } from "./palette";
import type { Quantity, View } from "./view";

/** Text with quantities in it. */
export type Sentence = (string | Quantity)[];

export interface BarSeries {
  name: string;
  colour: Colour;
  values: (Quantity | null)[]; // one for each category
  stack?: string; // series of one stack lie on each other; default: all
}

/** Bars over categories; stacked. */
export interface BarChart {
  kind: "bars";
  direction: "rows" | "columns"; // rows: categories from top to bottom
  categories: string[];
  category_title: string;
  value_title: string;
  unit: string;
  series: BarSeries[];
}

export interface RangePoint {
  category: number; // index
  low: Quantity;
  middle: Quantity;
  high: Quantity;
}

/** A line from low to high with a dot at the middle, for each category. */
export interface RangeChart {
  kind: "ranges";
  direction: "rows" | "columns";
  categories: string[];
  category_title: string;
  value_title: string;
  unit: string;
  logarithmic: boolean;
  parts: [string, string, string]; // what low, middle and high are
  series: { name: string; colour: Colour; points: RangePoint[] }[];
}

export interface ScatterPoint {
  x: Quantity;
  y: Quantity;
  name: string; // in the tooltip
  label?: string; // beside the point
}

export interface ScatterChart {
  kind: "scatter";
  x_title: string;
  y_title: string;
  x_unit: string;
  y_unit: string;
  x_logarithmic: boolean;
  y_logarithmic: boolean;
  series: { name: string; colour: Colour; symbol: "circle" | "diamond" | "triangle" | "rect"; points: ScatterPoint[] }[];
}

export type Chart = BarChart | RangeChart | ScatterChart;

export interface FigureTable {
  columns: string[];
  rows: (string | Quantity)[][];
  /** Columns whose ratio is drawn as a small bar behind the number. */
  meters?: number[];
}

export interface Figure {
  says: Sentence; // what the figure shows, with the numbers that matter
  how: string; // what the numbers are, of which rows
  chart?: Chart;
  table: FigureTable;
  table_open?: boolean; // the table is the figure
  notes?: string[]; // what is left out, and why
}

/** There is nothing to draw, and this is why. */
export interface Nothing {
  nothing: string;
}

export interface Panel {
  id: string;
  title: string;
  shows: string; // one line for people who wonder what this is
  reads: string[]; // tables
  wide?: boolean; // takes the whole width of the page
  build(view: View): Figure | Nothing;
}

export function is_nothing(result: Figure | Nothing): result is Nothing {
  return "nothing" in result;
}

/** The usual reason: the table has no rows, and what it takes that it has some. */
export function no_rows(table: string, when: string): Nothing {
  return { nothing: `No rows in ${table}. There are some when ${when}.` };
}
