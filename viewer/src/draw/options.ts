// SPDX-License-Identifier: Apache-2.0
// From a chart of ours to what ECharts draws: a pure function of chart, theme and width.
import type { EChartsOption, SeriesOption } from "echarts";

import type { BarChart, Chart, RangeChart, ScatterChart } from "../figure";
import type { Scale } from "../format";
import { scale_of, text_of_value, tick_text } from "../format";
import type { Theme } from "../palette";
import type { Quantity } from "../view";

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const LABEL_SIZE = 12;
// A glyph of the label font is a little more than half as wide as high.
const GLYPH_WIDTH = 6.6;

export function escape_html(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

export function quantity_text(quantity: Quantity | null): string {
  if (quantity === null) return "";
  return quantity.value === null ? "no value" : text_of_value(quantity.value, quantity.unit);
}

function values_of(chart: BarChart | RangeChart): number[] {
  if (chart.kind === "ranges") {
    return chart.series.flatMap((series) => series.points.flatMap((point) => [point.low.value ?? 0, point.middle.value ?? 0, point.high.value ?? 0]));
  }
  // The largest stack decides the unit.
  const totals: number[] = [];
  chart.categories.forEach((_, i) => {
    const stacks = new Map<string, number>();
    for (const series of chart.series) {
      const stack = series.stack ?? "";
      stacks.set(stack, (stacks.get(stack) ?? 0) + Math.abs(series.values[i]?.value ?? 0));
    }
    totals.push(...stacks.values());
  });
  return totals;
}

const largest_of = (values: number[]): number => values.reduce((a, b) => Math.max(a, b), 0);

/** The height a chart needs, in pixels. */
export function height_of(chart: Chart): number {
  if (chart.kind === "scatter") return 380;
  if (chart.direction === "columns") return 300;
  const stacks = chart.kind === "bars" ? new Set(chart.series.map((series) => series.stack ?? "")).size : 1;
  const row = chart.kind === "ranges" ? 24 : stacks > 1 ? 46 : 28;
  return Math.max(150, chart.categories.length * row + 66);
}

function title_with_unit(title: string, scale: Scale): string {
  return scale.suffix === "" ? title : `${title}, ${scale.suffix}`;
}

function axis_style(theme: Theme): object {
  return {
    axisLine: { lineStyle: { color: theme.line } },
    axisTick: { show: false },
    axisLabel: { color: theme.muted, fontSize: LABEL_SIZE, hideOverlap: true },
    splitLine: { lineStyle: { color: theme.grid } },
    nameTextStyle: { color: theme.muted, fontSize: LABEL_SIZE },
  };
}

interface Axes {
  xAxis: object;
  yAxis: object;
  grid: object;
}

// Category axis and value axis, whichever way they lie.
function category_axes(chart: BarChart | RangeChart, theme: Theme, scale: Scale, width: number): Axes {
  const style = axis_style(theme) as Record<string, object>;
  const is_rows = chart.direction === "rows";
  const longest = largest_of(chart.categories.map((name) => name.length)) * GLYPH_WIDTH;
  const label_width = Math.ceil(Math.min(longest + 6, width * 0.42));
  const category = {
    ...style,
    type: "category",
    data: chart.categories,
    inverse: is_rows,
    splitLine: { show: false },
    axisLabel: is_rows
      ? { ...style["axisLabel"], color: theme.text, width: label_width, overflow: "truncate", interval: 0, hideOverlap: false }
      : { ...style["axisLabel"], color: theme.text },
    ...(is_rows ? {} : { name: chart.category_title, nameLocation: "middle", nameGap: 30 }),
  };
  const is_log = chart.kind === "ranges" && chart.logarithmic;
  const value = {
    ...style,
    type: is_log ? "log" : "value",
    name: title_with_unit(chart.value_title, scale),
    nameLocation: "middle",
    nameGap: is_rows ? 28 : 52,
    axisLine: { show: false },
    axisLabel: { ...style["axisLabel"], formatter: tick_text },
    ...(is_log ? log_extent(positive(values_of(chart)).map((value) => value / scale.divisor)) : { splitNumber: 5, scale: chart.kind === "ranges" && chart.direction === "columns" }),
    ...(chart.unit === "" ? { minInterval: 1 } : {}),
  };
  const grid = is_rows
    ? { left: label_width + 14, right: 22, top: 6, bottom: 46, outerBoundsMode: "none" }
    : { left: 72, right: 14, top: 12, bottom: 52, outerBoundsMode: "none" };
  return is_rows ? { xAxis: value, yAxis: category, grid } : { xAxis: category, yAxis: value, grid };
}

const positive = (values: number[]): number[] => values.filter((value) => value > 0);

// A logarithmic axis that ends a little beyond the data instead of at the next power of ten.
function log_extent(values: number[]): { min: number; max: number; logBase: number } {
  const low = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = largest_of(values);
  if (!Number.isFinite(low)) return { min: 1, max: 10, logBase: 10 };
  // 1, 2 or 5 times a power of ten.
  const step = (value: number, round: (steps: number[]) => number | undefined): number => {
    const power = 10 ** Math.floor(Math.log10(value));
    return (round([1, 2, 5, 10].map((each) => each * power)) ?? power);
  };
  const floor = step(low * 0.97, (steps) => steps.filter((each) => each <= low * 0.97).pop());
  const ceil = step(high * 1.03, (steps) => steps.find((each) => each >= high * 1.03));
  return { min: floor, max: ceil, logBase: 10 };
}

function tooltip(theme: Theme): object {
  return {
    backgroundColor: theme.is_dark ? "#0f1419" : "#ffffff",
    borderColor: theme.line,
    textStyle: { color: theme.text, fontSize: 12.5, fontFamily: FONT },
    confine: true,
    transitionDuration: 0,
  };
}

function bar_option(chart: BarChart, theme: Theme, width: number): EChartsOption {
  const scale = scale_of(chart.unit, largest_of(values_of(chart)));
  const axes = category_axes(chart, theme, scale, width);
  const series: SeriesOption[] = chart.series.map((each) => ({
    type: "bar",
    name: each.name,
    stack: each.stack ?? "all",
    // A bar of no length would still have its border.
    data: each.values.map((value) => (value?.value ? value.value / scale.divisor : "-")),
    barMaxWidth: chart.direction === "rows" ? 18 : 44,
    barCategoryGap: "32%",
    itemStyle: { color: theme.colours[each.colour], borderColor: theme.surface, borderWidth: chart.categories.length > 60 ? 0 : 0.75 },
    emphasis: { disabled: true },
    cursor: "default",
  }));
  return {
    ...axes,
    series,
    tooltip: {
      ...tooltip(theme),
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: theme.is_dark ? "rgba(255,255,255,0.05)" : "rgba(20,40,60,0.05)" } },
      formatter: (parameters: unknown) => {
        const index = (parameters as { dataIndex: number }[])[0]?.dataIndex ?? 0;
        const lines = chart.series
          .filter((each) => each.values[index] !== null && each.values[index] !== undefined)
          .map(
            (each) =>
              `<tr><td><span class="swatch" style="background:${theme.colours[each.colour]}"></span>${escape_html(each.name)}</td><td class="number">${escape_html(quantity_text(each.values[index] ?? null))}</td></tr>`,
          );
        return `<strong>${escape_html(chart.category_title)} ${escape_html(chart.categories[index] ?? "")}</strong><table class="tip">${lines.join("")}</table>`;
      },
    },
  } as EChartsOption;
}

interface RenderApi {
  value(dimension: number): number;
  coord(point: number[]): number[];
}

function range_option(chart: RangeChart, theme: Theme, width: number): EChartsOption {
  const scale = scale_of(chart.unit, largest_of(values_of(chart)));
  const axes = category_axes(chart, theme, scale, width);
  const is_rows = chart.direction === "rows";
  const series = chart.series.map((each) => {
    const colour = theme.colours[each.colour];
    const at_least = chart.logarithmic ? Number.MIN_VALUE : Number.NEGATIVE_INFINITY;
    const drawn = each.points.filter((point) => point.low.value !== null && point.high.value !== null && point.high.value > at_least);
    return {
      type: "custom",
      name: each.name,
      data: drawn.map((point) => [
        point.category,
        ...[point.low.value!, point.middle.value ?? point.high.value!, point.high.value!].map((value) => (chart.logarithmic ? Math.max(value, 1) : value) / scale.divisor),
      ]),
      encode: is_rows ? { x: [1, 2, 3], y: 0 } : { x: 0, y: [1, 2, 3] },
      renderItem: (_: unknown, api: RenderApi) => {
        const point = (value: number): number[] => api.coord(is_rows ? [value, api.value(0)] : [api.value(0), value]);
        const [low, middle, high] = [point(api.value(1)), point(api.value(2)), point(api.value(3))] as [number[], number[], number[]];
        const across = is_rows ? [0, 4] : [4, 0];
        const line = (a: number[], b: number[], line_width: number): object => ({
          type: "line",
          shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] },
          style: { stroke: colour, lineWidth: line_width, lineCap: "round", fill: undefined },
        });
        const cap = (end: number[]): object => line([end[0]! - across[0]!, end[1]! - across[1]!], [end[0]! + across[0]!, end[1]! + across[1]!], 1.5);
        return {
          type: "group",
          children: [
            line(low, high, chart.categories.length > 40 ? 1.5 : 3),
            ...(chart.categories.length > 60 ? [] : [cap(low), cap(high)]),
            {
              type: "circle",
              shape: { cx: middle[0], cy: middle[1], r: chart.categories.length > 60 ? 2.5 : 4.5 },
              style: { fill: colour, stroke: theme.surface, lineWidth: 1.5 },
            },
          ],
        };
      },
      cursor: "default",
      _points: drawn,
    };
  });
  return {
    ...axes,
    series: series.map(({ _points, ...rest }) => rest) as unknown as SeriesOption[],
    tooltip: {
      ...tooltip(theme),
      trigger: "item",
      formatter: (parameters: unknown) => {
        const { seriesIndex, dataIndex } = parameters as { seriesIndex: number; dataIndex: number };
        const point = series[seriesIndex]?._points[dataIndex];
        if (point === undefined) return "";
        const rows: [string, Quantity][] = [
          [chart.parts[0], point.low],
          [chart.parts[1], point.middle],
          [chart.parts[2], point.high],
        ];
        return `<strong>${escape_html(chart.category_title)} ${escape_html(chart.categories[point.category] ?? "")}</strong><table class="tip">${rows
          .map(([name, value]) => `<tr><td>${escape_html(name)}</td><td class="number">${escape_html(quantity_text(value))}</td></tr>`)
          .join("")}</table>`;
      },
    },
  } as EChartsOption;
}

// Powers of two read well as message sizes, each in a unit of its own.
const is_binary = (unit: string, is_log: boolean): boolean => unit === "B" && is_log;

function axis_scale(unit: string, is_log: boolean, values: number[]): Scale {
  return is_binary(unit, is_log) ? { divisor: 1, suffix: "" } : scale_of(unit, largest_of(values));
}

function value_axis(title: string, unit: string, is_log: boolean, values: number[], theme: Theme, is_x: boolean): object {
  const style = axis_style(theme) as Record<string, object>;
  const scale = axis_scale(unit, is_log, values);
  const formatter = is_binary(unit, is_log) ? (tick: number) => text_of_value(tick, "B").replace(/\.0+(?= )/, "") : tick_text;
  const scaled = values.map((value) => value / scale.divisor);
  return {
    ...style,
    type: is_log ? "log" : "value",
    scale: !is_log,
    ...(is_log && is_x ? { splitNumber: 8 } : {}),
    name: title_with_unit(title, scale),
    nameLocation: "middle",
    nameGap: is_x ? 28 : 52,
    axisLabel: { ...style["axisLabel"], formatter },
    ...(is_log ? (is_binary(unit, is_log) ? binary_extent(values) : log_extent(positive(scaled))) : unit === "1" ? { min: 0 } : {}),
  };
}

function binary_extent(values: number[]): { min: number; max: number; logBase: number } {
  const low = positive(values).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const base = 4;
  const floor = base ** Math.floor(Math.log(low) / Math.log(base));
  const ceil = base ** Math.ceil(Math.log(largest_of(values)) / Math.log(base) + 1e-9);
  // A single size stands in the middle.
  return ceil <= floor * base ? { min: floor / base, max: ceil * base, logBase: base } : { min: floor, max: ceil, logBase: base };
}

function scatter_option(chart: ScatterChart, theme: Theme): EChartsOption {
  const points = chart.series.flatMap((series) => series.points);
  const x_values = points.map((point) => point.x.value ?? 0);
  const y_values = points.map((point) => point.y.value ?? 0);
  const x_divisor = axis_scale(chart.x_unit, chart.x_logarithmic, x_values).divisor;
  const y_divisor = axis_scale(chart.y_unit, chart.y_logarithmic, y_values).divisor;
  const [left, right] = [x_values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY), largest_of(x_values)];
  // Labels of points at the right end lie to their left, where there is room.
  const is_right = (point: { x: Quantity }): boolean => (point.x.value ?? 0) - left > 0.72 * (right - left);
  return {
    grid: { left: 72, right: 34, top: 16, bottom: 48, outerBoundsMode: "none" },
    xAxis: value_axis(chart.x_title, chart.x_unit, chart.x_logarithmic, x_values, theme, true),
    yAxis: value_axis(chart.y_title, chart.y_unit, chart.y_logarithmic, y_values, theme, false),
    series: chart.series.map((each) => ({
      type: "scatter",
      name: each.name,
      symbol: each.symbol,
      symbolSize: points.length > 300 ? 6 : 9,
      data: each.points.map((point) => ({
        value: [(point.x.value ?? 0) / x_divisor, (point.y.value ?? 0) / y_divisor],
        ...(point.label === undefined
          ? {}
          : { label: { show: true, formatter: () => point.label, position: is_right(point) ? "left" : "right", distance: 6, color: theme.text, fontSize: 11, textBorderColor: theme.surface, textBorderWidth: 3 } }),
      })),
      labelLayout: { hideOverlap: true },
      itemStyle: { color: theme.colours[each.colour], opacity: 0.78, borderColor: theme.surface, borderWidth: 0.5 },
      emphasis: { disabled: true },
      cursor: "default",
    })) as SeriesOption[],
    tooltip: {
      ...tooltip(theme),
      trigger: "item",
      formatter: (parameters: unknown) => {
        const { seriesIndex, dataIndex } = parameters as { seriesIndex: number; dataIndex: number };
        const point = chart.series[seriesIndex]?.points[dataIndex];
        if (point === undefined) return "";
        return `<strong>${escape_html(point.name)}</strong><table class="tip"><tr><td>${escape_html(chart.x_title)}</td><td class="number">${escape_html(quantity_text(point.x))}</td></tr><tr><td>${escape_html(chart.y_title)}</td><td class="number">${escape_html(quantity_text(point.y))}</td></tr></table>`;
      },
    },
  } as EChartsOption;
}

export function option_of(chart: Chart, theme: Theme, width: number): EChartsOption {
  const specific = chart.kind === "bars" ? bar_option(chart, theme, width) : chart.kind === "ranges" ? range_option(chart, theme, width) : scatter_option(chart, theme);
  return { animation: false, backgroundColor: "transparent", textStyle: { fontFamily: FONT, color: theme.text }, ...specific };
}
