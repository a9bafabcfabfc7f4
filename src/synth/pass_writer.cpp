// SPDX-License-Identifier: Apache-2.0
#include "synth/pass_writer.h"

#include <fmt/format.h>

#include <iterator>
#include <system_error>

#include "synth/counter_physics.h"
#include "synth/pass_settings.h"

namespace chopper::synth {

std::string PassProcess::host() const { return fmt::format("node{}", rank / context.job.ranks_per_node); }

std::int64_t PassProcess::agent() const { return kSockets + local(); }

std::filesystem::path PassProcess::folder() const {
  return std::filesystem::path("counters") / fmt::format("pass_{}", pass + 1) / fmt::format("rank{}", rank) / host();
}

Result<std::filesystem::path> PassWriter::place(const PassProcess& process, const std::string& name) {
  const std::filesystem::path folder = process.context.folder / process.folder();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Error{ErrorCode::unreadable, "cannot be created: " + error.message(), folder.string(),
                 "check the path and its permissions"};
  }
  files_.push_back((process.folder() / name).generic_string());
  return folder / name;
}

Result<std::unique_ptr<ByteSink>> PassWriter::create(const PassProcess& process, const std::string& name) {
  const bool compressed = process.context.job.passes.compressed;
  CHOPPER_TRY(const std::filesystem::path path, place(process, compressed ? name + ".gz" : name));
  return compressed ? create_gzip_file(path) : create_plain_file(path);
}

Result<std::unique_ptr<PassWriter>> make_pass_writer(const PassProcess& process) {
  switch (counter_format(process.context.job)) {
    case CounterFormat::rocprofv3_json:
      return make_rocprof_json_writer(process);
    case CounterFormat::rocpd:
      return make_rocpd_writer(process);
    case CounterFormat::ncu:
      return make_ncu_csv_writer(process);
    default:
      return make_rocprof_csv_writer(process);
  }
}

std::int64_t accumulator_registers(const Work& work) { return matrix_operations(work) > 0 ? 128 : 0; }

std::int64_t local_bytes(const Work& work) { return (work.shared_memory + 511) / 512 * 512; }

std::int64_t KernelIds::of(std::string_view name) {
  constexpr std::int64_t kFirst = 17;
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto next = static_cast<std::int64_t>(ids_.size()) + kFirst;
  return ids_.emplace(name, next).first->second;
}

void add_value(std::string& text, double value) {
  if (value >= 1 || value <= -1) {
    fmt::format_to(std::back_inserter(text), "{:.6f}", value);
  } else {
    fmt::format_to(std::back_inserter(text), "{:.8e}", value);
  }
}

}  // namespace chopper::synth
