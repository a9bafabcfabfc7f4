// SPDX-License-Identifier: Apache-2.0
// The panels in the order of the page: from the question to the proof.
import type { Panel } from "../figure";
import { panel as bus_bandwidth } from "./bus_bandwidth";
import { panel as collective_kinds } from "./collective_kinds";
import { panel as coverage } from "./coverage";
import { panel as distributions } from "./distributions";
import { panel as gpu_split } from "./gpu_split";
import { panel as health } from "./health";
import { panel as host_blockers } from "./host_blockers";
import { panel as kernels } from "./kernels";
import { panel as label_rules } from "./label_rules";
import { panel as launch_edges } from "./launch_edges";
import { panel as launch_gaps } from "./launch_gaps";
import { delay_panel, queue_panel } from "./launch_ranges";
import { iterations_panel, peaks_panel } from "./memory";
import { panel as operations } from "./operations";
import { panel as overlap } from "./overlap";
import { panel as phases } from "./phases";
import { panel as rank_waits } from "./rank_waits";
import { panel as ranks } from "./ranks";
import { panel as steps } from "./steps";
import { panel as throughput } from "./throughput";
import { panel as window_split } from "./window_split";

export interface Section {
  id: string;
  title: string;
  question: string;
  panels: Panel[];
}

export const sections: readonly Section[] = [
  { id: "trust", title: "Trust", question: "Can these numbers be trusted?", panels: [health, coverage, label_rules] },
  { id: "time", title: "Time", question: "Where does the time go?", panels: [gpu_split, window_split, steps, throughput] },
  { id: "model", title: "Operations", question: "Which parts of the model take it?", panels: [phases, operations, distributions, overlap] },
  { id: "launching", title: "Launching", question: "Does the host keep up?", panels: [launch_gaps, launch_edges, delay_panel, queue_panel, host_blockers] },
  { id: "communication", title: "Communication", question: "What does communication cost?", panels: [collective_kinds, bus_bandwidth] },
  { id: "gpus", title: "GPUs", question: "Which GPUs hold the others up?", panels: [ranks, rank_waits] },
  { id: "memory", title: "Memory", question: "How much memory is used?", panels: [peaks_panel, iterations_panel] },
  { id: "kernels", title: "Kernels", question: "Which kernels run?", panels: [kernels] },
];

export const all_panels: readonly Panel[] = sections.flatMap((section) => section.panels);
