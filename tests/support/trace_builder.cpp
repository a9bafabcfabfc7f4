// SPDX-License-Identifier: Apache-2.0
#include "support/trace_builder.h"

#include <utility>

namespace chopper::test {
namespace {

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> names = {
      "ampere_bf16_s16816gemm_128x128_ldg8",
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >",
      "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
      "void flash_fwd_kernel<Traits<64, 128, 128, 4>, false, true>",
      "Cijk_Ailk_Bljk_BBS_BH_MT256x256x64",
      "triton_poi_fused_add_mul_0",
      "__amd_rocclr_copyBuffer",
      "kernel with \\\"quotes\\\", [brackets] and {braces}",
      "caf\\u00e9 \\\\ \\t end",
  };
  return names;
}
const std::vector<std::string>& operator_names() {
  static const std::vector<std::string> names = {
      "aten::mm",         "aten::add_", "aten::_scaled_dot_product_flash_attention",
      "c10d::allgather_", "MyFunction", "autograd::engine::evaluate_function: MmBackward0"};
  return names;
}
const std::vector<std::string>& annotation_names() {
  static const std::vector<std::string> names = {"ProfilerStep#3", "FSDP::all_gather_copy_in", "Iteration12",
                                                 "nccl:all_reduce"};
  return names;
}

class Builder {
 public:
  Builder(std::uint64_t seed, const TraceShape& shape) : random_(seed), shape_(shape), fractions_(!random_.chance(4)) {}

  BuiltTrace build() {
    BuiltTrace trace;
    trace.head = "{\"schemaVersion\": 1";
    if (shape_.rank >= 0)
      trace.head += ", \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " + std::to_string(shape_.rank) +
                    ", \"world_size\": " + std::to_string(shape_.world_size) + "}";
    const std::string base = ", \"baseTimeNanoseconds\": " + std::to_string(shape_.base_ns);
    const bool base_first = random_.chance(2);
    if (shape_.base_ns != 0 && base_first) trace.head += base;
    trace.head += ",\n\"traceEvents\": [\n";
    trace.tail = "\n]";
    if (shape_.base_ns != 0 && !base_first) trace.tail += base;
    trace.tail += "}\n";
    add(trace, "X", "user_annotation", "ProfilerStep#2", "10", "10", 0, 900'000'000, "");  // keeps the host window wide
    for (std::size_t i = 1; i <= shape_.num_launches; i++) add_launch(trace, static_cast<std::int64_t>(i));
    if (shape_.odd_events) add_odd_events(trace);
    return trace;
  }

 private:
  std::string time(std::int64_t ns) const {
    const std::string sign = ns < 0 ? "-" : "";
    const std::int64_t value = ns < 0 ? -ns : ns;
    std::string text = sign + std::to_string(value / 1000);
    if (!fractions_) return text;
    const std::string digits = std::to_string(value % 1000);
    return text + "." + std::string(3 - digits.size(), '0') + digits;
  }
  std::int64_t round(std::int64_t ns) const { return fractions_ ? ns : ns / 1000 * 1000; }

  void add(BuiltTrace& trace, const char* phase, const std::string& category, const std::string& name,
           const std::string& pid, const std::string& tid, std::int64_t start, std::int64_t duration,
           const std::string& arguments) {
    std::string event = std::string("{\"ph\": \"") + phase + "\", ";
    if (!category.empty()) event += "\"cat\": \"" + category + "\", ";
    event += "\"name\": \"" + name + "\", \"pid\": " + pid + ", \"tid\": " + tid +
             ", \"ts\": " + time(round(start) + shape_.shift_ns);
    if (duration >= 0) event += ", \"dur\": " + time(round(duration));
    if (!arguments.empty()) event += ", \"args\": {" + arguments + "}";
    trace.events.push_back(event + "}");
  }

  void add_launch(BuiltTrace& trace, std::int64_t id) {
    const std::string tid = std::to_string(10 + random_.below(2));
    clock_ += random_.between(0, 4000);
    const std::int64_t begin = clock_;
    if (random_.chance(2))
      add(trace, "X", "cpu_op", random_.pick(operator_names()), "10", tid, begin, random_.between(0, 9000),
          "\"External id\": " + std::to_string(id) + ", \"Sequence number\": " + std::to_string(random_.below(9)));
    if (random_.chance(6))
      add(trace, "X", "user_annotation", random_.pick(annotation_names()), "10", tid, begin + random_.between(0, 500),
          random_.between(0, 20000), "");
    const std::int64_t call = begin + random_.between(0, 2000);
    const std::string correlation = "\"correlation\": " + std::to_string(random_.chance(20) ? id / 2 : id);
    if (!random_.chance(10))
      add(trace, "X", random_.chance(8) ? "cuda_driver" : "cuda_runtime",
          random_.chance(5) ? "cudaMemcpyAsync" : "cudaLaunchKernel", "10", tid, call, random_.between(100, 3000),
          correlation);
    const std::string gpu = std::to_string(random_.below(shape_.num_gpus));
    const std::string stream = std::to_string(7 + random_.below(shape_.num_streams));
    std::string arguments = "\"device\": " + gpu + ", \"stream\": " + stream + ", " + correlation;
    const std::int64_t start = call + random_.between(-200, 8000) + 1000;
    const std::int64_t duration = random_.chance(12) ? 0 : random_.between(1, 12000);
    if (random_.chance(8))
      arguments += ", \"Collective name\": \"allreduce\", \"Group size\": " + std::to_string(1 + random_.below(3)) +
                   ", \"Process Group Ranks\": \"[0, 1]\"";
    if (random_.chance(6)) {
      add(trace, "X", random_.chance(2) ? "gpu_memcpy" : "gpu_memset", "Memcpy HtoD (Pageable -> Device)", gpu, stream,
          start, duration, arguments + ", \"bytes\": " + std::to_string(random_.below(1 << 20)));
    } else {
      add(trace, "X", "kernel", random_.pick(kernel_names()), gpu, stream, start, duration,
          arguments + ", \"grid\": [" + std::to_string(1 + random_.below(4)) + ", 1, 1], \"block\": [128, 1, 1]");
    }
  }

  void add_odd_events(BuiltTrace& trace) {
    add(trace, "M", "", "process_name", "10", "0", 0, -1, "\"name\": \"python\"");
    for (std::size_t i = 0; i < 1 + shape_.num_launches / 10; i++) {
      const std::int64_t at = random_.between(1000, 1000 + clock_);
      switch (random_.below(6)) {
        case 0:
          add(trace, "B", "cpu_op", "aten::pair", "10", "12", at, -1, "");
          add(trace, "E", "", "aten::pair", "10", "12", at + 700, -1, "");
          break;
        case 1:
          add(trace, "i", "cpu_instant_event", "[memory]", "10", "10", at, -1,
              "\"Device Id\": 0, \"Addr\": 139, \"Bytes\": -512, \"Total Allocated\": 4096, \"Total Reserved\": 8192");
          break;
        case 2:
          add(trace, "X", "python_function", random_.chance(2) ? "nn.Module: Linear_0" : "train.py(12): step", "10",
              "10", at, 5000, "\"Python id\": 4");
          break;
        case 3:
          add(trace, "X", "gpu_user_annotation", "Iteration12", "0", "7", at, 9000, "");
          break;
        case 4:
          add(trace, "X", "kernel", "unlinked_kernel", "0", "7", at, 300, "\"device\": 0, \"stream\": 7");
          break;
        default:
          add(trace, "f", "ac2g", "ac2g", "0", "7", at, -1, "");
          break;
      }
    }
  }

  Random random_;
  const TraceShape& shape_;
  bool fractions_;
  std::int64_t clock_ = 2000;
};

}  // namespace

std::string BuiltTrace::text() const {
  std::string out = head;
  for (std::size_t i = 0; i < events.size(); i++) out += (i > 0 ? ",\n" : "") + events[i];
  return out + tail;
}

BuiltTrace build_trace(std::uint64_t seed, const TraceShape& shape) { return Builder(seed, shape).build(); }

std::string damage(std::string text, Random& random) {
  static const std::string kBytes("\"\\{}[],:\n\0\x01\xff 09-.eX", 20);
  for (std::size_t i = 0, count = 1 + random.below(3); i < count && !text.empty(); i++) {
    const std::size_t at = random.below(text.size());
    switch (random.below(6)) {
      case 0:
        text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1u << random.below(8)));
        break;
      case 1:
        text.erase(at, 1 + random.below(40));
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size()), 1 + random.below(40)));
        break;
      case 3:
        text[at] = kBytes[random.below(kBytes.size())];
        break;
      case 4:
        text.insert(at, 1, kBytes[random.below(kBytes.size())]);
        break;
      default:
        if (random.chance(3)) text.resize(at);
        break;
    }
  }
  return text;
}

std::string seed_text(std::uint64_t seed) { return "seed " + std::to_string(seed); }

}  // namespace chopper::test
