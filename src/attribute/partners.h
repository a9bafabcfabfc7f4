// SPDX-License-Identifier: Apache-2.0
// Forward operators of backward ones, by forward thread and sequence number (attribution.md 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace chopper {

/// The class of a C++ function with a gradient of its own, from the name of its backward node: ROIAlignFunction of
/// "torch::autograd::CppNode<vision::ops::ROIAlignFunction>". Empty for all other nodes.
std::string_view custom_function_of(std::string_view node);
/// Whether a forward operator is called like such a class: "torchvision::roi_align" like ROIAlignFunction.
bool is_called_like(std::string_view operator_name, std::string_view function_class);

class ForwardPartners {
 public:
  explicit ForwardPartners(const TraceTables& trace);

  /// The forward operators that have a backward one, numbered: their rows.
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  /// Number of the forward operator of a backward one.
  std::optional<std::uint32_t> partner_of(RowId backward) const {
    const std::uint32_t number = number_[index_of(backward)];
    return number == kNone ? std::nullopt : std::optional(number);
  }
  /// Number of an operator that is the partner of some backward one.
  std::optional<std::uint32_t> number_of(RowId forward) const {
    const std::uint32_t number = number_[index_of(forward)];
    const bool is_forward = number != kNone && rows_[number] == index_of(forward);  // backward ones have numbers, too
    return is_forward ? std::optional(number) : std::nullopt;
  }
  bool has_partner(RowId forward) const { return number_of(forward).has_value(); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The forward operators of one thread.
  class ForwardThread {
   public:
    void add(std::int64_t sequence_number, std::int64_t start_ns, std::uint32_t row) {
      operators_.push_back({sequence_number, start_ns, row});
    }
    void sort();
    bool empty() const { return operators_.empty(); }
    /// Whether any operator has this number.
    bool has(std::int64_t sequence_number) const;
    /// Row of the one with this number that starts last, and not after `time`; kNone when there is none.
    std::uint32_t latest(std::int64_t sequence_number, std::int64_t time) const;

   private:
    struct Operator {
      std::int64_t sequence_number, start_ns;
      std::uint32_t row;
      friend auto operator<=>(const Operator&, const Operator&) = default;
    };
    std::span<const Operator> near(std::int64_t sequence_number) const;

    std::vector<Operator> operators_;  // by number, then start
    std::vector<std::uint32_t>
        begin_;  // of each number from the first one on, and one more; empty when numbers are sparse
  };

  /// Process and forward thread id of a backward operator.
  using ProcessThread = std::pair<std::uint32_t, std::int64_t>;
  ProcessThread id_of(std::uint32_t backward) const {
    return {process_of_[index_of(ranges_.thread[backward])], ranges_.forward_thread[backward]};
  }
  void find_threads();
  void find_partners();
  std::uint32_t find_partner(std::uint32_t backward, std::uint32_t thread) const;

  const HostRangeTable& ranges_;
  std::vector<ForwardThread> threads_;
  std::vector<std::uint32_t> forward_threads_;           // threads that have any
  std::vector<std::uint32_t> backward_;                  // rows of backward operators
  std::map<ProcessThread, std::uint32_t> thread_of_id_;  // index of a thread
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> number_;  // by row of a range: of a backward operator its partner's, of a partner its own
  std::vector<std::uint32_t> process_of_;  // by thread
};

}  // namespace chopper
