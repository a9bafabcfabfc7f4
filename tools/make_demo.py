#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the traces of examples/demo: a small FSDP training job of four ranks, as the PyTorch profiler would record it.

    tools/make_demo.py            writes examples/demo/rank<N>.pt.trace.json.gz
    tools/make_demo.py --check    says whether the files there are what this program writes

Nothing in them was measured: a model of host threads and gpu streams plays three training steps, and everything is in
integer nanoseconds from one seed, so that the text is the same on every machine. The story: rank 2 multiplies 8 % slower.
"""
import argparse
import contextlib
import gzip
import io
import json
import pathlib
import random
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "examples" / "demo"
SEED = 20260105
NUM_RANKS = 4
NUM_LAYERS = 4
STEPS = (10, 11, 12)
SLOW_RANK = 2
SLOW_GEMM = 1.08
BASE_NS = 1767189312_000000000  # baseTimeNanoseconds: a multiple of 7889238 s, as the profiler rounds it
START_NS = 1234567_800000000    # of the window, relative to the base

# Streams, as CUDA numbers them.
COMPUTE, COPY_IN, GATHER, REDUCE = 7, 20, 24, 28

# The model: tokens x width, all in bf16; sharded over the ranks.
TOKENS, WIDTH, FEED, VOCABULARY, HEADS, SEQUENCE = 8192, 2048, 5632, 32000, 16, 4096
LAYER_PARAMETERS = 4 * WIDTH * WIDTH + 3 * WIDTH * FEED + 2 * WIDTH
ROOT_PARAMETERS = VOCABULARY * WIDTH + WIDTH
GEMM_FLOPS = 430e12        # achieved
ATTENTION_FLOPS = 310e12
VECTOR_BYTES = 1.55e12     # a second
LINK_BYTES = 64e9          # a second, bus bandwidth of the collectives


def gemm_ns(m, n, k):
    return 2.0 * m * n * k / GEMM_FLOPS * 1e9


def vector_ns(num_bytes):
    return num_bytes / VECTOR_BYTES * 1e9 + 1500


class Rank:
    """One process: two host threads, one gpu. Appends events; times are ns relative to START_NS."""

    def __init__(self, rank):
        self.rank = rank
        self.random = random.Random(f"{SEED}/{rank}")
        self.pid = 48211 + rank
        self.main_thread = self.pid
        self.autograd_thread = self.pid + 530
        self.thread = self.main_thread
        self.now = {self.main_thread: self.jitter(40_000, 0.5), self.autograd_thread: 0}
        self.ready = {stream: 0 for stream in (COMPUTE, COPY_IN, GATHER, REDUCE)}
        self.host, self.calls, self.gpu, self.flows, self.gpu_ranges = [], [], [], [], []
        self.stack = []
        self.correlation = 5200 + rank * 17
        self.external = 900 + rank * 3
        self.index = 0
        self.sequence = 0
        self.collective = 310
        self.slowdown = SLOW_GEMM if rank == SLOW_RANK else 1.0

    def jitter(self, nanoseconds, share=0.012):
        return max(1, round(nanoseconds * (1 + share * (2 * self.random.random() - 1))))

    # Host side -------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def range(self, name, category="cpu_op", before=1300, after=700, sequence=None, backward=False, **arguments):
        """A host range on the current thread; what is called inside lies inside."""
        self.external += 1
        self.index += 1
        args = {"External id": self.external, "Record function id": 0}
        if sequence is not None:
            args["Sequence number"] = sequence
            args["Fwd thread id"] = 1 if backward else 0
        args.update({key.replace("_", " "): value for key, value in arguments.items()})
        args["Ev Idx"] = self.index
        thread, start = self.thread, self.now[self.thread]
        self.now[thread] += self.jitter(before, 0.3)
        self.stack.append(self.external)
        place = len(self.host)
        self.host.append(None)
        yield start
        self.stack.pop()
        self.now[thread] += self.jitter(after, 0.3)
        self.host[place] = event("X", category, name, self.pid, thread, start, self.now[thread] - start, args)

    def call(self, name, duration, until=0, **arguments):
        """A runtime call on the current thread, that returns not before `until`; returns its start."""
        self.correlation += 1
        start = self.now[self.thread]
        length = max(self.jitter(duration, 0.25), until - start)
        self.now[self.thread] = start + length
        args = {"cbid": {"cudaLaunchKernel": 211, "cudaLaunchKernelExC": 430, "cudaMemcpyAsync": 41, "cudaMemsetAsync": 51,
                         "cudaStreamSynchronize": 131, "cudaEventRecord": 135, "cudaStreamWaitEvent": 147}[name],
                "correlation": self.correlation}
        if self.stack:
            args["External id"] = self.stack[-1]
        args.update(arguments)
        self.calls.append(event("X", "cuda_runtime", name, self.pid, self.thread, start, length, args))
        return start

    # Gpu side --------------------------------------------------------------------------------------------------------

    def start_of(self, call_start, stream, after):
        """When work launched at `call_start` can start: latency of the launch, the stream, and what it waits for."""
        return max(call_start + self.jitter(5600, 0.12), self.ready[stream] + self.jitter(950, 0.2), *after)

    def put(self, category, name, stream, start, duration, args):
        self.ready[stream] = start + duration
        common = {"External id": self.stack[-1]} if self.stack else {}
        common.update({"device": self.rank, "context": 1, "stream": stream, "correlation": self.correlation})
        common.update(args)
        self.gpu.append(event("X", category, name, self.rank, stream, start, duration, common))
        return start + duration

    def flow(self, call_start, stream, start):
        self.flows.append(flow("s", "ac2g", self.correlation, self.pid, self.thread, call_start))
        self.flows.append(flow("f", "ac2g", self.correlation, self.rank, stream, start))

    def kernel(self, name, nanoseconds, grid, block=(256, 1, 1), stream=COMPUTE, after=(), registers=32, shared=0):
        """Launches a kernel from the current place on the host; returns its end."""
        call = self.call("cudaLaunchKernel", 3900)
        start = self.start_of(call, stream, after)
        self.flow(call, stream, start)
        return self.put("kernel", name, stream, start, self.jitter(nanoseconds), {
            "queued": 0, "registers per thread": registers, "shared memory": shared, "grid": list(grid),
            "block": list(block)})

    def copy(self, name, num_bytes, nanoseconds, stream=COMPUTE):
        call = self.call("cudaMemcpyAsync", 4800)
        start = self.start_of(call, stream, ())
        self.flow(call, stream, start)
        length = self.jitter(nanoseconds)
        return self.put("gpu_memcpy", name, stream, start, length, {
            "bytes": num_bytes, "memory bandwidth (GB/s)": float(f"{num_bytes / length:.6g}")})

    def fill(self, num_bytes, nanoseconds):
        call = self.call("cudaMemsetAsync", 3300)
        start = self.start_of(call, COMPUTE, ())
        self.flow(call, COMPUTE, start)
        length = self.jitter(nanoseconds)
        return self.put("gpu_memset", "Memset (Device)", COMPUTE, start, length, {
            "bytes": num_bytes, "memory bandwidth (GB/s)": float(f"{num_bytes / length:.6g}")})

    def collect(self, operator, kind, kernel, annotation, num_bytes, elements, stream, after):
        """A collective: its kernel ends when the slowest rank has joined and the bytes are moved. Yields to the ranks' meeting."""
        self.collective += 1
        metadata = {"Collective name": kind, "In msg nelems": elements[0], "Out msg nelems": elements[1], "Group size": NUM_RANKS,
                    "dtype": "BFloat16", "In split size": "[]", "Out split size": "[]", "Process Group Name": "0",
                    "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, 2, 3]",
                    "Rank": self.rank, "Seq": self.collective}
        with self.range(operator, before=4000):
            with self.range("record_param_comms", before=2500):
                own = self.stack[-1]
                with self.range(annotation, "user_annotation", before=900):
                    call = self.call("cudaLaunchKernelExC", 6200)
                    start = self.start_of(call, stream, after)
                    end = yield start, num_bytes * (NUM_RANKS - 1) / NUM_RANKS / LINK_BYTES * 1e9
                    self.flow(call, stream, start)
                    self.stack.append(own)
                    self.put("kernel", kernel, stream, start, end - start, {
                        "queued": 0, "registers per thread": 96, "shared memory": 82240, "grid": [16, 1, 1], "block": [544, 1, 1],
                        **metadata})
                    self.stack.pop()
                    self.gpu_ranges.append((annotation, stream, start, end))
            place = max(i for i, e in enumerate(self.host) if e is not None and e["name"] == "record_param_comms")
            self.host[place]["args"].update(metadata)
        return end

    # Pieces of the model ---------------------------------------------------------------------------------------------

    def gemm(self, m, n, k, operator="aten::mm"):
        dims = [[m, k], [k, n]]
        with self.range(operator, Input_Dims=dims, Input_type=["c10::BFloat16", "c10::BFloat16"], before=4200):
            tile = "128x256_64x4_1x2_h_bz_coopA" if n >= 4096 else "128x128_64x6_2x1_v_bz_coopB"
            order = "TNT" if k <= n else "NTT"
            return self.kernel(f"nvjet_tst_{tile}_{order}", gemm_ns(m, n, k) * self.slowdown,
                               ((m // 128) * max(1, n // 256), 1, 1), (384, 1, 1), registers=168, shared=213_000)

    def vector(self, operator, kernel, num_bytes, **options):
        with self.range(operator, before=2600):
            return self.kernel(kernel, vector_ns(num_bytes), (max(1, int(num_bytes // 16384) % 65536), 1, 1), **options)

    def linear(self, n, k):
        self.sequence += 1
        with self.range("aten::linear", sequence=self.sequence):
            return self.gemm(TOKENS, n, k)

    def rms_norm(self):
        self.sequence += 1
        with self.range("aten::rms_norm", sequence=self.sequence):
            return self.vector("aten::_fused_rms_norm", "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel"
                               "<c10::BFloat16, float, true>(int, float, c10::BFloat16 const*)", TOKENS * WIDTH * 4)

    def add(self):
        self.sequence += 1
        with self.range("aten::add", sequence=self.sequence, before=2400):
            return self.kernel("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
                               "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)",
                               vector_ns(TOKENS * WIDTH * 6), (8192, 1, 1), (128, 1, 1))

    def rotary(self):
        return self.vector("aten::mul", "void at::native::elementwise_kernel<128, 4, at::native::rotary_embedding>(int)",
                           TOKENS * WIDTH * 8, block=(128, 1, 1))

    def attention(self, backward):
        flops = 4.0 * TOKENS * SEQUENCE * WIDTH / 2
        name = "aten::_flash_attention_backward" if backward else "aten::_flash_attention_forward"
        dims, kind = [[TOKENS // SEQUENCE, SEQUENCE, HEADS, WIDTH // HEADS]] * 3, ["c10::BFloat16"] * 3
        if backward:  # gradient, queries, keys, values, result, log of the sums of exponents
            dims = dims[:1] + dims + dims[:1] + [[TOKENS // SEQUENCE, HEADS, SEQUENCE]]
            kind = ["c10::BFloat16"] * 5 + ["float"]
        with self.range(name, before=7000, Input_Dims=dims, Input_type=kind):
            if backward:
                self.kernel("void flash_bwd_dot_do_o_kernel<Flash_bwd_traits<128> >(Flash_bwd_params)", 34_000, (32, 2, 16))
                return self.kernel("void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_traits<128>, true>(Flash_bwd_params)",
                                   2.5 * flops / ATTENTION_FLOPS * 1e9, (32, 2, 16), registers=255, shared=147_456)
            return self.kernel("void flash_fwd_kernel<Flash_fwd_traits<128>, true>(Flash_fwd_params)",
                               flops / ATTENTION_FLOPS * 1e9, (32, 2, 16), (128, 1, 1), registers=254, shared=81_920)

    def layer_forward(self):
        self.rms_norm()
        self.linear(3 * WIDTH, WIDTH)
        self.rotary()
        self.sequence += 1
        with self.range("aten::scaled_dot_product_attention", sequence=self.sequence):
            self.attention(False)
        self.linear(WIDTH, WIDTH)
        self.add()
        self.rms_norm()
        self.linear(2 * FEED, WIDTH)
        self.vector("aten::silu", "void at::native::vectorized_elementwise_kernel<4, at::native::silu_kernel>(int)", TOKENS * FEED * 4)
        self.vector("aten::mul", "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >(int)", TOKENS * FEED * 6)
        self.linear(WIDTH, FEED)
        return self.add()

    def node(self, name, sequence):
        return self.nested(f"autograd::engine::evaluate_function: {name}", name, sequence)

    @contextlib.contextmanager
    def nested(self, outer, inner, sequence):
        with self.range(outer, sequence=sequence, backward=True, before=1900) as start:
            with self.range(inner, sequence=sequence, backward=True, before=1400):
                yield start

    def linear_backward(self, n, k, sequence):
        with self.node("MmBackward0", sequence):
            self.gemm(n, k, TOKENS)         # weight
            return self.gemm(TOKENS, k, n)  # input

    def layer_backward(self, first):
        """Nodes of a layer whose forward took the sequence numbers first + 1 to first + 9."""
        self.linear_backward(WIDTH, FEED, first + 8)
        with self.node("SwigluBackward", first + 7):
            self.vector("aten::silu_backward", "void at::native::vectorized_elementwise_kernel<4, at::native::silu_backward_kernel>(int)",
                        TOKENS * FEED * 10)
        self.linear_backward(2 * FEED, WIDTH, first + 7)
        self.norm_backward(first + 6)
        self.linear_backward(WIDTH, WIDTH, first + 4)
        with self.node("ScaledDotProductFlashAttentionBackward0", first + 3):
            self.attention(True)
        with self.node("RotaryBackward", first + 2):
            self.rotary()
        self.linear_backward(3 * WIDTH, WIDTH, first + 2)
        return self.norm_backward(first + 1)

    def norm_backward(self, sequence):
        with self.node("FusedRmsNormBackward0", sequence):
            self.vector("aten::_fused_rms_norm_backward", "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel"
                        "<c10::BFloat16, float, true>(c10::BFloat16 const*)", TOKENS * WIDTH * 8)
            return self.vector("aten::add_", "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
                               "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)", TOKENS * WIDTH * 6)

    # FSDP ------------------------------------------------------------------------------------------------------------

    def gather(self, parameters, after):
        """Copy-in and all-gather of one group of parameters; returns its end."""
        with self.range("FSDP::all_gather", "user_annotation", before=6000):
            with self.range("fsdp::all_gather_copy_in", before=3800):
                ready = self.kernel("void at::native::(anonymous namespace)::multi_tensor_copy_kernel<float, c10::BFloat16>(int)",
                                    vector_ns(parameters / NUM_RANKS * 6), (160, 1, 1), (512, 1, 1), COPY_IN, after)
            return (yield from self.collect(
                "c10d::_allgather_base_", "_allgather_base", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "nccl:_all_gather_base", 2 * parameters, (parameters // NUM_RANKS, parameters), GATHER, (ready,)))

    def copy_out(self, parameters, gathered):
        with self.range("FSDP::all_gather_copy_out", "user_annotation", before=3000):
            with self.range("fsdp::split_with_sizes_copy", before=5200):
                self.call("cudaStreamWaitEvent", 1300)
                return self.kernel("void at::native::detail::split_with_sizes_copy_out_contiguous_no_cast_kernel(char**)",
                                   vector_ns(parameters * 4), (1320, 1, 1), (128, 1, 1), COMPUTE, (gathered,))

    def reduce(self, name, parameters, after):
        with self.range(f"FSDP::post_backward_reduce ({name})", "user_annotation", before=7000):
            with self.range("fsdp::chunk_cat", before=5400):
                self.call("cudaStreamWaitEvent", 1300)
                ready = self.kernel("void at::native::detail::chunk_cat_cuda_kernel<c10::BFloat16, c10::BFloat16>(char**)",
                                    vector_ns(parameters * 4), (1320, 1, 1), (128, 1, 1), REDUCE, (after,))
            return (yield from self.collect(
                "c10d::_reduce_scatter_base_", "_reduce_scatter_base",
                "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "nccl:_reduce_scatter_base", 2 * parameters, (parameters, parameters // NUM_RANKS), REDUCE, (ready,)))

    # One training step -----------------------------------------------------------------------------------------------

    def step(self, number):
        with self.range(f"ProfilerStep#{number}", "user_annotation"):
            step_start = self.now[self.main_thread]
            yield from self.load_batch()
            sequences, gathered, last = yield from self.forward()
            yield from self.backward(sequences, gathered, last)
            yield from self.clip()
            self.optimize()
        self.gpu_ranges.append((f"ProfilerStep#{number}", COMPUTE, None, step_start))

    def load_batch(self):
        with self.range("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation", before=520_000):
            pass
        for _ in range(2):
            with self.range("aten::to"), self.range("aten::_to_copy"), self.range("aten::copy_"):
                self.copy("Memcpy HtoD (Pinned -> Device)", TOKENS * 8, 6300)
        return
        yield  # a generator, like its siblings

    def forward(self):
        """Returns the sequence numbers before each layer, the end of the last gather, and of the last kernel."""
        with self.range("FSDP::root_pre_forward", "user_annotation", before=9000):
            pass
        copied = (yield from self.gather(ROOT_PARAMETERS, ()))
        copied = self.copy_out(ROOT_PARAMETERS, copied)
        self.sequence += 1
        with self.range("aten::embedding", sequence=self.sequence):
            self.vector("aten::index_select", "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long>(long)",
                        TOKENS * WIDTH * 4)
        sequences, last = [], copied
        for layer in range(NUM_LAYERS):
            with self.range(f"FSDP::pre_forward (layers.{layer})", "user_annotation", before=8000):
                gathered = yield from self.gather(LAYER_PARAMETERS, (copied,))
                copied = self.copy_out(LAYER_PARAMETERS, gathered)
            sequences.append(self.sequence)
            last = self.layer_forward()
            with self.range(f"FSDP::post_forward (layers.{layer})", "user_annotation", before=5000):
                pass
        self.rms_norm()
        self.linear(VOCABULARY, WIDTH)
        self.sequence += 1
        with self.range("aten::cross_entropy_loss", sequence=self.sequence):
            self.vector("aten::_log_softmax", "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float>(float*)",
                        TOKENS * VOCABULARY * 4)
            last = self.vector("aten::nll_loss_forward", "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d"
                               "<float, float, long>(float*)", TOKENS * 64)
        return sequences, copied, last

    def backward(self, sequences, copied, last):
        head = self.sequence
        forward_calls = {}
        self.now[self.autograd_thread] = self.now[self.main_thread] + self.jitter(60_000, 0.2)
        self.thread = self.autograd_thread
        with self.node("NllLossBackward0", head) as start:
            self.fill(TOKENS * 4, 2100)
            self.vector("aten::_log_softmax_backward_data", "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, float, c10::BFloat16>"
                        "(c10::BFloat16*)", TOKENS * VOCABULARY * 4)
        forward_calls[head] = start
        self.linear_backward(VOCABULARY, WIDTH, head - 1)
        self.norm_backward(head - 2)
        reduced = 0
        prefetched = None
        for layer in reversed(range(NUM_LAYERS)):
            with self.range(f"FSDP::pre_backward (layers.{layer})", "user_annotation", before=6000):
                # The last layer was kept; the one before each is fetched while it computes.
                if prefetched is not None:
                    copied = self.copy_out(LAYER_PARAMETERS, prefetched)
                if layer > 0:
                    with self.range(f"FSDP::backward_prefetch for layers.{layer - 1}", "user_annotation", before=2500):
                        prefetched = yield from self.gather(LAYER_PARAMETERS, (copied,))
            last = self.layer_backward(sequences[layer])
            reduced = yield from self.reduce(f"layers.{layer}", LAYER_PARAMETERS, last)
        with self.node("EmbeddingBackward0", 1):
            last = self.vector("aten::embedding_dense_backward", "void at::native::(anonymous namespace)::embedding_backward_feature_kernel"
                               "<c10::BFloat16, float, long>(long const*)", TOKENS * WIDTH * 12)
        with self.range("FSDP::root_post_backward_callback", "user_annotation", before=9000):
            reduced = yield from self.reduce("root", ROOT_PARAMETERS, last)
        self.fetch_flows(sequences, head)
        self.now[self.main_thread] = self.now[self.autograd_thread] + self.jitter(20_000, 0.2)
        self.thread = self.main_thread
        self.reduced = reduced

    def fetch_flows(self, sequences, head):
        """Arrows from a forward operator to its backward node, where both have the sequence number."""
        first_forward, first_backward = {}, {}
        for e in self.host:
            if e is None or "Sequence number" not in e["args"]:
                continue
            number = e["args"]["Sequence number"]
            if not sequences[0] < number <= head:
                continue
            place = first_backward if e["args"]["Fwd thread id"] else first_forward
            place.setdefault(number, e)
        for number in sorted(first_forward.keys() & first_backward.keys()):
            for phase, e in (("s", first_forward[number]), ("f", first_backward[number])):
                self.flows.append(flow(phase, "fwdbwd", number, e["pid"], e["tid"], e["start"]))

    def clip(self):
        """Gradient norm: small kernels, one tiny all-reduce, and the host waits for the number."""
        with self.range("torch.nn.utils.clip_grad_norm_", "user_annotation", before=14_000):
            with self.range("aten::_foreach_norm", before=9000):
                for _ in range(NUM_LAYERS + 1):
                    last = self.kernel("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<LpNormFunctor<float, 2> >(int)",
                                       vector_ns(LAYER_PARAMETERS / NUM_RANKS * 4), (320, 1, 1), (512, 1, 1), after=(self.reduced,))
            reduced = yield from self.collect(
                "c10d::allreduce_", "allreduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "nccl:all_reduce", 1_900_000, (1, 1), REDUCE, (last,))
            with self.range("aten::item"), self.range("aten::_local_scalar_dense"):
                self.ready[COMPUTE] = max(self.ready[COMPUTE], reduced)
                end = self.copy("Memcpy DtoH (Device -> Pageable)", 4, 1500)
                self.call("cudaStreamSynchronize", 3000, until=end + 4200)

    def optimize(self):
        with self.range("Optimizer.step#AdamW.step", "user_annotation", before=70_000):
            begin = None
            names = ("lerp_", "mul_", "addcmul_", "sqrt", "div_", "addcdiv_")
            for tensor in range(NUM_LAYERS * 4):
                size = LAYER_PARAMETERS / NUM_RANKS if tensor % 4 == 0 else 3e5
                for name in names:
                    with self.range(f"aten::_foreach_{name}", before=9400, after=2100):
                        end = self.kernel(f"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<{name.strip('_')}_functor<float> >(int)",
                                          vector_ns(size * 4 if size > 1e6 else size * 8), (240, 1, 1), (512, 1, 1))
                        begin = end if begin is None else begin
            self.gpu_ranges.append(("Optimizer.step#AdamW.step", COMPUTE, begin, end))
        with self.range("Optimizer.zero_grad#AdamW.zero_grad", "user_annotation", before=45_000):
            pass

    def play(self):
        for number in STEPS:
            yield from self.step(number)


def event(phase, category, name, pid, tid, start, duration, args):
    return {"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid, "start": start, "dur": duration, "args": args}


def flow(phase, category, number, pid, tid, start):
    return {"ph": phase, "cat": category, "name": category, "pid": pid, "tid": tid, "start": start, "id": number}


def play_together(ranks):
    """Runs all ranks from collective to collective: each ends at the same time everywhere."""
    players = [rank.play() for rank in ranks]
    wire = random.Random(f"{SEED}/wire")
    requests = [next(player) for player in players]
    while True:
        starts = [start for start, _ in requests]
        transfer = requests[0][1] * (1 + 0.03 * wire.random()) + 9_000
        end = max(starts) + round(transfer)
        answers = []
        for player in players:
            try:
                answers.append(player.send(end + round(700 * wire.random())))
            except StopIteration:
                answers.append(None)
        if answers[0] is None:
            return
        requests = answers


def microseconds(nanoseconds):
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"


def write_event(out, e):
    head = [f'"ph": "{e["ph"]}"']
    if "id" in e:
        head.append(f'"id": {e["id"]}')
    head += [f'"pid": {json.dumps(e["pid"])}', f'"tid": {json.dumps(e["tid"])}', f'"ts": {microseconds(START_NS + e["start"])}',
             f'"cat": "{e["cat"]}"', f'"name": {json.dumps(e["name"])}']
    if e["ph"] == "X":
        head = [head[0], head[-2], head[-1], head[1], head[2]]
        args = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in e["args"].items())
        out.append("  {\n    " + ", ".join(head) + f',\n    "ts": {microseconds(START_NS + e["start"])}, "dur": {microseconds(e["dur"])},\n'
                   "    \"args\": {\n      " + args + "\n    }\n  }")
    elif e["ph"] == "f":
        out.append("  {\n    " + ", ".join(head) + ', "bp": "e"\n  }')
    else:
        out.append("  {\n    " + ", ".join(head) + "\n  }")


def name_event(name, pid, tid, key, value):
    return (f'  {{\n    "name": "{name}", "ph": "M", "ts": {microseconds(START_NS)}, "pid": {json.dumps(pid)}, "tid": {json.dumps(tid)},\n'
            f'    "args": {{\n      "{key}": {json.dumps(value)}\n    }}\n  }}')


def gpu_ranges_of(rank):
    """Envelopes of the gpu work launched below an annotation, widened by 1 ns as the profiler does."""
    starts = [(e["start"], e["start"] + e["dur"]) for e in rank.gpu if e["tid"] == COMPUTE]
    marks = sorted(step for *_, start, step in rank.gpu_ranges if start is None)
    for name, stream, start, end in rank.gpu_ranges:
        if start is None:  # a step: the work of the stream up to the next step's first
            later = [mark for mark in marks if mark > end]
            inside = [pair for pair in starts if pair[0] >= end and (not later or pair[0] < later[0])]
            start, end = inside[0][0], max(pair[1] for pair in inside)
        yield event("X", "gpu_user_annotation", name, rank.rank, stream, start - 1, end - start + 2, {"External id": 0})


def text_of(rank):
    last = max(e["start"] + e["dur"] for e in rank.host + rank.calls + rank.gpu)
    device = {"name": "NVIDIA H100 PCIe", "totalGlobalMem": 85024112640, "computeMajor": 9, "computeMinor": 0,
              "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
              "sharedMemPerBlock": 49152, "numSms": 114}
    devices = ",\n".join("    " + json.dumps({"id": i, **device}) for i in range(NUM_RANKS))
    info = {"backend": "nccl", "rank": rank.rank, "world_size": NUM_RANKS, "pg_count": 1,
            "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": NUM_RANKS,
                           "ranks": list(range(NUM_RANKS))}], "nccl_version": "2.27.3"}
    out = []
    for e in rank.host + rank.calls + rank.gpu + list(gpu_ranges_of(rank)) + rank.flows:
        write_event(out, e)
    for pid, label in ((rank.pid, "CPU"), (rank.rank, f"GPU {rank.rank}")):
        out.append(name_event("process_name", pid, 0, "name", "python3"))
        out.append(name_event("process_labels", pid, 0, "labels", label))
        out.append(name_event("process_sort_index", pid, 0, "sort_index", rank.pid if label == "CPU" else 5_000_000 + rank.rank))
    for stream in (COMPUTE, COPY_IN, GATHER, REDUCE):
        out.append(name_event("thread_name", rank.rank, stream, "name", f"stream {stream}"))
    for thread in (rank.main_thread, rank.autograd_thread):
        out.append(name_event("thread_name", rank.pid, thread, "name", f"thread {thread} (python3)"))
    write_event(out, {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "start": 0,
                      "dur": last, "args": {"Op count": len(rank.host)}})
    for name, when in (("Iteration Start: PyTorch Profiler", 0), ("Record Window End", last)):
        out.append(f'  {{\n    "name": "{name}", "ph": "i", "s": "g",\n    "pid": "Traces", "tid": "Trace PyTorch Profiler", '
                   f'"ts": {microseconds(START_NS + when)}\n  }}')
    return ('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n' + devices + "\n  ],\n"
            '  "cupti_version": 26,\n  "cuda_runtime_version": 12080,\n  "cuda_driver_version": 12080,\n  "record_shapes": 1,\n'
            f'  "distributedInfo": {json.dumps(info)},\n  "host_name": "demo-host",\n'
            f'  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": {BASE_NS},\n  "traceEvents": [\n' + ",\n".join(out) +
            f'\n  ],\n  "traceName": "rank{rank.rank}.pt.trace.json"\n}}\n')


def packed(text):
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as out:
        out.write(text.encode("ascii"))
    return buffer.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing; exit code 1 when a file differs")
    parser.add_argument("-o", metavar="FOLDER", type=pathlib.Path, default=FOLDER, help="where to write (default: examples/demo)")
    options = parser.parse_args()
    ranks = [Rank(rank) for rank in range(NUM_RANKS)]
    play_together(ranks)
    differ = total = 0
    options.o.mkdir(parents=True, exist_ok=True)
    for rank in ranks:
        path = options.o / f"rank{rank.rank}.pt.trace.json.gz"
        text = text_of(rank)
        if not options.check:
            path.write_bytes(packed(text))
            total += path.stat().st_size
            continue
        # The text counts: builds of zlib may pack the same text into different bytes.
        try:
            same = gzip.decompress(path.read_bytes()) == text.encode("ascii")
        except (OSError, EOFError) as error:
            print(f"{path}: {error}")
            same = False
        if not same:
            differ += 1
            print(f"{path}: not what tools/make_demo.py writes")
    if options.check:
        print(f"demo: {differ} of {NUM_RANKS} files differ" if differ else f"demo: {NUM_RANKS} files are what tools/make_demo.py writes")
    else:
        print(f"demo: {NUM_RANKS} files, {total} bytes")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
