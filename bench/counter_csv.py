#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a counter_collection table as rocprofv3 of ROCm 7 does, for measuring: NAME.csv of about MB megabytes.

    bench/counter_csv.py /tmp/counters.csv 500
    time build/release/chopper check --threads 1 /tmp/counters.csv
"""
import random
import sys

HEADER = ('"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id",'
          '"Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
          '"Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"\n')
COUNTERS = ["SQ_INSTS_VALU_MFMA_MOPS_BF16", "SQ_VALU_MFMA_BUSY_CYCLES", "SQ_BUSY_CU_CYCLES", "SQ_WAVE_CYCLES",
            "GRBM_GUI_ACTIVE", "GRBM_COUNT"]


def main():
    path, megabytes = sys.argv[1], int(sys.argv[2])
    chance = random.Random(1)
    kernels = [f"void at::native::elementwise_kernel_{i}<{', '.join(['float', 'c10::BFloat16'] * chance.randint(1, 12))}>"
               f"(at::TensorIterator&, int)" for i in range(120)]
    kernels += [f"Cijk_Ailk_Bljk_BBS_BH_MT{32 << i % 4}x{64 << i % 3}x{32}_MI16x16x1_SN_{i:03d}" * 2 for i in range(80)]
    time, dispatch, size = 1_550_151_853_029_637, 0, 0
    with open(path, "w") as file:
        size += file.write(HEADER)
        while size < megabytes * 1_000_000:
            dispatch += 1
            kernel = chance.randrange(len(kernels))
            grid, workgroup = 256 * (1 + kernel * 37 % 4096), 256
            duration = chance.randint(2_000, 900_000)
            before = f'{dispatch},{dispatch},"Agent 4",1,15606,15606,{grid},{kernel},"{kernels[kernel]}",{workgroup},0,0,64,0,96,'
            after = f",{time},{time + duration}\n"
            size += file.write("".join(f'{before}"{name}",{chance.randrange(1 << 34)}.000000{after}' for name in COUNTERS))
            time += duration + chance.randint(1_000, 50_000)


main()
