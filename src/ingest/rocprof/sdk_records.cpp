// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocprof/sdk_records.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "ingest/kineto/text_stream.h"

namespace chopper::rocprof {
namespace {

using simdjson::ondemand::array;
using simdjson::ondemand::object;
using simdjson::ondemand::value;
static_assert(TextWindow::kPadding >= simdjson::SIMDJSON_PADDING);

// What a value that cannot be used means: text that is no JSON, or JSON of another kind than the field.
Taken taken_of(simdjson::error_code error) {
  switch (error) {
    case simdjson::SUCCESS:
      return Taken::used;
    case simdjson::INCORRECT_TYPE:
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
      return Taken::wrong_value;
    default:
      return Taken::no_json;
  }
}

// Calls `field(key, value)` for all fields, until one is not used.
template <class Field>
Taken for_fields(object fields, const Field& field) {
  for (auto member : fields) {
    std::string_view key;
    if (member.unescaped_key().get(key) != simdjson::SUCCESS) return Taken::no_json;
    value content;
    if (member.value().get(content) != simdjson::SUCCESS) return Taken::no_json;
    const Taken taken = field(key, content);
    if (taken != Taken::used) return taken;
  }
  return Taken::used;
}

template <class Field>
Taken for_fields(value content, const Field& field) {
  object fields;
  const auto error = content.get_object().get(fields);
  return error != simdjson::SUCCESS ? taken_of(error) : for_fields(fields, field);
}

// All 64 bits are kept of numbers without a sign.
Taken number(value content, std::int64_t& out) {
  std::uint64_t bits = 0;
  const auto error = content.get_uint64().get(bits);
  out = static_cast<std::int64_t>(bits);
  return taken_of(error);
}

Taken text_of(value content, std::string& out) {
  std::string_view text;
  const auto error = content.get_string().get(text);
  if (error == simdjson::SUCCESS) out = text;
  return taken_of(error);
}

// Ids are objects with one number: {"handle": 37946}.
Taken handle(value content, std::int64_t& out) {
  return for_fields(content,
                    [&](std::string_view key, value v) { return key == "handle" ? number(v, out) : Taken::used; });
}

Taken extent(value content, Extent& out, std::int64_t& product) {
  std::int64_t sizes[3] = {0, 0, 0};
  const Taken taken = for_fields(content, [&](std::string_view key, value v) {
    return key.size() == 1 && key[0] >= 'x' && key[0] <= 'z' ? number(v, sizes[key[0] - 'x']) : Taken::used;
  });
  if (taken != Taken::used) return taken;
  constexpr std::int64_t kLimit = std::numeric_limits<std::uint32_t>::max();
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > kLimit) return Taken::wrong_value;
  }
  out = {static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1]),
         static_cast<std::uint32_t>(sizes[2])};
  // Two factors of 32 bits fit; the third is checked.
  if (sizes[2] > 0 && sizes[0] * sizes[1] / 2 > std::numeric_limits<std::int64_t>::max() / 2 / sizes[2]) return taken;
  product = sizes[0] * sizes[1] * sizes[2];
  return taken;
}

Taken dispatch_info(value content, SdkRecord& record) {
  record.has_dispatch = true;
  return for_fields(content, [&](std::string_view key, value v) {
    if (key == "agent_id") return handle(v, record.agent);
    if (key == "queue_id") return handle(v, record.queue);
    if (key == "kernel_id") return number(v, record.kernel);
    if (key == "dispatch_id") return number(v, record.dispatch);
    if (key == "private_segment_size") return number(v, record.scratch_bytes);
    if (key == "group_segment_size" && record.lds_bytes == kNoNumber) return number(v, record.lds_bytes);
    if (key == "workgroup_size") return extent(v, record.workgroup, record.num_work_items);
    if (key == "grid_size") return extent(v, record.grid, record.num_grid_items);
    return Taken::used;
  });
}

// What a record and the data of a counted dispatch have in common.
Taken common_field(std::string_view key, value v, SdkRecord& record) {
  if (key == "dispatch_info") return dispatch_info(v, record);
  if (key == "start_timestamp") return number(v, record.start_ns);
  if (key == "end_timestamp") return number(v, record.end_ns);
  if (key == "correlation_id") {
    return for_fields(v, [&](std::string_view name, value id) {
      return name == "internal" ? number(id, record.correlation) : Taken::used;
    });
  }
  return Taken::used;
}

Taken instances(value content, SdkRecord& record) {
  array list;
  const auto error = content.get_array().get(list);
  if (error != simdjson::SUCCESS) return taken_of(error);
  for (auto element : list) {
    value instance;
    if (element.get(instance) != simdjson::SUCCESS) return Taken::no_json;
    std::pair<std::int64_t, double> found{kNoNumber, std::numeric_limits<double>::quiet_NaN()};
    const Taken taken = for_fields(instance, [&](std::string_view key, value v) {
      if (key == "counter_id") return handle(v, found.first);
      if (key != "value") return Taken::used;
      return taken_of(v.get_double().get(found.second));
    });
    if (taken != Taken::used) return taken;
    record.values.push_back(found);
  }
  return Taken::used;
}

}  // namespace

class SdkParser::Impl {
 public:
  template <class Field>
  Taken read(std::string_view text, const Field& field) {
    simdjson::ondemand::document document;
    if (parser_.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING).get(document) !=
        simdjson::SUCCESS)
      return Taken::no_json;
    object fields;
    const auto error = document.get_object().get(fields);
    if (error != simdjson::SUCCESS) return Taken::no_json;
    const Taken taken = for_fields(fields, field);
    return taken == Taken::used && !document.at_end() ? Taken::no_json : taken;
  }

 private:
  simdjson::ondemand::parser parser_;
};

SdkParser::SdkParser() : impl_(std::make_unique<Impl>()) {}
SdkParser::~SdkParser() = default;

Taken SdkParser::metadata(std::string_view object, std::int64_t& process) {
  return impl_->read(object,
                     [&](std::string_view key, value v) { return key == "pid" ? number(v, process) : Taken::used; });
}

Taken SdkParser::agent(std::string_view object, SdkAgent& agent) {
  constexpr std::int64_t kGpu = 2;
  AgentFacts& facts = agent.facts;
  std::int64_t type = 0;
  // Zero is what the writer puts where an agent has none of it; places and numbers may be zero.
  const struct {
    std::string_view name;
    std::int64_t* number;
    bool zero_is_none;
  } numbers[] = {{"type", &type, false},
                 {"node_id", &facts.node, false},
                 {"logical_node_id", &facts.visible_index, false},
                 {"num_xcc", &facts.num_xcc, true},
                 {"cu_count", &facts.num_cu, true},
                 {"simd_count", &facts.num_simd, true},
                 {"wave_front_size", &facts.wave_size, true},
                 {"max_engine_clk_fcompute", &facts.max_clock_mhz, true},
                 {"domain", &facts.pci_domain, false},
                 {"location_id", &facts.pci_location, false}};
  const Taken taken = impl_->read(object, [&](std::string_view key, value v) {
    for (const auto& [name, field, zero_is_none] : numbers) {
      if (key != name) continue;
      const Taken read = number(v, *field);
      if (zero_is_none && *field == 0) *field = kNoNumber;
      return read;
    }
    if (key == "id") return handle(v, agent.handle);
    if (key == "name") return text_of(v, facts.architecture);
    if (key == "product_name") return text_of(v, facts.product);
    if (key == "vendor_name") return text_of(v, facts.vendor_name);
    return Taken::used;
  });
  facts.is_gpu = type == kGpu;
  return taken;
}

Taken SdkParser::kernel(std::string_view object, SdkKernel& kernel) {
  std::string formatted, demangled, mangled;
  const Taken taken = impl_->read(object, [&](std::string_view key, value v) {
    if (key == "kernel_id") return number(v, kernel.id);
    if (key == "formatted_kernel_name") return text_of(v, formatted);
    if (key == "demangled_kernel_name") return text_of(v, demangled);
    if (key == "kernel_name") return text_of(v, mangled);
    if (key == "arch_vgpr_count") return number(v, kernel.num_vgpr);
    if (key == "accum_vgpr_count") return number(v, kernel.num_accum_vgpr);
    if (key == "sgpr_count") return number(v, kernel.num_sgpr);
    return Taken::used;
  });
  kernel.name = !formatted.empty() ? formatted : !demangled.empty() ? demangled : mangled;
  return taken;
}

Taken SdkParser::counter(std::string_view object, SdkCounter& counter) {
  return impl_->read(object, [&](std::string_view key, value v) {
    if (key == "id") return handle(v, counter.id);
    if (key == "agent_id") return handle(v, counter.agent);
    return key == "name" ? text_of(v, counter.name) : Taken::used;
  });
}

Taken SdkParser::text(std::string_view object, SdkText& text) {
  return impl_->read(object, [&](std::string_view key, value v) {
    return key == "key" ? number(v, text.key) : key == "value" ? text_of(v, text.value) : Taken::used;
  });
}

Taken SdkParser::record(std::string_view object, SdkRecord& record) {
  return impl_->read(object, [&](std::string_view key, value v) {
    if (key == "dispatch_data")
      return for_fields(v, [&](std::string_view name, value field) { return common_field(name, field, record); });
    if (key == "records") return instances(v, record);
    if (key == "thread_id") return number(v, record.thread);
    if (key == "stream_id") return handle(v, record.stream);
    if (key == "arch_vgpr_count") return number(v, record.num_vgpr);
    if (key == "accum_vgpr_count") return number(v, record.num_accum_vgpr);
    if (key == "sgpr_count") return number(v, record.num_sgpr);
    if (key == "lds_block_size_v") return number(v, record.lds_bytes);
    return common_field(key, v, record);
  });
}

}  // namespace chopper::rocprof
