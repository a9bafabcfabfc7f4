// SPDX-License-Identifier: Apache-2.0
#include "synth/rocprof_agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace chopper::synth {
namespace {

// The columns in their order (formats.md 2.2), with the value of a processor; -1 stands for what is given by name
// below.
struct AgentColumn {
  std::string_view name;
  std::int64_t processor;
  std::int64_t gpu;
};
constexpr std::int64_t kNamed = -1;
constexpr std::string_view kProcessor = "AMD EPYC 9654 96-Core Processor";
constexpr AgentColumn kColumns[] = {
    {"Node_Id", kNamed, kNamed},
    {"Logical_Node_Id", kNamed, kNamed},
    {"Agent_Type", kNamed, kNamed},
    {"Cpu_Cores_Count", 96, 0},
    {"Simd_Count", 0, kNamed},
    {"Cpu_Core_Id_Base", 0, 0},
    {"Simd_Id_Base", 0, 0},
    {"Max_Waves_Per_Simd", 0, 8},
    {"Lds_Size_In_Kb", 0, 64},
    {"Gds_Size_In_Kb", 0, 0},
    {"Num_Gws", 0, 64},
    {"Wave_Front_Size", 0, kNamed},
    {"Num_Xcc", 1, kNamed},
    {"Cu_Count", 0, kNamed},
    {"Array_Count", 0, 32},
    {"Num_Shader_Banks", 0, 32},
    {"Simd_Arrays_Per_Engine", 0, 1},
    {"Cu_Per_Simd_Array", 0, 10},
    {"Simd_Per_Cu", 0, 4},
    {"Max_Slots_Scratch_Cu", 0, 32},
    {"Gfx_Target_Version", 0, kNamed},
    {"Vendor_Id", 0, 4098},
    {"Device_Id", 0, 29857},
    {"Location_Id", 0, kNamed},
    {"Domain", 0, 0},
    {"Drm_Render_Minor", 0, kNamed},
    {"Num_Sdma_Engines", 0, 2},
    {"Num_Sdma_Xgmi_Engines", 0, 14},
    {"Num_Sdma_Queues_Per_Engine", 0, 8},
    {"Num_Cp_Queues", 0, 24},
    {"Max_Engine_Clk_Ccompute", 3700, 0},
    {"Max_Engine_Clk_Fcompute", 0, kNamed},
    {"Sdma_Fw_Version", 0, 19},
    {"Fw_Version", 0, 160},
    {"Capability", 0, 0},
    {"Cu_Per_Engine", 0, 10},
    {"Max_Waves_Per_Cu", 0, 32},
    {"Family_Id", 0, 141},
    {"Workgroup_Max_Size", 0, 1024},
    {"Grid_Max_Size", 0, 4294967295},
    {"Local_Mem_Size", 0, 0},
    {"Hive_Id", 0, 0},
    {"Gpu_Id", 0, kNamed},
    {"Workgroup_Max_Dim_X", 0, 1024},
    {"Workgroup_Max_Dim_Y", 0, 1024},
    {"Workgroup_Max_Dim_Z", 0, 1024},
    {"Grid_Max_Dim_X", 0, 2147483647},
    {"Grid_Max_Dim_Y", 0, 65535},
    {"Grid_Max_Dim_Z", 0, 65535},
    {"Name", kNamed, kNamed},
    {"Vendor_Name", kNamed, kNamed},
    {"Product_Name", kNamed, kNamed},
    {"Model_Name", kNamed, kNamed},
};

// "gfx90a" is version 9.0.10: 90010.
std::int64_t target_version(std::string_view architecture) {
  std::int64_t version = 0;
  for (const char c : architecture.substr(3)) version = version * 100 + (c >= 'a' ? c - 'a' + 10 : c - '0');
  return version;
}

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

// What differs between agents and gpus.
std::string named_value(const GpuSpec& gpu, std::string_view column, std::int64_t node) {
  const bool is_gpu = node >= kSockets;
  const auto number = [](std::int64_t value) { return fmt::format("{}", value); };
  if (column == "Node_Id" || column == "Logical_Node_Id") return number(node);
  if (column == "Agent_Type") return quoted(is_gpu ? "GPU" : "CPU");
  if (column == "Simd_Count") return number(gpu.num_units * 4);
  if (column == "Gfx_Target_Version") return number(target_version(gpu.architecture));
  if (column == "Wave_Front_Size") return number(gpu.warp_size);
  if (column == "Num_Xcc") return number(gpu.num_xccs);
  if (column == "Cu_Count") return number(gpu.num_units);
  if (column == "Location_Id") return number((5 + 8 * (node - kSockets)) << 8);  // bus in the upper bits
  if (column == "Drm_Render_Minor") return number(128 + 8 * (node - kSockets));
  if (column == "Max_Engine_Clk_Fcompute") return number(static_cast<std::int64_t>(gpu.max_clock_mhz));
  if (column == "Gpu_Id") return number(20000 + 101 * node);
  if (column == "Name") return quoted(is_gpu ? std::string_view(gpu.architecture) : kProcessor);
  if (column == "Vendor_Name") return quoted(is_gpu ? "AMD" : "CPU");
  if (column == "Product_Name") return quoted(is_gpu ? std::string_view(gpu.name) : kProcessor);
  return quoted(is_gpu ? "ip discovery" : "");
}

// Numbers of agent_info.csv that are objects in JSON.
bool is_object(std::string_view column) {
  return column.find("_Dim_") != std::string_view::npos || column == "Sdma_Fw_Version" || column == "Fw_Version" ||
         column == "Capability";
}

std::int64_t num_agents(const Job& job) { return kSockets + std::min(job.ranks_per_node, job.world_size); }

}  // namespace

std::int64_t agent_handle(std::int64_t node) { return 37944 + node; }

std::vector<AgentText> agents_of(const PassProcess& process) {
  const Job& job = process.context.job;
  std::vector<AgentText> agents;
  for (std::int64_t node = 0; node < num_agents(job); node++) {
    AgentText& agent = agents.emplace_back();
    agent.node = node;
    agent.is_gpu = node >= kSockets;
    agent.name = agent.is_gpu ? job.gpu.architecture : std::string(kProcessor);
    agent.vendor = agent.is_gpu ? "AMD" : "CPU";
    agent.product = agent.is_gpu ? job.gpu.name : std::string(kProcessor);
    std::string& text = agent.json;
    text = fmt::format("{{\"size\":312,\"id\":{{\"handle\":{}}},\"type\":{}", agent_handle(node), agent.is_gpu ? 2 : 1);
    for (const AgentColumn& column : kColumns) {
      if (is_object(column.name) || column.name == "Agent_Type") continue;
      text += ",\"";
      for (const char c : column.name) text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      text += "\":";
      const std::int64_t value = agent.is_gpu ? column.gpu : column.processor;
      text += value == kNamed ? named_value(job.gpu, column.name, node) : fmt::format("{}", value);
    }
    fmt::format_to(std::back_inserter(text),
                   ",\"logical_node_type_id\":{0},\"runtime_visibility\":{{\"hsa\":1,\"hip\":1,\"rccl\":1,"
                   "\"rocdecode\":1}},\"gpu_index\":{1}}}",
                   agent.is_gpu ? node - kSockets : node, agent.is_gpu ? node - kSockets : -1);
  }
  return agents;
}

std::string agent_info_text(const PassProcess& process) {
  const Job& job = process.context.job;
  std::string text;
  for (const AgentColumn& column : kColumns) text += (text.empty() ? "" : ",") + quoted(column.name);
  for (std::int64_t node = 0; node < num_agents(job); node++) {
    std::string separator = "\n";
    for (const AgentColumn& column : kColumns) {
      const std::int64_t value = node < kSockets ? column.processor : column.gpu;
      text += std::exchange(separator, ",");
      text += value == kNamed ? named_value(job.gpu, column.name, node) : fmt::format("{}", value);
    }
  }
  return text + "\n";
}

}  // namespace chopper::synth
