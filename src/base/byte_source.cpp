// SPDX-License-Identifier: Apache-2.0
#include "base/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/utf8.h"

#if CHOPPER_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif
#if CHOPPER_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

namespace chopper {
namespace {

// Compressed input is read in pieces of this size: large enough that system calls do not show, small enough to stay in
// cache.
constexpr std::size_t kInputBytes = std::size_t{256} << 10;

// The undecoded bytes of a file or of a string.
class RawInput {
 public:
  RawInput(int fd, std::string where) : fd_(fd), where_(std::move(where)) {}
  explicit RawInput(std::string bytes) : bytes_(std::move(bytes)) {}
  RawInput(const RawInput&) = delete;
  RawInput& operator=(const RawInput&) = delete;
  ~RawInput() {
    if (fd_ >= 0) ::close(fd_);
  }

  Result<std::size_t> read(std::span<char> out) {
    std::size_t got = 0;
    if (pushed_back_ > 0) {
      got = std::min(pushed_back_, out.size());
      std::memcpy(out.data(), start_ + start_size_ - pushed_back_, got);
      pushed_back_ -= got;
    }
    while (got < out.size()) {
      std::size_t n = 0;
      if (fd_ < 0) {
        n = std::min(out.size() - got, bytes_.size() - position_);
        if (n > 0) std::memcpy(out.data() + got, bytes_.data() + position_, n);
      } else {
        const ssize_t r = ::read(fd_, out.data() + got, out.size() - got);
        if (r < 0) {
          if (errno == EINTR) continue;
          return Error{ErrorCode::unreadable, std::string("cannot read: ") + std::strerror(errno), where_,
                       "check the disk and permissions"};
        }
        n = static_cast<std::size_t>(r);
      }
      if (n == 0) break;
      position_ += n;
      got += n;
    }
    delivered_ += got;
    return got;
  }

  // Reads the first bytes and gives them back to the next read().
  Result<std::string_view> start() {
    CHOPPER_TRY(const std::size_t n, read(std::span<char>(start_, sizeof start_)));
    start_size_ = n;
    pushed_back_ = n;
    delivered_ = 0;
    return std::string_view(start_, n);
  }

  std::uint64_t delivered() const { return delivered_; }

 private:
  int fd_ = -1;
  std::string where_;
  std::string bytes_;
  std::uint64_t position_ = 0;
  std::uint64_t delivered_ = 0;
  char start_[4] = {};
  std::size_t start_size_ = 0;
  std::size_t pushed_back_ = 0;
};

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<RawInput> raw) : raw_(std::move(raw)) {}
  Result<std::size_t> read(std::span<char> out) override { return raw_->read(out); }
  std::uint64_t file_bytes_read() const override { return raw_->delivered(); }
  ByteSourceNotes notes() const override { return {}; }

 private:
  std::unique_ptr<RawInput> raw_;
};

// Common part of the decoders: a refillable input buffer.
class Compressed : public ByteSource {
 public:
  explicit Compressed(std::unique_ptr<RawInput> raw) : raw_(std::move(raw)), input_(kHistoryBytes + kInputBytes) {}
  std::uint64_t file_bytes_read() const override { return raw_->delivered() - available_; }
  ByteSourceNotes notes() const override { return notes_; }

 protected:
  static constexpr std::size_t kHistoryBytes = 16;  // ISA-L keeps at most 8 bytes in its bit buffer

  // Makes at least one byte available unless the file has ended. A decoder that has looked ahead may step back into
  // what it was given before: the last bytes stay in front of the new ones.
  Result<Done> refill() {
    if (available_ > 0 || ended_) return Done{};
    char* const start = input_.data() + kHistoryBytes;
    if (next_ != nullptr) std::memmove(input_.data(), next_ - kHistoryBytes, kHistoryBytes);
    CHOPPER_TRY(const std::size_t n, raw_->read(std::span<char>(start, kInputBytes)));
    next_ = start;
    available_ = n;
    ended_ = n < kInputBytes;
    return Done{};
  }
  bool exhausted() const { return available_ == 0 && ended_; }
  void problem(bool ByteSourceNotes::*flag) {
    if (notes_.compressed_offset == 0) notes_.compressed_offset = file_bytes_read();
    notes_.*flag = true;
  }

  std::unique_ptr<RawInput> raw_;
  std::vector<char> input_;
  char* next_ = nullptr;
  std::size_t available_ = 0;
  bool ended_ = false;
  bool finished_ = false;
  ByteSourceNotes notes_;
};

#if CHOPPER_HAVE_ISAL
class GzipSource final : public Compressed {
 public:
  explicit GzipSource(std::unique_ptr<RawInput> raw)
      : Compressed(std::move(raw)), state_(std::make_unique<inflate_state>()) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

  Result<std::size_t> read(std::span<char> out) override {
    std::size_t got = 0;
    while (got < out.size() && !finished_) {
      CHOPPER_TRY(const Done done, refill());
      static_cast<void>(done);
      if (!in_member_ && !begin_member()) break;
      const std::size_t room = std::min<std::size_t>(out.size() - got, std::size_t{1} << 30);
      state_->next_in = reinterpret_cast<std::uint8_t*>(next_);
      state_->avail_in = static_cast<std::uint32_t>(available_);
      state_->next_out = reinterpret_cast<std::uint8_t*>(out.data() + got);
      state_->avail_out = static_cast<std::uint32_t>(room);
      const std::size_t before = available_;
      const int code = isal_inflate(state_.get());
      got += room - state_->avail_out;
      const bool progress = room != state_->avail_out || state_->avail_in != before;
      next_ = reinterpret_cast<char*>(state_->next_in);
      available_ = state_->avail_in;
      if (next_ < input_.data() || next_ > input_.data() + input_.size() ||
          available_ > static_cast<std::size_t>(input_.data() + input_.size() - next_)) {
        problem(&ByteSourceNotes::corrupt);  // damage that leaves the decoder outside of its input
        available_ = 0;
        finished_ = true;
        break;
      }
      if (code == ISAL_INCORRECT_CHECKSUM) {
        problem(&ByteSourceNotes::checksum_mismatch);
        in_member_ = false;
      } else if (code < 0) {
        problem(&ByteSourceNotes::corrupt);
        finished_ = true;
        // Decoded before the damage, but not handed over: small reads go through a buffer of the decoder.
        for (std::int32_t i = state_->tmp_out_processed; i < state_->tmp_out_valid; i++)
          left_over_.push_back(static_cast<char>(state_->tmp_out_buffer[i]));
      } else if (state_->block_state == ISAL_BLOCK_FINISH) {
        in_member_ = false;
      } else if (exhausted() && (!progress || state_->avail_out > 0)) {
        problem(&ByteSourceNotes::truncated);
        finished_ = true;
      }
    }
    const std::size_t more = std::min(out.size() - got, left_over_.size());
    std::memcpy(out.data() + got, left_over_.data(), more);
    left_over_.erase(0, more);
    return got + more;
  }

 private:
  // After a member: another one, the end of the file, or bytes that are neither.
  bool begin_member() {
    if (exhausted()) {
      finished_ = true;
      return false;
    }
    if (members_ > 0) {
      if (static_cast<unsigned char>(*next_) != 0x1f ||
          (available_ > 1 && static_cast<unsigned char>(next_[1]) != 0x8b)) {
        problem(&ByteSourceNotes::trailing_bytes);
        finished_ = true;
        return false;
      }
      isal_inflate_reset(state_.get());
      state_->crc_flag = ISAL_GZIP;
    }
    members_++;
    in_member_ = true;
    return true;
  }

  std::unique_ptr<inflate_state> state_;
  std::string left_over_;
  bool in_member_ = false;
  std::uint64_t members_ = 0;
};
#else
class GzipSource final : public Compressed {
 public:
  explicit GzipSource(std::unique_ptr<RawInput> raw) : Compressed(std::move(raw)) { inflateInit2(&stream_, 15 + 16); }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<std::size_t> read(std::span<char> out) override {
    std::size_t got = 0;
    while (got < out.size() && !finished_) {
      CHOPPER_TRY(const Done done, refill());
      static_cast<void>(done);
      if (!in_member_) {
        if (exhausted()) {
          finished_ = true;
          break;
        }
        if (members_ > 0) {
          if (static_cast<unsigned char>(*next_) != 0x1f) {
            problem(&ByteSourceNotes::trailing_bytes);
            finished_ = true;
            break;
          }
          inflateReset(&stream_);
        }
        members_++;
        in_member_ = true;
      }
      const std::size_t room = std::min<std::size_t>(out.size() - got, std::size_t{1} << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(next_);
      stream_.avail_in = static_cast<uInt>(available_);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + got);
      stream_.avail_out = static_cast<uInt>(room);
      const std::size_t before = available_;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      got += room - stream_.avail_out;
      next_ += before - stream_.avail_in;
      available_ = stream_.avail_in;
      if (code == Z_STREAM_END) {
        in_member_ = false;
      } else if (code == Z_DATA_ERROR && stream_.msg != nullptr &&
                 std::strcmp(stream_.msg, "incorrect data check") == 0) {
        problem(&ByteSourceNotes::checksum_mismatch);
        available_ = 0;  // zlib does not say where the next member would start
        ended_ = true;
        in_member_ = false;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        problem(&ByteSourceNotes::corrupt);
        finished_ = true;
      } else if (exhausted() && stream_.avail_out > 0) {
        problem(&ByteSourceNotes::truncated);
        finished_ = true;
      }
    }
    return got;
  }

 private:
  z_stream stream_ = {};
  bool in_member_ = false;
  std::uint64_t members_ = 0;
};
#endif

#if CHOPPER_HAVE_ZSTD
class ZstdSource final : public Compressed {
 public:
  explicit ZstdSource(std::unique_ptr<RawInput> raw) : Compressed(std::move(raw)), stream_(ZSTD_createDStream()) {
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, 31);  // zstd --long=31 asks for it
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  Result<std::size_t> read(std::span<char> out) override {
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    while (target.pos < target.size && !finished_) {
      CHOPPER_TRY(const Done done, refill());
      static_cast<void>(done);
      if (exhausted() && frame_done_) {
        finished_ = true;
        break;
      }
      ZSTD_inBuffer source{next_, flushing_ ? 0 : std::min(available_, step_), 0};
      const std::size_t written = target.pos;
      std::size_t code = ZSTD_decompressStream(stream_, &target, &source);
      if (ZSTD_getErrorCode(code) == ZSTD_error_checksum_wrong) {
        problem(&ByteSourceNotes::checksum_mismatch);
        ZSTD_DCtx_reset(stream_, ZSTD_reset_session_only);
        source.pos = source.size;  // nothing but the checksum: it is a step of its own
        code = 0;
      }
      next_ += source.pos;
      available_ -= source.pos;
      flushing_ = code != 0 && target.pos == target.size;
      step_ = code == 0 ? kFirstStep : code > kBlockHeader ? code - kBlockHeader : code;
      if (ZSTD_isError(code) != 0) {
        problem(frames_ > 0 && frame_done_ ? &ByteSourceNotes::trailing_bytes : &ByteSourceNotes::corrupt);
        finished_ = true;
      } else if (code == 0) {
        frame_done_ = true;
        frames_++;
      } else {
        frame_done_ = false;
        if (exhausted() && target.pos == written) {
          problem(&ByteSourceNotes::truncated);
          finished_ = true;
        }
      }
    }
    return target.pos;
  }

 private:
  // Where a call fails, what it has decoded before is lost. So each is given one part of a frame: its header, the
  // header of a block, or the block, as the return value tells (of a block with the header of the next); and nothing
  // where the call before may have decoded more than it had room for.
  static constexpr std::size_t kFirstStep = 5, kBlockHeader = 3;

  ZSTD_DStream* stream_;
  std::size_t step_ = kFirstStep;
  bool flushing_ = false, frame_done_ = false;
  std::uint64_t frames_ = 0;
};
#endif

// Converts UTF-16 (either byte order, told by its mark) to UTF-8. Lone surrogates become U+FFFD.
class Utf16Source final : public ByteSource {
 public:
  Utf16Source(std::unique_ptr<ByteSource> inner, bool big_endian) : inner_(std::move(inner)), big_endian_(big_endian) {}

  Result<std::size_t> read(std::span<char> out) override {
    std::size_t got = 0;
    while (got < out.size()) {
      if (pending_from_ < pending_.size()) {
        const std::size_t n = std::min(out.size() - got, pending_.size() - pending_from_);
        std::memcpy(out.data() + got, pending_.data() + pending_from_, n);
        pending_from_ += n;
        got += n;
        continue;
      }
      if (ended_) break;
      CHOPPER_TRY(const std::size_t n, inner_->read(raw_));
      ended_ = n < raw_.size();
      pending_.clear();
      pending_from_ = 0;
      convert(n);
    }
    return got;
  }
  std::uint64_t file_bytes_read() const override { return inner_->file_bytes_read(); }
  ByteSourceNotes notes() const override {
    ByteSourceNotes notes = inner_->notes();
    notes.utf16 = true;
    return notes;
  }

 private:
  void convert(std::size_t bytes) {
    for (std::size_t i = 0; i + 1 < bytes; i += 2) {
      const auto a = static_cast<unsigned char>(raw_[i]);
      const auto b = static_cast<unsigned char>(raw_[i + 1]);
      const std::uint32_t unit = big_endian_ ? (std::uint32_t{a} << 8 | b) : (std::uint32_t{b} << 8 | a);
      if (unit >= 0xdc00 && unit < 0xe000 && high_ != 0) {
        append_utf8(pending_, 0x10000 + ((high_ - 0xd800) << 10) + (unit - 0xdc00));
        high_ = 0;
        continue;
      }
      if (high_ != 0) append_utf8(pending_, 0xfffd);
      high_ = 0;
      if (unit >= 0xd800 && unit < 0xdc00) {
        high_ = unit;
      } else if (unit >= 0xdc00 && unit < 0xe000) {
        append_utf8(pending_, 0xfffd);
      } else if (unit != 0xfeff) {
        append_utf8(pending_, unit);
      }
    }
  }

  std::unique_ptr<ByteSource> inner_;
  bool big_endian_;
  std::vector<char> raw_ = std::vector<char>(kInputBytes);
  std::string pending_;
  std::size_t pending_from_ = 0;
  std::uint32_t high_ = 0;
  bool ended_ = false;
};

// Gives already read bytes back before the rest of a source.
class ReplaySource final : public ByteSource {
 public:
  ReplaySource(std::string start, std::unique_ptr<ByteSource> rest)
      : start_(std::move(start)), rest_(std::move(rest)) {}
  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), start_.size() - from_);
    std::memcpy(out.data(), start_.data() + from_, n);
    from_ += n;
    if (n == out.size()) return n;
    CHOPPER_TRY(const std::size_t more, rest_->read(out.subspan(n)));
    return n + more;
  }
  std::uint64_t file_bytes_read() const override { return rest_->file_bytes_read(); }
  ByteSourceNotes notes() const override { return rest_->notes(); }

 private:
  std::string start_;
  std::size_t from_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

Result<std::unique_ptr<ByteSource>> decode(std::unique_ptr<RawInput> raw, const std::string& where) {
  CHOPPER_TRY(const std::string_view start, raw->start());
  std::unique_ptr<ByteSource> source;
  bool compressed = true;
  if (start.substr(0, 2) == "\x1f\x8b") {
    source = std::make_unique<GzipSource>(std::move(raw));
  } else if (start.substr(0, 4) == "\x28\xb5\x2f\xfd") {
#if CHOPPER_HAVE_ZSTD
    source = std::make_unique<ZstdSource>(std::move(raw));
#else
    return Error{ErrorCode::unrecognised, "zstd-compressed, and this build has no zstd", where,
                 "decompress it with zstd -d"};
#endif
  } else {
    source = std::make_unique<PlainSource>(std::move(raw));
    compressed = false;
  }
  static_cast<void>(where);
  std::string text(start.substr(0, 2));
  if (compressed) {
    text.resize(2);
    CHOPPER_TRY(const std::size_t n, source->read(text));
    text.resize(n);
    source = std::make_unique<ReplaySource>(text, std::move(source));
  }
  if (text == "\xff\xfe" || text == "\xfe\xff")
    return std::unique_ptr<ByteSource>(std::make_unique<Utf16Source>(std::move(source), text[0] == '\xfe'));
  return source;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_byte_source(const std::filesystem::path& path) {
  // Non-blocking, so that a pipe without a writer is refused instead of waited for.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    if (errno == ENOENT) {
      return Error{ErrorCode::not_found, "no such file or directory", path.string(), "check the path"};
    }
    return Error{ErrorCode::unreadable, std::string("cannot open: ") + std::strerror(errno), path.string(),
                 errno == EACCES ? "check the permissions (ls -l)" : "check the path"};
  }
  struct stat status = {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    return Error{ErrorCode::unreadable, S_ISDIR(status.st_mode) ? "is a directory" : "is no regular file",
                 path.string(), "a file is read twice: save the pipe to a file first"};
  }
  return decode(std::make_unique<RawInput>(fd, path.string()), path.string());
}

std::unique_ptr<ByteSource> open_memory_source(std::string bytes) {
  auto source = decode(std::make_unique<RawInput>(std::move(bytes)), "memory");
  if (source.ok()) return std::move(source).value();
  return std::make_unique<PlainSource>(std::make_unique<RawInput>(std::string()));
}

}  // namespace chopper
