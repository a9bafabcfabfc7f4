// SPDX-License-Identifier: Apache-2.0
#include "catalog/gpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "catalog/embedded_data.h"

namespace chopper {
namespace {

std::vector<GpuSpec> shipped() {
  Result<std::vector<GpuSpec>> gpus = embedded_gpus();
  EXPECT_TRUE(gpus.ok()) << (gpus.ok() ? "" : gpus.error().text());
  return gpus.ok() ? gpus.value() : std::vector<GpuSpec>{};
}

std::string key_of(const std::vector<GpuSpec>& gpus, std::string_view device_name) {
  const GpuSpec* found = find_gpu(gpus, device_name);
  return found == nullptr ? "" : found->key;
}

std::string mi300x() {
  for (std::size_t i = 0; i < kNumEmbeddedFiles; i++) {
    if (kEmbeddedFiles[i].name == "gpus/mi300x.toml") return std::string(kEmbeddedFiles[i].text);
  }
  return "";
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text = mi300x();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string message_of(const std::string& text) {
  const Result<GpuSpec> gpu = parse_gpu_spec(text, "mi300x");
  EXPECT_FALSE(gpu.ok());
  if (gpu.ok()) return "";
  EXPECT_EQ(gpu.error().code, ErrorCode::bad_input);
  EXPECT_EQ(gpu.error().where, "gpus/mi300x.toml");
  return gpu.error().message;
}

// Dense TFLOP/s per device as public sheets quote them, at the clock of the table.
struct Peak {
  std::string key;
  double bf16, fp8;  // fp8 0: the device has none
};
const std::vector<Peak> kPeaks = {
    {"a100_pcie_80gb", 312.0, 0}, {"a100_sxm_40gb", 312.0, 0}, {"a100_sxm_80gb", 312.0, 0},
    {"b200", 2250.0, 4500.0},     {"gb200", 2500.0, 5000.0},   {"h100_pcie", 756.4, 1513.0},
    {"h100_sxm", 989.4, 1978.9},  {"h200_sxm", 989.4, 1978.9}, {"l40s", 362.1, 724.1},
    {"mi250x", 191.5, 0},         {"mi300x", 1307.4, 2614.9},  {"mi325x", 1307.4, 2614.9},
    {"mi350x", 2306.9, 4614.0},   {"mi355x", 2516.6, 5033.0},  {"rtx_4090", 165.2, 330.3},
    {"rtx_5090", 209.5, 419.0},
};

TEST(Gpus, PeaksAreThoseOfTheSheets) {
  const std::vector<GpuSpec> gpus = shipped();
  ASSERT_EQ(gpus.size(), kPeaks.size());
  for (std::size_t i = 0; i < gpus.size(); i++) {
    EXPECT_EQ(gpus[i].key, kPeaks[i].key);
    EXPECT_NEAR(gpus[i].bf16_tflops(), kPeaks[i].bf16, kPeaks[i].bf16 * 1e-3) << gpus[i].key;
    EXPECT_NEAR(gpus[i].fp8_tflops(), kPeaks[i].fp8, kPeaks[i].fp8 * 1e-3) << gpus[i].key;
  }
}

TEST(Gpus, VectorPeaksAreAtTheSameClock) {
  const std::vector<GpuSpec> gpus = shipped();
  for (const auto& [name, tflops] : {std::pair<std::string_view, double>{"AMD Instinct MI250X", 23.94},
                                     {"AMD Instinct MI300X", 163.4},
                                     {"AMD Instinct MI355X", 157.3},
                                     {"NVIDIA A100-SXM4-80GB", 19.49},
                                     {"NVIDIA H100 80GB HBM3", 61.84}}) {  // the sheet's 66.9 is at 1980 MHz
    const GpuSpec* gpu = find_gpu(gpus, name);
    ASSERT_NE(gpu, nullptr) << name;
    EXPECT_NEAR(gpu->fp32_tflops(), tflops, tflops * 1e-3) << name;
  }
}

TEST(Gpus, AmdMemoryRatesAreClockTimesChannels) {
  for (const GpuSpec& gpu : shipped()) {
    if (gpu.architecture != "gfx942") continue;
    EXPECT_NEAR(gpu.memory_gb_per_s, gpu.memory_clock_mhz * 1e-3 * 32 * 128, gpu.memory_gb_per_s * 1e-3) << gpu.key;
    EXPECT_EQ(gpu.num_xccs, 8) << gpu.key;
  }
}

TEST(Gpus, VendorsHaveTheirOwnWaves) {
  for (const GpuSpec& gpu : shipped()) {
    EXPECT_EQ(gpu.warp_size, gpu.vendor == "amd" ? 64 : 32) << gpu.key;
    EXPECT_EQ(gpu.architecture.substr(0, 3), gpu.vendor == "amd" ? "gfx" : "sm_") << gpu.key;
  }
}

TEST(Gpus, NoTwoGpusShareAPartOfAName) {
  std::set<std::string> seen;
  for (const GpuSpec& gpu : shipped()) {
    for (const std::string& part : gpu.device_names) EXPECT_TRUE(seen.insert(part).second) << part;
    EXPECT_EQ(key_of(shipped(), gpu.name), gpu.key);
  }
}

TEST(FindGpu, KnowsNamesAsTracesWriteThem) {
  const std::vector<GpuSpec> gpus = shipped();
  EXPECT_EQ(key_of(gpus, "AMD Instinct MI300X"), "mi300x");
  EXPECT_EQ(key_of(gpus, "AMD Instinct MI300X VF"), "mi300x");
  EXPECT_EQ(key_of(gpus, "NVIDIA A100-PG509-200"), "a100_sxm_40gb");
  EXPECT_EQ(key_of(gpus, "NVIDIA A100-SXM4-40GB"), "a100_sxm_40gb");
  EXPECT_EQ(key_of(gpus, "NVIDIA A100-SXM4-80GB"), "a100_sxm_80gb");
  EXPECT_EQ(key_of(gpus, "NVIDIA A100 80GB PCIe"), "a100_pcie_80gb");
  EXPECT_EQ(key_of(gpus, "NVIDIA H100 80GB HBM3"), "h100_sxm");
  EXPECT_EQ(key_of(gpus, "NVIDIA H100 PCIe"), "h100_pcie");
  EXPECT_EQ(key_of(gpus, "NVIDIA H200"), "h200_sxm");
  EXPECT_EQ(key_of(gpus, "NVIDIA B200"), "b200");
  EXPECT_EQ(key_of(gpus, "NVIDIA GB200"), "gb200");
  EXPECT_EQ(key_of(gpus, "nvidia geforce rtx 4090"), "rtx_4090");
}

TEST(FindGpu, KnowsNothingOfNamesThatDoNotIdentify) {
  const std::vector<GpuSpec> gpus = shipped();
  for (const std::string_view name : {"", "AMD Radeon Graphics", "AMD Instinct MI210", "NVIDIA GeForce RTX 2080 Ti",
                                      "Tesla V100-DGXS-32GB", "Tesla V100-SXM2-32GB", "NVIDIA H100", "NVIDIA H100 NVL",
                                      "NVIDIA GH200 480GB", "NVIDIA A100", "AMD Instinct MI308X"}) {
    EXPECT_EQ(key_of(gpus, name), "") << name;
  }
}

TEST(FindGpu, TakesTheLongestPartAndOfEqualOnesTheFirst) {
  std::vector<GpuSpec> gpus(3);
  gpus[0].key = "short";
  gpus[0].device_names = {"x1"};
  gpus[1].key = "long";
  gpus[1].device_names = {"x1 pro"};
  gpus[2].key = "equal";
  gpus[2].device_names = {"x1 pro"};
  EXPECT_EQ(key_of(gpus, "Acme X1"), "short");
  EXPECT_EQ(key_of(gpus, "Acme X1 PRO"), "long");
  EXPECT_EQ(key_of({}, "Acme X1"), "");
}

TEST(ParseGpuSpec, ReadsEveryField) {
  const Result<GpuSpec> gpu = parse_gpu_spec(mi300x(), "mi300x");
  ASSERT_TRUE(gpu.ok());
  const GpuSpec& g = gpu.value();
  EXPECT_EQ(g.key, "mi300x");
  EXPECT_EQ(g.name, "AMD Instinct MI300X");
  EXPECT_EQ(g.vendor, "amd");
  EXPECT_EQ(g.architecture, "gfx942");
  EXPECT_EQ(g.num_units, 304);
  EXPECT_EQ(g.num_xccs, 8);
  EXPECT_EQ(g.matrix_units_per_unit, 4);
  EXPECT_EQ(g.warp_size, 64);
  EXPECT_EQ(g.clock_mhz, 2100);
  EXPECT_EQ(g.max_clock_mhz, 2100);
  EXPECT_EQ(g.bf16_flop_per_clock, 2048);
  EXPECT_EQ(g.fp8_flop_per_clock, 4096);
  EXPECT_EQ(g.tf32_flop_per_clock, 1024);
  EXPECT_EQ(g.fp32_flop_per_clock, 256);
  EXPECT_EQ(g.memory_gb_per_s, 5325);
  EXPECT_EQ(g.memory_clock_mhz, 1300);
  EXPECT_EQ(g.memory_bytes, 192LL << 30);
  EXPECT_EQ(g.power_w, 750);
  EXPECT_EQ(g.num_links, 7);
  EXPECT_EQ(g.link_gb_per_s, 64);
  EXPECT_EQ(g.link_name, "Infinity Fabric");
  EXPECT_EQ(g.device_names, std::vector<std::string>{"mi300x"});
}

TEST(ParseGpuSpec, LeavesOutWhatIsNotKnown) {
  const Result<GpuSpec> gpu = parse_gpu_spec(replaced("fp8 = 4096\n", ""), "mi300x");
  ASSERT_TRUE(gpu.ok());
  EXPECT_EQ(gpu.value().fp8_tflops(), 0);
}

TEST(ParseGpuSpec, SaysWhatIsWrong) {
  EXPECT_EQ(message_of(replaced("num_units = ", "num_unit = ")), "unknown key num_unit");
  EXPECT_EQ(message_of(replaced("[memory]", "[memory]\nmore = 1")), "unknown key memory.more");
  EXPECT_EQ(message_of(mi300x() + "\n[extra]\n"), "unknown key extra");
  EXPECT_EQ(message_of(replaced("num_units = 304\n", "")), "missing whole number num_units");
  EXPECT_EQ(message_of(replaced("num_units = 304", "num_units = 304.0")), "missing whole number num_units");
  EXPECT_EQ(message_of(replaced("num_units = 304", "num_units = 0")), "out of range: num_units");
  EXPECT_EQ(message_of(replaced("bf16 = 2048", "bf16 = \"2048\"")), "missing number flop_per_clock.bf16");
  EXPECT_EQ(message_of(replaced("bf16 = 2048", "bf16 = -1")), "out of range: flop_per_clock.bf16");
  EXPECT_EQ(message_of(replaced("bf16 = 2048", "bf16 = nan")), "out of range: flop_per_clock.bf16");
  EXPECT_EQ(message_of(replaced("bf16 = 2048", "bf16 = inf")), "out of range: flop_per_clock.bf16");
  EXPECT_EQ(message_of(replaced("fp8 = 4096", "fp8 = 0")), "out of range: flop_per_clock.fp8");
  EXPECT_EQ(message_of(replaced("\nclock_mhz = 2100\n", "\nclock_mhz = 2200\n")), "max_clock_mhz is below clock_mhz");
  EXPECT_EQ(message_of(replaced("count = 7", "count = 0")), "links.count and links.gb_per_s do not fit together");
  EXPECT_EQ(message_of(replaced("name = \"Infinity Fabric\"\n", "")), "missing text links.name");
  EXPECT_EQ(message_of(replaced("\"amd\"", "\"acme\"")), "vendor is neither amd nor nvidia: acme");
  EXPECT_EQ(message_of(replaced("vendor = \"amd\"", "vendor = 7")), "missing text vendor");
  EXPECT_EQ(message_of(replaced("[\"mi300x\"]", "[]")), "missing list device_names");
  EXPECT_EQ(message_of(replaced("[\"mi300x\"]", "[\"MI300X\"]")),
            "device_names holds something else than lower-case texts");
  EXPECT_EQ(message_of(replaced("[\"mi300x\"]", "[\"\"]")), "device_names holds something else than lower-case texts");
  EXPECT_TRUE(message_of("[memory\n").starts_with("line 1: "));
  EXPECT_EQ(message_of(""), "missing text name");
}

}  // namespace
}  // namespace chopper
