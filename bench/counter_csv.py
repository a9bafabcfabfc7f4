#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a file of counters for measuring, of about MB megabytes: a counter_collection table as rocprofv3 of ROCm 7
does (the default), a joined table of rocprof-compute with a column for each of 128 L2 channels (wide), or the JSON of
rocprofv3 with a record for each instance (json).

    bench/counter_csv.py /tmp/counters.csv 500 [long|wide|json]
    time build/release/chopper check --threads 1 /tmp/counters.csv
"""
import random
import sys

HEADER = ('"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id",'
          '"Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
          '"Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"\n')
COUNTERS = ["SQ_INSTS_VALU_MFMA_MOPS_BF16", "SQ_VALU_MFMA_BUSY_CYCLES", "SQ_BUSY_CU_CYCLES", "SQ_WAVE_CYCLES",
            "GRBM_GUI_ACTIVE", "GRBM_COUNT"]
CHANNELS = ["TCC_HIT", "TCC_MISS", "TCC_EA0_RDREQ", "TCC_EA0_WRREQ"]


def wide_header():
    columns = ["Dispatch_ID", "GPU_ID", "Queue_ID", "PID", "TID", "Grid_Size", "Workgroup_Size", "LDS_Per_Workgroup",
               "Scratch_Per_Workitem", "Arch_VGPR", "Accum_VGPR", "SGPR", "Wave_Size", "Kernel_Name", "Start_Timestamp",
               "End_Timestamp", "Correlation_ID"] + COUNTERS
    return ",".join(columns + [f"{name}[{channel}]" for channel in range(128) for name in CHANNELS]) + "\n"


def json_head(kernels):
    counters = ",".join(f'{{"agent_id":{{"handle":104}},"id":{{"handle":{i}}},"name":"{name}"}}'
                        for i, name in enumerate(COUNTERS))
    symbols = ",".join(f'{{"size":88,"kernel_id":{i},"kernel_name":"{name}.kd","formatted_kernel_name":"{name}"}}'
                       for i, name in enumerate(kernels))
    return ('{"rocprofiler-sdk-tool":[{"metadata":{"pid":15606},"agents":[{"size":312,"id":{"handle":104},"type":2,'
            f'"node_id":4,"num_xcc":8}}],"counters":[{counters}],"kernel_symbols":[{symbols}],'
            '"callback_records":{"counter_collection":[')


def json_record(dispatch, kernel, time, duration, chance):
    records = ",".join(f'{{"counter_id":{{"handle":{i}}},"value":{chance.randrange(1 << 30)}.0}}'
                       for i in range(len(COUNTERS)) for _ in range(8 if i > 3 else 32))
    return ('{"dispatch_data":{"size":128,"correlation_id":{"internal":%d,"external":0},"start_timestamp":%d,'
            '"end_timestamp":%d,"dispatch_info":{"size":72,"agent_id":{"handle":104},"queue_id":{"handle":1},'
            '"kernel_id":%d,"dispatch_id":%d,"private_segment_size":0,"group_segment_size":0,"workgroup_size":{"x":256,'
            '"y":1,"z":1},"grid_size":{"x":%d,"y":1,"z":1}}},"records":[%s],"thread_id":15606,"arch_vgpr_count":64,'
            '"accum_vgpr_count":0,"sgpr_count":96,"lds_block_size_v":0}' %
            (dispatch, time, time + duration, kernel, dispatch, 256 * (1 + kernel), records))


def main():
    path, megabytes = sys.argv[1], int(sys.argv[2])
    form = sys.argv[3] if len(sys.argv) > 3 else "long"
    chance = random.Random(1)
    kernels = [f"void at::native::elementwise_kernel_{i}<{', '.join(['float', 'c10::BFloat16'] * chance.randint(1, 12))}>"
               f"(at::TensorIterator&, int)" for i in range(120)]
    kernels += [f"Cijk_Ailk_Bljk_BBS_BH_MT{32 << i % 4}x{64 << i % 3}x{32}_MI16x16x1_SN_{i:03d}" * 2 for i in range(80)]
    time, dispatch, size = 1_550_151_853_029_637, 0, 0
    with open(path, "w") as file:
        size += file.write(json_head(kernels) if form == "json" else wide_header() if form == "wide" else HEADER)
        while size < megabytes * 1_000_000:
            dispatch += 1
            kernel = chance.randrange(len(kernels))
            grid, workgroup = 256 * (1 + kernel * 37 % 4096), 256
            duration = chance.randint(2_000, 900_000)
            if form == "json":
                size += file.write(("," if dispatch > 1 else "") + json_record(dispatch, kernel, time, duration, chance))
            elif form == "wide":
                values = ",".join(str(chance.randrange(1 << 34)) for _ in COUNTERS)
                channels = ",".join(f"{chance.randrange(1 << chance.randrange(1, 20))}.0"
                                    for _ in range(128 * len(CHANNELS)))
                size += file.write(f'{dispatch},0,1,15606,15606,{grid},{workgroup},0,0,64,0,96,64,"{kernels[kernel]}",'
                                   f"{time},{time + duration},0,{values},{channels}\n")
            else:
                before = (f'{dispatch},{dispatch},"Agent 4",1,15606,15606,{grid},{kernel},"{kernels[kernel]}",'
                          f"{workgroup},0,0,64,0,96,")
                after = f",{time},{time + duration}\n"
                size += file.write(
                    "".join(f'{before}"{name}",{chance.randrange(1 << 34)}.000000{after}' for name in COUNTERS))
            time += duration + chance.randint(1_000, 50_000)
        if form == "json":
            file.write("]}}]}")


main()
