// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/event_part.h"

#include "ingest/kineto/json_repair.h"

namespace chopper {
namespace {

// Quoted and bare integers name the same thread.
std::string_view without_quotes(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') return token.substr(1, token.size() - 2);
  return token;
}

}  // namespace

void EventPart::note(HealthKind kind, std::uint64_t offset, std::string_view what, std::size_t max_text) {
  std::uint64_t& count = note_counts[static_cast<std::size_t>(kind)];
  if (count < HealthLog::kMaxExamples) notes.push_back({kind, offset, std::string(what.substr(0, max_text))});
  count++;
}

void EventPart::reserve_like(const Sizes& sizes) {
  const auto reserve = [](auto& table, std::size_t rows) {
    if (rows > 0) for_each_column(table, [&](auto& column) { column.reserve(rows + rows / 16 + 1); });
  };
  reserve(gpu_work, sizes.gpu_work);
  reserve(launches, sizes.launches);
  reserve(ranges, sizes.ranges);
}

StringId WorkerDictionary::name(std::string_view raw) {
  const StringId id = names_.intern(raw);
  if (index_of(id) == invalid_escape_.size()) {  // a new one
    bool invalid = false;
    if (raw.find('\\') != std::string_view::npos) unescape(raw, invalid);
    invalid_escape_.push_back(invalid ? 1 : 0);
  }
  return id;
}

ThreadId WorkerDictionary::thread(std::string_view pid, std::string_view tid) {
  if (has_last_ && pid == last_pid_ && tid == last_tid_) return last_;
  last_pid_ = pid;
  last_tid_ = tid;
  const std::string_view p = without_quotes(pid);
  const std::string_view t = without_quotes(tid);
  key_.assign(p);
  key_.push_back('\n');
  key_.append(t);
  const auto [at, inserted] = ids_.emplace(key_, static_cast<std::uint32_t>(threads_.size()));
  if (inserted) threads_.push_back({std::string(p), std::string(t)});
  last_ = ThreadId{at->second};
  has_last_ = true;
  return last_;
}

}  // namespace chopper
