// SPDX-License-Identifier: Apache-2.0
#include "engine/recognise.h"

#include <string>
#include <system_error>

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
  const TraceFormat* best = nullptr;
  Confidence confidence = Confidence::no;
  std::string names;
  for (std::size_t i = 0; i < kNumFormats; i++) {
    const Confidence answer = kFormats[i]->sniff(head);
    if (answer == Confidence::no) continue;
    if (answer == confidence) names += " and " + std::string(kFormats[i]->name);
    if (answer <= confidence) continue;
    confidence = answer;
    best = kFormats[i];
    names = kFormats[i]->name;
  }
  if (best == nullptr) {
    if (head.find_first_not_of(" \n\r\t") == std::string::npos)
      return Error{ErrorCode::bad_input, "nothing but white space at its start", path.string(),
                   "export the trace again"};
    return Error{
        ErrorCode::unrecognised,
        "no known format: looked for a JSON object with traceEvents, an array of events or a table of rocprofv3",
        path.string(), "chopper formats lists what is read"};
  }
  if (names.find(" and ") != std::string::npos)
    return Error{ErrorCode::unrecognised, "could be " + names, path.string(), "say which with --format"};
  return best;
}

bool names_file(const std::string& name, const std::string& shown, const std::filesystem::path& path) {
  if (name == shown || name == path.filename().string()) return true;
  std::error_code error;
  return std::filesystem::equivalent(name, path, error);
}

}  // namespace chopper
