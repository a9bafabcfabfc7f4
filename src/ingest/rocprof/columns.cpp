// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/columns.h"

#include <algorithm>

namespace chopper::rocprof {
namespace {

bool has(std::span<const std::string> header, std::string_view name) {
  return std::find(header.begin(), header.end(), name) != header.end();
}

bool has_all(std::span<const std::string> header, std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) { return has(header, name); });
}

struct NumberName {
  std::string_view name;
  Number number;
};
// clang-format off
constexpr NumberName kNumberNames[] = {
    {"Correlation_Id", Number::correlation}, {"Dispatch_Id", Number::dispatch}, {"Queue_Id", Number::queue},
    {"Stream_Id", Number::stream}, {"Process_Id", Number::process}, {"Thread_Id", Number::thread},
    {"Kernel_Id", Number::kernel_id}, {"Grid_Size", Number::grid_size}, {"Workgroup_Size", Number::workgroup_size},
    // ROCm 6.2 to 6.4 call what a kernel trace says of local and private memory after the segments of the code object.
    {"LDS_Block_Size", Number::lds}, {"Group_Segment_Size", Number::lds},
    {"Scratch_Size", Number::scratch}, {"Private_Segment_Size", Number::scratch},
    {"VGPR_Count", Number::vgpr}, {"Accum_VGPR_Count", Number::accum_vgpr}, {"SGPR_Count", Number::sgpr},
    {"Start_Timestamp", Number::start}, {"End_Timestamp", Number::end},
    {"Workgroup_Size_X", Number::workgroup_x}, {"Workgroup_Size_Y", Number::workgroup_y},
    {"Workgroup_Size_Z", Number::workgroup_z},
    {"Grid_Size_X", Number::grid_x}, {"Grid_Size_Y", Number::grid_y}, {"Grid_Size_Z", Number::grid_z},
};
// clang-format on

constexpr std::string_view kWanted =
    "give the *_counter_collection.csv, *_kernel_trace.csv and *_agent_info.csv of rocprofv3";

}  // namespace

std::vector<std::string> header_in(std::string_view head) {
  std::vector<std::string> names;
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t start = head.find_first_not_of("\r\n");
  if (start == std::string_view::npos) return names;
  std::string_view line = head.substr(start, head.find('\n', start) - start);
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (true) {
    const std::size_t comma = line.find(',');
    std::string_view name = line.substr(0, comma);
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    names.emplace_back(name);
    if (comma == std::string_view::npos) return names;
    line.remove_prefix(comma + 1);
  }
}

TableKind kind_of(std::span<const std::string> header) {
  if (has_all(header, {"Dispatch_Id", "Agent_Id", "Kernel_Name", "Counter_Name", "Counter_Value"}))
    return TableKind::counter_collection;
  if (has_all(header, {"Agent_Id", "Kernel_Name", "Start_Timestamp", "End_Timestamp"}) &&
      !has(header, "Counter_Name") && !has(header, "Counter_Value"))
    return TableKind::kernel_trace;
  if (has_all(header, {"Node_Id", "Agent_Type"}) &&
      (has(header, "Num_Xcc") || has(header, "Cu_Count") || has(header, "Product_Name")))
    return TableKind::agent_info;
  if (has_all(header, {"Domain", "Function", "Start_Timestamp", "End_Timestamp"})) return TableKind::api_trace;
  if (has(header, "Kind") && (has(header, "Direction") || has(header, "Operation"))) return TableKind::memory_trace;
  if (has_all(header, {"Name", "Calls", "TotalDurationNs"})) return TableKind::statistics;
  if (has_all(header, {"Sample_Timestamp", "Exec_Mask"})) return TableKind::pc_sampling;
  if (has(header, "Agent_Id") && (has(header, "Dispatch_Id") || has(header, "Kernel_Id") || has(header, "Kernel_Name")))
    return TableKind::incomplete;
  return TableKind::other;
}

DispatchColumns dispatch_columns(std::span<const std::string> header) {
  DispatchColumns columns;
  bool seen[kNumNumbers] = {};
  for (std::size_t i = 0; i < header.size(); i++) {
    const std::string& name = header[i];
    const auto first = [&](std::size_t& place) {
      if (place == kNoColumn) place = i;
    };
    if (name == "Agent_Id") first(columns.agent);
    if (name == "Kernel_Name") first(columns.kernel_name);
    if (name == "Counter_Name") first(columns.counter_name);
    if (name == "Counter_Value") first(columns.counter_value);
    for (const NumberName& number : kNumberNames) {
      bool& taken = seen[static_cast<std::size_t>(number.number)];
      if (name != number.name || taken) continue;
      taken = true;
      columns.numbers.push_back({i, number.number});
    }
  }
  columns.has_dispatch_id = seen[static_cast<std::size_t>(Number::dispatch)];
  columns.has_times = seen[static_cast<std::size_t>(Number::start)] && seen[static_cast<std::size_t>(Number::end)];
  return columns;
}

MarkColumns mark_columns(std::span<const std::string> header) {
  const auto place = [&](std::string_view name) {
    const auto found = std::find(header.begin(), header.end(), name);
    return found == header.end() ? kNoColumn : static_cast<std::size_t>(found - header.begin());
  };
  return {place("Domain"),    place("Function"),        place("Process_Id"),
          place("Thread_Id"), place("Start_Timestamp"), place("End_Timestamp")};
}

// ROCm 6.2 is told by what it did not write yet, so only by its whole header: columns may have been taken out.
std::string_view writer_of(TableKind kind, std::span<const std::string> header) {
  constexpr std::size_t kCounterColumns62 = 15, kKernelColumns62 = 16;
  if (kind == TableKind::counter_collection) {
    if (has(header, "Accum_VGPR_Count")) return "ROCm 6.4 or 7";
    if (has(header, "Kernel_Id")) return "ROCm 6.3";
    const bool is_whole = has_all(header, {"Correlation_Id", "Queue_Id", "Process_Id", "Thread_Id", "SGPR_Count"});
    return is_whole && header.size() == kCounterColumns62 ? "ROCm 6.2" : "";
  }
  if (kind == TableKind::kernel_trace) {
    if (has(header, "Stream_Id")) return "ROCm 7";
    if (has(header, "Dispatch_Id")) return "ROCm 6.3 or 6.4";
    return has(header, "Private_Segment_Size") && header.size() == kKernelColumns62 ? "ROCm 6.2" : "";
  }
  return "";
}

bool drops_instances(TableKind kind, std::span<const std::string> header) {
  return kind == TableKind::counter_collection && writer_of(kind, header) == "ROCm 6.2";
}

Error refusal_of_calls(std::string_view shown) {
  return {ErrorCode::unrecognised, "calls of the host, traced by rocprofv3: no counters, no kernels, no markers",
          std::string(shown), std::string(kWanted)};
}

std::optional<Error> refusal(TableKind kind, std::span<const std::string> header, std::string_view shown) {
  const auto refuse = [&](ErrorCode code, std::string message, std::string_view hint) {
    return Error{code, std::move(message), std::string(shown), std::string(hint)};
  };
  switch (kind) {
    case TableKind::counter_collection:
    case TableKind::kernel_trace:
    case TableKind::agent_info:
    case TableKind::api_trace:
      return std::nullopt;
    case TableKind::incomplete: {
      std::string missing;
      for (const std::string_view name : {"Agent_Id", "Dispatch_Id", "Kernel_Name", "Counter_Name", "Counter_Value"}) {
        if (!has(header, name)) missing += (missing.empty() ? "" : ", ") + std::string(name);
      }
      return refuse(ErrorCode::bad_input, "a header of rocprofv3 without the columns " + missing,
                    "the header was cut or columns were taken out; copy the file again");
    }
    case TableKind::memory_trace:
      return refuse(ErrorCode::unrecognised, "memory copies or allocations of rocprofv3: no counters, no kernels",
                    kWanted);
    case TableKind::statistics:
      return refuse(ErrorCode::unrecognised,
                    "statistics of rocprof or rocprofv3: sums over the run, no single dispatch", kWanted);
    case TableKind::pc_sampling:
      return refuse(ErrorCode::unrecognised, "samples of program counters of rocprofv3: not read by this build",
                    kWanted);
    case TableKind::other:
      break;
  }
  return refuse(ErrorCode::unrecognised, "no table of rocprofv3: its first line does not name the columns of one",
                kWanted);
}

}  // namespace chopper::rocprof
