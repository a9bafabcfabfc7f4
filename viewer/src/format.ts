// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: 612.4 ms, 13.3 %, 1,024. The unit follows the size; an axis has one unit for all its values.

/** One unit for several numbers: `text = value / divisor` with the suffix. */
export interface Scale {
  divisor: number;
  suffix: string;
}

const TIME: Scale[] = [
  { divisor: 1e9, suffix: "s" },
  { divisor: 1e6, suffix: "ms" },
  { divisor: 1e3, suffix: "\u00b5s" },
  { divisor: 1, suffix: "ns" },
];
const BYTES: Scale[] = [
  { divisor: 2 ** 40, suffix: "TiB" },
  { divisor: 2 ** 30, suffix: "GiB" },
  { divisor: 2 ** 20, suffix: "MiB" },
  { divisor: 2 ** 10, suffix: "KiB" },
  { divisor: 1, suffix: "B" },
];
const LARGE: Scale[] = [
  { divisor: 1e15, suffix: "P" },
  { divisor: 1e12, suffix: "T" },
  { divisor: 1e9, suffix: "G" },
  { divisor: 1e6, suffix: "M" },
  { divisor: 1, suffix: "" },
];

/** The scale in which `largest` reads best. */
export function scale_of(unit: string, largest: number): Scale {
  const pick = (scales: Scale[]): Scale =>
    scales.find((scale) => Math.abs(largest) >= scale.divisor) ?? scales[scales.length - 1]!;
  if (unit === "ns") return pick(TIME);
  if (unit === "B") return pick(BYTES);
  if (unit === "FLOP") {
    const scale = pick(LARGE);
    return { divisor: scale.divisor, suffix: `${scale.suffix}FLOP` };
  }
  if (unit === "1") return { divisor: 0.01, suffix: "%" };
  return { divisor: 1, suffix: unit };
}

/** A number with grouped thousands and `digits` behind the point. */
export function plain(value: number, digits: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// Four significant digits are enough to read and few enough to compare.
function digits_for(value: number): number {
  const size = Math.abs(value);
  if (size >= 100) return 1;
  if (size >= 10) return 2;
  return 3;
}

// Nearly nothing is not nothing, and nearly all is not all.
function share_text(value: number): string {
  if (value > 0 && value < 0.0005) return "<0.1 %";
  if (value < 1 && value >= 0.9995) return ">99.9 %";
  return `${plain(value * 100, 1)} %`;
}

/** A value with its unit. */
export function text_of_value(value: number, unit: string): string {
  if (unit === "") return Number.isInteger(value) ? plain(value, 0) : plain(value, Math.abs(value) >= 100 ? 1 : 2);
  if (unit === "1") return share_text(value);
  if (unit === "1/s") return `${plain(value, Math.abs(value) >= 1000 ? 0 : 1)} /s`;
  if (value === 0) return `0 ${scale_of(unit, 0).suffix}`;
  const scale = scale_of(unit, value);
  const scaled = value / scale.divisor;
  const exact = scale.divisor === 1 && Number.isInteger(value);
  return `${plain(scaled, exact ? 0 : digits_for(scaled))} ${scale.suffix}`;
}

/** A tick of an axis, whose values are in its unit. */
export function tick_text(value: number): string {
  return value === 0 ? "0" : value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
}

/** The part of a kernel's name by which people tell it apart, as `chopper report` prints it. */
export function kernel_label(name: string, length: number): string {
  let text = name.startsWith("void ") ? name.slice(5) : name;
  for (const common of ["at::native::", "(anonymous namespace)::", "c10::"]) text = text.replaceAll(common, "");
  // Names of Tensile differ from the tile on: Cijk_Alik_Bljk_BBS_BH_..._MT256x128x64_MI16x16x1_...
  const tile = text.indexOf("_MT");
  const contraction = "Cijk_Alik_Bljk".length;
  if (text.startsWith("Cijk_") && tile > contraction) text = `${text.slice(0, contraction)}...${text.slice(tile)}`;
  text = without_parameters(text);
  return text.length <= length ? text : `${text.slice(0, length - 3)}...`;
}

// The parameter list starts at the parenthesis that the last ")" closes.
function without_parameters(text: string): string {
  if (!text.endsWith(")")) return text;
  let depth = 0;
  for (let i = text.length - 1; i > 0; i--) {
    if (text[i] === ")") depth++;
    if (text[i] === "(" && --depth === 0) return text.slice(0, i).trimEnd();
  }
  return text;
}

/** A long name with its middle left out: kernel names differ at both ends. */
export function shortened(name: string, length: number): string {
  if (name.length <= length) return name;
  const head = Math.ceil((length - 3) * 0.6);
  return `${name.slice(0, head)}...${name.slice(name.length - (length - 3 - head))}`;
}
