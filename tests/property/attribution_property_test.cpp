// SPDX-License-Identifier: Apache-2.0
// Random traces of training: labels do not depend on the order of events, a shift of all times, threads and sizes of
// windows; every gpu record has one row; sums of all tables agree.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "report/json.h"
#include "support/random.h"
#include "support/trace_builder.h"

namespace chopper::test {
namespace {

namespace fs = std::filesystem;

struct Mark {
  std::int64_t start = 0, end = 0, number = 0;
};

struct Training {
  std::vector<std::string> events;
  std::vector<Mark> marks;  // empty: there are none with numbers

  std::string text() const {
    std::string out = "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1767225600000000000, \"traceEvents\": [\n";
    for (std::size_t i = 0; i < events.size(); i++) out += (i > 0 ? ",\n" : "") + events[i];
    return out + "\n]}\n";
  }
};

// Iterations of a model with a few layers, told in one way or another. All starts differ, in microseconds.
class Builder {
 public:
  Builder(std::uint64_t seed, std::int64_t shift_us) : random_(seed), shift_(shift_us) {}

  Training build() {
    told_ = random_.below(5);
    const std::size_t mark = random_.below(4), iterations = 1 + random_.below(4), layers = 1 + random_.below(3);
    const bool overlaps = random_.chance(3);
    overlap_ = overlaps ? 4 : 0;
    const std::int64_t first = random_.between(0, 9);
    for (std::size_t k = 0; k < iterations; k++) {
      const std::int64_t number = first + static_cast<std::int64_t>(k), start = tick();
      if (random_.chance(3)) launch("10", "Memcpy HtoD", "gpu_memcpy");
      forward(layers);
      backward(layers);
      if (!random_.chance(4)) {
        range("cpu_op", "aten::_foreach_norm", "10", [&] { launch("10", "norm"); });
        range("user_annotation", "Optimizer.step#AdamW.step", "10", [&] { launch("10", "multi_tensor_apply"); });
      }
      if (random_.chance(3)) tick();
      const std::int64_t end = clock_;
      if (mark < 2)
        event("user_annotation", (mark == 0 ? "ProfilerStep#" : "Iteration ") + std::to_string(number), "10", "10",
              start, end, "");
      if (mark < 2) made_.marks.push_back({start, end, number});
      if (random_.chance(3)) launch("10", "between");
    }
    return made_;
  }

 private:
  std::int64_t tick() { return clock_ += random_.between(1, 9); }

  void event(const std::string& category, const std::string& name, const std::string& pid, const std::string& tid,
             std::int64_t start, std::int64_t end, const std::string& arguments) {
    made_.events.push_back("{\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name +
                           "\", \"pid\": " + pid + ", \"tid\": " + tid + ", \"ts\": " + std::to_string(start + shift_) +
                           ", \"dur\": " + std::to_string(end - start) + ", \"args\": {" + arguments + "}}");
  }
  void range(const std::string& category, const std::string& name, const std::string& tid,
             const std::function<void()>& inside, const std::string& arguments = "") {
    const std::int64_t start = tick();
    inside();
    std::int64_t end = tick();
    if (overlap_ > 0 && random_.chance(overlap_)) end += random_.between(-3, 30);  // not nested any more
    event(category, name, "10", tid, start, std::max(end, start), arguments);
  }
  static std::string numbers(std::int64_t sequence, std::int64_t forward_thread) {
    return "\"Sequence number\": " + std::to_string(sequence) +
           ", \"Fwd thread id\": " + std::to_string(forward_thread);
  }

  void launch(const std::string& tid, const std::string& name, const std::string& category = "kernel",
              const std::string& arguments = "") {
    const std::int64_t call = tick(), id = next_id_++;
    const std::string correlation = "\"correlation\": " + std::to_string(id);
    if (!random_.chance(25))
      event("cuda_runtime", random_.chance(20) ? "cudaGraphLaunch" : "cudaLaunchKernel", "10", tid, call, call + 1,
            correlation);
    const std::int64_t start = std::max(gpu_clock_ + 1, call + random_.between(0, 20));
    gpu_clock_ = start;
    const std::string gpu = random_.chance(10) ? "1" : "0",
                      stream = category == "kernel" && name.starts_with("nccl") ? "9" : "7";
    event(category, name, gpu, stream, start, start + random_.between(0, 15),
          "\"device\": " + gpu + ", \"stream\": " + stream + ", " + correlation + arguments);
  }
  void collective(const std::string& tid, const std::string& kind) {
    const std::string said =
        ", \"Collective name\": \"" + kind +
        "\", \"Group size\": 2, \"Process Group Name\": \"1\", \"In msg nelems\": 8, \"dtype\": \"Float\"";
    if (random_.chance(2)) {
      launch(tid, "ncclDevKernel_Generic", "kernel", said);
    } else {
      range(
          "cpu_op", "record_param_comms", tid, [&] { launch(tid, "ncclDevKernel_" + kind); }, said.substr(2));
    }
  }

  void work(const std::string& tid, std::int64_t thread) {
    static const std::vector<std::string> operators = {"aten::mm",
                                                       "aten::rms_norm",
                                                       "aten::silu",
                                                       "aten::mul",
                                                       "aten::add",
                                                       "aten::embedding",
                                                       "aten::_flash_attention_forward"};
    static const std::vector<std::string> kernels = {
        "gemm", "rms_norm", "silu_kernel", "MulFunctor", "CUDAFunctor_add", "indexSelect", "flash_fwd"};
    static const std::vector<std::string> names = {"attn_n", "fc_up", "f_mlp_dp", "unknown"};
    const std::size_t which = random_.below(operators.size());
    const std::int64_t number = sequence_[thread]++;
    const auto inside = [&] {
      for (std::size_t n = random_.below(3); n > 0; n--) launch(tid, kernels[which]);
    };
    const auto call = [&] { range("cpu_op", operators[which], tid, inside, numbers(number, 0)); };
    if (random_.chance(5)) {
      range("user_annotation", random_.pick(names), tid, call);
    } else {
      call();
    }
  }
  void in_layer(std::size_t layer, const std::string& tid, const std::function<void()>& inside) {
    const std::string n = std::to_string(layer);
    if (told_ == 0) return range("user_annotation", "Layer" + n, tid, inside);
    if (told_ == 1) return range("python_function", "nn.Module: DecoderLayer_" + n, tid, inside);
    if (told_ == 2) return range("user_annotation", "FSDP::pre_forward (layers." + n + ")", tid, inside);
    inside();
  }

  void forward(std::size_t layers) {
    std::vector<std::pair<std::string, std::int64_t>> threads = {{"10", 1}};
    if (random_.chance(4)) threads.emplace_back("11", 2);
    for (const auto& [tid, thread] : threads) {
      const auto pass = [&, t = tid, f = thread] {
        for (std::size_t layer = 0; layer < layers; layer++) {
          if (random_.chance(3)) collective(t, "allgather");
          in_layer(layer, t, [&] {
            for (std::size_t n = 1 + random_.below(4); n > 0; n--) work(t, f);
          });
        }
      };
      if (told_ == 1) {
        range("python_function", "nn.Module: Model_0", tid, pass);
      } else {
        range("user_annotation", random_.chance(2) ? "forward" : "DistributedDataParallel.forward", tid, pass);
      }
    }
  }
  void backward(std::size_t layers) {
    for (const std::int64_t thread : {1, 2}) {
      const std::string tid = thread == 1 ? "20" : "21";
      for (std::int64_t number = sequence_[thread]; number-- > done_[thread];) {
        if (random_.chance(8))
          range("user_annotation", "FullyShardedDataParallel._pre_backward_hook", tid,
                [&] { collective(tid, "allgather"); });
        range(
            "cpu_op", "autograd::engine::evaluate_function: Node", tid,
            [&] {
              range(
                  "cpu_op", "Node", tid,
                  [&] {
                    if (random_.chance(6))
                      range(
                          "cpu_op", "aten::mm", tid, [&] { launch(tid, "gemm"); }, numbers(1000 + number, 0));
                    for (std::size_t n = random_.below(3); n > 0; n--) launch(tid, "gemm");
                  },
                  numbers(number, thread));
            },
            numbers(number, thread));
        if (random_.chance(5))
          range("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", tid,
                [&] { launch(tid, "CUDAFunctor_add"); });
        if (random_.chance(static_cast<std::size_t>(2 * layers))) collective(tid, "reduce_scatter");
      }
      done_[thread] = sequence_[thread];
    }
  }

  Random random_;
  std::int64_t shift_;
  Training made_;
  std::int64_t clock_ = 100, gpu_clock_ = 100, next_id_ = 1;
  std::size_t told_ = 0, overlap_ = 0;
  std::map<std::int64_t, std::int64_t> sequence_, done_;
};

class AttributionProperty : public testing::Test {
 protected:
  AttributionProperty() : folder_(fs::temp_directory_path() / ("chopper_attribution_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~AttributionProperty() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  Answer analyse(const std::string& text, unsigned threads = 1, std::size_t window_bytes = 0) {
    std::ofstream(folder_ / "a.json", std::ios::binary) << text;
    RunOptions options;
    options.threads = threads;
    options.window_bytes = window_bytes;
    options.keep_kernels = true;
    Result<Answer> answer = analyse_run({folder_ / "a.json"}, options);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().text());
    return answer.ok() ? std::move(answer).value() : Answer();
  }
  // All tables from `coverage` on, without what names bytes of the file.
  static std::string tables_of(const Answer& answer) {
    std::string out;
    write_json(answer, {.version = "0", .with_kernels = true}, [&](std::string_view piece) {
      out += piece;
      return true;
    });
    out.erase(0, out.find("\"coverage\""));
    for (std::size_t at = out.find("\"offset\":"); at != std::string::npos; at = out.find("\"offset\":", at))
      out.erase(at, out.find(',', at) + 1 - at);
    return out;
  }
  static std::string first_difference(const std::string& a, const std::string& b) {
    if (a == b) return "";
    std::size_t at = 0;
    while (at < a.size() && at < b.size() && a[at] == b[at]) at++;
    const auto line = [at](const std::string& text) {
      const std::size_t begin = text.rfind('\n', std::min(at, text.size() - 1));
      return text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
    };
    return line(a) + "\n" + line(b);
  }
  static std::string labels_of(const Answer& answer) {
    std::string out;
    for (const bool copies : {false, true}) {
      answer.for_each_kernel(copies, [&](const KernelRow& row) {
        out += row.name + " " + std::string(row.phase) + " " + row.operation;
        for (const Field<std::int64_t>* field : {&row.ordinal, &row.iteration, &row.layer})
          out += " " + (field->present() ? std::to_string(field->value()) : std::string("-"));
        out += "\n";
      });
    }
    return out;
  }

  fs::path folder_;
};

constexpr std::uint64_t kSeeds = 120;

TEST_F(AttributionProperty, OrderOfEventsDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= kSeeds; seed++) {
    SCOPED_TRACE(seed_text(seed));
    Training training = Builder(seed, 0).build();
    const std::string before = tables_of(analyse(training.text()));
    Random(seed).shuffle(training.events);
    ASSERT_EQ(first_difference(before, tables_of(analyse(training.text()))), "");
  }
}

TEST_F(AttributionProperty, ThreadsAndWindowsDoNotMatter) {
  for (std::uint64_t seed = 1; seed <= kSeeds; seed += 4) {
    SCOPED_TRACE(seed_text(seed));
    const std::string text = Builder(seed, 0).build().text();
    const std::string expected = tables_of(analyse(text));
    for (const auto& [threads, window] : {std::pair<unsigned, std::size_t>{2, 64}, {7, 1000}, {16, 0}})
      ASSERT_EQ(first_difference(expected, tables_of(analyse(text, threads, window))), "")
          << threads << " threads, window " << window;
  }
}

TEST_F(AttributionProperty, AShiftOfAllTimesChangesNoLabel) {
  for (std::uint64_t seed = 1; seed <= kSeeds; seed += 2) {
    SCOPED_TRACE(seed_text(seed));
    const std::string expected = labels_of(analyse(Builder(seed, 0).build().text()));
    ASSERT_EQ(labels_of(analyse(Builder(seed, Random(seed).between(1, 400'000'000)).build().text())), expected);
  }
}

TEST_F(AttributionProperty, EveryRecordHasOneRowAndAllSumsAgree) {
  for (std::uint64_t seed = 1; seed <= kSeeds; seed++) {
    SCOPED_TRACE(seed_text(seed));
    const Training training = Builder(seed, 0).build();
    const Answer answer = analyse(training.text());
    using Sums = std::pair<std::int64_t, std::int64_t>;  // records, duration
    const auto add = [](Sums& sums, std::int64_t records, std::int64_t duration) {
      sums.first += records;
      sums.second += duration;
    };
    std::map<std::int64_t, Sums> by_gpu, by_operation;
    std::map<std::pair<std::int64_t, std::string>, Sums> by_label, rules, expected_rules;
    std::map<std::string, Sums> rows, operations;  // by gpu, phase and operation
    std::map<std::int64_t, std::int64_t> comm, collectives;
    for (const bool copies : {false, true}) {
      answer.for_each_kernel(copies, [&](const KernelRow& row) {
        const std::int64_t gpu = row.gpu.value();
        add(by_gpu[gpu], 1, row.duration_ns);
        add(rows[std::to_string(gpu) + " " + std::string(row.phase) + " " + row.operation], 1, row.duration_ns);
        if (row.gpu_class == "comm") comm[gpu]++;
        if (training.marks.empty()) return;
        // The mark the launch was made in, by a look at each.
        std::optional<std::int64_t> number;
        const std::int64_t base = 1767225600000000000;
        for (std::size_t k = 0; k < training.marks.size() && row.launch_ns.present(); k++) {
          const Mark& mark = training.marks[k];
          const std::int64_t end = k + 1 < training.marks.size() ? training.marks[k + 1].start : mark.end;
          const std::int64_t time = row.launch_ns.value() - base;
          if (time >= mark.start * 1000 && time < end * 1000) number = mark.number;
        }
        ASSERT_EQ(row.iteration.present() ? row.iteration.value() : -1, number.value_or(-1));
      });
    }
    std::size_t gpus = 0;
    for (const GpuRow& row : answer.gpus) {
      EXPECT_EQ(by_gpu[row.gpu.value()].first, row.num_kernels + row.num_memcpy + row.num_memset);
      gpus++;
    }
    EXPECT_EQ(by_gpu.size(), gpus);
    for (const OperationRow& row : answer.operations)
      add(operations[std::to_string(row.gpu.value()) + " " + std::string(row.phase) + " " + row.operation],
          row.num_kernels, row.duration_ns);
    EXPECT_EQ(operations, rows);
    for (const LabelRuleRow& row : answer.label_rules)
      add(by_label[{row.gpu.value(), std::string(row.label)}], row.records, row.duration_ns);
    for (const auto& [gpu, sums] : by_gpu) {
      for (const char* label : {"phase", "layer", "operation"}) EXPECT_EQ((by_label[{gpu, label}]), sums) << label;
    }
    for (const CollectiveRow& row : answer.collectives) collectives[row.gpu.value()]++;
    EXPECT_EQ(collectives, comm);
    std::map<std::int64_t, std::int64_t> windows;
    for (const TimelineRow& row : answer.windows) {
      if (row.window_ns.present()) windows[row.gpu.value()] += row.window_ns.value();
    }
    for (const TimelineRow& row : answer.timeline) EXPECT_EQ(windows[row.gpu.value()], row.span_ns);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace chopper::test
