// SPDX-License-Identifier: Apache-2.0
// A made-up report with every table filled, as docs/schema.json has it: an FSDP job of a small Llama, with one slow gpu.
// The profiler of odd ranks starts one step later: the same step has another ordinal there. Steps are not equally long.
// The numbers are plausible and add up where the contract says so; nothing else is claimed of them.

export interface ExampleOptions {
  ranks: number;
  iterations: number;
  layers: number;
}

type Json = Record<string, unknown>;

// Park and Miller's generator: the same numbers everywhere.
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

interface OperationFacts {
  phase: string;
  operation: string;
  gpu_class: string;
  us: number; // of one execution
  per_layer: boolean;
  overlap: number;
}

const FORWARD: [string, string, number, number][] = [
  ["attn_n", "vector", 95, 0.6],
  ["qkv_ip", "gemm", 420, 0.7],
  ["qkv_re", "vector", 130, 0.4],
  ["attn_fa", "attention", 610, 0.55],
  ["attn_op", "gemm", 280, 0.5],
  ["attn_ra", "vector", 60, 0.3],
  ["mlp_n", "vector", 92, 0.35],
  ["mlp_gp", "gemm", 890, 0.8],
  ["mlp_gs", "vector", 150, 0.75],
  ["mlp_up", "gemm", 885, 0.7],
  ["mlp_gu", "vector", 170, 0.5],
  ["mlp_dp", "gemm", 930, 0.2],
  ["mlp_ra", "vector", 61, 0.1],
];

const OPERATIONS: OperationFacts[] = [
  { phase: "forward", operation: "ie", gpu_class: "vector", us: 60, per_layer: false, overlap: 0.1 },
  ...FORWARD.map(([operation, gpu_class, us, overlap]) => ({ phase: "forward", operation, gpu_class, us, per_layer: true, overlap })),
  { phase: "forward", operation: "ln", gpu_class: "vector", us: 90, per_layer: false, overlap: 0 },
  { phase: "forward", operation: "lp", gpu_class: "gemm", us: 6900, per_layer: false, overlap: 0 },
  { phase: "forward", operation: "cel", gpu_class: "vector", us: 2400, per_layer: false, overlap: 0 },
  { phase: "backward", operation: "lp", gpu_class: "gemm", us: 13900, per_layer: false, overlap: 0.3 },
  ...FORWARD.map(([operation, gpu_class, us, overlap]) => ({ phase: "backward", operation, gpu_class, us: us * (gpu_class === "attention" ? 2.4 : 2), per_layer: true, overlap: Math.min(1, overlap + 0.15) })),
  { phase: "backward", operation: "b_ga", gpu_class: "vector", us: 700, per_layer: false, overlap: 0.9 },
  { phase: "optimizer", operation: "opt_gc", gpu_class: "vector", us: 1500, per_layer: false, overlap: 0 },
  { phase: "optimizer", operation: "opt_step", gpu_class: "vector", us: 9200, per_layer: false, overlap: 0 },
  { phase: "other", operation: "aten::copy_", gpu_class: "memcpy", us: 22, per_layer: false, overlap: 0 },
];

const START_NS = 1768423881454707502n;
const FIRST_STEP = 10;

/** Writes the report as the program does: absolute times as integers beyond 2^53. */
export function example_report_text(options: ExampleOptions): string {
  const text = JSON.stringify(example_report(options));
  return text.replace(/"@(\d+)"/g, "$1");
}

export function example_report(options: ExampleOptions): Json {
  const random = generator(7);
  const jitter = (size: number): number => 1 + size * (random() - 0.5);
  const slow = Math.min(5, options.ranks - 1);
  const speed = Array.from({ length: options.ranks }, (_, rank) => (rank === slow && options.ranks > 1 ? 1.058 : jitter(0.014)));
  const report: Record<string, Json[]> = {};
  for (const name of ["inputs", "gpus", "health", "coverage", "label_rules", "timeline", "steps", "ranks", "operations", "launch", "host_blockers", "collectives", "memory", "throughput", "kernel_summary"]) {
    report[name] = [];
  }
  const add = (table: string, row: Json): void => void report[table]!.push(row);
  const ns = (us: number): number => Math.round(us * 1000);
  const windows: Json[][] = [];
  const per_layer_us = OPERATIONS.filter((each) => each.per_layer).reduce((sum, each) => sum + each.us, 0);
  const once_us = OPERATIONS.filter((each) => !each.per_layer).reduce((sum, each) => sum + each.us, 0);

  for (let rank = 0; rank < options.ranks; rank++) {
    const keys = { input: rank, rank, gpu: rank % 8 };
    const factor = speed[rank]!;
    const first = FIRST_STEP + (rank % 2);
    add("inputs", { input: rank, path: `traces/rank${rank}.trace.json.gz`, format: "kineto-json", bytes: 3470202 + rank * 811, text_bytes: 40430281, vendor: "amd", host: `node${Math.floor(rank / 8)}`, rank, rank_source: "metadata", records: 129972, clock: "unix", quantum_ns: 1 });
    add("gpus", { ...keys, gpu_ordinal: keys.gpu, gpu_id: `input${rank}/rank${rank}/gpu${keys.gpu}`, vendor: "amd", name: "AMD Instinct MI300X", spec: "mi300x", num_kernels: 12982, num_memcpy: 12, num_memset: 0, num_comm_kernels: 393 });
    const covered = 0.985 + 0.01 * random();
    add("coverage", { ...keys, launch_records: 1, launch_time: 1, operator_records: 0.999, operator_time: 0.9995, host_operator_time: 0.97, iteration_records: 0.998, iteration_time: 0.9991, phase_records: covered, phase_time: covered + 0.004, layer_records: covered - 0.02, layer_time: covered - 0.006, operation_records: covered - 0.01, operation_time: covered, class_records: 0.994, class_time: 0.9985, iteration_rule: "profiler_step" });
    for (const [label, rules] of [["phase", [["optimizer_range", 0.08], ["autograd_thread", 0.6], ["forward_range", 0.31], ["none", 0.01]]], ["layer", [["module_path", 0.92], ["partner", 0.05], ["none", 0.03]]], ["operation", [["annotation", 0.88], ["collective", 0.1], ["none", 0.02]]]] as [string, [string, number][]][]) {
      for (const [rule, share] of rules) add("label_rules", { ...keys, label, rule, records: Math.round(13000 * share), duration_ns: Math.round(3.3e9 * share) });
    }

    let compute = 0, exposed = 0, copies = 0, prep_idle = 0, call_idle = 0, other_idle = 0;
    const own_windows: Json[] = [];
    for (let k = 0; k < options.iterations; k++) {
      const length = 1 + 0.1 * ((first + k) % 3);
      const w_compute = ns((per_layer_us * options.layers + once_us) * factor * length * jitter(0.006));
      const w_wait = ns((rank === slow ? 800 : 9000 + 25000 * (1.058 - factor)) * jitter(0.3));
      const w_exposed = ns(11000 * jitter(0.1)) + w_wait;
      const w_copies = ns(26 * jitter(0.4));
      const w_prep = ns(900 * jitter(0.8));
      const w_call = ns(2900 * jitter(0.2));
      const w_other = ns(1200 * jitter(0.5));
      const window_ns = w_compute + w_exposed + w_copies + w_prep + w_call + w_other;
      const edge = ns(1500 * jitter(0.4));
      own_windows.push({
        ...keys, scope: "iteration", ordinal: k, iteration: first + k, start_ns: `@${START_NS + BigInt(k) * 830000000n}`, span_ns: window_ns + ns(2000), busy_ns: w_compute + w_exposed + w_copies, compute_ns: w_compute, comm_ns: ns(215000), memcpy_ns: w_copies, overlap_ns: ns(215000) - w_exposed, exposed_comm_ns: w_exposed, exposed_comm_strict_ns: w_exposed + ns(9000), exposed_memcpy_ns: w_copies, idle_ns: w_prep + w_call + w_other, comm_copy_ns: ns(37000), prep_ns: w_prep + edge, call_ns: w_call + ns(14000), prep_idle_ns: w_prep, call_idle_ns: w_call, inter_iteration_ns: edge, num_no_launch: 0,
        window_start_ns: `@${START_NS + BigInt(k) * 830000000n + 52001n}`, window_ns, window_busy_ns: w_compute + w_exposed + w_copies, window_compute_ns: w_compute, window_comm_ns: ns(215000), window_memcpy_ns: w_copies, window_overlap_ns: ns(215000) - w_exposed, window_exposed_comm_ns: w_exposed, window_exposed_comm_strict_ns: w_exposed + ns(9000), window_exposed_memcpy_ns: w_copies, window_idle_ns: w_prep + w_call + w_other, window_comm_copy_ns: ns(37000), window_prep_idle_ns: w_prep, window_call_idle_ns: w_call, foreign_ns: ns(310), ...(k + 1 < options.iterations ? { gap_to_next_ns: -ns(400 * jitter(0.5)) } : {}), micro_steps: 1, complete: first + k > FIRST_STEP || options.iterations < 3, last: k + 1 === options.iterations,
        wait: w_wait,
      });
      compute += w_compute; exposed += w_exposed; copies += w_copies; prep_idle += w_prep; call_idle += w_call; other_idle += w_other;
    }
    windows.push(own_windows);
    const idle = prep_idle + call_idle + other_idle;
    const span_ns = compute + exposed + copies + idle;
    add("timeline", { ...keys, scope: "trace", start_ns: `@${START_NS}`, span_ns, busy_ns: span_ns - idle, compute_ns: compute, comm_ns: ns(215000) * options.iterations, memcpy_ns: copies, overlap_ns: ns(215000) * options.iterations - exposed, exposed_comm_ns: exposed, exposed_comm_strict_ns: exposed + ns(36000), exposed_memcpy_ns: copies, idle_ns: idle, comm_copy_ns: ns(148000), prep_ns: prep_idle + ns(300), call_ns: call_idle + ns(54000), prep_idle_ns: prep_idle, call_idle_ns: call_idle, inter_iteration_ns: ns(6000), num_no_launch: 0 });
    for (const window of own_windows) {
      const { wait: _, ...row } = window;
      add("timeline", row);
    }
    add("ranks", { ...keys, num_windows: Math.max(1, options.iterations - 2), window_ns: own_windows[0]!["window_ns"], window_compute_ns: own_windows[0]!["window_compute_ns"], window_exposed_comm_ns: own_windows[0]!["window_exposed_comm_ns"], window_exposed_memcpy_ns: own_windows[0]!["window_exposed_memcpy_ns"], window_idle_ns: own_windows[0]!["window_idle_ns"], window_prep_idle_ns: own_windows[0]!["window_prep_idle_ns"], window_call_idle_ns: own_windows[0]!["window_call_idle_ns"], comm_wait_ns: own_windows[0]!["wait"], compute_ratio: factor, ...(rank === slow && options.ranks > 1 ? { hint: "straggler" } : {}) });

    for (const each of OPERATIONS) {
      const instances = options.iterations * (each.per_layer ? options.layers : 1);
      const mine = each.us * factor * jitter(0.01) * (1 + 0.12 * each.overlap);
      const duration_ns = ns(mine) * instances;
      const ratio = each.gpu_class === "memcpy" ? 0 : Math.min(1, Math.max(0, each.overlap * jitter(0.25)));
      const overlap_ns = Math.round(duration_ns * ratio);
      const prep = ns(each.per_layer ? 0.4 * jitter(1) : 160 * jitter(0.8)) * options.iterations;
      const call = ns(each.per_layer ? 3 * jitter(0.5) : 40 * jitter(0.5)) * options.iterations;
      add("operations", { ...keys, phase: each.phase, operation: each.operation, class: each.gpu_class, num_instances: instances, num_kernels: instances * 2, duration_ns, elapsed_ns: Math.round(duration_ns * 1.02), overlap_ns, overlap_ratio: overlap_ns / duration_ns, prep_ns: prep, call_ns: call * 4, prep_idle_ns: Math.round(prep * 0.9), call_idle_ns: call, num_no_launch: 0, p05_ns: ns(mine * (0.93 - 0.1 * each.overlap)), p50_ns: ns(mine), p95_ns: ns(mine * (1.06 + 0.25 * each.overlap)), ...(each.gpu_class === "gemm" ? { flops: 3.1e15, bytes: 2.2e12, tflops: 640 * jitter(0.1), gbps: 900, peak_share: 0.49, bound: "compute" } : { flops: null, bytes: null, unavailable: { flops: "no_shapes", bytes: "no_shapes" } }) });
    }
    for (const [operation, phase, us] of [["ag", "forward", 630], ["ag", "backward", 640], ["rs", "backward", 720]] as [string, string, number][]) {
      const instances = options.iterations * options.layers;
      add("operations", { ...keys, phase, operation, class: "comm", num_instances: instances, num_kernels: instances, duration_ns: ns(us * jitter(0.1)) * instances, elapsed_ns: ns(us) * instances, overlap_ns: 0, prep_ns: 0, call_ns: 0, prep_idle_ns: 0, call_idle_ns: 0, num_no_launch: 0, p05_ns: ns(us * 0.8), p50_ns: ns(us), p95_ns: ns(us * 1.5) });
    }
    for (const [phase, delay, depth] of [["forward", 9000, 310], ["backward", 21000, 540], ["optimizer", 4000, 120], ["other", 30, 0]] as [string, number, number][]) {
      add("launch", { ...keys, phase, num_kernels: 4000, num_negative_delay: phase === "other" ? 2 : 0, delay_p05_ns: ns(delay * 0.05 * jitter(0.2)), delay_p50_ns: ns(delay * jitter(0.1)), delay_p95_ns: ns(delay * 2.2 * jitter(0.1)), queue_p05: Math.floor(depth * 0.1), queue_p50: depth, queue_p95: Math.round(depth * 1.7), prep_ns: ns(3000), call_ns: ns(9000), prep_idle_ns: ns(900), call_idle_ns: ns(700) });
    }
    for (const [kind, name, num, duration, idle_us] of [["synchronise", "hipDeviceSynchronize", 4, 830000, 2100], ["item", "aten::item", 8, 16000, 1300], ["data_loading", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 4, 2600, 900], ["allocator", "hipMalloc", 2, 700, 300], ["garbage_collection", "gc", 1, 5200, 0]] as [string, string, number, number, number][]) {
      add("host_blockers", { ...keys, kind, name, num, duration_ns: ns(duration * jitter(0.2)), idle_ns: ns(idle_us * jitter(0.4)) });
    }
    let offset = 1000;
    for (let k = 0; k < options.iterations; k++) {
      for (let layer = 0; layer < options.layers; layer++) {
        for (const [kind, phase, bytes, at] of [["ag", "forward", layer === 0 ? 1050673152 : 436224000, 0.25], ["ag", "backward", 436224000, 0.5], ["rs", "backward", 436224000, 0.6]] as [string, string, number, number][]) {
          // Transfers are the same on every rank.
          const transfer_ns = ns(600 * (1 + 0.08 * Math.sin(k * 7 + layer * 3 + at * 10)));
          const wait_ns = rank === slow ? 0 : ns(90 * random() + (layer === options.layers - 1 ? 2500 : 0));
          const duration_ns = transfer_ns + wait_ns;
          const exposed_ns = layer === options.layers - 1 ? duration_ns : random() < 0.1 ? Math.round(duration_ns * random()) : 0;
          add("collectives", { ...keys, start_ns: `@${START_NS + BigInt(k * options.layers + layer) * 26000000n + BigInt(Math.round(at * 1e7))}`, offset: (offset += 300), iteration: first + k, ordinal: k, phase, kind, group: "default_pg", dimension: "data", group_size: options.ranks, seq: (k * options.layers + layer) * 3 + Math.round(at * 4), bytes, duration_ns, exposed_ns, wait_ns, transfer_ns, busbw_gbps: (bytes * (options.ranks - 1)) / options.ranks / transfer_ns, theory_ns: 380000.5, stream: 7, layer, launch_layer: Math.max(0, layer - 1) });
        }
      }
      add("collectives", { ...keys, start_ns: `@${START_NS + BigInt(k) * 820000000n}`, offset: (offset += 300), iteration: first + k, ordinal: k, phase: "optimizer", kind: "ar", group: "default_pg", dimension: "data", group_size: options.ranks, seq: 100000 + k, bytes: 4, duration_ns: 31000, exposed_ns: 31000, wait_ns: null, transfer_ns: null, busbw_gbps: null, stream: 7, unavailable: { wait_ns: "unmatched_ranks", transfer_ns: "unmatched_ranks", busbw_gbps: "unmatched_ranks" } });
    }
    const gib = 2 ** 30;
    add("memory", { ...keys, scope: "trace", num_events: 81234, peak_allocated_bytes: Math.round(61.2 * gib * jitter(0.01)), peak_reserved_bytes: Math.round(70 * gib), lowest_allocated_bytes: Math.round(14.1 * gib), peak_variation: 0.031 });
    for (let k = 0; k < options.iterations; k++) {
      add("memory", { ...keys, scope: "iteration", ordinal: k, iteration: first + k, num_events: 20000, peak_allocated_bytes: Math.round(60 * gib * jitter(0.02)), peak_reserved_bytes: 70 * gib, lowest_allocated_bytes: 14 * gib });
    }
    for (const [name, gpu_class, operation, num, us] of [
      ["Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1", "gemm", "mlp_gp", 256, 1100],
      ["Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0_AFC1", "gemm", "mlp_dp", 256, 1220],
      ["void ck_tile::kentry<256, 1, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync</* </script> */>>>", "attention", "attn_fa", 128, 610],
      ["ck_tile::FmhaBwdDQDKDVKernel", "attention", "attn_fa", 128, 1460],
      ["void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat16>>", "vector", "mlp_gu", 512, 160],
      ["ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "comm", "ag", 390, 640],
      ["Memcpy HtoD (Host -> Device)", "memcpy", "unlabelled", 12, 4],
    ] as [string, string, string, number, number][]) {
      const each = ns(us * factor);
      add("kernel_summary", { ...keys, name, class: gpu_class, operation, ...(gpu_class === "memcpy" ? { grid: null, block: null, unavailable: { grid: "no_extent", block: "no_extent" } } : { grid: [512, 1, 1], block: [256, 1, 1] }), num, total_ns: each * num, min_ns: Math.round(each * 0.94), p50_ns: each, p95_ns: Math.round(each * 1.06), max_ns: Math.round(each * 1.21) });
    }
  }

  const step_times: number[] = []; // of those that count
  for (let k = 0; k < options.iterations + (options.ranks > 1 ? 1 : 0); k++) {
    const own = windows.flat().filter((window) => window["iteration"] === FIRST_STEP + k);
    const lengths = own.map((window) => window["window_ns"] as number).sort((a, b) => a - b);
    const complete = own.length === options.ranks && own.every((window) => window["complete"]);
    const last = own.some((window) => window["last"]);
    const step_ns = lengths[lengths.length - 1]!;
    if (complete && !last) step_times.push(step_ns);
    add("steps", { ordinal: k, iteration: FIRST_STEP + k, num_gpus: own.length, step_ns, shortest_ns: lengths[0]!, slowest_rank: slow, slowest_gpu: slow % 8, complete, last });
  }
  step_times.sort((a, b) => a - b);
  const step_time_ns = step_times[(step_times.length - 1) >> 1] ?? null;
  const add_throughput = (row: Json, unavailable: Json = {}): void => {
    const reasons = step_time_ns === null ? { step_time_ns: "no_complete_iteration", ...unavailable } : unavailable;
    add("throughput", { ...row, step_time_ns, num_steps: step_times.length, unavailable: reasons });
  };
  add("health", { kind: "foreign_file", severity: "note", count: 2, examples: [{ where: "chopper.toml", what: "no format of this build claims it" }, { where: "truth.json", what: "not a trace" }] });
  add("health", { input: 0, kind: "zero_timestamp", severity: "skipped", count: 3, examples: [{ where: "traces/rank0.trace.json.gz @ byte 8812", what: "ts 0 among absolute times" }] });
  for (const [convention, mfu] of [["causal", 0.3512], ["palm", 0.3844]] as [string, number][]) {
    add_throughput({ convention, tokens_per_step: 8192 * options.ranks, tokens_per_s: 9889.5 * options.ranks, tokens_per_s_per_gpu: 9889.512, flops_per_step: 3.41e15 * options.ranks, peak_tflops: 1307.4432, mfu, hfu: mfu });
  }
  add_throughput({ convention: "shapes", tokens_per_step: 8192 * options.ranks, tokens_per_s: 9889.5 * options.ranks, tokens_per_s_per_gpu: 9889.512, flops_per_step: null, peak_tflops: 1307.4432, mfu: null, hfu: null }, { flops_per_step: "no_shapes", mfu: "no_shapes", hfu: "no_shapes" });
  return { chopper: { version: "0.1.0", schema: 1 }, ...report };
}
