// SPDX-License-Identifier: Apache-2.0
// A chart in the page: drawn by ECharts as SVG, redrawn when its width or the colour scheme changes.
import { BarChart, CustomChart, ScatterChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import type { EChartsType } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

import type { Chart } from "../figure";
import type { Colour, Theme } from "../palette";
import { dark, light } from "../palette";
import { element } from "./elements";
import { height_of, option_of } from "./options";

use([BarChart, CustomChart, ScatterChart, GridComponent, TooltipComponent, LabelLayout, SVGRenderer]);

const PRINT_WIDTH = 660; // of an upright page of A4 or letter, in CSS pixels

const scheme = window.matchMedia("(prefers-color-scheme: dark)");
let is_printing = false;
const theme_now = (): Theme => (scheme.matches && !is_printing ? dark : light);

const boxes: ChartBox[] = [];

class ChartBox {
  readonly holder: HTMLElement;
  private instance: EChartsType | null = null;
  private width = 0;

  constructor(
    readonly chart: Chart,
    label: string,
  ) {
    this.holder = element("div", { class: "chart", role: "img", "aria-label": label });
    this.holder.style.height = `${height_of(chart)}px`;
  }

  draw(): void {
    const width = is_printing ? PRINT_WIDTH : this.holder.clientWidth;
    if (width === 0) return;
    this.width = width;
    const size = { width, height: height_of(this.chart) };
    if (this.instance === null) this.instance = init(this.holder, null, { renderer: "svg", ...size });
    else this.instance.resize(size);
    this.instance.setOption(option_of(this.chart, theme_now(), width), { notMerge: true });
  }

  draw_if_resized(): void {
    if (Math.abs(this.holder.clientWidth - this.width) >= 1 && !is_printing) this.draw();
  }

  dispose(): void {
    this.instance?.dispose();
  }
}

const observer = new ResizeObserver((entries) => {
  for (const entry of entries) boxes.find((box) => box.holder === entry.target)?.draw_if_resized();
});

export function chart_box(chart: Chart, label: string): HTMLElement {
  const box = new ChartBox(chart, label);
  boxes.push(box);
  observer.observe(box.holder);
  return box.holder;
}

/** Forgets all charts; before the page is built again. */
export function dispose_charts(): void {
  for (const box of boxes.splice(0)) {
    observer.unobserve(box.holder);
    box.dispose();
  }
}

function redraw_all(): void {
  for (const box of boxes) box.draw();
}

scheme.addEventListener("change", redraw_all);
window.addEventListener("beforeprint", () => {
  is_printing = true;
  redraw_all();
});
window.addEventListener("afterprint", () => {
  is_printing = false;
  redraw_all();
});

/** Names of the series with their colours, which follow the colour scheme by themselves. */
export function legend(chart: Chart): HTMLElement | null {
  const entries: { name: string; colour: Colour; symbol: string }[] = chart.series.map((series) => ({
    name: series.name,
    colour: series.colour,
    symbol: "symbol" in series ? series.symbol : "rect",
  }));
  if (entries.length < 2) return null;
  return element(
    "ul",
    { class: "legend" },
    ...entries.map((entry) => element("li", {}, element("span", { class: `swatch ${entry.symbol}`, style: `--light:${light.colours[entry.colour]};--dark:${dark.colours[entry.colour]}` }), entry.name)),
  );
}
