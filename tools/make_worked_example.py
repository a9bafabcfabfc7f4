#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden inputs of the decomposition: a run whose factors are known by hand.

A product of two 4096 x 4096 matrices in BF16 on MI300X, always beside a collective: contention 1.18, clock 1,700 of
2,100 MHz. Alone at the peak clock it takes 150 us; its counters say 315,000 cycles in any pass, so its time follows the
clock (m = 0). An addition of two tensors of 64 Mi elements takes 100 us at any clock (m = 1), beside nothing.
"""
import json
import pathlib
import sys

PEAK_MHZ, EFF_MHZ, CONTENTION = 2100, 1700, 1.18
PRODUCT = dict(name="Cijk_Ailk_Bljk_BBS_BH_MT256x256x32", grid=(256, 1, 1), block=(256, 1, 1), cycles=315000)
ADD_US = 100.0
ADD = dict(name="void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
           "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
           grid=(65536, 1, 1), block=(256, 1, 1))
ITERATIONS, REPEATS = range(10, 14), 2
UTILISATION = 0.75


def trace():
    product_us = 150.0 * CONTENTION * PEAK_MHZ / EFF_MHZ
    events, correlation, now = [], 1, 1000.0

    def event(cat, name, tid, ts, dur, args=None, pid=100):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": round(ts, 3),
                       "dur": round(dur, 3), "args": args or {}})

    def kernel(kernel, ts, dur, stream, correlation):
        event("kernel", kernel["name"], stream, ts, dur,
              {"device": 0, "stream": stream, "correlation": correlation, "kind": "Dispatch Kernel",
               "grid": list(kernel["grid"]), "block": list(kernel["block"])}, pid=0)

    def operator(name, dims, kind, ts, correlation):
        event("cpu_op", name, 1, ts, 8, {"Input Dims": dims, "Input type": ["c10::BFloat16"] * len(dims)})
        event("cuda_runtime", kind, 1, ts + 2, 4, {"correlation": correlation})

    for number in ITERATIONS:
        begin = now
        host = begin + 5
        gpu = begin + 40
        for repeat in range(REPEATS):
            operator("aten::mm", [[4096, 4096], [4096, 4096]], "hipExtModuleLaunchKernel", host, correlation)
            grid = dict(PRODUCT, grid=(256 * 256, 1, 1))  # this call records work-items
            kernel(grid, gpu, product_us, 3, correlation)
            correlation += 1
            operator("nccl:all_reduce", [[1024]], "hipExtLaunchKernel", host + 10, correlation)
            kernel(dict(name="ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", grid=(56, 1, 1), block=(512, 1, 1)),
                   gpu - 1, product_us + 2, 9, correlation)
            correlation += 1
            operator("aten::add", [[8192, 8192], [8192, 8192]], "hipLaunchKernel", host + 20, correlation)
            kernel(ADD, gpu + product_us + 5, ADD_US, 3, correlation)
            correlation += 1
            host += 30
            gpu += product_us + ADD_US + 10
        event("user_annotation", f"ProfilerStep#{number}", 1, begin, gpu - begin + 10)
        now = gpu + 50
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X", "warpSize": 64, "numSms": 304}],
            "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}, "traceEvents": events}


HEADER = ("Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,"
          "Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,Counter_Value,"
          "Start_Timestamp,End_Timestamp")


def counters(pass_mhz, full):
    rows = [",".join(f'"{name}"' for name in HEADER.split(","))]
    now, dispatch = 5_000_000, 1

    def dispatched(kernel, number, duration_ns, values):
        nonlocal now, dispatch
        threads = kernel["grid"][0] * kernel["block"][0]
        for name, value in values.items():
            rows.append(f'{dispatch},{dispatch},"GPU 0",1,700,700,{threads},{number},"{kernel["name"]}",'
                        f'{kernel["block"][0]},0,0,64,0,32,"{name}",{value:.6f},{now},{now + duration_ns}')
        now += duration_ns + 5000
        dispatch += 1

    for _ in ITERATIONS:
        for _ in range(REPEATS):
            cycles = PRODUCT["cycles"]
            values = {"GRBM_GUI_ACTIVE": 8 * cycles}
            if full:
                values |= {"SQ_INSTS_VALU_MFMA_MOPS_BF16": 2 * 4096**3 / 512,
                           "SQ_VALU_MFMA_BUSY_CYCLES": UTILISATION * cycles * 304 * 4}
            dispatched(PRODUCT, 1, round(1000 * cycles / pass_mhz), values)
            values = {"GRBM_GUI_ACTIVE": 8 * ADD_US * pass_mhz}
            if full:
                values |= {"SQ_INSTS_VALU_MFMA_MOPS_BF16": 0, "SQ_VALU_MFMA_BUSY_CYCLES": 0}
            else:
                values |= {"TCC_EA0_RDREQ": 2 * 2**27 / 64, "TCC_EA0_RDREQ_32B": 0, "TCC_BUBBLE": 0,
                           "TCC_EA0_WRREQ": 2**27 / 64, "TCC_EA0_WRREQ_64B": 2**27 / 64}
            dispatched(ADD, 2, round(1000 * ADD_US), values)
    return "\n".join(rows) + "\n"


def main():
    out = pathlib.Path(sys.argv[1])
    (out / "counters").mkdir(parents=True, exist_ok=True)
    (out / "rank0.trace.json").write_text(json.dumps(trace()).replace("}, {\"ph\"", "},\n{\"ph\"") + "\n")
    (out / "counters/pass_1_counter_collection.csv").write_text(counters(2000, True))
    (out / "counters/pass_2_counter_collection.csv").write_text(counters(1800, False))


main()
