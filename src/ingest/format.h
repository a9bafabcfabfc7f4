// SPDX-License-Identifier: Apache-2.0
// The seam of the readers. A format is one source file in formats/; the folder listing is the registry (CMake generates
// the table).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "model/trace.h"

namespace chopper {

/// How sure a format is that a text is its own. Two `yes` for one file are an error that names --format.
enum class Confidence : std::uint8_t { no, maybe, yes };

/// How to read a file.
struct ReadOptions {
  unsigned threads = 1;
  std::size_t window_bytes = 0;  ///< size of the pieces parsed at once, 0: default; never changes a result
  std::atomic<std::uint64_t>* bytes_done = nullptr;  ///< progress, bytes of the file on disk
  std::filesystem::path path;  ///< the file, for readers that do not go from its start to its end; empty: none
};

/// Opens the source of the file to read, at its start.
using SourceOpener = std::function<Result<std::unique_ptr<ByteSource>>()>;

/// A format: how to recognise its text and how to read a file of it.
struct TraceFormat {
  std::string_view name;     ///< --format word and JSON value
  std::string_view summary;  ///< one line for `chopper formats`
  std::string_view reads;    ///< what it provides
  /// Looks at the first 64 kB of uncompressed text.
  Confidence (*sniff)(std::string_view head);
  /// Reads a file to its end. `open` may be called more than once; `shown` names the file in health records.
  Result<TraceTables> (*read)(const SourceOpener& open, std::string_view shown, const ReadOptions& options);
  /// Looks at the whole file when `sniff` says `maybe` as others do: what tells a database may stand anywhere in it.
  /// Null: there is no more to see. Fails with what is wrong when the file is damaged.
  Result<Confidence> (*look)(const SourceOpener& open, std::string_view shown, const ReadOptions& options) = nullptr;
  bool holds_passes = false;  ///< its files are of counter passes, not traces
};

/// The registered formats, in order of name; generated from formats/*.cpp.
extern const TraceFormat* const kFormats[];
extern const std::size_t kNumFormats;

/// Bytes a format may look at to recognise its text.
inline constexpr std::size_t kSniffBytes = std::size_t{64} << 10;

}  // namespace chopper

/// Defines the descriptor of a format; `symbol` is the stem of its file.
#define CHOPPER_TRACE_FORMAT(symbol)          \
  extern const ::chopper::TraceFormat symbol; \
  const ::chopper::TraceFormat symbol
