// SPDX-License-Identifier: Apache-2.0
#include "report/losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "report/quantity.h"
#include "report/shown_gpus.h"
#include "report/utf8.h"

namespace chopper {
namespace {

double sum_of(const Field<double>& field) { return field.present() ? field.value() : 0; }

std::string_view name_of_kind(std::string_view kind) {
  if (kind == "ag") return "all-gather";
  if (kind == "rs") return "reduce-scatter";
  if (kind == "ar") return "all-reduce";
  if (kind == "a2a") return "all-to-all";
  if (kind == "bc") return "broadcast";
  if (kind == "p2p") return "send and receive";
  return kind;
}

std::string operation_label(const OperationTotal& operation) {
  return operation.phase + " " + printable(operation.operation);
}

// The job that all gpus of the basis are of; nullopt when they are of several, between which nothing is compared.
std::optional<std::int64_t> job_of(const TimeBasis& basis) {
  std::optional<std::int64_t> job;
  for (const GpuTime& gpu : basis.gpus) {
    if (job && *job != gpu.row->job) return std::nullopt;
    job = gpu.row->job;
  }
  return job;
}

// The gpu that the others wait for: of those that stand out the one whose computation takes longest.
const RankRow* slowest_gpu(const std::vector<const RankRow*>& ranks) {
  const RankRow* slowest = nullptr;
  for (const RankRow* row : ranks) {
    if (!row->compute_ratio.present() || !(row->hint == "straggler")) continue;
    if (slowest == nullptr || row->compute_ratio.value() > slowest->compute_ratio.value()) slowest = row;
  }
  return slowest;
}

std::string gpu_name(const RankRow& row) {
  return row.rank.present() ? fmt::format("rank {}", row.rank.value()) : fmt::format("input {}", row.input);
}

class LossFinder {
 public:
  LossFinder(const Answer& answer, const TimeBasis& basis)
      : answer_(answer),
        basis_(basis),
        parts_(basis),
        job_(job_of(basis)),
        is_part_(is_part_of_work(answer.selection)),
        operations_(operation_totals(answer, basis)) {
    for (const RankRow& row : answer.ranks) {
      if (job_ && row.job == *job_) ranks_.push_back(&row);
    }
  }

  std::vector<Loss> run() {
    find_communication();
    find_launches(TimePart::host_late);
    find_launches(TimePart::dispatch);
    find_below_peak("compute-bound below peak", "compute");
    find_below_peak("memory-bound below peak", "memory");
    if (!is_part_) {
      add(TimePart::copies, "exposed copies", "pinned memory, non_blocking");
      add(TimePart::other_idle, "idle, no launch gap", "event waits, before comm");
      find_straggler();
    }
    std::stable_sort(losses_.begin(), losses_.end(),
                     [](const Loss& a, const Loss& b) { return a.at_stake_ns > b.at_stake_ns; });
    std::erase_if(losses_, [&](const Loss& loss) { return loss.at_stake_ns * 1000 < basis_.mean.span_ns; });
    return std::move(losses_);
  }

 private:
  // Sums over all gpus and steps to the mean of a step.
  double per_step(double sum) const { return sum / basis_.num_parts; }

  void add(TimePart part, std::string title, std::string advice) {
    if (basis_.mean.part(part) <= 0) return;
    losses_.push_back({std::move(title), basis_.mean.part(part), std::move(advice), worst_command(part), part});
  }

  // Where one gpu loses half as much again as the mean.
  std::string worst_command(TimePart part) const {
    if (!job_) return "";
    const auto worst =
        std::max_element(basis_.gpus.begin(), basis_.gpus.end(),
                         [&](const GpuTime& a, const GpuTime& b) { return a.split.share(part) < b.split.share(part); });
    const bool stands_out = basis_.gpus.size() > 1 && worst->split.share(part) > 1.5 * basis_.mean.share(part) &&
                            worst->row->rank.present();
    return stands_out ? fmt::format("--rank {}", worst->row->rank.value()) : std::string();
  }

  // What collectives of one kind expose, how much of it is waiting for other ranks, and how much may be.
  struct Exposed {
    double all_ns = 0, wait_ns = 0;
    std::map<Reason, double> unknown_ns;  // by why it is not known
    bool pipeline = false;
  };

  std::map<std::string, Exposed> exposed_by_kind() const {
    std::map<std::string, Exposed> kinds;
    for (const CollectiveRow& row : answer_.collectives) {
      if (!parts_.has(row)) continue;
      const auto share = static_cast<double>(row.exposed_ns);
      Exposed& sum = kinds[row.kind];
      sum.all_ns += share;
      sum.pipeline = sum.pipeline || (row.kind == "p2p" && row.dimension == "pipeline");
      if (row.wait_ns.present() && row.transfer_ns.present()) {
        // A collective waits first and transfers then: what is hidden is counted as waiting last.
        sum.wait_ns += std::clamp(share - static_cast<double>(row.transfer_ns.value()), 0.0,
                                  static_cast<double>(row.wait_ns.value()));
      } else {
        sum.unknown_ns[row.wait_ns.present() ? row.transfer_ns.reason() : row.wait_ns.reason()] += share;
      }
    }
    return kinds;
  }

  // Whether waiting is told apart, else what overlaps communication.
  std::string communication_advice(const std::string& kind, const Exposed& sum) const {
    double unknown_ns = 0;
    auto most = sum.unknown_ns.begin();
    for (auto why = sum.unknown_ns.begin(); why != sum.unknown_ns.end(); ++why) {
      unknown_ns += why->second;
      if (why->second > most->second) most = why;
    }
    if (unknown_ns > 0.5 * sum.all_ns) {
      if (most->first == Reason::no_group) return "with waits: group not recorded";
      return most->first == Reason::unmatched_ranks ? "with waits: ranks do not match"
                                                    : "with waits: no rank to compare";
    }
    if (answer_.health_log.count(HealthKind::rank_missing) > 0) return "with waits for missing ranks";
    return kind == "ag" || kind == "rs" || kind == "ar" ? "prefetch, bucket sizes" : "overlap it with computation";
  }

  // Exposed communication, split by kind in proportion to what the collectives expose, and into waiting for other ranks
  // and transfer. (Those that run beside each other expose the same time.)
  void find_communication() {
    const double exposed = basis_.mean.part(TimePart::exposed_comm);
    if (exposed <= 0) return;
    const std::map<std::string, Exposed> kinds = exposed_by_kind();
    double all = 0;
    for (const auto& [kind, sum] : kinds) all += sum.all_ns;
    if (!(all > 0)) {
      if (!is_part_) add(TimePart::exposed_comm, "exposed communication", "overlap it with computation");
      return;
    }
    // Of a part of the collectives the sum is all that is known; all of them expose what the time line says.
    const double scale = is_part_ ? std::min(exposed / all, 1 / basis_.num_parts) : exposed / all;
    double waiting = 0, bubbles = 0;
    for (const auto& [kind, sum] : kinds) {
      (sum.pipeline ? bubbles : waiting) += sum.wait_ns;
      losses_.push_back({fmt::format("exposed {}", name_of_kind(printable(kind))), (sum.all_ns - sum.wait_ns) * scale,
                         communication_advice(kind, sum), fmt::format("--operation {}", printable(kind))});
      if (kinds.size() == 1 && sum.wait_ns == 0 && !is_part_) losses_.back().part = TimePart::exposed_comm;
    }
    if (waiting > 0) add_waiting(waiting * scale);
    if (bubbles > 0)
      losses_.push_back({"bubbles of the pipeline", bubbles * scale, "micro-batches, equal stages", "--operation p2p"});
  }

  // Who the others wait for: the gpu that computes longest, else the one that waits far less than the others.
  void add_waiting(double ns) {
    Loss loss{"waiting for late ranks", ns, "uneven work, hosts launching late", ""};
    const RankRow* late = slowest_gpu(ranks_);
    if (late != nullptr) {
      loss.advice = fmt::format("{} computes {:.2f} x", gpu_name(*late), late->compute_ratio.value());
    } else if (late = least_waiting_gpu(); late != nullptr) {
      loss.advice = gpu_name(*late) + " waits least";
    }
    if (late != nullptr && late->rank.present()) loss.command = fmt::format("--rank {}", late->rank.value());
    losses_.push_back(std::move(loss));
  }

  const RankRow* least_waiting_gpu() const {
    std::vector<const RankRow*> rows;
    for (const RankRow* row : ranks_) {
      if (row->comm_wait_ns.present()) rows.push_back(row);
    }
    if (rows.size() < 2) return nullptr;
    std::stable_sort(rows.begin(), rows.end(), [](const RankRow* a, const RankRow* b) {
      return a->comm_wait_ns.value() < b->comm_wait_ns.value();
    });
    return 2 * rows[0]->comm_wait_ns.value() < rows[1]->comm_wait_ns.value() ? rows[0] : nullptr;
  }

  // Launch gaps, with what the host did meanwhile, or the operation that most of them stand before.
  void find_launches(TimePart part) {
    const bool late = part == TimePart::host_late;
    std::string advice = late ? "host too slow: compile, graphs" : "short kernels: graphs, fusion";
    double all = 0;
    const OperationTotal* most = nullptr;
    const auto gap = [&](const OperationTotal& o) { return late ? o.prep_idle_ns : o.call_idle_ns; };
    for (const OperationTotal& operation : operations_) {
      all += gap(operation);
      if (most == nullptr || gap(operation) > gap(*most)) most = &operation;
    }
    if (most != nullptr && all > 0 && gap(*most) > 0.3 * all)
      advice = fmt::format("{:.0f} % before {}", gap(*most) / all * 100, operation_label(*most));
    if (late) {
      std::map<std::string, double> blockers;
      for (const HostBlockerRow& row : answer_.host_blockers) {
        const bool of_steps = basis_.steps || is_part_;
        if (parts_.has_gpu(row)) blockers[row.kind] += static_cast<double>(of_steps ? row.step_idle_ns : row.idle_ns);
      }
      const auto worst = std::max_element(blockers.begin(), blockers.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      if (worst != blockers.end() && all > 0 && worst->second > 0.3 * all)
        advice = fmt::format("{:.0f} % during {}", worst->second / all * 100, blocker_text(worst->first));
    }
    const char* title = late ? "kernels launched late" : "launch to start";
    if (is_part_) {
      losses_.push_back({title, per_step(all), std::move(advice), ""});
    } else {
      add(part, title, std::move(advice));
    }
  }

  static std::string blocker_text(const std::string& kind) {
    if (kind == "synchronise") return "synchronising calls";
    if (kind == "copy_to_host") return "copies to the host";
    if (kind == "item") return ".item() or .cpu()";
    if (kind == "data_loading") return "data loading";
    if (kind == "allocator") return "allocator calls";
    if (kind == "garbage_collection") return "garbage collection";
    return kind;
  }

  void find_below_peak(std::string_view title, std::string_view bound) {
    double lost = 0, known = 0, least = 0;
    const OperationTotal* worst = nullptr;
    const auto loss_of = [](const OperationTotal& o) { return std::max(0.0, o.known_ns - o.least_ns); };
    for (const OperationTotal& operation : operations_) {
      if (operation.is_comm || operation.bound != bound) continue;
      lost += loss_of(operation);
      known += operation.known_ns;
      least += operation.least_ns;
      if (worst == nullptr || loss_of(operation) > loss_of(*worst)) worst = &operation;
    }
    if (worst == nullptr || !(lost > 0)) return;
    losses_.push_back({std::string(title), per_step(lost),
                       fmt::format("{:.0f} %, most in {}", least / known * 100, operation_label(*worst)),
                       fmt::format("--operation {}", printable(worst->operation))});
  }

  // What a slower gpu costs the run: its computation beyond the median.
  void find_straggler() {
    const RankRow* slowest = slowest_gpu(ranks_);
    if (slowest == nullptr || !slowest->window_compute_ns.present()) return;
    const double ratio = slowest->compute_ratio.value();
    const double lost = static_cast<double>(slowest->window_compute_ns.value()) * (1 - 1 / ratio);
    losses_.push_back({fmt::format("{} slower, {:.2f} x", gpu_name(*slowest), ratio), lost,
                       "its clock, its share of the work",
                       slowest->rank.present() ? fmt::format("--rank {}", slowest->rank.value()) : std::string()});
  }

  const Answer& answer_;
  const TimeBasis& basis_;
  BasisParts parts_;
  std::optional<std::int64_t> job_;
  bool is_part_;
  std::vector<const RankRow*> ranks_;  // that can be compared
  std::vector<OperationTotal> operations_;
  std::vector<Loss> losses_;
};

}  // namespace

bool is_part_of_work(const Selection& selection) {
  return selection.layers || !selection.phases.empty() || !selection.operations.empty();
}

std::vector<Loss> find_losses(const Answer& answer, const TimeBasis& basis) { return LossFinder(answer, basis).run(); }

bool is_compute_class(std::string_view word) {
  return word == to_string(GpuClass::gemm) || word == to_string(GpuClass::attention) ||
         word == to_string(GpuClass::vector) || word == to_string(GpuClass::other);
}

std::vector<OperationTotal> operation_totals(const Answer& answer, const TimeBasis& basis) {
  std::map<std::pair<std::string, std::string>, OperationTotal> totals;
  std::map<std::pair<std::string, std::string>, std::map<std::string, double>> bounds;
  const BasisParts parts(basis);
  for (const OperationRow& row : basis.steps ? answer.step_operations : answer.operations) {
    if (!parts.has_gpu(row)) continue;
    const std::pair<std::string, std::string> key{row.phase, row.operation};
    OperationTotal& total = totals[key];
    total.phase = row.phase;
    total.operation = row.operation;
    const auto duration = static_cast<double>(row.duration_ns);
    total.is_compute = total.is_compute || is_compute_class(row.gpu_class);
    total.is_comm = total.is_comm || row.gpu_class == to_string(GpuClass::comm);
    total.duration_ns += duration;
    total.num_kernels += static_cast<double>(row.num_kernels);
    total.overlap_ns += static_cast<double>(row.overlap_ns);
    total.prep_idle_ns += static_cast<double>(row.prep_idle_ns);
    total.call_idle_ns += static_cast<double>(row.call_idle_ns);
    if (!row.peak_share.present() || !row.bound.present()) continue;
    // Rates are of the records with known work; most rows know all or nothing.
    const double rate = row.bound.value() == "compute" ? sum_of(row.tflops) * 1e3 : sum_of(row.gbps);
    const double work = row.bound.value() == "compute" ? sum_of(row.flops) : sum_of(row.bytes);
    const double known = rate > 0 ? work / rate : 0;
    total.known_ns += known;
    total.least_ns += known * row.peak_share.value();
    total.flops += sum_of(row.flops);
    total.bytes += sum_of(row.bytes);
    bounds[key][row.bound.value()] += known;
  }
  std::vector<OperationTotal> ranked;
  for (auto& [key, total] : totals) {
    const auto known = bounds.find(key);
    if (known != bounds.end()) {
      total.bound = std::max_element(known->second.begin(), known->second.end(), [](const auto& a, const auto& b) {
                      return a.second < b.second;
                    })->first;
    }
    ranked.push_back(std::move(total));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const OperationTotal& a, const OperationTotal& b) { return a.duration_ns > b.duration_ns; });
  return ranked;
}

std::string known_work_note(const Answer& answer, const TimeBasis& basis) {
  double all = 0, known = 0;
  for (const OperationTotal& operation : operation_totals(answer, basis)) {
    if (operation.is_comm || !operation.is_compute) continue;
    all += operation.duration_ns;
    known += operation.known_ns;
  }
  // Not where it hardly matters.
  if (known >= 0.95 * all || (all - known) / basis.num_parts < 0.02 * basis.mean.span_ns) return "";
  const BasisParts parts(basis);
  for (const GpuRow& gpu : answer.gpus) {
    if (parts.has_gpu(gpu) && !gpu.spec.present() && gpu.name.present())
      return fmt::format("peaks of {} are not known: what is below them is not told", printable(gpu.name.value()));
  }
  return fmt::format("work is known of {:.0f} % of computation: what the rest is below peak is not told",
                     std::min(94.0, std::floor(known / all * 100)));
}

std::string rate_text(const OperationTotal& operation) {
  if (!(operation.known_ns > 0) || operation.is_comm || operation.known_ns < 0.5 * operation.duration_ns) return "";
  const double part = operation.least_ns / operation.known_ns;
  const std::string share = part > 1 ? ">100 %" : fmt::format("{:.0f} %", part * 100);  // more than memory can: caches
  if (operation.bound == "compute")
    return fmt::format("{:.0f} TF/s {}", operation.flops / operation.known_ns * 1e-3, share);
  return fmt::format("{:.0f} GB/s {}", operation.bytes / operation.known_ns, share);
}

}  // namespace chopper
