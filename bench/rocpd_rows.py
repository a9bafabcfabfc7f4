#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a rocpd database as rocprofv3 of ROCm 7 does, for measuring: FILE with about ROWS rows of rocpd_pmc_event, one
for each instance of the hardware.

    bench/rocpd_rows.py /tmp/counters.db 6000000
    time build/release/chopper check --threads 1 /tmp/counters.db
"""
import itertools
import os
import random
import sqlite3
import sys

SUFFIX = "_0198c0de_1111_7222_8333_444455556666"
GUID = SUFFIX[1:].replace("_", "-")
COUNTERS = {"SQ_INSTS_VALU_MFMA_MOPS_BF16": 32, "SQ_VALU_MFMA_BUSY_CYCLES": 32, "SQ_BUSY_CU_CYCLES": 32,
            "SQ_WAVE_CYCLES": 32, "GRBM_GUI_ACTIVE": 8, "GRBM_COUNT": 8}  # instances on MI300X
TABLES = {
    "string": "string TEXT",
    "info_node": "hash BIGINT, machine_id TEXT, hostname TEXT",
    "info_process": "nid INTEGER, ppid INTEGER, pid INTEGER, command TEXT",
    "info_thread": "nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER, name TEXT",
    "info_agent": "nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, logical_index INTEGER, "
                  "type_index INTEGER, name TEXT, vendor_name TEXT, product_name TEXT, extdata JSONB",
    "info_pmc": "nid INTEGER, pid INTEGER, agent_id INTEGER, name TEXT, symbol TEXT",
    "info_kernel_symbol": "nid INTEGER, pid INTEGER, kernel_name TEXT, display_name TEXT, sgpr_count INTEGER, "
                          "arch_vgpr_count INTEGER, accum_vgpr_count INTEGER",
    "event": "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, "
             "call_stack JSONB DEFAULT '{}', line_info JSONB DEFAULT '{}', extdata JSONB DEFAULT '{}'",
    "pmc_event": "event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0, extdata JSONB DEFAULT '{}'",
    "kernel_dispatch": "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, "
                       "dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, \"end\" BIGINT, "
                       "private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER, "
                       "workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, "
                       "grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER, extdata JSONB DEFAULT '{}'",
}


def insert(connection, table, columns, rows):
    names = columns.split()
    connection.executemany(f"INSERT INTO rocpd_{table}{SUFFIX} ({', '.join(names)}) "
                           f"VALUES ({', '.join('?' * len(names))})", rows)


def main():
    path, wanted = sys.argv[1], int(sys.argv[2])
    if os.path.exists(path):
        os.remove(path)
    chance = random.Random(1)
    num_dispatches = max(1, wanted // sum(COUNTERS.values()))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute(f"CREATE TABLE rocpd_metadata{SUFFIX} (id INTEGER PRIMARY KEY AUTOINCREMENT, tag TEXT, value TEXT)")
    for table, columns in TABLES.items():
        connection.execute(f"CREATE TABLE rocpd_{table}{SUFFIX} (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "
                           f"guid TEXT DEFAULT '{GUID}' NOT NULL, {columns})")
        connection.execute(f"CREATE VIEW rocpd_{table} AS SELECT * FROM rocpd_{table}{SUFFIX}")
    insert(connection, "metadata", "tag value", [("schema_version", "3"), ("uuid", SUFFIX), ("guid", GUID)])
    insert(connection, "string", "id string", [(1, "KERNEL_DISPATCH"), (2, "")])
    insert(connection, "info_node", "id hash machine_id hostname", [(1, 1, "machine", "host-0")])
    insert(connection, "info_process", "id nid ppid pid command", [(15606, 1, 1, 15606, "train")])
    insert(connection, "info_thread", "id nid ppid pid tid", [(15606, 1, 1, 15606, 15606)])
    facts = '{"num_xcc": 8, "cu_count": 304, "simd_count": 1216, "wave_front_size": 64, "max_engine_clk_fcompute": 2100}'
    insert(connection, "info_agent",
           "id nid pid type absolute_index logical_index type_index name vendor_name product_name extdata",
           [(4, 1, 15606, "GPU", 4, 4, 0, "gfx942", "AMD", "AMD Instinct MI300X", facts)])
    insert(connection, "info_pmc", "id nid pid agent_id name symbol",
           [(1000 + i, 1, 15606, 4, name, name) for i, name in enumerate(COUNTERS)])
    insert(connection, "info_kernel_symbol",
           "id nid pid kernel_name display_name sgpr_count arch_vgpr_count accum_vgpr_count",
           [(i + 1, 1, 15606, f"_Z{i}", f"Cijk_Ailk_Bljk_BBS_BH_MT{32 << i % 4}x{64 << i % 3}x32_SN_{i:03d}", 96, 64, 0)
            for i in range(200)])
    insert(connection, "event", "id category_id stack_id parent_stack_id correlation_id",
           ((i, 1, i, i, 0) for i in range(1, num_dispatches + 1)))

    def dispatches():
        time = 1_550_151_853_029_637
        for i in range(1, num_dispatches + 1):
            kernel, duration = chance.randrange(200), chance.randint(2_000, 900_000)
            yield (i, 1, 15606, 15606, 4, kernel + 1, i, 1, 0, time, time + duration, 0, 0, 256, 1, 1,
                   256 * (1 + kernel * 37 % 4096), 1, 1, 2, i)
            time += duration + chance.randint(1_000, 50_000)

    insert(connection, "kernel_dispatch",
           "id nid pid tid agent_id kernel_id dispatch_id queue_id stream_id start end private_segment_size "
           "group_segment_size workgroup_size_x workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z "
           "region_name_id event_id".replace(" end ", ' "end" '), dispatches())
    values = ((event, 1000 + i, float(chance.randrange(1 << 24)))
              for event in range(1, num_dispatches + 1)
              for i, instances in enumerate(COUNTERS.values()) for _ in itertools.repeat(None, instances))
    insert(connection, "pmc_event", "event_id pmc_id value", values)
    connection.commit()
    connection.close()
    print(f"{num_dispatches} dispatches, {num_dispatches * sum(COUNTERS.values())} rows of counters, "
          f"{os.path.getsize(path) / 1e6:.0f} MB")


main()
