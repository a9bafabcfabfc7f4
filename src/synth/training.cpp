// SPDX-License-Identifier: Apache-2.0
// One iteration of the training loop: batch, forward, backward (with pipeline stages in the order of 1F1B), clipping,
// optimizer, and the loss that the host reads.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "synth/builder.h"
#include "synth/collectives.h"
#include "synth/program.h"
#include "synth/sharding.h"
#include "synth/transformer.h"

namespace chopper::synth {
namespace {

class Training {
 public:
  Training(const Job& job, Program& program, std::int64_t stage)
      : job_(job),
        b_(job, program),
        model_(b_),
        stage_(stage),
        first_layer_(stage * job.layers_per_stage()),
        sharder_(b_, first_layer_, job.layers_per_stage(), is_first(), is_last()) {}

  void iteration(bool with_optimizer) {
    const Builder::Scope step = b_.annotation("ProfilerStep#");
    b_.mark_iteration_number();
    const Builder::Scope root = b_.python("train.py(301): <module>");
    if (!job_.annotations) return steps(with_optimizer);
    const Builder::Scope hand_written = b_.annotation("Iteration");
    b_.mark_iteration_number();
    steps(with_optimizer);
  }

 private:
  bool is_first() const { return stage_ == 0; }
  bool is_last() const { return stage_ == job_.pipeline_parallel - 1; }

  void steps(bool with_optimizer) {
    load_batch();
    if (job_.pipeline_parallel > 1) {
      pipeline();
    } else {
      for (std::int64_t i = 0; i < job_.micro_steps; i++) {
        sharder_.set_synchronises(i + 1 == job_.micro_steps);
        forward();
        backward();
      }
    }
    finish_gradients();
    if (with_optimizer) optimize();
    if (job_.reads_loss) read_loss();
  }

  void load_batch() {
    const Builder::Labelled label = b_.label_all({Phase::other, -1, "", false});
    {
      const Builder::Scope loader = b_.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
      b_.data_loading(job_.physics.data_loading_ns);
    }
    const std::int64_t bytes = job_.batch * job_.sequence * 8;
    for (int i = 0; i < 2; i++) {
      const Builder::Scope to = b_.op("aten::to", {{{job_.batch, job_.sequence}}, -1, false, 1, "long int"});
      const Builder::Scope copy = b_.op("aten::_to_copy", {{{job_.batch, job_.sequence}}, -1, false, 1, "long int"});
      b_.view("aten::empty_strided");
      const Builder::Scope inner = b_.op("aten::copy_", {{{job_.batch, job_.sequence}}, -1, false, 1, "long int"});
      b_.launch(b_.kernels().copy_to_device(bytes));
    }
  }

  void forward() {
    b_.set_records_tape(true);
    const Builder::Labelled label = b_.label_all({Phase::forward, -1, "", false});
    const Builder::Scope frame = b_.python("train.py(214): train_step");
    const Builder::Scope wrapper = b_.annotation(wrapper_name());
    const Builder::Scope module = b_.module("LlamaForCausalLM", 0);
    sharder_.root_pre_forward();
    receive(true);
    if (is_first()) model_.embedding();
    for (std::int64_t i = first_layer_; i < first_layer_ + job_.layers_per_stage(); i++) layer(i);
    if (is_last()) {
      model_.head_and_loss();
    } else {
      send(true);
    }
    b_.set_records_tape(false);
    tapes_.push_back(b_.take_tape());
  }

  void layer(std::int64_t index) {
    Label inside = b_.current();
    inside.layer = index;
    const Builder::Labelled label = b_.label_all(std::move(inside));
    if (!job_.annotations) return layer_with_hooks(index);
    const Builder::Scope hand_written = b_.annotation(fmt::format("Layer{}", index));
    layer_with_hooks(index);
  }

  void layer_with_hooks(std::int64_t index) {
    sharder_.pre_forward(index);
    model_.layer(index);
    sharder_.post_forward(index);
  }

  std::string wrapper_name() const {
    switch (job_.sharding) {
      case Sharding::fsdp1:
        return "FullyShardedDataParallel.forward";
      case Sharding::ddp:
        return "DistributedDataParallel.forward";
      case Sharding::fsdp2:
        break;
    }
    return "FSDP::cast_forward_inputs";
  }

  // The oldest forward pass that has not run backward; the engine has its own thread.
  void backward() {
    const Builder::Labelled label = b_.label_all({Phase::backward, -1, "", false});
    const Builder::Scope frame = b_.python("torch/_tensor.py(581): backward");
    std::vector<Builder::Node> tape = std::move(tapes_.front());
    tapes_.erase(tapes_.begin());
    b_.host_work(24000);  // the engine collects the graph and wakes its thread
    b_.set_thread(Thread::autograd_thread);
    if (is_last()) {
      const Builder::Scope ones = b_.op("aten::ones_like");
      b_.launch(b_.kernels().elementwise("FillFunctor<float>", 1, 8));
    } else {
      receive(false);
    }
    b_.run_backward(std::move(tape));
    if (!is_first()) send(false);
    b_.set_thread(Thread::main_thread);
    b_.host_work(9000);
  }

  // Gradients are added to earlier ones: of another micro step, or of an iteration without a step.
  bool accumulates() const { return job_.micro_steps > 1 || job_.optimizer != OptimizerSteps::every; }

  // Reduces what is left and adds the shards to the accumulated gradients.
  void finish_gradients() {
    const Builder::Labelled label = b_.label_all({Phase::backward, -1, "", false});
    b_.set_thread(Thread::autograd_thread);
    sharder_.set_synchronises(true);
    sharder_.finish_backward();
    if (job_.sharding != Sharding::ddp && accumulates()) {
      const Builder::Labelled accumulate = b_.label("b_ga");
      foreach_operator("aten::_foreach_add_", "BinaryOpListAlphaFunctor<c10::BFloat16, 2, 2, 0>", 6);
    }
    b_.set_thread(Thread::main_thread);
  }

  // A foreach operator over this rank's parameters: its metadata holds so many tensors and blocks, so it takes several
  // kernels.
  void foreach_operator(std::string_view name, std::string_view functor, double bytes_per_element) {
    constexpr std::int64_t kElementsPerKernel = 320 * 65536;
    const std::int64_t elements = std::max<std::int64_t>(1, sharder_.shard_elements());
    const Builder::Scope scope = b_.op(name, shown({{{elements}, kTensorList}, {{}, kScalar}}, -1, 2.5));
    for (std::int64_t done = 0; done < elements; done += kElementsPerKernel) {
      const auto part = static_cast<double>(std::min(kElementsPerKernel, elements - done));
      b_.launch(b_.kernels().multi_tensor(functor, part, part * bytes_per_element));
    }
  }

  void optimize() {
    const Builder::Labelled phase = b_.label_all({Phase::optimizer, -1, "", false});
    clip();
    {
      const Builder::Labelled label = b_.label("opt_step");
      const Builder::Scope range = b_.annotation("Optimizer.step#AdamW.step");
      const Builder::Scope frame = b_.python("torch/optim/adamw.py(412): _multi_tensor_adamw");
      b_.host_work(60000);
      foreach_operator("aten::_foreach_mul_", "BinaryOpScalarFunctor<float, 1, 1, 0>", 8);
      foreach_operator("aten::_foreach_lerp_", "TernaryOpScalarFunctor<float, 2, 2, 0>", 10);
      foreach_operator("aten::_foreach_mul_", "BinaryOpScalarFunctor<float, 1, 1, 0>", 8);
      foreach_operator("aten::_foreach_addcmul_", "PointwiseOpScalarFunctor<float, 3, 3, 0>", 12);
      foreach_operator("aten::_foreach_sqrt", "UnaryOpFunctor<float, 2, 1, 1>", 8);
      foreach_operator("aten::_foreach_div_", "BinaryOpScalarListFunctor<float, 1, 1, 0>", 8);
      foreach_operator("aten::_foreach_add_", "BinaryOpScalarFunctor<float, 1, 1, 0>", 8);
      foreach_operator("aten::_foreach_addcdiv_", "PointwiseOpScalarListFunctor<float, 3, 3, 0>", 16);
    }
    {
      const Builder::Labelled label = b_.label("opt_zg");
      const Builder::Scope range = b_.annotation("Optimizer.zero_grad#AdamW.zero_grad");
      b_.host_work(45000);
    }
    const Builder::Labelled label = b_.label("opt_lr");
    b_.host_work(12000);
  }

  void clip() {
    const Builder::Labelled label = b_.label("opt_gc");
    const Builder::Scope frame = b_.python("torch/nn/utils/clip_grad.py(167): clip_grad_norm_");
    foreach_operator("aten::_foreach_norm", "LpNormFunctor<float, (at::native::NormType)1, float, 1, 1, 0>", 4);
    {
      const Builder::Scope stack = b_.op("aten::stack");
      b_.launch(b_.kernels().streaming(
          "void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::(anonymous "
          "namespace)::OpaqueType<4u>, "
          "unsigned int, 1, 128, 1>(at::native::(anonymous namespace)::OpaqueType<4u>*, unsigned int)",
          300, 2400));
    }
    // Every rank that holds another part of the parameters adds its share; under DDP alone all hold the same.
    if (job_.sharding != Sharding::ddp || job_.tensor_parallel > 1 || job_.pipeline_parallel > 1) {
      const std::uint32_t ready = b_.new_event(), done = b_.new_event();
      b_.record(ready, Stream::compute);
      b_.wait(ready, Stream::reduce);
      all_reduce(b_, {"ar", Group::world, Stream::reduce, 1, -1}, "Float");
      b_.record(done, Stream::reduce);
      b_.wait(done, Stream::compute);
    }
    foreach_operator("aten::_foreach_mul_", "BinaryOpListAlphaFunctor<float, 2, 2, 0>", 8);
  }

  // `loss.item()`: the host waits for everything before it.
  void read_loss() {
    const Builder::Labelled label = b_.label_all({Phase::other, -1, "", false});
    const Builder::Scope item = b_.op("aten::item");
    const Builder::Scope inner = b_.op("aten::_local_scalar_dense");
    b_.launch(b_.kernels().copy_to_host(4));
    b_.drain(Call::stream_synchronize);
  }

  // Pipeline ----------------------------------------------------------------------------------------------------------

  // 1F1B: as many forward passes as there are later stages, then one forward and one backward in turn, then the rest.
  void pipeline() {
    const std::int64_t lead = std::min(job_.micro_steps, job_.pipeline_parallel - 1 - stage_);
    std::int64_t backward_done = 0;
    for (std::int64_t i = 0; i < job_.micro_steps; i++) {
      forward();
      if (i >= lead) run_backward_step(backward_done++);
    }
    while (backward_done < job_.micro_steps) run_backward_step(backward_done++);
  }

  void run_backward_step(std::int64_t index) {
    sharder_.set_synchronises(index + 1 == job_.micro_steps);
    backward();
  }

  std::int64_t boundary_elements() const { return job_.tokens() * job_.model.hidden; }

  void receive(bool is_forward) {
    if (is_forward ? is_first() : is_last()) return;
    const Stream stream = is_forward ? Stream::receive_forward : Stream::receive_backward;
    const std::uint32_t done = b_.new_event();
    send_or_receive(
        b_, {"p2p", is_forward ? Group::previous_stage : Group::next_stage, stream, boundary_elements(), -1}, false);
    b_.record(done, stream);
    b_.wait(done, Stream::compute);
  }

  void send(bool is_forward) {
    const Stream stream = is_forward ? Stream::send_forward : Stream::send_backward;
    const std::uint32_t ready = b_.new_event();
    b_.record(ready, Stream::compute);
    b_.wait(ready, stream);
    send_or_receive(
        b_, {"p2p", is_forward ? Group::next_stage : Group::previous_stage, stream, boundary_elements(), -1}, true);
  }

  const Job& job_;
  Builder b_;
  Transformer model_;
  std::int64_t stage_;
  std::int64_t first_layer_;
  Sharder sharder_;
  std::vector<std::vector<Builder::Node>> tapes_;
};

}  // namespace

Program build_program(const Job& job, std::int64_t stage, bool with_optimizer) {
  Program program;
  program.has_optimizer = with_optimizer;
  Training(job, program, stage).iteration(with_optimizer);
  return program;
}

}  // namespace chopper::synth
