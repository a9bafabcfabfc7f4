// SPDX-License-Identifier: Apache-2.0
// Traces as the PyTorch profiler writes them (formats.md 1), one file per rank:
//   {"schemaVersion": 1, "deviceProperties": [...], ..., "baseTimeNanoseconds": ..., "traceEvents": [
//   {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4711, "tid": 4711, "ts": 1234567800.123, "dur": 12.345,
//   "args": {...}},
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/byte_sink.h"
#include "base/parallel.h"
#include "synth/collectives.h"
#include "synth/dialect.h"
#include "synth/flaws.h"
#include "synth/random.h"
#include "synth/run_writer.h"
#include "synth/trace_head.h"

namespace chopper::synth {
namespace {

// The profiler's base: wall clock floored to a quarter (formats.md 1.2).
constexpr std::int64_t kQuarterNs = 7'889'238'000'000'000;

class RankTrace {
 public:
  RankTrace(const RunContext& context, std::int64_t rank, FlawLog& log)
      : context_(context),
        job_(context.job),
        rank_(rank),
        flaws_(job_, rank, log),
        base_ns_(job_.start_ns / kQuarterNs * kQuarterNs) {
    const std::int64_t local = rank % job_.ranks_per_node;
    pid_ = 48000 + 1 + local * 3;
    device_ = device_number(job_.dialect, local);
    external_ = 1 + rank * 17;
    correlation_ = 5000 + rank * 29;
    flaws_.log_clock();
    group_texts_ = group_arguments(job_, rank_);
  }

  Result<Done> open() {
    const std::filesystem::path path = context_.folder / "traces" / fmt::format("rank{}.trace.json.gz", rank_);
    CHOPPER_TRY(sink_, create_gzip_file(path));
    text_ += trace_head(job_, rank_, base_ns_);
    return Done{};
  }

  Result<Done> write(const IterationTimes& times) {
    add_iteration(times);
    return flush(false);
  }

  std::int64_t text_bytes() const { return static_cast<std::int64_t>(text_.size()); }

  void add_iteration(const IterationTimes& times) {
    times_ = &times;
    program_ = &context_.program(rank_, times.index);
    iteration_ = context_.number(times.index);
    if (first_ns_ < 0) {
      first_ns_ = times.start_ns;
      write_window_start();
    }
    last_ns_ = std::max(last_ns_, times.end_ns);
    for (const WorkTime& each : times.work) gpu_end_ns_ = std::max(gpu_end_ns_, each.end_ns);
    write_ranges();
    write_calls();
    write_work();
    write_gpu_annotations();
    write_partner_flows();
    write_memory();
    external_ += static_cast<std::int64_t>(program_->ranges.size());
    python_ += static_cast<std::int64_t>(program_->ranges.size());
    event_ += static_cast<std::int64_t>(program_->ranges.size() + program_->memory.size());
    correlation_ += static_cast<std::int64_t>(program_->calls.size());
    sequence_ += program_->num_sequences;
  }

  Result<Done> finish() {
    write_tail();
    if (flaws_.truncated_share() > 0) {
      const auto cut = static_cast<std::size_t>(static_cast<double>(text_.size()) * flaws_.truncated_share());
      flaws_.log_truncation(static_cast<std::int64_t>(cut));
      text_.resize(text_.size() - cut);
    }
    CHOPPER_TRY([[maybe_unused]] const Done done, flush(true));
    return sink_->finish();
  }

 private:
  Result<Done> flush(bool is_last) {
    if (flaws_.truncated_share() > 0 && !is_last) return Done{};  // the length is known at the end
    const std::string text = std::exchange(text_, {});
    return sink_->write(text);
  }

  template <class... Parts>
  void add(fmt::format_string<Parts...> format, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Parts>(parts)...);
  }

  // Times of the simulation start at 0.
  std::int64_t shown(std::int64_t time_ns) const { return job_.start_ns - base_ns_ + flaws_.shown(time_ns); }
  void add_time(std::int64_t time_ns) {
    const std::int64_t ns = shown(time_ns);
    add("{}.{:03}", ns / 1000, ns % 1000);
  }
  void add_span(std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t length = shown(end_ns) - shown(start_ns);
    text_ += "\"ts\": ";
    add_time(start_ns);
    add(", \"dur\": {}.{:03}", length / 1000, length % 1000);
  }
  std::int64_t tid(Thread thread) const { return thread == Thread::main_thread ? pid_ : pid_ + 640; }
  std::int64_t external_of(std::int32_t range) const { return external_ + range; }

  // Head and tail ---------------------------------------------------------------------------------------------------

  void metadata(std::string_view name, std::string_view pid, std::string_view tid, std::string_view argument) {
    add("  {{\n    \"name\": \"{}\", \"ph\": \"M\", \"ts\": ", name);
    add_time(first_ns_);
    add(", \"pid\": {}, \"tid\": {},\n    \"args\": {{\n      {}\n    }}\n  }},\n", pid, tid, argument);
  }

  void write_window_start() {
    const std::string pid = fmt::format("{}", pid_);
    metadata("process_name", pid, "0", "\"name\": \"python3\"");
    metadata("process_labels", pid, "0", "\"labels\": \"CPU\"");
    metadata("process_sort_index", pid, "0", fmt::format("\"sort_index\": {}", pid_));
    constexpr int kRows = 16;  // the profiler always writes this many
    for (int i = 0; i < kRows; i++) {
      const std::string gpu = fmt::format("{}", i);
      metadata("process_name", gpu, "0", "\"name\": \"python3\"");
      metadata("process_labels", gpu, "0", fmt::format("\"labels\": \"GPU {}\"", i));
      metadata("process_sort_index", gpu, "0", fmt::format("\"sort_index\": {}", 5'000'000 + i));
    }
    for (const Thread thread : {Thread::main_thread, Thread::autograd_thread}) {
      const std::string id = fmt::format("{}", tid(thread));
      metadata(
          "thread_name", pid, id,
          fmt::format("\"name\": \"thread {} ({})\"", id, thread == Thread::main_thread ? "python3" : "pt_autograd_0"));
      metadata("thread_sort_index", pid, id, fmt::format("\"sort_index\": {}", id));
    }
  }

  // The profiler waits for the gpu before it stops, which leaves one call.
  void write_last_wait() {
    constexpr std::int64_t kCallNs = 4000;
    const std::int64_t start = last_ns_ + kCallNs;
    last_ns_ = std::max(start, gpu_end_ns_) + kCallNs;
    const CallName name = call_name(job_.dialect, Call::device_synchronize);
    add("  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    ", name.category,
        name.name, pid_, tid(Thread::main_thread));
    add_span(start, last_ns_);
    add(",\n    \"args\": {{\n      \"{}\": {}, \"correlation\": {}\n    }}\n  }},\n",
        job_.dialect == Dialect::nvidia ? "cbid" : "cid", name.id, correlation_);
  }

  void write_tail() {
    write_last_wait();
    for (const std::int64_t stream : streams_) {
      const std::string pid = fmt::format("{}", device_), id = fmt::format("{}", stream);
      metadata("thread_name", pid, id, fmt::format("\"name\": \"stream {} \"", stream));
      metadata("thread_sort_index", pid, id, fmt::format("\"sort_index\": {}", stream));
    }
    add("  {{\n    \"ph\": \"X\", \"cat\": \"Trace\", ");
    add_span(first_ns_, last_ns_);
    text_ +=
        ",\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n    \"name\": \"PyTorch Profiler (0)\",\n    "
        "\"args\": {\n      \"Op count\": 0\n    }\n  },\n";
    text_ +=
        "  {\n    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": "
        "\"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": ";
    add_time(first_ns_);
    text_ +=
        "\n  },\n  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", \"tid\": "
        "\"\", \"ts\": ";
    add_time(last_ns_);
    add("\n  }}\n  ],\n  \"traceName\": \"traces/rank{}.trace.json\"\n}}\n", rank_);
  }

  // Host --------------------------------------------------------------------------------------------------------------

  void write_ranges() {
    for (std::size_t i = 0; i < program_->ranges.size(); i++) {
      const Range& range = program_->ranges[i];
      const HostTime& time = times_->ranges[i];
      const auto index = static_cast<std::int64_t>(i);
      if (range.category == Category::python_function) {
        add("  {{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    ",
            range.name, pid_, tid(range.thread));
        add_span(time.start_ns, time.end_ns);
        add(",\n    \"args\": {{\n      \"Python parent id\": {}, \"Python id\": {}, ", parent_frame(range),
            python_ + index);
        if (range.name.starts_with("nn.Module")) add("\"Python module id\": {}, ", module_number(range));
        add("\"Ev Idx\": {}\n    }}\n  }},\n", event_ + index);
        continue;
      }
      const bool annotation = range.category == Category::user_annotation;
      add("  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}", annotation ? "user_annotation" : "cpu_op",
          range.name);
      if (range.iteration_number) add("{}", iteration_);
      if (annotation && flaws_.breaks_quoting(iteration_)) text_ += " \"quoted\" part";
      add("\", \"pid\": {}, \"tid\": {},\n    ", pid_, tid(range.thread));
      add_span(time.start_ns, time.end_ns);
      add(",\n    \"args\": {{\n      \"External id\": {},\"Record function id\": 0", external_ + index);
      if (range.sequence >= 0)
        add(", \"Sequence number\": {}, \"Fwd thread id\": {}", sequence_ + range.sequence, range.backward ? 1 : 0);
      text_ += range.shapes;
      if (range.collective >= 0)
        add(", {}", collective_text(program_->collectives[static_cast<std::size_t>(range.collective)]));
      add(", \"Ev Idx\": {}\n    }}\n  }},\n", event_ + index);
    }
  }

  std::string parent_frame(const Range& range) const {
    for (std::int32_t at = range.parent; at >= 0; at = program_->ranges[static_cast<std::size_t>(at)].parent) {
      if (program_->ranges[static_cast<std::size_t>(at)].category == Category::python_function)
        return fmt::format("{}", python_ + at);
    }
    return "null";
  }
  static std::string_view module_number(const Range& range) {
    return std::string_view(range.name).substr(range.name.rfind('_') + 1);
  }

  std::string collective_text(const Collective& c) const {
    std::string peer;
    if (c.group == Group::previous_stage || c.group == Group::next_stage) {
      const std::vector<std::int64_t> pair = members_of(job_, rank_, c.group);
      const std::int64_t other = pair.front() == rank_ ? pair.back() : pair.front();
      const bool sends = c.kind == "send";
      peer = fmt::format(R"(, "Src Rank": {}, "Dst Rank": {})", sends ? rank_ : other, sends ? other : rank_);
    }
    return fmt::format(
               R"("Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "dtype": "{}", "In split size": "[]", "Out split size": "[]", {}, "Rank": {}, "Is asynchronized op": true)",
               c.kind, c.elements_in, c.elements_out, c.data_type, group_texts_.at(c.group), rank_) +
           peer;
  }

  void write_calls() {
    ids_.resize(program_->calls.size());
    for (std::size_t i = 0; i < program_->calls.size(); i++) {
      const HostCall& call = program_->calls[i];
      const HostTime& time = times_->calls[i];
      if (!is_recorded(job_.dialect, call.call)) continue;
      const CallName name = call_name(job_.dialect, call.call);
      ids_[i] = correlation_ + static_cast<std::int64_t>(i);
      if (call.num_work > 0) {
        // Not across the border of communication: the class of the work would change with its launch.
        const bool is_comm = program_->work[static_cast<std::size_t>(call.work)].collective >= 0;
        if (launch_id_ >= 0 && is_comm == launched_comm_ && flaws_.repeats_correlation(iteration_, call.work))
          ids_[i] = launch_id_;
        launch_id_ = ids_[i];
        launched_comm_ = is_comm;
      }
      add("  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    ", name.category,
          name.name, pid_, tid(call.thread));
      add_span(time.start_ns, time.end_ns);
      text_ += ",\n    \"args\": {\n      ";
      if (call.range >= 0) add("\"External id\": {},", external_of(call.range));
      const std::int64_t id = ids_[i];
      if (job_.dialect == Dialect::nvidia) {
        add("      \"cbid\": {}, \"correlation\": {}", name.id, id);
      } else {
        add_amd_call(call, name, id);
      }
      text_ += "\n    }\n  },\n";
      add_flow(call.num_work > 0 ? 's' : 'f', "ac2g", id, pid_, tid(call.thread), time.start_ns);
    }
  }

  void add_amd_call(const HostCall& call, const CallName& name, std::int64_t id) {
    add("      \"cid\": {}, \"correlation\": {}", name.id, id);
    if (call.num_work == 0 || call.call == Call::launch_graph) return;
    const Work& work = program_->work[static_cast<std::size_t>(call.work)];
    if (call.call == Call::copy || call.call == Call::fill) {
      add(", \"bytes\": {}", work.copy_bytes);
      if (call.call == Call::copy) add(", \"kind\": \"{}\"", copy_kind(work));
      return;
    }
    add(",      {},      \"shared memory\": {}", grid_text(work), work.shared_memory);
    add(", \"kernel\": \"{}\"", work.name);
  }

  static std::string_view copy_kind(const Work& work) {
    return std::string_view(work.name).substr(7, 4);
  }  // of "Memcpy HtoD (..."

  std::string grid_text(const Work& work) const {
    const std::int64_t unit = counts_work_items(job_.dialect, work.call) ? work.block[0] : 1;
    return fmt::format("\"grid\": [{}, {}, {}],      \"block\": [{}, {}, {}]", work.grid[0] * unit, work.grid[1],
                       work.grid[2], work.block[0], work.block[1], work.block[2]);
  }

  void add_flow(char phase, std::string_view name, std::int64_t id, std::int64_t pid, std::int64_t thread,
                std::int64_t time_ns) {
    add("  {{\n    \"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": ", phase, id, pid, thread);
    add_time(time_ns);
    add(",\n    \"cat\": \"{0}\", \"name\": \"{0}\"{1}\n  }},\n", name, phase == 'f' ? ", \"bp\": \"e\"" : "");
  }

  // Gpu ---------------------------------------------------------------------------------------------------------------

  void write_work() {
    dropped_.assign(program_->work.size(), false);
    for (std::size_t i = 0; i < program_->calls.size(); i++) {
      const HostCall& call = program_->calls[i];
      for (std::int32_t k = 0; k < call.num_work; k++) write_record(i, call, static_cast<std::size_t>(call.work + k));
    }
  }

  void write_record(std::size_t call_index, const HostCall& call, std::size_t index) {
    const Work& work = program_->work[index];
    const WorkTime& time = times_->work[index];
    const auto number = static_cast<std::int64_t>(index);
    if (flaws_.drops(iteration_, number, static_cast<std::int64_t>(work.stream))) {
      dropped_[index] = true;
      return;
    }
    const bool is_fill = work.work_class == WorkClass::memset_work;
    const bool is_kernel = work.work_class != WorkClass::memcpy_work && (!is_fill || fills_are_kernels(job_.dialect));
    const bool is_copy = work.work_class == WorkClass::memcpy_work || is_fill;
    const std::int64_t stream = stream_number(job_.dialect, work.stream, is_copy);
    streams_.insert(stream);
    const std::string_view name =
        is_kernel && is_fill ? std::string_view("__amd_rocclr_fillBufferAligned") : std::string_view(work.name);
    add("  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    ",
        is_kernel ? "kernel"
        : is_fill ? "gpu_memset"
                  : "gpu_memcpy",
        name, device_, stream);
    if (flaws_.zeroes_time(iteration_, number)) {
      text_ += "\"ts\": 0, \"dur\": 0";
    } else if (flaws_.overflows(iteration_, number)) {
      text_ += "\"ts\": ";
      add_time(time.start_ns);
      text_ += ", \"dur\": 18446744073709551.615";
    } else {
      add_span(time.start_ns, time.end_ns);
    }
    text_ += ",\n    \"args\": {\n      ";
    // The innermost operator of a collective is record_param_comms; the backend's range inside it is an annotation.
    const std::int32_t range = work.collective >= 0 && call.range >= 0
                                   ? program_->ranges[static_cast<std::size_t>(call.range)].parent
                                   : call.range;
    if (range >= 0) add("\"External id\": {},", external_of(range));
    const std::int64_t id = ids_[call_index];
    job_.dialect == Dialect::nvidia ? add_nvidia_work(work, time, stream, id, is_kernel)
                                    : add_amd_work(work, time, stream, id, is_kernel);
    text_ += "\n    }\n  },\n";
    add_flow('f', "ac2g", id, device_, stream, time.start_ns);
  }

  void add_bandwidth(const Work& work, const WorkTime& time) {
    const double gb_per_s = static_cast<double>(work.copy_bytes) /
                            static_cast<double>(std::max<std::int64_t>(1, time.end_ns - time.start_ns));
    add(",      \"bytes\": {}, \"memory bandwidth (GB/s)\": {}", work.copy_bytes, gb_per_s);
  }

  void add_nvidia_work(const Work& work, const WorkTime& time, std::int64_t stream, std::int64_t id, bool is_kernel) {
    if (!is_kernel) {
      add("      \"device\": {}, \"context\": 1,      \"stream\": {}, \"correlation\": {}", device_, stream, id);
      return add_bandwidth(work, time);
    }
    const auto blocks = static_cast<double>(work.grid[0] * work.grid[1] * work.grid[2]);
    const double per_unit = blocks / static_cast<double>(job_.gpu.num_units);
    const double warps = per_unit * static_cast<double>(work.block[0]) / static_cast<double>(job_.gpu.warp_size);
    const auto occupancy = static_cast<std::int64_t>(std::min(100.0, warps / 64 * 100));
    add("      \"queued\": 0, \"device\": {}, \"context\": 1,      \"stream\": {}, \"correlation\": {},      "
        "\"registers per thread\": {},      "
        "\"shared memory\": {},      \"blocks per SM\": {:.6f},      \"warps per SM\": {:.6f},      {},      \"est. "
        "achieved occupancy %\": {}",
        device_, stream, id, work.registers, work.shared_memory, per_unit, warps, grid_text(work), occupancy);
    if (work.collective >= 0)
      add(", {}", collective_text(program_->collectives[static_cast<std::size_t>(work.collective)]));
  }

  void add_amd_work(const Work& work, const WorkTime& time, std::int64_t stream, std::int64_t id, bool is_kernel) {
    add("      \"device\": {}, \"stream\": {},      \"correlation\": {}", device_, stream, id);
    if (!is_kernel) {
      const bool is_fill = work.work_class == WorkClass::memset_work;
      add(", \"kind\": \"{}\"", is_fill ? std::string_view("Device") : copy_kind(work));
      return is_fill ? void() : add_bandwidth(work, time);
    }
    text_ += ", \"kind\": \"Dispatch Kernel\"";
    add(",      {}", grid_text(work));
    if (job_.dialect == Dialect::amd_stream) add(", \"hsa_queue\": {}", static_cast<std::int64_t>(work.stream) % 4);
    if (work.collective >= 0) {
      add(", {}", collective_text(program_->collectives[static_cast<std::size_t>(work.collective)]));
    }
  }

  // The envelope of the work launched under each annotation, per stream, wider by 1 ns at the start and 2 ns in length
  // (formats.md 1.6).
  void write_gpu_annotations() {
    std::map<std::pair<std::int32_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> envelopes;
    for (const HostCall& call : program_->calls) {
      std::int32_t range = call.range;
      while (range >= 0 && program_->ranges[static_cast<std::size_t>(range)].category != Category::user_annotation) {
        range = program_->ranges[static_cast<std::size_t>(range)].parent;
      }
      if (range < 0) continue;
      for (std::int32_t k = 0; k < call.num_work; k++) {
        const auto index = static_cast<std::size_t>(call.work + k);
        if (dropped_[index]) continue;
        const Work& work = program_->work[index];
        const WorkTime& time = times_->work[index];
        const bool is_copy = work.work_class == WorkClass::memcpy_work || work.work_class == WorkClass::memset_work;
        const auto [entry, added] = envelopes.try_emplace({range, stream_number(job_.dialect, work.stream, is_copy)},
                                                          time.start_ns, time.end_ns);
        if (added) continue;
        entry->second.first = std::min(entry->second.first, time.start_ns);
        entry->second.second = std::max(entry->second.second, time.end_ns);
      }
    }
    for (const auto& [key, span] : envelopes) {
      const Range& range = program_->ranges[static_cast<std::size_t>(key.first)];
      add("  {{\n    \"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"{}", range.name);
      if (range.iteration_number) add("{}", iteration_);
      add("\", \"pid\": {}, \"tid\": {},\n    ", device_, key.second);
      add_span(span.first - 1, span.second + 1);
      add(",\n    \"args\": {{\n      \"External id\": {}\n    }}\n  }},\n", external_of(key.first));
    }
  }

  void write_partner_flows() {
    for (std::size_t i = 0; i < program_->ranges.size(); i++) {
      const Range& range = program_->ranges[i];
      if (range.partner < 0) continue;
      const Range& partner = program_->ranges[static_cast<std::size_t>(range.partner)];
      flow_++;
      add_flow('s', "fwdbwd", flow_, pid_, tid(range.thread), times_->ranges[i].start_ns);
      add_flow('f', "fwdbwd", flow_, pid_, tid(partner.thread),
               times_->ranges[static_cast<std::size_t>(range.partner)].start_ns);
    }
  }

  // Under FSDP 1 a gather may find no block that is free in time and takes new memory; now and then the allocator gives
  // back all it does not use.
  void reserve_again(std::int64_t bytes, std::int64_t needed, std::size_t index) {
    const double draw = unit(random_bits(job_.seed, Purpose::reserve, static_cast<std::uint64_t>(rank_),
                                         static_cast<std::uint64_t>(iteration_), index));
    if (draw < job_.physics.allocator_new_share) reserved_ += bytes;
    if (draw > 1 - job_.physics.allocator_retry_share) reserved_ = needed;
  }

  void write_memory() {
    constexpr std::int64_t kAddress = 139'793'448'042'496;  // of a device heap
    constexpr std::int64_t kSegment = 20 << 20;             // the allocator reserves in steps
    for (std::size_t i = 0; i < program_->memory.size(); i++) {
      const MemoryChange& change = program_->memory[i];
      allocated_ += change.bytes;
      const std::int64_t needed = (allocated_ + kSegment - 1) / kSegment * kSegment;
      reserved_ = std::max(reserved_, needed);
      if (change.is_gathered && job_.sharding == Sharding::fsdp1) reserve_again(change.bytes, needed, i);
      add("  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n    "
          "\"pid\": {}, \"tid\": {},\n    \"ts\": ",
          pid_, tid(change.thread));
      add_time(times_->memory_ns[i]);
      add(",\n    \"args\": {{\n      \"Total Reserved\": {}, \"Total Allocated\": {}, \"Bytes\": {}, \"Device Id\": "
          "{}, \"Device Type\": {}, \"Addr\": {}, "
          "\"Ev Idx\": {}\n    }}\n  }},\n",
          reserved_, allocated_, change.bytes, rank_ % job_.ranks_per_node, job_.dialect == Dialect::nvidia ? 1 : 6,
          kAddress + change.offset, event_ + static_cast<std::int64_t>(program_->ranges.size() + i));
    }
  }

  const RunContext& context_;
  const Job& job_;
  std::int64_t rank_;
  Flaws flaws_;
  std::int64_t base_ns_;
  std::int64_t pid_ = 0, device_ = 0;
  std::int64_t external_ = 0, correlation_ = 0, python_ = 1, event_ = 0, sequence_ = 1, flow_ = 0;
  std::int64_t first_ns_ = -1, last_ns_ = 0, gpu_end_ns_ = 0;
  std::int64_t allocated_ = 6'442'450'944, reserved_ = 0;  // parameters and optimizer state: 6 GiB before the window
  std::unique_ptr<ByteSink> sink_;
  std::string text_;
  std::map<Group, std::string> group_texts_;
  std::vector<std::int64_t> ids_;  ///< correlation ids of this iteration's calls
  std::int64_t launch_id_ = -1;    ///< of the latest launch; -1: none yet
  std::vector<bool> dropped_;
  std::set<std::int64_t> streams_;
  bool launched_comm_ = false;
  const IterationTimes* times_ = nullptr;
  const Program* program_ = nullptr;
  std::int64_t iteration_ = 0;
};

class KinetoWriter : public RunWriter {
 public:
  KinetoWriter(const RunContext& context, std::vector<FlawLog>& flaws) : context_(context) {
    for (std::int64_t rank = 0; rank < context.job.world_size; rank++) {
      ranks_.push_back(std::make_unique<RankTrace>(context, rank, flaws[static_cast<std::size_t>(rank)]));
    }
  }

  Result<Done> open() {
    return for_all([](RankTrace& trace, std::int64_t) { return trace.open(); });
  }
  Result<Done> write(Simulation& simulation, std::int64_t index) override {
    return for_all([&](RankTrace& trace, std::int64_t rank) { return trace.write(simulation.times(rank, index)); });
  }
  Result<Done> finish() override {
    return for_all([](RankTrace& trace, std::int64_t) { return trace.finish(); });
  }

 private:
  Result<Done> for_all(const std::function<Result<Done>(RankTrace&, std::int64_t)>& action) {
    std::vector<Result<Done>> results(ranks_.size(), Done{});
    std::vector<std::function<void()>> tasks;
    for (std::size_t rank = 0; rank < ranks_.size(); rank++) {
      tasks.push_back([&, rank] { results[rank] = action(*ranks_[rank], static_cast<std::int64_t>(rank)); });
    }
    run_tasks(context_.threads, tasks);
    for (Result<Done>& result : results) {
      if (!result) return std::move(result.error());
    }
    return Done{};
  }

  const RunContext& context_;
  std::vector<std::unique_ptr<RankTrace>> ranks_;
};

}  // namespace

Result<std::unique_ptr<RunWriter>> make_kineto_writer(const RunContext& context, std::vector<FlawLog>& flaws) {
  auto writer = std::make_unique<KinetoWriter>(context, flaws);
  CHOPPER_TRY([[maybe_unused]] const Done done, writer->open());
  return std::unique_ptr<RunWriter>(std::move(writer));
}

std::int64_t kineto_bytes(const RunContext& context, Simulation& simulation, std::int64_t index) {
  FlawLog ignored;
  RankTrace trace(context, 0, ignored);
  trace.add_iteration(simulation.times(0, index));
  return trace.text_bytes();
}

}  // namespace chopper::synth
