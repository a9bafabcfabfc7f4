// SPDX-License-Identifier: Apache-2.0
// Facts about GPUs (data/gpus/*.toml): what each can do at most, at which clock, and how its device is named in traces.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chopper {

/// One device as a profiler sees it. Rates are dense (no sparsity). Peak FLOP/s = rate x num_units x clock_mhz x 1e6.
struct GpuSpec {
  std::string key;                         ///< "mi300x": the file's stem, and `gpus.spec` of the report
  std::string name;                        ///< "AMD Instinct MI300X"
  std::string vendor;                      ///< "amd" or "nvidia"
  std::string architecture;                ///< "gfx942", "sm_90"
  std::int64_t num_units = 0;              ///< compute units or streaming multiprocessors of one device
  std::int64_t num_xccs = 1;               ///< accelerator complex dies that count cycles apart (1 elsewhere)
  std::int64_t matrix_units_per_unit = 4;  ///< matrix or tensor cores in a unit
  std::int64_t warp_size = 32;             ///< threads of a wave or warp
  double clock_mhz = 0;                    ///< the clock at which the peaks are quoted
  double max_clock_mhz = 0;                ///< the highest clock the device runs at
  double bf16_flop_per_clock = 0;          ///< per unit, BF16 and FP16 with FP32 accumulation; 0: not known
  double fp8_flop_per_clock = 0;           ///< 0: the device has none
  double tf32_flop_per_clock = 0;          ///< 0: the device has none
  double fp32_flop_per_clock = 0;          ///< vector units
  double memory_gb_per_s = 0;              ///< 1e9 bytes a second
  double memory_clock_mhz = 0;             ///< 0: not known
  std::int64_t memory_bytes = 0;
  double power_w = 0;                     ///< board power limit
  std::int64_t num_links = 0;             ///< links to other GPUs of the node
  double link_gb_per_s = 0;               ///< one link, one direction, 1e9 bytes a second
  std::string link_name;                  ///< "Infinity Fabric", "NVLink", "PCIe"
  std::vector<std::string> device_names;  ///< lower-case parts of a device's name by which it is known

  double bf16_tflops() const { return bf16_flop_per_clock * static_cast<double>(num_units) * clock_mhz * 1e-6; }
  double fp8_tflops() const { return fp8_flop_per_clock * static_cast<double>(num_units) * clock_mhz * 1e-6; }
  double tf32_tflops() const { return tf32_flop_per_clock * static_cast<double>(num_units) * clock_mhz * 1e-6; }
  double fp32_tflops() const { return fp32_flop_per_clock * static_cast<double>(num_units) * clock_mhz * 1e-6; }
};

/// Parses one file; `key` is its stem. Fails with bad_input naming the key that is missing, unknown or out of range.
Result<GpuSpec> parse_gpu_spec(std::string_view text, std::string_view key);

/// Returns the gpus of this build, sorted by key. Fails when an embedded file is bad (a test parses all).
Result<std::vector<GpuSpec>> embedded_gpus();

/// Returns the one whose `device_names` has the longest part contained in `device_name` (case-insensitive; of equal
/// lengths the first), nullptr when none fits.
const GpuSpec* find_gpu(std::span<const GpuSpec> gpus, std::string_view device_name);

/// Returns the one with the stated key, without a known one find_gpu(device_name), where there is a name.
const GpuSpec* find_gpu(std::span<const GpuSpec> gpus, const std::optional<std::string>& stated_key,
                        const std::optional<std::string>& device_name);

}  // namespace chopper
