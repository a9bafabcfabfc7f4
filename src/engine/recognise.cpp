// SPDX-License-Identifier: Apache-2.0
#include "engine/recognise.h"

#include <string>
#include <system_error>
#include <vector>

#include "base/byte_source.h"
#include "engine/formats.h"
#include "ingest/format.h"

namespace chopper {

std::vector<FormatInfo> list_formats() {
  std::vector<FormatInfo> formats;
  for (std::size_t i = 0; i < kNumFormats; i++)
    formats.push_back({kFormats[i]->name, kFormats[i]->summary, kFormats[i]->reads});
  return formats;
}

namespace {

// Of formats that are equally sure, those that still claim the file when they look at all of it.
Result<std::vector<const TraceFormat*>> look_closer(const std::vector<const TraceFormat*>& formats,
                                                    const std::filesystem::path& path) {
  ReadOptions options;
  options.path = path;
  std::vector<const TraceFormat*> left;
  for (const TraceFormat* format : formats) {
    if (format->look != nullptr) {
      CHOPPER_TRY(const Confidence answer,
                  format->look([&] { return open_byte_source(path); }, path.filename().string(), options));
      if (answer == Confidence::no) continue;
    }
    left.push_back(format);
  }
  return left;
}

}  // namespace

Result<const TraceFormat*> recognise(const std::filesystem::path& path, const std::string& forced) {
  for (std::size_t i = 0; i < kNumFormats; i++) {
    if (!forced.empty() && kFormats[i]->name == forced) return kFormats[i];
  }
  CHOPPER_TRY(const std::unique_ptr<ByteSource> source, open_byte_source(path));
  std::string head(kSniffBytes, '\0');
  CHOPPER_TRY(const std::size_t size, source->read(head));
  head.resize(size);
  if (head.empty())
    return Error{ErrorCode::bad_input,
                 source->notes().corrupt || source->notes().truncated ? "the compressed data cannot be read"
                                                                      : "empty: no text in it",
                 path.string(), "export the trace again"};
  std::vector<const TraceFormat*> best;
  Confidence confidence = Confidence::no;
  for (std::size_t i = 0; i < kNumFormats; i++) {
    const Confidence answer = kFormats[i]->sniff(head);
    if (answer == Confidence::no || answer < confidence) continue;
    if (answer > confidence) best.clear();
    confidence = answer;
    best.push_back(kFormats[i]);
  }
  if (best.size() > 1) {
    CHOPPER_TRY(best, look_closer(best, path));
  }
  if (best.empty()) {
    if (head.find_first_not_of(" \n\r\t") == std::string::npos)
      return Error{ErrorCode::bad_input, "nothing but white space at its start", path.string(),
                   "export the trace again"};
    return Error{
        ErrorCode::unrecognised,
        "no known format: looked for a JSON object with traceEvents, an array of events, a table of rocprof, "
        "rocprofv3 or Nsight Compute, or a database (SQLite 3) of rocprofv3, rocmProfileData or Nsight Systems",
        path.string(), "chopper formats lists what is read"};
  }
  if (best.size() > 1) {
    std::string names;
    for (const TraceFormat* format : best) names += (names.empty() ? "" : " and ") + std::string(format->name);
    return Error{ErrorCode::unrecognised, "could be " + names, path.string(), "say which with --format"};
  }
  return best.front();
}

bool names_file(const std::string& name, const std::string& shown, const std::filesystem::path& path) {
  if (name == shown || name == path.filename().string()) return true;
  std::error_code error;
  return std::filesystem::equivalent(name, path, error);
}

}  // namespace chopper
