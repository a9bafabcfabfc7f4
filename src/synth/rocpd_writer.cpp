// SPDX-License-Identifier: Apache-2.0
// Counter passes as rocprofv3 writes databases (rocpd, schema version 3; formats.md 2.4): one for each process. Tables
// carry the file's id, views without it select from them; a counter has a row for each instance of the hardware.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "synth/counter_physics.h"
#include "synth/database_file.h"
#include "synth/pass_writer.h"
#include "synth/random.h"
#include "synth/rocprof_agents.h"

namespace chopper::synth {
namespace {

struct TableRow {
  std::string_view name;
  std::string_view columns;  // beyond id and guid
};
constexpr TableRow kTables[] = {
    {"string", "string TEXT"},
    {"info_node",
     "hash BIGINT, machine_id TEXT, system_name TEXT, hostname TEXT, release TEXT, version TEXT, hardware_name TEXT, "
     "domain_name TEXT"},
    {"info_process",
     "nid INTEGER, ppid INTEGER, pid INTEGER, init BIGINT, fini BIGINT, start BIGINT, \"end\" BIGINT, command TEXT, "
     "environment JSONB DEFAULT '{}', extdata JSONB DEFAULT '{}'"},
    {"info_thread",
     "nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER, name TEXT, start BIGINT, \"end\" BIGINT, extdata JSONB "
     "DEFAULT '{}'"},
    {"info_agent",
     "nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid "
     "INTEGER, name TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT, extdata JSONB DEFAULT "
     "'{}'"},
    {"info_queue", "nid INTEGER, pid INTEGER, name TEXT"},
    {"info_stream", "nid INTEGER, pid INTEGER, name TEXT"},
    {"info_pmc",
     "nid INTEGER, pid INTEGER, agent_id INTEGER, target_arch TEXT, event_code INTEGER, instance_id INTEGER, name "
     "TEXT, symbol TEXT, description TEXT, long_description TEXT, component TEXT, units TEXT, value_type TEXT, block "
     "TEXT, expression TEXT, is_constant INTEGER, is_derived INTEGER, extdata JSONB DEFAULT '{}'"},
    {"info_code_object", "nid INTEGER, pid INTEGER, agent_id INTEGER, uri TEXT"},
    {"info_kernel_symbol",
     "nid INTEGER, pid INTEGER, code_object_id INTEGER, kernel_name TEXT, display_name TEXT, kernel_object INTEGER, "
     "group_segment_size INTEGER, private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER, "
     "accum_vgpr_count INTEGER, extdata JSONB DEFAULT '{}'"},
    {"track", "nid INTEGER, pid INTEGER, tid INTEGER, name_id INTEGER"},
    {"event",
     "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, call_stack JSONB DEFAULT "
     "'{}', line_info JSONB DEFAULT '{}', extdata JSONB DEFAULT '{}'"},
    {"arg", "event_id INTEGER, position INTEGER, type TEXT, name TEXT, value TEXT"},
    {"pmc_event", "event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0, extdata JSONB DEFAULT '{}'"},
    {"region",
     "nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, \"end\" BIGINT, name_id INTEGER, event_id INTEGER, extdata "
     "JSONB DEFAULT '{}'"},
    {"sample", "track_id INTEGER, timestamp BIGINT, event_id INTEGER"},
    {"kernel_dispatch",
     "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id "
     "INTEGER, stream_id INTEGER, start BIGINT, \"end\" BIGINT, private_segment_size INTEGER, group_segment_size "
     "INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, "
     "grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER, extdata JSONB DEFAULT '{}'"},
};

// Rows of rocpd_string that are written first.
constexpr std::int64_t kDispatchCategory = 1, kMarkCategory = 2, kPushName = 3, kNoName = 4;
constexpr std::int64_t kNode = 1, kQueue = 1, kFirstCounter = 1000;

class RocpdWriter : public PassWriter {
 public:
  explicit RocpdWriter(const PassProcess& process)
      : process_(process),
        job_(process.context.job),
        dies_(die_shares(job_, process.rank)),
        counters_(counter_plan(job_)[static_cast<std::size_t>(process.pass)]) {
    const auto bits = [&](std::uint64_t what) {
      return random_bits(job_.seed, Purpose::trace_id, static_cast<std::uint64_t>(process.rank) << 8 | what,
                         static_cast<std::uint64_t>(process.pass) + 1);
    };
    const std::uint64_t high = bits(2), low = bits(3);
    guid_ = fmt::format("{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xfff,
                        low >> 52, low & 0xffffffffffff);
    suffix_ = "_" + guid_;
    for (char& c : suffix_) c = c == '-' ? '_' : c;
  }

  Result<Done> open() {
    CHOPPER_TRY(const std::filesystem::path path, place(process_, fmt::format("{}_results.db", process_.pid())));
    CHOPPER_TRY(file_, DatabaseFile::create(path));
    CHOPPER_TRY([[maybe_unused]] const Done tables, make_tables());
    CHOPPER_TRY([[maybe_unused]] const Done about, describe());
    CHOPPER_TRY(symbols_, rows("info_kernel_symbol",
                               "id, nid, pid, code_object_id, kernel_name, display_name, group_segment_size, "
                               "private_segment_size, sgpr_count, arch_vgpr_count, accum_vgpr_count"));
    CHOPPER_TRY(events_, rows("event", "id, category_id, stack_id, parent_stack_id, correlation_id, extdata"));
    CHOPPER_TRY(values_, rows("pmc_event", "event_id, pmc_id, value"));
    CHOPPER_TRY(regions_, rows("region", "nid, pid, tid, start, \"end\", name_id, event_id"));
    CHOPPER_TRY(dispatches_,
                rows("kernel_dispatch",
                     "nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, \"end\", "
                     "private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, "
                     "grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id"));
    return Done{};
  }

  Result<Done> write(const PassIteration& iteration) override {
    if (job_.passes.marks) {
      CHOPPER_TRY([[maybe_unused]] const Done marked, add_mark(iteration));
    }
    for (const PassDispatch& dispatch : iteration.dispatches) {
      CHOPPER_TRY([[maybe_unused]] const Done added, add_dispatch(dispatch));
    }
    return Done{};
  }

  Result<Done> finish() override { return file_->finish(); }

 private:
  Result<DatabaseFile::Rows> rows(std::string_view table, std::string_view columns) {
    return file_->rows(fmt::format("rocpd_{}{}", table, suffix_), columns);
  }

  Result<Done> make_tables() {
    std::string sql = fmt::format(
        "CREATE TABLE rocpd_metadata{0} (id INTEGER PRIMARY KEY AUTOINCREMENT, tag TEXT NOT NULL, value TEXT NOT "
        "NULL); CREATE VIEW rocpd_metadata AS SELECT * FROM rocpd_metadata{0};"
        "INSERT INTO rocpd_metadata{0} (tag, value) VALUES ('schema_version', '3'), ('uuid', '{0}'), ('guid', '{1}');",
        suffix_, guid_);
    for (const TableRow& table : kTables) {
      sql += fmt::format(
          "CREATE TABLE rocpd_{0}{1} (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT DEFAULT '{2}' NOT NULL, "
          "{3}); CREATE VIEW rocpd_{0} AS SELECT * FROM rocpd_{0}{1};",
          table.name, suffix_, guid_, table.columns);
    }
    // What people ask for: the sum over the instances of each dispatch.
    sql +=
        "CREATE VIEW counters_collection AS SELECT D.guid AS guid, D.dispatch_id AS dispatch_id, D.kernel_id AS "
        "kernel_id, D.agent_id AS agent_id, S.display_name AS kernel_name, I.name AS counter_name, SUM(V.value) AS "
        "value, D.start AS start, D.\"end\" AS \"end\", D.\"end\" - D.start AS duration FROM rocpd_pmc_event V JOIN "
        "rocpd_info_pmc I ON I.id = V.pmc_id AND I.guid = V.guid JOIN rocpd_kernel_dispatch D ON D.event_id = "
        "V.event_id AND D.guid = V.guid JOIN rocpd_info_kernel_symbol S ON S.id = D.kernel_id AND S.guid = D.guid "
        "GROUP BY D.guid, D.dispatch_id, D.agent_id, I.name;";
    return file_->execute(sql);
  }

  Result<Done> describe() {
    const std::string head = fmt::format(
        "INSERT INTO rocpd_string{0} (id, string) VALUES ({1}, 'KERNEL_DISPATCH'), ({2}, 'MARKER_CORE_RANGE_API'), "
        "({3}, 'roctxThreadRangeA'), ({4}, '');"
        "INSERT INTO rocpd_info_node{0} (id, hash, machine_id, system_name, hostname) VALUES ({5}, 1, 'machine', "
        "'Linux', '{6}');"
        "INSERT INTO rocpd_info_process{0} (id, nid, ppid, pid, command) VALUES ({7}, {5}, 1, {7}, 'python3 train.py');"
        "INSERT INTO rocpd_info_thread{0} (id, nid, ppid, pid, tid) VALUES ({7}, {5}, 1, {7}, {7}), ({8}, {5}, 1, {7}, "
        "{8});"
        "INSERT INTO rocpd_info_queue{0} (id, nid, pid, name) VALUES ({9}, {5}, {7}, 'Queue {9}');",
        suffix_, kDispatchCategory, kMarkCategory, kPushName, kNoName, kNode, process_.host(), process_.pid(),
        process_.autograd_thread(), kQueue);
    CHOPPER_TRY([[maybe_unused]] const Done done, file_->execute(head));
    CHOPPER_TRY(DatabaseFile::Rows streams, rows("info_stream", "id, nid, pid, name"));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(kNumStreams); i++) {
      CHOPPER_TRY([[maybe_unused]] const Done added,
                  streams.add({i, kNode, process_.pid(), fmt::format("Stream {}", i)}));
    }
    CHOPPER_TRY(DatabaseFile::Rows pmc,
                rows("info_pmc",
                     "id, nid, pid, agent_id, target_arch, name, symbol, component, value_type, block, is_constant, "
                     "is_derived"));
    for (const Counter counter : counters_) {
      const std::string_view name = counter_name(job_, counter);
      CHOPPER_TRY([[maybe_unused]] const Done added,
                  pmc.add({id_of(counter), kNode, process_.pid(), process_.agent(), "GPU", name, name, "rocm", "ABS",
                           block_name(block_of(counter)), std::int64_t{0}, std::int64_t{0}}));
    }
    return describe_agents();
  }

  Result<Done> describe_agents() {
    CHOPPER_TRY(DatabaseFile::Rows agents,
                rows("info_agent",
                     "id, nid, pid, type, absolute_index, logical_index, type_index, name, vendor_name, product_name, "
                     "extdata"));
    for (const AgentText& agent : agents_of(process_)) {
      const std::int64_t of_type = agent.is_gpu ? agent.node - kSockets : agent.node;
      CHOPPER_TRY([[maybe_unused]] const Done added,
                  agents.add({agent.node, kNode, process_.pid(), agent.is_gpu ? "GPU" : "CPU", agent.node, agent.node,
                              of_type, agent.name, agent.vendor, agent.product, agent.json}));
    }
    return Done{};
  }

  static std::int64_t id_of(Counter counter) { return kFirstCounter + static_cast<std::int64_t>(counter); }

  Result<Done> add_mark(const PassIteration& iteration) {
    const std::int64_t event = next_event_++;
    const std::string message = fmt::format("{{\"message\": \"ProfilerStep#{}\"}}", iteration.number);
    CHOPPER_TRY([[maybe_unused]] const Done done,
                events_.add({event, kMarkCategory, iteration.correlation, std::int64_t{0}, std::int64_t{0}, message}));
    return regions_.add(
        {kNode, process_.pid(), process_.pid(), iteration.mark_start_ns, iteration.mark_end_ns, kPushName, event});
  }

  Result<Done> add_dispatch(const PassDispatch& d) {
    const Work& w = *d.work;
    const std::int64_t kernel = kernel_ids_.of(d.name), event = next_event_++, zero = 0;
    if (kernel > last_symbol_) {
      last_symbol_ = kernel;
      const std::string name = fmt::format("{}.kd", d.name);
      CHOPPER_TRY([[maybe_unused]] const Done done,
                  symbols_.add({kernel, kNode, process_.pid(), std::int64_t{1}, name, d.name, local_bytes(w), zero,
                                std::int64_t{112}, w.registers, accumulator_registers(w)}));
    }
    CHOPPER_TRY([[maybe_unused]] const Done first,
                events_.add({event, kDispatchCategory, d.correlation, zero, zero, "{}"}));
    CHOPPER_TRY([[maybe_unused]] const Done second, dispatches_.add({kNode,
                                                                     process_.pid(),
                                                                     process_.thread(w),
                                                                     process_.agent(),
                                                                     kernel,
                                                                     d.id,
                                                                     kQueue,
                                                                     static_cast<std::int64_t>(w.stream),
                                                                     d.start_ns,
                                                                     d.end_ns,
                                                                     zero,
                                                                     local_bytes(w),
                                                                     w.block[0],
                                                                     w.block[1],
                                                                     w.block[2],
                                                                     w.grid[0] * w.block[0],
                                                                     w.grid[1] * w.block[1],
                                                                     w.grid[2] * w.block[2],
                                                                     kNoName,
                                                                     event}));
    for (const Counter counter : counters_) {
      count_instances(job_, dies_, w, counter, d.cycles, instances_);
      for (const std::int64_t value : instances_) {
        CHOPPER_TRY([[maybe_unused]] const Done added,
                    values_.add({event, id_of(counter), static_cast<double>(value)}));
      }
    }
    return Done{};
  }

  const PassProcess process_;
  const Job& job_;
  std::vector<double> dies_;
  std::vector<Counter> counters_;
  std::string guid_, suffix_;
  std::unique_ptr<DatabaseFile> file_;
  DatabaseFile::Rows symbols_, events_, values_, regions_, dispatches_;
  KernelIds kernel_ids_;
  std::int64_t last_symbol_ = 0, next_event_ = 1;
  std::vector<std::int64_t> instances_;
};

}  // namespace

Result<std::unique_ptr<PassWriter>> make_rocpd_writer(const PassProcess& process) {
  auto writer = std::make_unique<RocpdWriter>(process);
  CHOPPER_TRY([[maybe_unused]] const Done done, writer->open());
  return std::unique_ptr<PassWriter>(std::move(writer));
}

}  // namespace chopper::synth
