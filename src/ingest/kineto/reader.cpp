// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/reader.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "base/parallel.h"
#include "ingest/kineto/assemble.h"
#include "ingest/source_notes.h"

namespace chopper {
namespace {

// Large enough that per-batch work does not show, small enough that text, index and rows of a batch stay in the
// second-level cache.
constexpr std::size_t kWindowBytes = std::size_t{1} << 20;

class ParallelReader {
 public:
  ParallelReader(ByteSource& source, const ReadOptions& options, bool unpadded)
      : source_(source),
        options_(options),
        document_(source, options.window_bytes > 0 ? options.window_bytes : kWindowBytes) {
    const unsigned threads = options.threads > 0 ? options.threads : 1;
    for (unsigned i = 0; i < threads; i++) parsers_.emplace_back(unpadded);
  }

  void run() {
    std::vector<std::function<void()>> workers;
    for (std::uint32_t i = 0; i < parsers_.size(); i++) {
      workers.emplace_back([this, i] {
        try {
          work(i);
        } catch (...) {
          stop();  // the others must not wait for this one's batch
          throw;
        }
      });
    }
    run_tasks(static_cast<unsigned>(parsers_.size()), workers);
  }

  const TraceDocument& document() const { return document_; }
  std::vector<EventParser>& parsers() { return parsers_; }
  std::vector<EventPart>& parts() { return parts_; }

 private:
  // A batch on its way; slots are reused with their buffers.
  struct Slot {
    EventBatch batch;
    EventPart part;
    BatchResult result;
    bool done = false;
  };

  void work(std::uint32_t worker) {
    std::unique_lock lock(mutex_);
    while (true) {
      // Slots waiting for their turn to be committed are bounded, else one slow batch would let the others pile up.
      changed_.wait(lock, [&] { return finished_ || (!draining_ && in_flight_.size() < parsers_.size() * 2); });
      if (finished_) return;
      std::unique_ptr<Slot> slot = free_slot();
      const TraceDocument::Next next = document_.next_batch(slot->batch, in_flight_.empty());
      if (options_.bytes_done != nullptr) publish_progress();
      if (next == TraceDocument::Next::barrier) {
        free_.push_back(std::move(slot));
        changed_.wait(lock, [&] { return finished_ || in_flight_.empty(); });
        continue;
      }
      if (next != TraceDocument::Next::batch) {
        finished_ = true;  // `end` and `error` both: batches in flight are finished by their own workers
        changed_.notify_all();
        return;
      }
      Slot& mine = *slot;
      mine.part = EventPart();
      mine.part.worker = worker;
      mine.done = false;
      draining_ = draining_ || mine.batch.one_event;
      in_flight_.push_back(std::move(slot));
      lock.unlock();
      BatchResult result = parsers_[worker].parse(mine.batch, mine.part);
      lock.lock();
      mine.result = result;
      mine.done = true;
      commit();
      changed_.notify_all();
    }
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  std::unique_ptr<Slot> free_slot() {
    if (free_.empty()) return std::make_unique<Slot>();
    std::unique_ptr<Slot> slot = std::move(free_.back());
    free_.pop_back();
    return slot;
  }

  // Moves finished batches into the result, in order. A batch that could not be read to its end voids those behind it.
  void commit() {
    while (!in_flight_.empty() && in_flight_.front()->done) {
      Slot& front = *in_flight_.front();
      const bool whole = front.result.status == BatchResult::Status::complete && !front.batch.one_event;
      if (!whole) {
        draining_ = true;
        for (const auto& slot : in_flight_) {
          if (!slot->done) return;  // its worker will come back here
        }
        std::string later;
        for (std::size_t i = 1; i < in_flight_.size(); i++) {
          later += in_flight_[i]->batch.lead;
          later += in_flight_[i]->batch.buffer.text();
        }
        document_.resume(front.batch, front.result, later);
        parts_.push_back(std::move(front.part));
        for (auto& slot : in_flight_) free_.push_back(std::move(slot));
        in_flight_.clear();
        draining_ = false;
        return;
      }
      parts_.push_back(std::move(front.part));
      free_.push_back(std::move(in_flight_.front()));
      in_flight_.pop_front();
    }
  }

  void publish_progress() {
    const std::uint64_t now = source_.file_bytes_read();
    options_.bytes_done->fetch_add(now - published_, std::memory_order_relaxed);
    published_ = now;
  }

  ByteSource& source_;
  const ReadOptions& options_;
  TraceDocument document_;
  std::vector<EventParser> parsers_;
  std::vector<EventPart> parts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Slot>> in_flight_;
  std::vector<std::unique_ptr<Slot>> free_;
  std::uint64_t published_ = 0;
  bool draining_ = false;
  bool finished_ = false;
};

}  // namespace

Result<TraceTables> read_trace_document(const SourceOpener& open, std::string_view shown, const ReadOptions& options) {
  for (const bool unpadded : {false, true}) {
    CHOPPER_TRY(const std::unique_ptr<ByteSource> source, open());
    ParallelReader reader(*source, options, unpadded);
    reader.run();
    if (const Error* error = reader.document().error()) return *error;
    if (!unpadded && fractions_are_unpadded(reader.parts(), reader.document())) continue;
    const TraceDocument& document = reader.document();
    if (!document.has_events_array()) {
      if (!document.is_recognised()) {
        return Error{ErrorCode::unrecognised, "not a trace: no JSON object with traceEvents and no array of events",
                     std::string(shown), "give the file the PyTorch profiler exported"};
      }
      return Error{ErrorCode::bad_input, "the header of a trace, but no traceEvents in it", std::string(shown),
                   "the file was cut or filtered; export the trace again"};
    }
    TraceTables tables = assemble(std::move(reader.parts()), reader.parsers(), document, shown);
    add_source_notes(*source, shown, tables.health);
    if (unpadded)
      tables.health.add(HealthKind::unpadded_nanoseconds, std::string(shown), "\"12.5\" is read as 12 us 5 ns");
    if (!document.is_recognised() && tables.facts.num_records > 0 &&
        tables.health.count(HealthKind::not_an_event) + tables.health.count(HealthKind::unreadable_event) >=
            tables.facts.num_records) {
      return Error{ErrorCode::unrecognised, "an array, but none of its elements is a trace event", std::string(shown),
                   "give the file the PyTorch profiler exported"};
    }
    return tables;
  }
  return Error{ErrorCode::internal, "unreachable", std::string(shown), ""};
}

}  // namespace chopper
