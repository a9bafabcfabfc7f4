// SPDX-License-Identifier: Apache-2.0
#include "support/database.h"

#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace chopper::test {
namespace {

std::string replaced(std::string text, std::string_view word, std::string_view by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
  return text;
}

}  // namespace

std::string database_of(std::string_view sql) {
  sqlite3* database = nullptr;
  char* message = nullptr;
  if (sqlite3_open(":memory:", &database) != SQLITE_OK ||
      sqlite3_exec(database, std::string(sql).c_str(), nullptr, nullptr, &message) != SQLITE_OK) {
    std::fprintf(stderr, "SQL of a test: %s\n", message == nullptr ? "cannot open" : message);
    std::abort();
  }
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string copy(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return copy;
}

std::string rocpd_tables(std::string_view suffix, std::string_view guid) {
  constexpr std::pair<std::string_view, std::string_view> kTables[] = {
      {"string", "string TEXT"},
      {"info_node", "machine_id TEXT, hostname TEXT"},
      {"info_process", "nid INTEGER, pid INTEGER, command TEXT"},
      {"info_thread", "nid INTEGER, pid INTEGER, tid INTEGER"},
      {"info_agent",
       "nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, name "
       "TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT, extdata JSONB DEFAULT '{}'"},
      {"info_pmc", "nid INTEGER, pid INTEGER, agent_id INTEGER, name TEXT, symbol TEXT"},
      {"info_kernel_symbol",
       "kernel_name TEXT, display_name TEXT, sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER"},
      {"track", "nid INTEGER, pid INTEGER, tid INTEGER, name_id INTEGER"},
      {"event", "category_id INTEGER, stack_id INTEGER, extdata JSONB DEFAULT '{}'"},
      {"pmc_event", "event_id INTEGER, pmc_id INTEGER, value REAL"},
      {"region",
       "nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, \"end\" BIGINT, name_id INTEGER, event_id INTEGER"},
      {"sample", "track_id INTEGER, timestamp BIGINT, event_id INTEGER"},
      {"kernel_dispatch",
       "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id "
       "INTEGER, stream_id INTEGER, start BIGINT, \"end\" BIGINT, private_segment_size INTEGER, group_segment_size "
       "INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, "
       "grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER"}};
  std::string sql =
      "CREATE TABLE rocpd_metadata@ (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);"
      "CREATE VIEW IF NOT EXISTS rocpd_metadata AS SELECT * FROM rocpd_metadata@;"
      "INSERT INTO rocpd_metadata@ (tag, value) VALUES ('schema_version', '3'), ('guid', '#');";
  for (const auto& [name, columns] : kTables) {
    const std::string table = "rocpd_" + std::string(name);
    sql += "CREATE TABLE " + table + "@ (id INTEGER PRIMARY KEY, guid TEXT DEFAULT '#' NOT NULL, " +
           std::string(columns) + ");";
    sql += "CREATE VIEW IF NOT EXISTS " + table + " AS SELECT * FROM " + table + "@;";
  }
  return replaced(replaced(std::move(sql), "@", suffix), "#", guid);
}

std::string rocpd_rows(std::string_view suffix, int process) {
  std::string sql =
      "INSERT INTO rocpd_string@ (id, string) VALUES (1, 'KERNEL_DISPATCH'), (2, 'MARKER_CORE_RANGE_API'), (3, "
      "'roctxThreadRangeA'), (4, 'HIP_RUNTIME_API');"
      "INSERT INTO rocpd_info_node@ (id, machine_id, hostname) VALUES (1, 'm', 'host-0');"
      "INSERT INTO rocpd_info_process@ (id, nid, pid) VALUES (1, 1, %);"
      "INSERT INTO rocpd_info_thread@ (id, nid, pid, tid) VALUES (1, 1, 1, 700);"
      "INSERT INTO rocpd_info_agent@ (id, nid, type, absolute_index, logical_index, type_index, name, product_name, "
      "extdata) VALUES (1, 1, 'CPU', 0, 0, 0, 'EPYC', 'EPYC', '{}'),"
      " (2, 1, 'GPU', 4, 1, 0, 'gfx942', 'AMD Instinct MI300X', '{\"num_xcc\": 8, \"cu_count\": 304, \"simd_count\": "
      "1216, \"wave_front_size\": 64, \"max_engine_clk_fcompute\": 2100, \"domain\": 0, \"location_id\": 256}'),"
      " (3, 1, 'GPU', 5, 2, 1, 'gfx942', 'AMD Instinct MI300X', '{not json');"
      "INSERT INTO rocpd_info_pmc@ (id, agent_id, name, symbol) VALUES (7, 2, 'GRBM_GUI_ACTIVE', 'GRBM_GUI_ACTIVE'), "
      "(8, 2, 'SQ_WAVES', 'SQ_WAVES');"
      "INSERT INTO rocpd_info_kernel_symbol@ (id, kernel_name, display_name, sgpr_count, arch_vgpr_count, "
      "accum_vgpr_count) VALUES (11, '_Z4gemm', 'gemm(float*)', 96, 64, 32), (12, '_Z3add', NULL, 16, 8, 0);"
      "INSERT INTO rocpd_event@ (id, category_id, stack_id) VALUES (21, 1, 101), (22, 1, 102), (23, 1, 103), (24, 1, "
      "104);"
      "INSERT INTO rocpd_event@ (id, category_id, extdata) VALUES (31, 2, '{\"message\": \"step 1\"}'), (32, 2, "
      "'{\"message\": \"here\"}'), (33, 4, '{}');"
      "INSERT INTO rocpd_track@ (id, pid, tid) VALUES (1, 1, 1);"
      "INSERT INTO rocpd_region@ (id, pid, tid, start, \"end\", name_id, event_id) VALUES (1, 1, 1, 900, 5000, 3, 31), "
      "(2, "
      "1, 1, 950, 960, 4, 33);"
      "INSERT INTO rocpd_sample@ (id, track_id, timestamp, event_id) VALUES (1, 1, 1500, 32);"
      "INSERT INTO rocpd_kernel_dispatch@ (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, "
      "start, \"end\", private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, "
      "grid_size_x, grid_size_y, grid_size_z, event_id) VALUES"
      " (1, 1, 1, 1, 2, 11, 1, 9, 0, 1000, 1100, 0, 4096, 256, 1, 1, 65536, 2, 1, 21),"
      " (2, 1, 1, 1, 2, 12, 2, 9, 0, 1200, 1250, 0, 0, 64, 1, 1, 640, 1, 1, 22),"
      " (3, 1, 1, 1, 3, 11, 3, 9, 0, 1300, 1400, 0, 4096, 256, 1, 1, 65536, 2, 1, 23),"
      " (4, 1, 1, 1, 2, 11, 4, 9, 0, 1500, 1600, 0, 4096, 256, 1, 1, 65536, 2, 1, 24);";
  int id = 1;
  for (int event = 21; event <= 24; event++) {
    for (int instance = 0; instance < 6; instance++) {
      const bool is_waves = instance >= 2;
      sql += "INSERT INTO rocpd_pmc_event@ (id, event_id, pmc_id, value) VALUES (" + std::to_string(id++) + ", " +
             std::to_string(event) + ", " + (is_waves ? "8" : "7") + ", " +
             std::to_string(event * 10 + (is_waves ? instance - 2 : instance)) + ".5);";
    }
  }
  return replaced(replaced(std::move(sql), "@", suffix), "%", std::to_string(process));
}

std::string nsight_tables() {
  // The process is in bits 24 to 47: 100 and 200 of machine 0. Correlations 1 to 3 are there in both.
  std::string sql =
      "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.24.14');"
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cuLaunchKernel'), (3, 'gemm(float*)'), (4, "
      "'gemm'), (5, 'cudaMemcpyAsync_v3020'), (6, 'ncclAllReduce');"
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, 'x');"
      "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER, threadsPerWarp "
      "INTEGER);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100', 85899345920, 132, 32), (1, 'NVIDIA H100', 85899345920, "
      "132, "
      "32);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 100), (1, 0, 200);"
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'host-7');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
      "correlationId INTEGER, nameId INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
      "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY "
      "INTEGER, "
      "gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
      "correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId "
      "INTEGER, domainId INTEGER);";
  for (const int process : {100, 200}) {
    const std::string at = std::to_string(static_cast<long long>(process) << 24);
    const std::string thread = "(" + at + "+" + std::to_string(process) + ")";
    const std::string later = process == 100 ? "0" : "5";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000+" + later + ", 1100, 0, " + thread +
           ", 1, 1), (2000+" + later + ", 2100, 1, " + thread + ", 2, 2), (3000+" + later + ", 3100, 0, " + thread +
           ", 3, 5);";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1200+" + later + ", 1300, 0, 7, 1, " + at +
           ", 3, 4, 8, 2, 1, 128, 1, 1), (2200+" + later + ", 2300, 0, 7, 2, " + at + ", 3, 4, 8, 2, 1, 128, 1, 1);";
    sql +=
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3200+" + later + ", 3300, 0, 7, 3, " + at + ", 4096, 1, 1, 2);";
    sql += "INSERT INTO NVTX_EVENTS VALUES (900, 2500, 59, 'step', " + thread +
           ", NULL, 0), (950, 1900, 59, 'aten::mm, "
           "seq = 5, op_id = 6, sizes = [[2, 3], [3, 4]]', " +
           thread + ", NULL, 0), (980, NULL, 34, NULL, " + thread + ", 6, 1), (0, NULL, 75, 'NCCL', " + thread +
           ", NULL, 1);";
  }
  return sql;
}

std::string rpd_tables() {
  return "CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);"
         "INSERT INTO rocpd_metadata VALUES (1, 'schema_version', '2');"
         "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);"
         "INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'gemm'), (4, 'KernelExecution'), (5, "
         "'hipMemcpyAsync'), (6, 'CopyHostToDevice'), (7, 'UserMarker'), (8, 'step 3'), (9, 'Barrier');"
         "CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, "
         "apiName_id INTEGER, args_id INTEGER);"
         "INSERT INTO rocpd_api VALUES (1, 10, 11, 90, 1000, 7, 8), (2, 10, 11, 100, 110, 2, 1), (3, 10, 11, 200, 210, "
         "5, "
         "1);"
         "CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, start INTEGER, end INTEGER, "
         "description_id INTEGER, opType_id INTEGER);"
         "INSERT INTO rocpd_op VALUES (1, 2, 0, 150, 180, 3, 4), (2, 2, 1, 250, 260, 1, 6), (3, 2, 0, 300, 301, 1, 9);"
         "CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);"
         "INSERT INTO rocpd_api_ops VALUES (1, 2, 1), (2, 3, 2);"
         "CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, size INTEGER);"
         "INSERT INTO rocpd_copyapi VALUES (3, 4096);"
         "CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, workgroupX INTEGER, workgroupY INTEGER, "
         "workgroupZ INTEGER);"
         "INSERT INTO rocpd_kernelapi VALUES (2, 256, 1, 1);";
}

}  // namespace chopper::test
