// SPDX-License-Identifier: Apache-2.0
// Writes a program down: ranges opened and closed like the operators of PyTorch, launches, events, and the tape of
// autograd, which is what makes the backward pass the mirror of the forward pass.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "synth/kernels.h"
#include "synth/program.h"

namespace chopper::synth {

/// How a range looks, beyond its name.
struct RangeOptions {
  std::vector<std::vector<std::int64_t>> dims;  ///< shapes of the inputs
  std::int64_t sequence = -1;
  bool backward = false;
  double cost = 1;                          ///< in operators
  std::string_view type = "c10::BFloat16";  ///< of all inputs, unless `types` has one for each
  std::vector<std::string_view> types = {};
};

/// An input of an operator as PyTorch records it: shape and type. Of a scalar and of what is no tensor the shape is
/// empty, of a list of tensors it is that of its one tensor.
struct Operand {
  std::vector<std::int64_t> shape;
  std::string_view type = "c10::BFloat16";
};
using Operands = std::vector<Operand>;
inline constexpr std::string_view kBFloat16 = "c10::BFloat16", kFloat = "float", kLong = "long int", kScalar = "Scalar",
                                  kTensorList = "TensorList";

/// A range with these inputs.
RangeOptions shown(const Operands& operands, std::int64_t sequence = -1, double cost = 1);

/// What the next work belongs to.
struct Label {
  Phase phase = Phase::other;
  std::int64_t layer = -1;
  std::string operation;
  bool recompute = false;
};

class Builder {
 public:
  Builder(const Job& job, Program& program);

  /// Closes the range it opened.
  class Scope {
   public:
    Scope(Builder& builder, std::int32_t range) : builder_(builder), range_(range) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();
    std::int32_t range() const { return range_; }

   private:
    Builder& builder_;
    std::int32_t range_;
  };
  /// Restores the label, and closes the annotation it may have opened.
  class Labelled {
   public:
    Labelled(Builder& builder, Label before, bool annotated)
        : builder_(builder), before_(before), annotated_(annotated) {}
    Labelled(const Labelled&) = delete;
    Labelled& operator=(const Labelled&) = delete;
    ~Labelled();

   private:
    Builder& builder_;
    Label before_;
    bool annotated_;
  };

  const Job& job() const { return job_; }
  Program& program() { return program_; }
  const Kernels& kernels() const { return kernels_; }

  [[nodiscard]] Scope op(std::string_view name, RangeOptions options = {});
  [[nodiscard]] Scope annotation(std::string_view name);
  /// `count` short Python frames, as code between operators leaves them; nothing when the job records none.
  void frames(std::int64_t count);
  /// A Python frame; nothing when the job records none.
  [[nodiscard]] Scope python(std::string_view name);
  /// The module `class_name`_`index` ("LlamaRMSNorm", 4); nothing when the job shows no modules.
  [[nodiscard]] Scope module(std::string_view class_name, std::int64_t index);
  /// Labels what follows; on the forward pass of an annotated job this opens a range of that name.
  [[nodiscard]] Labelled label(std::string_view operation);
  [[nodiscard]] Labelled label_all(Label label);
  const Label& current() const { return label_; }

  /// A range without children that launches nothing ("aten::view").
  void view(std::string_view name, RangeOptions options = {});
  /// Launches `work` from the innermost range.
  void launch(Work work);
  void call(Call call);
  std::uint32_t new_event() { return program_.num_slots++; }
  void record(std::uint32_t event, Stream stream);
  void wait(std::uint32_t event, Stream stream);
  void synchronise(std::uint32_t event);
  void drain(Call call = Call::device_synchronize);
  void host_work(double cost_ns);
  void data_loading(double cost_ns);
  void set_thread(Thread thread) { thread_ = thread; }
  Thread thread() const { return thread_; }
  void mark_iteration_number();
  /// All launches until end_graph become one call.
  void begin_graph();
  void end_graph();

  /// Allocates `bytes`; the returned block is released by `release`. Nothing when the job records no memory.
  std::uint32_t allocate(std::int64_t bytes, bool is_gathered = false);
  static constexpr std::uint32_t kNoBlock = 0xffffffffu;
  void release(std::uint32_t block);

  // Autograd ----------------------------------------------------------------------------------------------------------

  /// A node of the tape: what runs backward for one forward operator.
  struct Node {
    std::string name;  ///< "MmBackward0"; empty: a hook without an operator of its own
    std::int64_t sequence = -1;
    std::int32_t forward_range = -1;
    Label label;
    std::function<void()> run;
  };
  bool records_tape() const { return records_tape_; }
  void set_records_tape(bool on) { records_tape_ = on; }
  /// Returns the sequence number for the next differentiable operator, -1 when no tape is recorded.
  std::int64_t next_sequence();
  /// Returns the number that the next differentiable operator will get: what composite operators carry.
  std::int64_t peek_sequence() const;
  /// Puts the backward of the operator `range` on the tape; `run` may be empty (a node that launches nothing).
  void on_backward(std::string_view name, std::int32_t range, std::function<void()> run);
  /// Puts a hook on the tape.
  void hook(std::function<void()> run);
  /// Accumulates the gradient of a parameter: a node without a sequence number.
  void accumulate_gradient(std::int64_t bytes);
  std::vector<Node> take_tape();
  void put_tape(std::vector<Node> tape);
  /// Called with the bytes of each gradient that is complete.
  void set_gradient_hook(std::function<void(std::int64_t)> hook) { gradient_hook_ = std::move(hook); }
  void run_backward(std::vector<Node> tape);

 private:
  void push(Action action, std::size_t index, double cost_ns, std::uint32_t slot = 0);
  std::int32_t open(std::string_view name, Category category, const RangeOptions& options, double cost_ns);
  void close(std::int32_t range);
  std::int32_t enclosing_on_thread() const;
  std::int32_t enclosing() const;  // innermost range that is no Python frame

  const Job& job_;
  Program& program_;
  Kernels kernels_;
  Label label_;
  Thread thread_ = Thread::main_thread;
  std::vector<std::int32_t> stack_;
  std::vector<Node> tape_;
  struct Block {
    std::int64_t offset, size;  // size 0: released
  };
  std::vector<Block> blocks_;
  std::map<std::int64_t, std::int64_t> live_;  // offset to size
  bool records_tape_ = false;
  std::function<void(std::int64_t)> gradient_hook_;
  std::int32_t graph_call_ = -1;
  std::size_t next_frame_ = 0;
};

}  // namespace chopper::synth
