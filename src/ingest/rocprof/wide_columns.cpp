// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/wide_columns.h"

#include <algorithm>
#include <map>

namespace chopper::rocprof {
namespace {

// What a column says of a dispatch.
enum class Meaning : std::uint8_t { number, device, kernel_name, die, counter_name, counter_value, unused };

struct PropertyName {
  std::string_view name;  ///< in lower case, without '-' and '_'
  Meaning meaning;
  Number number = Number::count_;
};
// rocprof 1 writes "gpu-id,grd,wgr,BeginNs", rocprof 2 "GPU_ID,Grid_Size,Start_Timestamp", ROCm 6.0 "GRD,WGR", and
// rocprof-compute renames some of them, others in each release.
// clang-format off
constexpr PropertyName kProperties[] = {
    {"dispatchid", Meaning::number, Number::dispatch}, {"index", Meaning::number, Number::dispatch},
    {"kernelname", Meaning::kernel_name}, {"gpuid", Meaning::device},
    {"queueid", Meaning::number, Number::queue}, {"queueindex", Meaning::unused},
    {"pid", Meaning::number, Number::process}, {"processid", Meaning::number, Number::process},
    {"tid", Meaning::number, Number::thread}, {"threadid", Meaning::number, Number::thread},
    {"gridsize", Meaning::number, Number::grid_size}, {"grd", Meaning::number, Number::grid_size},
    {"workgroupsize", Meaning::number, Number::workgroup_size}, {"wgr", Meaning::number, Number::workgroup_size},
    {"ldsperworkgroup", Meaning::number, Number::lds}, {"lds", Meaning::number, Number::lds},
    {"scratchperworkitem", Meaning::number, Number::scratch}, {"scr", Meaning::number, Number::scratch},
    {"archvgpr", Meaning::number, Number::vgpr}, {"vgpr", Meaning::number, Number::vgpr},
    {"accumvgpr", Meaning::number, Number::accum_vgpr}, {"sgpr", Meaning::number, Number::sgpr},
    {"correlationid", Meaning::number, Number::correlation}, {"kernelid", Meaning::number, Number::kernel_id},
    {"starttimestamp", Meaning::number, Number::start}, {"beginns", Meaning::number, Number::start},
    {"endtimestamp", Meaning::number, Number::end}, {"endns", Meaning::number, Number::end},
    {"countername", Meaning::counter_name}, {"countervalue", Meaning::counter_value},
    {"xccindex", Meaning::die}, {"wavesize", Meaning::unused}, {"fbar", Meaning::unused}, {"sig", Meaning::unused},
    {"obj", Meaning::unused}, {"dispatchns", Meaning::unused}, {"completens", Meaning::unused},
    {"durationns", Meaning::unused}, {"node", Meaning::unused}, {"roctxrange", Meaning::unused},
};
// clang-format on

constexpr std::string_view kWanted =
    "give the pmc_perf.csv, SQ_*.csv, timestamps.csv and sysinfo.csv of rocprof-compute, or the results.csv of rocprof";

bool has(std::span<const std::string> header, std::string_view name) {
  return std::find(header.begin(), header.end(), name) != header.end();
}

const PropertyName* property(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (c != '-' && c != '_') key += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (const PropertyName& known : kProperties) {
    if (known.name == key) return &known;
  }
  return nullptr;
}

// A table joined of several passes has the properties of the later ones with a number: "Wave_Size_3", "obj_12".
bool is_property_of_a_later_pass(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && end + 1 < name.size() && name[end] == '_' &&
         property(name.substr(0, end)) != nullptr;
}

// Tables written with an index of rows have a column without a name in front.
bool is_counter(std::string_view name) {
  return !name.empty() && !name.starts_with("Unnamed") && property(name) == nullptr &&
         !is_property_of_a_later_pass(name);
}

void add_counter(WideColumns& columns, std::map<std::string, std::size_t>& slots, std::size_t column,
                 std::string_view name) {
  std::string counter;
  const bool is_instance = split_instance(name, counter);
  const auto found = is_instance ? slots.find(counter) : slots.end();
  const std::size_t slot = found != slots.end() ? found->second : columns.counters.size();
  if (found == slots.end()) {
    columns.counters.push_back(counter);
    columns.has_instances.push_back(is_instance ? 1 : 0);
    if (is_instance) slots.emplace(counter, slot);
  }
  columns.cells.push_back({column, slot});
}

Error refuse(ErrorCode code, std::string message, std::string_view shown) {
  return {code, std::move(message), std::string(shown), std::string(kWanted)};
}

}  // namespace

bool split_instance(std::string_view name, std::string& counter) {
  counter = name;
  const std::size_t open = name.find('['), close = name.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  counter = std::string(name.substr(0, open)) + std::string(name.substr(close + 1));
  return true;
}

WideKind wide_kind_of(std::span<const std::string> header) {
  if (has(header, "workload_name") && (has(header, "ip_blocks") || has(header, "gpu_arch") || has(header, "gpu_soc")))
    return WideKind::system;
  if (has(header, "device") && has(header, "HBMBw")) return WideKind::peaks;
  if (has(header, "Agent_Id")) return WideKind::other;  // rocprof 3
  const bool has_id = has(header, "Dispatch_ID") || (has(header, "Index") && has(header, "KernelName"));
  const bool has_name = has(header, "Kernel_Name") || has(header, "KernelName");
  if (!has_id && !(has_name && (has(header, "GPU_ID") || has(header, "gpu-id")))) return WideKind::other;
  if (!has_id || !has_name) return WideKind::incomplete;
  if (has(header, "Counter_Name") && has(header, "Counter_Value")) return WideKind::long_counters;
  if (std::any_of(header.begin(), header.end(), is_counter)) return WideKind::counters;
  const WideColumns columns = wide_columns(header);
  return columns.has_times ? WideKind::kernel_times : WideKind::dispatch_list;
}

WideColumns wide_columns(std::span<const std::string> header) {
  WideColumns columns;
  bool seen[kNumNumbers] = {};
  std::map<std::string, std::size_t> slots;
  for (std::size_t i = 0; i < header.size(); i++) {
    const auto first = [&](std::size_t& place) {
      if (place == kNoColumn) place = i;
    };
    const PropertyName* known = property(header[i]);
    if (known == nullptr) {
      if (is_counter(header[i])) add_counter(columns, slots, i, header[i]);
      continue;
    }
    switch (known->meaning) {
      case Meaning::number: {
        bool& taken = seen[static_cast<std::size_t>(known->number)];
        if (!taken) columns.numbers.push_back({i, known->number});
        taken = true;
        break;
      }
      case Meaning::device:
        first(columns.device);
        break;
      case Meaning::kernel_name:
        first(columns.kernel_name);
        break;
      case Meaning::die:
        first(columns.die);
        break;
      case Meaning::counter_name:
        first(columns.counter_name);
        break;
      case Meaning::counter_value:
        first(columns.counter_value);
        break;
      case Meaning::unused:
        break;
    }
  }
  columns.has_times = seen[static_cast<std::size_t>(Number::start)] && seen[static_cast<std::size_t>(Number::end)];
  columns.counts_gpus = has(header, "gpu-id");
  return columns;
}

std::string_view wide_writer_of(WideKind kind, std::span<const std::string> header) {
  if (kind == WideKind::long_counters) return "rocprof-compute of ROCm 7";
  if (kind != WideKind::counters && kind != WideKind::kernel_times) return "";
  if (has(header, "KernelName")) return "rocprof 1";
  const bool renamed = has(header, "queue-id") || has(header, "grd") || has(header, "obj");
  if (renamed) return "rocprof-compute over rocprof 1";
  if (has(header, "Queue_ID")) return "rocprof 2, or rocprof-compute";
  return "rocprof-compute";
}

Error refusal_of_dispatch_list(std::string_view shown) {
  return refuse(ErrorCode::unrecognised,
                "the list of dispatches that rocprof-compute writes when it analyses: no counters, no times", shown);
}

std::optional<Error> wide_refusal(WideKind kind, std::span<const std::string> header, std::string_view shown) {
  switch (kind) {
    case WideKind::counters:
    case WideKind::long_counters:
    case WideKind::kernel_times:
    case WideKind::dispatch_list:
    case WideKind::system:
      return std::nullopt;
    case WideKind::peaks:
      return refuse(ErrorCode::unrecognised,
                    "peaks that the benchmark of rocprof-compute measured: no counters, no kernels", shown);
    case WideKind::incomplete: {
      std::string missing;
      if (!has(header, "Dispatch_ID") && !has(header, "Index")) missing = "Dispatch_ID";
      if (!has(header, "Kernel_Name") && !has(header, "KernelName"))
        missing += std::string(missing.empty() ? "" : ", ") + "Kernel_Name";
      return refuse(ErrorCode::bad_input, "a header of rocprof without the columns " + missing, shown);
    }
    case WideKind::other:
      break;
  }
  return refuse(ErrorCode::unrecognised,
                "no table of rocprof or rocprof-compute: its first line does not name the columns of one", shown);
}

}  // namespace chopper::rocprof
