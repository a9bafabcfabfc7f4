// SPDX-License-Identifier: Apache-2.0
#include "synth/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace chopper::synth {
namespace {

// Frames that Python code between operators leaves most often, in the real traces.
constexpr std::string_view kFrames[] = {"torch/nn/modules/module.py(1931): __getattr__",
                                        "<built-in function is_grad_enabled>",
                                        "<built-in function isinstance>",
                                        "<built-in function len>",
                                        "<built-in method append of list object at 0x7f64c81b4bc0>",
                                        "torch/autograd/grad_mode.py(80): __enter__",
                                        "torch/autograd/grad_mode.py(84): __exit__",
                                        "<built-in function _set_grad_enabled>",
                                        "torch/_jit_internal.py(103): is_scripting",
                                        "<built-in method get of dict object at 0x7f64c8242f40>",
                                        "<built-in method _get_tracing_state of PyCapsule object at 0x7f671f3cbdb0>",
                                        "torch/utils/_pytree.py(692): _get_node_type"};
// In numbers as in the real traces: some dozen a kernel.
constexpr std::int64_t kFramesPerCall = 24;
constexpr std::int64_t kFramesPerModule = 16;

using Shapes = std::vector<std::vector<std::int64_t>>;

std::string text_of(const std::vector<std::int64_t>& row) {
  std::string text = "[";
  for (std::size_t j = 0; j < row.size(); j++) text += fmt::format("{}{}", j == 0 ? "" : ", ", row[j]);
  return text + "]";
}

// A list of tensors is one level deeper.
std::string text_of(const Shapes& rows, const std::vector<std::string_view>& types) {
  std::string text = "[";
  for (std::size_t i = 0; i < rows.size(); i++) {
    text += i == 0 ? "" : ", ";
    text += types[i] == kTensorList ? "[" + text_of(rows[i]) + "]" : text_of(rows[i]);
  }
  return text + "]";
}

// Strides of contiguous tensors.
Shapes strides_of(Shapes dims) {
  for (std::vector<std::int64_t>& shape : dims) {
    std::int64_t stride = 1;
    for (std::size_t j = shape.size(); j > 0; j--) stride *= std::exchange(shape[j - 1], stride);
  }
  return dims;
}

std::string text_of(const std::vector<std::string_view>& words) {
  std::string text = "[";
  for (std::size_t i = 0; i < words.size(); i++) text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", words[i]);
  return text + "]";
}

}  // namespace

RangeOptions shown(const Operands& operands, std::int64_t sequence, double cost) {
  RangeOptions options;
  options.sequence = sequence;
  options.cost = cost;
  for (const Operand& operand : operands) {
    options.dims.push_back(operand.shape);
    options.types.push_back(operand.type);
  }
  return options;
}

Builder::Builder(const Job& job, Program& program) : job_(job), program_(program), kernels_(job) {}

Builder::Scope::~Scope() {
  if (range_ < 0) return;
  while (builder_.stack_.back() != range_) builder_.close(builder_.stack_.back());  // frames that belong to it
  builder_.close(range_);
}

Builder::Labelled::~Labelled() {
  if (annotated_) builder_.close(builder_.stack_.back());
  builder_.label_ = std::move(before_);
}

void Builder::push(Action action, std::size_t index, double cost_ns, std::uint32_t slot) {
  program_.instructions.push_back(
      {action, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(cost_ns), slot});
}

std::int32_t Builder::open(std::string_view name, Category category, const RangeOptions& options, double cost_ns) {
  Range range;
  range.name = name;
  range.category = category;
  range.thread = thread_;
  range.parent = enclosing_on_thread();
  range.sequence = options.sequence;
  range.backward = options.backward;
  if (job_.shapes && !options.dims.empty()) {
    const std::vector<std::string_view> values(options.dims.size(), "");
    const std::vector<std::string_view> types =
        options.types.empty() ? std::vector<std::string_view>(options.dims.size(), options.type) : options.types;
    range.shapes = fmt::format(R"(, "Concrete Inputs": {}, "Input type": {}, "Input Strides": {}, "Input Dims": {})",
                               text_of(values), text_of(types), text_of(strides_of(options.dims), types),
                               text_of(options.dims, types));
  }
  const auto index = static_cast<std::int32_t>(program_.ranges.size());
  program_.ranges.push_back(std::move(range));
  stack_.push_back(index);
  push(Action::open, static_cast<std::size_t>(index), cost_ns);
  return index;
}

void Builder::close(std::int32_t range) {
  CHOPPER_CHECK(!stack_.empty() && stack_.back() == range);
  stack_.pop_back();
  const bool python = program_.ranges[static_cast<std::size_t>(range)].category == Category::python_function;
  // Leaving costs about a third of entering.
  push(Action::close, static_cast<std::size_t>(range), python ? 120 : job_.physics.operator_ns * 0.35);
}

// The autograd thread's ranges stand on the same stack as those of the main thread, which waits for it.
std::int32_t Builder::enclosing_on_thread() const {
  if (stack_.empty()) return -1;
  return program_.ranges[static_cast<std::size_t>(stack_.back())].thread == thread_ ? stack_.back() : -1;
}

std::int32_t Builder::enclosing() const {
  std::int32_t at = enclosing_on_thread();
  while (at >= 0 && program_.ranges[static_cast<std::size_t>(at)].category == Category::python_function) {
    at = program_.ranges[static_cast<std::size_t>(at)].parent;
  }
  return at;
}

// Inside a captured graph the host does nothing: no range is opened.
Builder::Scope Builder::op(std::string_view name, RangeOptions options) {
  if (graph_call_ >= 0) return {*this, -1};
  const bool from_python =
      stack_.empty() || program_.ranges[static_cast<std::size_t>(stack_.back())].category != Category::cpu_op;
  if (from_python) frames(kFramesPerCall);
  return {*this, open(name, Category::cpu_op, options, job_.physics.operator_ns * options.cost)};
}

Builder::Scope Builder::annotation(std::string_view name) {
  if (graph_call_ >= 0) return {*this, -1};
  return {*this, open(name, Category::user_annotation, {}, job_.physics.range_ns)};
}

void Builder::frames(std::int64_t count) {
  if (!job_.stacks || graph_call_ >= 0 || thread_ != Thread::main_thread) return;
  for (std::int64_t i = 0; i < count; i++) {
    const std::string_view name = kFrames[next_frame_++ % std::size(kFrames)];
    close(open(name, Category::python_function, {}, 140));
  }
}

Builder::Scope Builder::python(std::string_view name) {
  if (!job_.stacks || graph_call_ >= 0) return {*this, -1};
  return {*this, open(name, Category::python_function, {}, 180)};
}

Builder::Scope Builder::module(std::string_view class_name, std::int64_t index) {
  if (!job_.modules || graph_call_ >= 0) return {*this, -1};
  const std::int32_t range =
      open(fmt::format("nn.Module: {}_{}", class_name, index), Category::python_function, {}, 900);
  if (job_.stacks) {
    open("torch/nn/modules/module.py(1751): _wrapped_call_impl", Category::python_function, {}, 180);
    open("torch/nn/modules/module.py(1762): _call_impl", Category::python_function, {}, 180);
    frames(kFramesPerModule);
  }
  return {*this, range};
}

Builder::Labelled Builder::label(std::string_view operation) {
  Label before = label_;
  label_.operation = operation;
  // The model's own ranges: they open when its code runs, so in the backward pass only under recomputation.
  const bool model_code = label_.phase == Phase::forward || label_.phase == Phase::optimizer || label_.recompute;
  const bool annotated = job_.annotations && model_code && graph_call_ < 0;
  if (annotated) open(operation, Category::user_annotation, {}, job_.physics.range_ns);
  return {*this, std::move(before), annotated};
}

Builder::Labelled Builder::label_all(Label label) {
  Label before = std::exchange(label_, std::move(label));
  return {*this, std::move(before), false};
}

void Builder::view(std::string_view name, RangeOptions options) {
  options.cost *= 0.5;
  const Scope scope = op(name, std::move(options));
}

void Builder::launch(Work work) {
  work.phase = label_.phase;
  work.layer = label_.layer;
  if (work.operation.empty()) work.operation = label_.operation;
  work.recompute = label_.recompute;
  const auto index = static_cast<std::int32_t>(program_.work.size());
  if (graph_call_ >= 0) {
    work.call = Call::launch_graph;
    program_.calls[static_cast<std::size_t>(graph_call_)].num_work++;
    program_.work.push_back(std::move(work));
    return;
  }
  HostCall call;
  call.call = work.call;
  call.thread = thread_;
  call.range = enclosing();
  call.work = index;
  call.num_work = 1;
  call.stream = work.stream;
  program_.work.push_back(std::move(work));
  program_.calls.push_back(call);
  push(Action::launch, program_.calls.size() - 1, job_.physics.launch_call_ns);
}

void Builder::call(Call call) {
  if (graph_call_ >= 0) return;  // the graph was captured earlier
  const double cost = call == Call::occupancy ? 1200 : 700;
  program_.calls.push_back({call, thread_, enclosing(), -1, 0, Stream::compute});
  push(Action::call, program_.calls.size() - 1, cost);
}

void Builder::record(std::uint32_t event, Stream stream) {
  program_.calls.push_back({Call::event_record, thread_, enclosing(), -1, 0, stream});
  push(Action::record, program_.calls.size() - 1, 1100, event);
}

void Builder::wait(std::uint32_t event, Stream stream) {
  program_.calls.push_back({Call::stream_wait, thread_, enclosing(), -1, 0, stream});
  push(Action::wait, program_.calls.size() - 1, 900, event);
}

void Builder::synchronise(std::uint32_t event) {
  program_.calls.push_back({Call::event_synchronize, thread_, enclosing(), -1, 0, Stream::compute});
  push(Action::synchronise, program_.calls.size() - 1, 1500, event);
}

void Builder::drain(Call call) {
  program_.calls.push_back({call, thread_, enclosing(), -1, 0, Stream::compute});
  push(Action::drain, program_.calls.size() - 1, 1500);
}

// What the host does there is Python code: frames of about a microsecond each.
void Builder::host_work(double cost_ns) {
  if (job_.stacks && thread_ == Thread::main_thread) return frames(static_cast<std::int64_t>(cost_ns / 300));
  push(Action::host_work, 0, cost_ns);
}

void Builder::data_loading(double cost_ns) { push(Action::data_loading, 0, cost_ns); }

void Builder::mark_iteration_number() {
  program_.ranges[static_cast<std::size_t>(stack_.back())].iteration_number = true;
}

void Builder::begin_graph() {
  CHOPPER_CHECK(graph_call_ < 0);
  HostCall call;
  call.call = Call::launch_graph;
  call.thread = thread_;
  call.range = enclosing();
  call.work = static_cast<std::int32_t>(program_.work.size());
  graph_call_ = static_cast<std::int32_t>(program_.calls.size());
  program_.calls.push_back(call);
}

void Builder::end_graph() {
  CHOPPER_CHECK(graph_call_ >= 0);
  push(Action::launch, static_cast<std::size_t>(graph_call_), job_.physics.launch_call_ns * 3);
  graph_call_ = -1;
}

std::uint32_t Builder::allocate(std::int64_t bytes, bool is_gathered) {
  if (!job_.memory_events || graph_call_ >= 0) return kNoBlock;
  constexpr std::int64_t kGranule = 512;  // of the caching allocator
  const std::int64_t rounded = std::max<std::int64_t>(kGranule, (bytes + kGranule - 1) / kGranule * kGranule);
  // First fit: behind the first live block that leaves enough room before the next.
  std::int64_t offset = 0;
  for (const auto& [start, size] : live_) {
    if (start - offset >= rounded) break;
    offset = start + size;
  }
  live_.emplace(offset, rounded);
  const auto block = static_cast<std::uint32_t>(blocks_.size());
  blocks_.push_back({offset, rounded});
  program_.memory.push_back({rounded, enclosing(), offset, thread_, is_gathered});
  push(Action::memory, program_.memory.size() - 1, 150);
  return block;
}

void Builder::release(std::uint32_t block) {
  if (!job_.memory_events || graph_call_ >= 0 || block >= blocks_.size() || blocks_[block].size == 0) return;
  const std::int64_t size = std::exchange(blocks_[block].size, 0);
  live_.erase(blocks_[block].offset);
  program_.memory.push_back({-size, enclosing(), blocks_[block].offset, thread_, false});
  push(Action::memory, program_.memory.size() - 1, 150);
}

// Autograd ------------------------------------------------------------------------------------------------------------

std::int64_t Builder::next_sequence() { return records_tape_ && graph_call_ < 0 ? program_.num_sequences++ : -1; }

std::int64_t Builder::peek_sequence() const { return records_tape_ && graph_call_ < 0 ? program_.num_sequences : -1; }

void Builder::on_backward(std::string_view name, std::int32_t range, std::function<void()> run) {
  if (!records_tape_) return;
  const std::int64_t sequence = range < 0 ? -1 : program_.ranges[static_cast<std::size_t>(range)].sequence;
  tape_.push_back({std::string(name), sequence, range, label_, std::move(run)});
}

void Builder::hook(std::function<void()> run) {
  if (records_tape_) tape_.push_back({"", -1, -1, label_, std::move(run)});
}

void Builder::accumulate_gradient(std::int64_t bytes) {
  if (!records_tape_) return;
  tape_.push_back({"torch::autograd::AccumulateGrad", -1, -1, label_, [this, bytes] {
                     view("aten::detach");
                     const bool adds = job_.micro_steps > 1 || job_.optimizer != OptimizerSteps::every;
                     if (job_.sharding == Sharding::ddp && adds) {
                       const Scope scope = op("aten::add_");
                       Work work = kernels_.elementwise("CUDAFunctor_add<c10::BFloat16>",
                                                        static_cast<double>(bytes) / 2, static_cast<double>(bytes) * 3);
                       work.operation = "b_ga";
                       launch(std::move(work));
                     }
                     if (gradient_hook_) gradient_hook_(bytes);
                   }});
}

std::vector<Builder::Node> Builder::take_tape() { return std::exchange(tape_, {}); }
void Builder::put_tape(std::vector<Node> tape) { tape_ = std::move(tape); }

void Builder::run_backward(std::vector<Node> tape) {
  for (std::size_t i = tape.size(); i > 0; i--) {
    const Node& node = tape[i - 1];
    Label label = node.label;
    label.phase = Phase::backward;
    label.recompute = false;
    const Labelled labelled = label_all(std::move(label));
    if (node.name.empty()) {
      node.run();
      continue;
    }
    const RangeOptions options{{}, node.sequence, node.sequence >= 0, 1.3, ""};
    const Scope engine = op("autograd::engine::evaluate_function: " + node.name, options);
    const Scope function = op(node.name, options);
    if (node.forward_range >= 0 && engine.range() >= 0) {
      program_.ranges[static_cast<std::size_t>(node.forward_range)].partner = engine.range();
    }
    if (node.run) node.run();
  }
}

}  // namespace chopper::synth
