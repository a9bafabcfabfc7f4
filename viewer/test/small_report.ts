// SPDX-License-Identifier: Apache-2.0
// A report of two gpus and two iterations, written by hand with numbers that are easy to add up.
import { parse_report } from "../src/report";
import type { Gpu, PageFacts, Report, Row } from "../src/report";
import { View } from "../src/view";

const gpu0 = { input: 0, rank: 0, gpu: 0 };
const gpu1 = { input: 1, rank: 1, gpu: 1 };

const time = (compute: number, comm: number, copies: number, prep: number, call: number, idle: number, prefix = ""): Row => ({
  [`${prefix}compute_ns`]: compute,
  [`${prefix}exposed_comm_ns`]: comm,
  [`${prefix}exposed_memcpy_ns`]: copies,
  [`${prefix}prep_idle_ns`]: prep,
  [`${prefix}call_idle_ns`]: call,
  [`${prefix}idle_ns`]: idle,
});

const window = (gpu: object, ordinal: number, length: number, row: Row, last: boolean): Row => ({
  ...gpu,
  scope: "iteration",
  ordinal,
  iteration: 5 + ordinal,
  prep_ns: 30_000,
  call_ns: 50_000,
  inter_iteration_ns: 20_000,
  window_ns: length,
  complete: true,
  last,
  ...row,
});

const operation = (gpu: object, phase: string, name: string, gpu_class: string, duration: number, more: Row = {}): Row => ({
  ...gpu,
  phase,
  operation: name,
  class: gpu_class,
  num_instances: 4,
  num_kernels: 8,
  duration_ns: duration,
  elapsed_ns: duration,
  overlap_ns: duration / 4,
  overlap_ratio: 0.25,
  prep_ns: 4000,
  call_ns: 8000,
  prep_idle_ns: 1000,
  call_idle_ns: 2000,
  num_no_launch: 0,
  p05_ns: duration / 5,
  p50_ns: duration / 4,
  p95_ns: duration / 2,
  ...more,
});

const collective = (gpu: object, kind: string, bytes: number, more: Row): Row => ({
  ...gpu,
  start_ns: 1000,
  offset: 17,
  ordinal: 0,
  iteration: 5,
  phase: "forward",
  kind,
  group: "default_pg",
  dimension: "data",
  group_size: 2,
  bytes,
  duration_ns: 100_000,
  exposed_ns: 25_000,
  ...more,
});

export const tables: Record<string, Row[]> = {
  inputs: [
    { input: 0, path: "rank0.json", format: "kineto-json", bytes: 1024, text_bytes: 4096, vendor: "nvidia", rank: 0, rank_source: "metadata", records: 10, clock: "unix", quantum_ns: 1 },
    { input: 1, path: "rank1.json", format: "kineto-json", bytes: 1024, text_bytes: 4096, vendor: "nvidia", rank: 1, rank_source: "metadata", records: 10, clock: "unix", quantum_ns: 1 },
  ],
  gpus: [
    { ...gpu0, gpu_id: "a", vendor: "nvidia", name: "NVIDIA H100", num_kernels: 5, num_memcpy: 0, num_memset: 0, num_comm_kernels: 1 },
    { ...gpu1, gpu_id: "b", vendor: "nvidia", name: "NVIDIA H100", num_kernels: 5, num_memcpy: 0, num_memset: 0, num_comm_kernels: 1 },
  ],
  health: [
    { input: 0, kind: "truncated", severity: "data_loss", count: 1, examples: [{ where: "rank0.json @ byte 9", what: "cut" }] },
    { input: 1, kind: "trailing_bytes", severity: "note", count: 3, examples: [] },
  ],
  coverage: [
    { ...gpu0, launch_records: 1, launch_time: 1, phase_records: 0.5, phase_time: 0.75, iteration_rule: "profiler_step" },
    { ...gpu1, launch_records: 0.9, launch_time: 0.95, phase_records: null, phase_time: null, iteration_rule: "profiler_step", unavailable: { phase_records: "no_records", phase_time: "no_records" } },
  ],
  label_rules: [
    { ...gpu0, label: "phase", rule: "autograd_thread", records: 6, duration_ns: 600_000 },
    { ...gpu0, label: "phase", rule: "none", records: 4, duration_ns: 200_000 },
  ],
  timeline: [
    { ...gpu0, scope: "trace", span_ns: 2_000_000, comm_ns: 400_000, ...time(1_500_000, 200_000, 100_000, 50_000, 100_000, 200_000) },
    { ...gpu1, scope: "trace", span_ns: 2_000_000, comm_ns: 400_000, ...time(1_700_000, 100_000, 0, 20_000, 80_000, 200_000) },
    window(gpu0, 0, 1_000_000, time(750_000, 100_000, 50_000, 25_000, 50_000, 100_000, "window_"), false),
    window(gpu0, 1, 1_000_000, time(750_000, 100_000, 50_000, 25_000, 50_000, 100_000, "window_"), true),
    window(gpu1, 0, 1_200_000, time(850_000, 250_000, 0, 10_000, 40_000, 100_000, "window_"), false),
    window(gpu1, 1, 800_000, time(650_000, 50_000, 0, 10_000, 40_000, 100_000, "window_"), true),
  ],
  steps: [
    { ordinal: 0, iteration: 5, num_gpus: 2, step_ns: 1_200_000, shortest_ns: 1_000_000, slowest_rank: 1, slowest_gpu: 1, complete: true, last: false },
    { ordinal: 1, iteration: 6, num_gpus: 2, step_ns: 1_000_000, shortest_ns: 800_000, slowest_rank: null, slowest_gpu: null, complete: true, last: true, unavailable: { slowest_rank: "instances_differ", slowest_gpu: "instances_differ" } },
  ],
  ranks: [
    { ...gpu0, num_windows: 1, window_ns: 1_000_000, window_compute_ns: 750_000, window_exposed_comm_ns: 100_000, window_exposed_memcpy_ns: 50_000, window_idle_ns: 100_000, comm_wait_ns: 40_000, compute_ratio: 0.96, hint: "waits" },
    { ...gpu1, num_windows: 1, window_ns: 1_200_000, window_compute_ns: 850_000, window_exposed_comm_ns: 250_000, window_exposed_memcpy_ns: 0, window_idle_ns: 100_000, comm_wait_ns: 1_000, compute_ratio: 1.04, hint: "straggler" },
  ],
  operations: [
    operation(gpu0, "forward", "mlp_up", "gemm", 400_000),
    operation(gpu1, "forward", "mlp_up", "gemm", 440_000),
    operation(gpu0, "backward", "mlp_up", "gemm", 800_000),
    operation(gpu1, "backward", "mlp_up", "gemm", 840_000),
    operation(gpu0, "forward", "ag", "comm", 200_000, { overlap_ratio: null, overlap_ns: 0, unavailable: { overlap_ratio: "not_compute" } }),
    operation(gpu1, "optimizer", "opt_step", "vector", 100_000, { overlap_ns: 0, overlap_ratio: 0, prep_idle_ns: 0, call_idle_ns: 0 }),
  ],
  launch: [
    { ...gpu0, phase: "forward", num_kernels: 4, num_negative_delay: 0, delay_p05_ns: 1000, delay_p50_ns: 5000, delay_p95_ns: 20_000, queue_p05: 0, queue_p50: 2, queue_p95: 9 },
    { ...gpu1, phase: "forward", num_kernels: 4, num_negative_delay: 1, delay_p05_ns: 2000, delay_p50_ns: 7000, delay_p95_ns: 10_000, queue_p05: 1, queue_p50: 4, queue_p95: 8 },
  ],
  host_blockers: [{ ...gpu0, kind: "item", name: "aten::item", num: 3, duration_ns: 30_000, idle_ns: 9000 }],
  collectives: [
    collective(gpu0, "ag", 4096, { seq: 1, wait_ns: 20_000, transfer_ns: 80_000, busbw_gbps: 1.5 }),
    collective(gpu1, "ag", 4096, { seq: 1, wait_ns: 20_000, transfer_ns: 80_000, busbw_gbps: 1.5 }),
    collective(gpu0, "rs", 8192, { seq: 2, wait_ns: null, transfer_ns: null, busbw_gbps: null, unavailable: { wait_ns: "unmatched_ranks", transfer_ns: "unmatched_ranks", busbw_gbps: "unmatched_ranks" } }),
  ],
  memory: [
    { ...gpu0, scope: "trace", num_events: 8, peak_allocated_bytes: 4096, peak_reserved_bytes: 8192, lowest_allocated_bytes: 1024, peak_variation: 0.25 },
    { input: 0, rank: 0, gpu: null, scope: "iteration", ordinal: 0, iteration: 5, num_events: 1, peak_allocated_bytes: 8, peak_reserved_bytes: 0, lowest_allocated_bytes: 0, unavailable: { gpu: "device_unknown" } },
    { ...gpu0, scope: "iteration", ordinal: 0, iteration: 5, num_events: 4, peak_allocated_bytes: 3072, peak_reserved_bytes: 8192, lowest_allocated_bytes: 1024 },
    { ...gpu0, scope: "iteration", ordinal: 1, iteration: 6, num_events: 4, peak_allocated_bytes: 4096, peak_reserved_bytes: 8192, lowest_allocated_bytes: 1024 },
  ],
  throughput: [
    { convention: "causal", step_time_ns: 1_200_000, num_steps: 1, tokens_per_step: 2048, tokens_per_s: 1_706_666.7, tokens_per_s_per_gpu: 853_333.3, flops_per_step: null, peak_tflops: 989.4, mfu: null, hfu: null, unavailable: { flops_per_step: "no_model", mfu: "no_model", hfu: "no_model" } },
  ],
  kernel_summary: [
    { ...gpu0, name: "gemm_<int>", class: "gemm", operation: "mlp_up", grid: [1, 2, 3], block: [256, 1, 1], num: 4, total_ns: 1_200_000, min_ns: 250_000, p50_ns: 300_000, p95_ns: 310_000, max_ns: 320_000 },
    { ...gpu1, name: "gemm_<int>", class: "gemm", operation: "mlp_up", grid: [1, 2, 3], block: [256, 1, 1], num: 4, total_ns: 1_280_000, min_ns: 260_000, p50_ns: 320_000, p95_ns: 330_000, max_ns: 340_000 },
    { ...gpu0, name: "Memcpy HtoD", class: "memcpy", operation: "unlabelled", grid: null, block: null, num: 1, total_ns: 20_000, min_ns: 20_000, p50_ns: 20_000, p95_ns: 20_000, max_ns: 20_000, unavailable: { grid: "no_extent", block: "no_extent" } },
  ],
};

export function small_report(): Report {
  return parse_report(JSON.stringify({ chopper: { version: "1.2.3", schema: 1 }, ...tables }));
}

export function empty_report(): Report {
  const empty = Object.fromEntries(Object.keys(tables).map((name) => [name, []]));
  return parse_report(JSON.stringify({ chopper: { version: "1.2.3", schema: 1 }, ...empty }));
}

export const facts: PageFacts = { run: "small", left_out: [] };

export function view_of(report: Report, only: Gpu | null = null): View {
  return new View(report, facts, only);
}
