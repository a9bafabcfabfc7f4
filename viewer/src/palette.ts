// SPDX-License-Identifier: Apache-2.0
// Colours by meaning. Hues follow Okabe and Ito, which people with any kind of colour blindness tell apart; neighbours in
// a stack differ in lightness too.

export type Colour =
  | "compute"
  | "exposed_comm"
  | "exposed_copies"
  | "prep"
  | "call"
  | "other_idle"
  | "forward"
  | "backward"
  | "optimizer"
  | "other"
  | "unlabelled"
  | "gemm"
  | "attention"
  | "vector"
  | "comm"
  | "memcpy"
  | "memset"
  | "accent"
  | "warm"
  | "third"
  | "fourth"
  | "quiet";

export interface Theme {
  is_dark: boolean;
  surface: string;
  text: string;
  muted: string;
  line: string;
  grid: string;
  colours: Record<Colour, string>;
}

export const light: Theme = {
  is_dark: false,
  surface: "#ffffff",
  text: "#1b2430",
  muted: "#566373",
  line: "#b9c2cc",
  grid: "#e6eaee",
  colours: {
    compute: "#1f6fb2",
    exposed_comm: "#d55e00",
    exposed_copies: "#8e4585",
    prep: "#007d5c",
    call: "#5fc2a1",
    other_idle: "#b4bcc6",
    forward: "#5ab0e3",
    backward: "#1f6fb2",
    optimizer: "#e0a11b",
    other: "#8b96a3",
    unlabelled: "#c9d0d7",
    gemm: "#1f6fb2",
    attention: "#8e4585",
    vector: "#5ab0e3",
    comm: "#d55e00",
    memcpy: "#e0a11b",
    memset: "#f3d88a",
    accent: "#1f6fb2",
    warm: "#d55e00",
    third: "#007d5c",
    fourth: "#8e4585",
    quiet: "#b4bcc6",
  },
};

export const dark: Theme = {
  is_dark: true,
  surface: "#1a2129",
  text: "#e4e9ee",
  muted: "#9daab8",
  line: "#4b5866",
  grid: "#2b343f",
  colours: {
    compute: "#4a9be0",
    exposed_comm: "#f08438",
    exposed_copies: "#c98ac0",
    prep: "#2fb48c",
    call: "#92e0c6",
    other_idle: "#6b7785",
    forward: "#8bcdf5",
    backward: "#4a9be0",
    optimizer: "#eebb4d",
    other: "#8793a0",
    unlabelled: "#55616e",
    gemm: "#4a9be0",
    attention: "#c98ac0",
    vector: "#8bcdf5",
    comm: "#f08438",
    memcpy: "#eebb4d",
    memset: "#f7e3ab",
    accent: "#4a9be0",
    warm: "#f08438",
    third: "#2fb48c",
    fourth: "#c98ac0",
    quiet: "#6b7785",
  },
};

const PHASES = new Set<string>(["forward", "backward", "optimizer", "other", "unlabelled"]);
export function phase_colour(phase: string): Colour {
  return PHASES.has(phase) ? (phase as Colour) : "other";
}

const CLASSES = new Set<string>(["gemm", "attention", "vector", "comm", "memcpy", "memset"]);
export function class_colour(gpu_class: string): Colour {
  return CLASSES.has(gpu_class) ? (gpu_class as Colour) : "other";
}
