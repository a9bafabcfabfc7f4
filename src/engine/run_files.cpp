// SPDX-License-Identifier: Apache-2.0
// Finds the inputs of a run: recursion, recognition by content, names to show.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "engine/engine.h"
#include "engine/facts.h"
#include "engine/formats.h"
#include "engine/recognise.h"

namespace chopper {
namespace {

namespace fs = std::filesystem;

bool named_like_a_trace(const fs::path& path) {
  const std::string name = path.filename().string();
  for (const char* ending : {".json", ".json.gz", ".json.zst", "counter_collection.csv", "kernel_trace.csv",
                             "results.db", ".sqlite", ".rpd"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

// Lists the regular files below a directory, sorted; directories that cannot be entered are failures of the run.
Result<std::vector<fs::path>> files_below(const fs::path& directory, HealthLog& health) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator it(directory, fs::directory_options::skip_permission_denied, error);
  if (error)
    return Error{ErrorCode::unreadable, "cannot list the directory: " + error.message(), directory.string(),
                 "check the permissions"};
  while (it != fs::recursive_directory_iterator()) {
    std::error_code status;
    if (it->is_regular_file(status)) {
      files.push_back(it->path());
    } else if (it->is_symlink(status) && !fs::exists(it->path(), status)) {
      health.add(HealthKind::input_failed, it->path().filename().string(), "a link to a file that is not there");
    }
    it.increment(error);
    if (error) {
      health.add(HealthKind::input_failed, directory.filename().string(),
                 "cannot list everything below it: " + error.message());
      break;
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The files of facts that are nearest to the directory: one, or several side by side in different folders.
std::vector<fs::path> nearest_facts(const fs::path& directory, const std::vector<fs::path>& files) {
  std::vector<fs::path> nearest;
  std::ptrdiff_t depth = 0;
  for (const fs::path& file : files) {
    if (file.filename() != kFactsFile) continue;
    const fs::path below = file.lexically_relative(directory);
    const std::ptrdiff_t here = std::distance(below.begin(), below.end());
    if (!nearest.empty() && here > depth) continue;
    if (here < depth) nearest.clear();
    depth = here;
    nearest.push_back(file);
  }
  return nearest;
}

void add_directory(const fs::path& directory, const std::string& prefix, const std::vector<fs::path>& files,
                   const RunOptions& options, RunFiles& run) {
  const std::vector<fs::path> facts = nearest_facts(directory, files);
  for (const fs::path& file : files) {
    const std::string shown = prefix + file.lexically_relative(directory).generic_string();
    std::error_code error;
    if (std::find(facts.begin(), facts.end(), file) != facts.end()) {
      run.facts.push_back({file, shown, false});
      continue;
    }
    if (fs::file_size(file, error) == 0 && !error) {
      if (named_like_a_trace(file)) {
        run.health.add(HealthKind::input_failed, shown, "empty file (0 bytes): the export was cut off");
      } else {
        run.health.add(HealthKind::foreign_file, shown, "empty");
      }
      continue;
    }
    const auto format = recognise(file, options.format);
    if (format.ok()) {
      run.files.push_back({file, shown, false});
    } else if (format.error().code == ErrorCode::unrecognised) {
      run.health.add(HealthKind::foreign_file, shown, "no format of this build claims it");
    } else {
      run.health.add(HealthKind::input_failed, shown, format.error().message);
    }
  }
}

std::string number_of(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Names of files given directly: the file name, or as much of the path as it takes to tell two apart.
void name_direct_files(std::vector<RunFiles::File>& files) {
  std::map<std::string, int> uses;
  for (const auto& file : files) {
    if (file.named) uses[file.path.filename().string()]++;
  }
  for (auto& file : files) {
    if (!file.named) continue;
    const std::string name = file.path.filename().string();
    file.shown = uses[name] > 1 ? (file.path.parent_path().filename() / name).generic_string() : name;
  }
}

}  // namespace

Result<RunFiles> find_run_files(const std::vector<fs::path>& runs, const RunOptions& options) {
  if (runs.empty()) return Error{ErrorCode::usage, "no RUN given", "", "name a directory of traces or trace files"};
  if (!options.format.empty()) {
    std::string known;
    bool found = false;
    for (const FormatInfo& format : list_formats()) {
      found = found || format.name == options.format;
      known += (known.empty() ? "" : ", ") + std::string(format.name);
    }
    if (!found) return Error{ErrorCode::usage, "unknown format " + options.format, "", "known: " + known};
  }
  RunFiles run;
  std::size_t looked_at = 0;
  std::set<fs::path> seen;
  for (const fs::path& path : runs) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found)
      return Error{ErrorCode::not_found, "no such file or directory", path.string(), "check the path"};
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (!seen.insert(error ? path : canonical).second) continue;
    if (!fs::is_directory(status)) {
      run.files.push_back({path, path.filename().string(), true});
      continue;
    }
    CHOPPER_TRY(const std::vector<fs::path> files, files_below(path, run.health));
    looked_at += files.size();
    const std::string prefix = runs.size() > 1 ? canonical.filename().generic_string() + "/" : "";
    add_directory(path, prefix, files, options, run);
  }
  name_direct_files(run.files);
  if (run.files.empty()) {
    std::string message = looked_at == 0 ? "the directory is empty" : "no trace among " + number_of(looked_at, "file");
    if (const HealthEntry& failed = run.health.entry(HealthKind::input_failed); failed.count > 0) {
      message += "; " + failed.examples.front().where + ": " + failed.examples.front().what;
    }
    return Error{ErrorCode::not_found, message, runs.front().string(),
                 "give the directory into which the PyTorch profiler exported its *.json or *.json.gz; chopper formats "
                 "lists what is read"};
  }
  std::sort(run.files.begin(), run.files.end(), [](const RunFiles::File& a, const RunFiles::File& b) {
    return std::tie(a.shown, a.path) < std::tie(b.shown, b.path);
  });
  return run;
}

}  // namespace chopper
