// SPDX-License-Identifier: Apache-2.0
#include "attribute/partners.h"

#include <algorithm>
#include <map>
#include <string>

#include "attribute/links.h"

namespace chopper {
namespace {

std::string_view behind_namespaces(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

std::string letters_and_digits_of(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      text += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string_view custom_function_of(std::string_view node) {
  constexpr std::string_view kNode = "CppNode<";
  const std::size_t begin = node.find(kNode);
  if (begin == std::string_view::npos) return {};
  const std::string_view name = node.substr(begin + kNode.size());
  return behind_namespaces(name.substr(0, name.find_first_of("<>")));
}

bool is_called_like(std::string_view operator_name, std::string_view function_class) {
  const std::string name = letters_and_digits_of(behind_namespaces(operator_name));
  const std::string wanted = letters_and_digits_of(function_class);
  return !name.empty() && (wanted == name || wanted == name + "function");
}

void ForwardPartners::ForwardThread::sort() {
  if (!std::is_sorted(operators_.begin(), operators_.end())) std::sort(operators_.begin(), operators_.end());
  if (operators_.empty()) return;
  const auto first = static_cast<std::uint64_t>(operators_.front().sequence_number);
  const std::uint64_t last = static_cast<std::uint64_t>(operators_.back().sequence_number) - first;
  if (last / 4 >= operators_.size()) return;
  begin_.assign(static_cast<std::size_t>(last) + 2, 0);
  for (const Operator& o : operators_) begin_[static_cast<std::uint64_t>(o.sequence_number) - first + 1]++;
  for (std::size_t i = 1; i < begin_.size(); i++) begin_[i] += begin_[i - 1];
}

// Operators among which are all those with this number.
std::span<const ForwardPartners::ForwardThread::Operator> ForwardPartners::ForwardThread::near(
    std::int64_t sequence_number) const {
  if (begin_.empty()) return operators_;
  const std::uint64_t at =
      static_cast<std::uint64_t>(sequence_number) - static_cast<std::uint64_t>(operators_.front().sequence_number);
  if (at >= begin_.size() - 1) return {};
  return std::span(operators_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
}

bool ForwardPartners::ForwardThread::has(std::int64_t sequence_number) const {
  const std::span<const Operator> operators = near(sequence_number);
  const auto at = std::lower_bound(operators.begin(), operators.end(), Operator{sequence_number, INT64_MIN, 0});
  return at != operators.end() && at->sequence_number == sequence_number;
}

std::uint32_t ForwardPartners::ForwardThread::latest(std::int64_t sequence_number, std::int64_t time) const {
  const std::span<const Operator> operators = near(sequence_number);
  const auto after = std::upper_bound(operators.begin(), operators.end(), Operator{sequence_number, time, UINT32_MAX});
  if (after == operators.begin() || (after - 1)->sequence_number != sequence_number) return kNone;
  return (after - 1)->row;
}

ForwardPartners::ForwardPartners(const TraceTables& trace)
    : ranges_(trace.ranges),
      threads_(trace.threads.size()),
      number_(num_rows(trace.ranges), kNone),
      process_of_(processes_of_threads(trace)) {
  std::vector<std::int64_t> first_start(trace.threads.size(), INT64_MAX);  // of forward operators
  for (std::uint32_t row = 0; row < num_rows(ranges_); row++) {
    const std::int64_t sequence_number = ranges_.sequence_number[row];
    if (sequence_number == kNoNumber || ranges_.kind[row] == RangeKind::module) continue;
    if (ranges_.forward_thread[row] > 0) {
      backward_.push_back(row);
    } else {
      threads_[index_of(ranges_.thread[row])].add(sequence_number, ranges_.start_ns[row], row);
      std::int64_t& first = first_start[index_of(ranges_.thread[row])];
      first = std::min(first, ranges_.start_ns[row]);
    }
  }
  if (backward_.empty()) return;
  for (std::uint32_t thread = 0; thread < threads_.size(); thread++) {
    if (threads_[thread].empty()) continue;
    threads_[thread].sort();
    forward_threads_.push_back(thread);
  }
  if (forward_threads_.empty()) return;
  // Of threads that fit equally well the one that began first, wherever it stands in the file.
  std::stable_sort(forward_threads_.begin(), forward_threads_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return first_start[a] < first_start[b]; });
  find_threads();
  find_partners();
  threads_.clear();
}

// Ids of threads in records are not the tid of events: each goes to the thread of its process that has most of its
// numbers. Every process counts its threads from 1.
void ForwardPartners::find_threads() {
  std::map<std::pair<ProcessThread, std::size_t>, std::size_t> votes;  // by id and place in forward_threads_
  for (const std::uint32_t row : backward_) {
    const ProcessThread id = id_of(row);
    for (std::size_t i = 0; i < forward_threads_.size(); i++) {
      if (process_of_[forward_threads_[i]] != id.first) continue;
      if (forward_threads_.size() == 1 || threads_[forward_threads_[i]].has(ranges_.sequence_number[row]))
        votes[{id, i}]++;
    }
  }
  std::map<ProcessThread, std::size_t> most;
  for (const auto& [key, count] : votes) {  // in order of place: of equals the thread that began first
    if (count <= most[key.first]) continue;
    most[key.first] = count;
    thread_of_id_[key.first] = forward_threads_[key.second];
  }
}

void ForwardPartners::find_partners() {
  for (const std::uint32_t row : backward_) {
    const auto thread = thread_of_id_.find(id_of(row));
    if (thread == thread_of_id_.end()) continue;
    const std::uint32_t forward = find_partner(row, thread->second);
    if (forward == kNone) continue;
    if (number_[forward] == kNone) {
      number_[forward] = static_cast<std::uint32_t>(rows_.size());
      rows_.push_back(forward);
    }
    number_[row] = number_[forward];
  }
}

// Of nested operators with one number the one that starts last, and not after the backward operator.
std::uint32_t ForwardPartners::find_partner(std::uint32_t backward, std::uint32_t thread) const {
  const std::int64_t number = ranges_.sequence_number[backward];
  const std::int64_t time = ranges_.start_ns[backward];
  if (const std::uint32_t found = threads_[thread].latest(number, time); found != kNone) return found;
  // Forward work repeated on another thread may go on with the numbers of the first one.
  for (const std::uint32_t other : forward_threads_) {
    if (process_of_[other] != process_of_[thread]) continue;
    if (const std::uint32_t found = threads_[other].latest(number, time); found != kNone) return found;
  }
  return kNone;
}

}  // namespace chopper
