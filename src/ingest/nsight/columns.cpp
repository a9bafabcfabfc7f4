// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/columns.h"

#include <algorithm>

namespace chopper::nsight {
namespace {

// Columns of a raw page that are no metrics. Ranges of NVTX are columns as well: their names hold no metric's.
constexpr std::array<std::string_view, 15> kFixed = {
    "ID",     "Process ID", "Process Name", "Host Name", "Kernel Name",  "Kernel Time", "Context",      "Stream",
    "Device", "CC",         "Block Size",   "Grid Size", "Section Name", "Range Name",  "Green Context"};

bool is_metric(std::string_view name) {
  return !name.empty() && std::find(kFixed.begin(), kFixed.end(), name) == kFixed.end() &&
         name.find("Domain:") == std::string_view::npos && name.find(":PL_Type:") == std::string_view::npos;
}

}  // namespace

Columns columns_of(std::span<const std::string> names, bool quoted) {
  Columns columns;
  columns.quoted = quoted;
  columns.count = names.size();
  columns.block_dim.fill(kNoColumn);
  columns.grid_dim.fill(kNoColumn);
  const struct {
    std::string_view name;
    std::size_t* place;
  } kPlaces[] = {{"Process ID", &columns.process},
                 {"Host Name", &columns.host},
                 {"Kernel Name", &columns.kernel},
                 {"Stream", &columns.stream},
                 {"Block Size", &columns.block},
                 {"Grid Size", &columns.grid},
                 {"Device", &columns.device},
                 {"CC", &columns.capability},
                 {"Section Name", &columns.section},
                 {"Metric Name", &columns.metric},
                 {"Metric Unit", &columns.unit},
                 {"Metric Value", &columns.value},
                 {"launch__block_dim_x", &columns.block_dim[0]},
                 {"launch__block_dim_y", &columns.block_dim[1]},
                 {"launch__block_dim_z", &columns.block_dim[2]},
                 {"launch__grid_dim_x", &columns.grid_dim[0]},
                 {"launch__grid_dim_y", &columns.grid_dim[1]},
                 {"launch__grid_dim_z", &columns.grid_dim[2]},
                 {"device__attribute_display_name", &columns.product},
                 {"device__attribute_multiprocessor_count", &columns.num_sm}};
  for (std::size_t i = 0; i < names.size(); i++) {
    for (const auto& [name, place] : kPlaces) {
      if (*place == kNoColumn && names[i] == name) *place = i;
    }
  }
  if (columns.kernel == kNoColumn) return columns;
  const bool has_values = columns.metric != kNoColumn && columns.value != kNoColumn;
  if (has_values) {
    columns.page = Page::details;
    return columns;
  }
  for (std::size_t i = columns.kernel; i < names.size(); i++) {
    if (is_metric(names[i])) columns.metrics.push_back(i);
  }
  if (!columns.metrics.empty() && columns.metric == kNoColumn && columns.value == kNoColumn) columns.page = Page::raw;
  return columns;
}

bool is_header(std::span<const CsvCell> cells) {
  if (cells.size() < 4 || cells[1].text != "Process ID") return false;
  return cells[0].text == "ID" || cells[0].text.ends_with("\"ID\"");
}

bool holds_header(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  if (head.find("\"ID\",\"Process ID\",") != std::string_view::npos) return true;
  return head.starts_with("ID,Process ID,") || head.find("\nID,Process ID,") != std::string_view::npos;
}

bool holds_messages(std::string_view head) {
  for (const std::string_view message : {"==PROF== ", "==ERROR== ", "==WARNING== "}) {
    for (std::size_t at = head.find(message); at != std::string_view::npos; at = head.find(message, at + 1)) {
      if (at == 0 || head[at - 1] == '\n') return true;
    }
  }
  return false;
}

}  // namespace chopper::nsight
