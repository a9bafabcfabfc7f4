// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace chopper {
namespace {

namespace fs = std::filesystem;

std::string reason_of(int error) { return std::generic_category().message(error); }

Error write_error(const fs::path& target, int error) {
  return {ErrorCode::unreadable, "cannot write: " + reason_of(error), target.string(),
          "choose another place, or make room"};
}

// Writes all of `text`. Returns 0 or errno.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// Runs `writer` onto a descriptor. Returns 0 or errno.
int write_through(int descriptor, const Writer& writer) {
  int error = 0;
  writer([&](std::string_view piece) {
    error = write_all(descriptor, piece);
    return error == 0;
  });
  return error;
}

fs::path folder_of(const fs::path& target) {
  const fs::path parent = target.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

bool is_special(const fs::path& target) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

Result<Done> write_in_place(const fs::path& target, const Writer& writer) {
  const int descriptor = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return write_error(target, errno);
  int error = write_through(descriptor, writer);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0 && error != EPIPE) return write_error(target, error);
  return Done{};
}

}  // namespace

Result<Done> write_to_stdout(const Writer& writer) {
  const int error = write_through(STDOUT_FILENO, writer);
  if (error != 0 && error != EPIPE) return write_error("standard output", error);
  return Done{};
}

Result<Done> write_file(const fs::path& target, const Writer& writer) {
  if (is_special(target)) return write_in_place(target, writer);
  // A link keeps pointing where it does: the file behind it is replaced.
  std::error_code no_link;
  fs::path real = fs::weakly_canonical(target, no_link);
  if (no_link) real = target;
  const fs::path part = folder_of(real) / fmt::format(".{}.{}.part", real.filename().string(), ::getpid());
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return write_error(target, errno);
  int error = write_through(descriptor, writer);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(part.c_str(), real.c_str()) != 0) error = errno;
  if (error == 0) return Done{};
  ::unlink(part.c_str());
  return write_error(target, error);
}

Result<Done> check_can_write(const fs::path& target) {
  std::error_code ignored;
  if (is_special(target)) return Done{};
  if (fs::is_directory(target, ignored)) {
    return Error{ErrorCode::unreadable, "is a directory", target.string(), "name a file in it"};
  }
  const fs::path folder = folder_of(target);
  if (!fs::is_directory(folder, ignored)) {
    return Error{ErrorCode::not_found, "there is no such directory", folder.string(),
                 "make it: mkdir -p " + folder.string()};
  }
  if (::access(folder.c_str(), W_OK) != 0) return write_error(target, errno);
  return Done{};
}

}  // namespace chopper
