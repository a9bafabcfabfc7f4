// SPDX-License-Identifier: Apache-2.0
#include "catalog/gpus.h"

#include <toml++/toml.h>
#include <algorithm>
#include <array>

#include "catalog/embedded_data.h"

namespace chopper {
namespace {

Error bad(std::string_view key, const std::string& message) {
  return {ErrorCode::bad_input, message, "gpus/" + std::string(key) + ".toml", "see data/gpus in the sources"};
}

struct TextField {
  std::string_view name;
  std::string GpuSpec::*value;
};
struct WholeField {
  std::string_view table, name;
  std::int64_t GpuSpec::*value;
  std::int64_t lowest;
};
struct NumberField {
  std::string_view table, name;
  double GpuSpec::*value;
  bool required;
};

constexpr std::array kTexts = {TextField{"name", &GpuSpec::name}, TextField{"vendor", &GpuSpec::vendor},
                               TextField{"architecture", &GpuSpec::architecture}};
constexpr std::array kWholes = {
    WholeField{"", "num_units", &GpuSpec::num_units, 1},
    WholeField{"", "num_xccs", &GpuSpec::num_xccs, 1},
    WholeField{"", "matrix_units_per_unit", &GpuSpec::matrix_units_per_unit, 1},
    WholeField{"", "warp_size", &GpuSpec::warp_size, 1},
    WholeField{"memory", "bytes", &GpuSpec::memory_bytes, 1},
    WholeField{"links", "count", &GpuSpec::num_links, 0},
};
constexpr std::array kNumbers = {
    NumberField{"", "clock_mhz", &GpuSpec::clock_mhz, true},
    NumberField{"", "max_clock_mhz", &GpuSpec::max_clock_mhz, true},
    NumberField{"flop_per_clock", "bf16", &GpuSpec::bf16_flop_per_clock, true},
    NumberField{"flop_per_clock", "fp8", &GpuSpec::fp8_flop_per_clock, false},
    NumberField{"flop_per_clock", "tf32", &GpuSpec::tf32_flop_per_clock, false},
    NumberField{"flop_per_clock", "fp32", &GpuSpec::fp32_flop_per_clock, true},
    NumberField{"memory", "gb_per_s", &GpuSpec::memory_gb_per_s, true},
    NumberField{"memory", "clock_mhz", &GpuSpec::memory_clock_mhz, false},
    NumberField{"power", "limit_w", &GpuSpec::power_w, true},
    NumberField{"links", "gb_per_s", &GpuSpec::link_gb_per_s, false},
};

std::string shown(std::string_view table, std::string_view name) {
  return table.empty() ? std::string(name) : std::string(table) + "." + std::string(name);
}

const toml::node* find(const toml::table& root, std::string_view table, std::string_view name) {
  const toml::table* inside = table.empty() ? &root : root[table].as_table();
  return inside == nullptr ? nullptr : inside->get(name);
}

bool is_known(std::string_view table, std::string_view name) {
  const auto matches = [&](const auto& field) { return field.table == table && field.name == name; };
  if (std::any_of(kWholes.begin(), kWholes.end(), matches) || std::any_of(kNumbers.begin(), kNumbers.end(), matches))
    return true;
  if (table == "links") return name == "name";
  if (!table.empty()) return false;
  return name == "device_names" ||
         std::any_of(kTexts.begin(), kTexts.end(), [&](const TextField& f) { return f.name == name; });
}

bool is_table(std::string_view name) {
  return std::any_of(kNumbers.begin(), kNumbers.end(), [&](const NumberField& f) { return f.table == name; });
}

// The first key that no field has, empty when there is none.
std::string unknown_key(const toml::table& root) {
  for (const auto& [key, node] : root) {
    if (const toml::table* inside = node.as_table()) {
      for (const auto& [name, value] : *inside) {
        static_cast<void>(value);
        if (!is_known(key.str(), name.str())) return shown(key.str(), name.str());
      }
      if (inside->empty() && !is_table(key.str())) return std::string(key.str());
    } else if (!is_known("", key.str())) {
      return std::string(key.str());
    }
  }
  return "";
}

Result<std::vector<std::string>> read_device_names(const toml::table& root, std::string_view key) {
  std::vector<std::string> names;
  const toml::array* list = root["device_names"].as_array();
  if (list == nullptr || list->empty()) return bad(key, "missing list device_names");
  for (const toml::node& node : *list) {
    const toml::value<std::string>* text = node.as_string();
    const bool lower =
        text != nullptr && !text->get().empty() &&
        std::none_of(text->get().begin(), text->get().end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!lower) return bad(key, "device_names holds something else than lower-case texts");
    names.push_back(text->get());
  }
  return names;
}

Result<GpuSpec> read(const toml::table& root, std::string_view key) {
  if (const std::string unknown = unknown_key(root); !unknown.empty()) return bad(key, "unknown key " + unknown);
  GpuSpec gpu;
  gpu.key = key;
  for (const TextField& field : kTexts) {
    const auto value = root[field.name].value<std::string>();
    if (!value || value->empty()) return bad(key, "missing text " + std::string(field.name));
    gpu.*field.value = *value;
  }
  if (gpu.vendor != "amd" && gpu.vendor != "nvidia") return bad(key, "vendor is neither amd nor nvidia: " + gpu.vendor);
  for (const WholeField& field : kWholes) {
    const toml::node* node = find(root, field.table, field.name);
    if (node == nullptr || !node->is_integer())
      return bad(key, "missing whole number " + shown(field.table, field.name));
    gpu.*field.value = node->as_integer()->get();
    if (gpu.*field.value < field.lowest) return bad(key, "out of range: " + shown(field.table, field.name));
  }
  for (const NumberField& field : kNumbers) {
    const toml::node* node = find(root, field.table, field.name);
    if (node == nullptr && !field.required) continue;
    if (node == nullptr || !node->is_number()) return bad(key, "missing number " + shown(field.table, field.name));
    gpu.*field.value = node->value<double>().value_or(0);
    if (!(gpu.*field.value > 0 && gpu.*field.value < 1e12))
      return bad(key, "out of range: " + shown(field.table, field.name));
  }
  gpu.link_name = root["links"]["name"].value_or(std::string());
  if (gpu.link_name.empty()) return bad(key, "missing text links.name");
  if ((gpu.num_links > 0) != (gpu.link_gb_per_s > 0))
    return bad(key, "links.count and links.gb_per_s do not fit together");
  if (gpu.max_clock_mhz < gpu.clock_mhz) return bad(key, "max_clock_mhz is below clock_mhz");
  CHOPPER_TRY(gpu.device_names, read_device_names(root, key));
  return gpu;
}

}  // namespace

Result<GpuSpec> parse_gpu_spec(std::string_view text, std::string_view key) {
  try {
    return read(toml::parse(text), key);
  } catch (const toml::parse_error& error) {
    return bad(key, "line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
  }
}

Result<std::vector<GpuSpec>> embedded_gpus() {
  constexpr std::string_view kFolder = "gpus/", kEnding = ".toml";
  std::vector<GpuSpec> gpus;
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    std::string_view name = kEmbeddedFiles[i].name;
    if (!name.starts_with(kFolder) || !name.ends_with(kEnding)) continue;
    name.remove_prefix(kFolder.size());
    name.remove_suffix(kEnding.size());
    CHOPPER_TRY(gpus.emplace_back(), parse_gpu_spec(kEmbeddedFiles[i].text, name));
  }
  std::sort(gpus.begin(), gpus.end(), [](const GpuSpec& a, const GpuSpec& b) { return a.key < b.key; });
  return gpus;
}

const GpuSpec* find_gpu(std::span<const GpuSpec> gpus, std::string_view device_name) {
  std::string lower(device_name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const GpuSpec* best = nullptr;
  std::size_t longest = 0;
  for (const GpuSpec& gpu : gpus) {
    for (const std::string& part : gpu.device_names) {
      if (part.size() > longest && lower.find(part) != std::string::npos) {
        longest = part.size();
        best = &gpu;
      }
    }
  }
  return best;
}

const GpuSpec* find_gpu(std::span<const GpuSpec> gpus, const std::optional<std::string>& stated_key,
                        const std::optional<std::string>& device_name) {
  if (stated_key) {
    const auto stated = std::find_if(gpus.begin(), gpus.end(), [&](const GpuSpec& g) { return g.key == *stated_key; });
    if (stated != gpus.end()) return &*stated;
  }
  return device_name ? find_gpu(gpus, *device_name) : nullptr;
}

}  // namespace chopper
