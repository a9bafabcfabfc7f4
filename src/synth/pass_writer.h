// SPDX-License-Identifier: Apache-2.0
// Who writes one counter pass of one rank down, as a profiler's process leaves it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"
#include "synth/pass_execution.h"

namespace chopper::synth {

/// The process of one pass and rank, and where its files go.
struct PassProcess {
  const RunContext& context;
  std::int64_t pass = 0;  ///< from 0
  std::int64_t rank = 0;

  std::int64_t local() const { return rank % context.job.ranks_per_node; }
  std::int64_t pid() const { return 51001 + pass * 100 + local() * 3; }
  std::string host() const;
  /// Thread that launches the work: the one of autograd for backward kernels.
  std::int64_t thread(const Work& work) const {
    return work.phase == Phase::backward && !work.recompute ? autograd_thread() : pid();
  }
  std::int64_t autograd_thread() const { return pid() + 41; }
  /// Index over all agents of the host, processors first.
  std::int64_t agent() const;
  /// counters/pass_1/rank0/node0
  std::filesystem::path folder() const;
};

/// Processors of a host, which profilers and drivers number before the gpus.
inline constexpr std::int64_t kSockets = 2;

class PassWriter {
 public:
  virtual ~PassWriter() = default;
  virtual Result<Done> write(const PassIteration& iteration) = 0;
  virtual Result<Done> finish() = 0;
  /// Paths below the run's folder.
  const std::vector<std::string>& files() const { return files_; }

 protected:
  /// Makes room for a file in the process's folder; it is one of files().
  Result<std::filesystem::path> place(const PassProcess& process, const std::string& name);
  /// Creates a file there, compressed if the job says so.
  Result<std::unique_ptr<ByteSink>> create(const PassProcess& process, const std::string& name);

 private:
  std::vector<std::string> files_;
};

Result<std::unique_ptr<PassWriter>> make_rocprof_csv_writer(const PassProcess& process);
Result<std::unique_ptr<PassWriter>> make_rocprof_json_writer(const PassProcess& process);
Result<std::unique_ptr<PassWriter>> make_rocpd_writer(const PassProcess& process);
Result<std::unique_ptr<PassWriter>> make_ncu_csv_writer(const PassProcess& process);

/// The writer of the job's format.
Result<std::unique_ptr<PassWriter>> make_pass_writer(const PassProcess& process);

/// Registers, as AMD's compiler counts them, and bytes of local memory of a kernel.
std::int64_t accumulator_registers(const Work& work);
std::int64_t local_bytes(const Work& work);

/// The kernels of a process by name, numbered in order of first use behind those of the runtime.
class KernelIds {
 public:
  std::int64_t of(std::string_view name);

 private:
  std::map<std::string, std::int64_t, std::less<>> ids_;
};

/// Numbers as rocprofv3 prints values: six decimals from 1 on, else scientific (formats.md 2.2).
void add_value(std::string& text, double value);

}  // namespace chopper::synth
