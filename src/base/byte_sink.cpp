// SPDX-License-Identifier: Apache-2.0
#include "base/byte_sink.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#if CHOPPER_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

namespace chopper {
namespace {

Error cannot_write(const std::filesystem::path& path) {
  return {ErrorCode::unreadable, fmt::format("cannot be written: {}", std::strerror(errno)), path.string(),
          "check the folder, its permissions and the free space"};
}

Result<Done> append_to_file(const std::filesystem::path& path, std::string_view bytes, const char* mode) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  if (file == nullptr) return cannot_write(path);
  const bool written = bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) return cannot_write(path);
  return Done{};
}

class PlainSink : public ByteSink {
 public:
  explicit PlainSink(std::filesystem::path path) : path_(std::move(path)) {}
  Result<Done> write(std::string_view text) override { return append_to_file(path_, text, "ab"); }
  Result<Done> finish() override { return Done{}; }

 private:
  std::filesystem::path path_;
};

constexpr std::size_t kOutputBytes = 1 << 18;  // handed to the file at once

#if CHOPPER_HAVE_ISAL

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(std::filesystem::path path) : path_(std::move(path)), level_(ISAL_DEF_LVL1_DEFAULT) {
    isal_deflate_init(&stream_);
    stream_.level = 1;
    stream_.level_buf = level_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(level_.size());
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.flush = NO_FLUSH;
  }
  Result<Done> write(std::string_view text) override { return compress(text, false); }
  Result<Done> finish() override { return compress({}, true); }

 private:
  Result<Done> compress(std::string_view text, bool is_last) {
    constexpr std::size_t kPiece = std::size_t{1} << 30;  // its counters have 32 bits
    std::vector<std::uint8_t> output(kOutputBytes);
    do {
      const std::string_view piece = text.substr(0, kPiece);
      text.remove_prefix(piece.size());
      // The library only reads, but its pointer is not const.
      stream_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(piece.data()));
      stream_.avail_in = static_cast<std::uint32_t>(piece.size());
      stream_.end_of_stream = is_last && text.empty() ? 1 : 0;
      do {
        stream_.next_out = output.data();
        stream_.avail_out = static_cast<std::uint32_t>(output.size());
        if (isal_deflate(&stream_) != COMP_OK) {
          return Error{ErrorCode::internal, "gzip compression failed", path_.string(), ""};
        }
        const std::string_view made(reinterpret_cast<const char*>(output.data()), output.size() - stream_.avail_out);
        CHOPPER_TRY([[maybe_unused]] const Done done, append_to_file(path_, made, "ab"));
      } while (stream_.avail_out == 0);
    } while (!text.empty());
    return Done{};
  }

  std::filesystem::path path_;
  isal_zstream stream_{};
  std::vector<std::uint8_t> level_;
};

#else

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(std::filesystem::path path) : path_(std::move(path)) {
    constexpr int kGzipFormat = 16 + 15;  // zlib.h: gzip wrapper, window of 32 KiB
    is_open_ = deflateInit2(&stream_, 1, Z_DEFLATED, kGzipFormat, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink() override {
    if (is_open_) deflateEnd(&stream_);
  }
  Result<Done> write(std::string_view text) override { return compress(text, Z_NO_FLUSH); }
  Result<Done> finish() override { return compress({}, Z_FINISH); }

 private:
  Result<Done> compress(std::string_view text, int flush) {
    if (!is_open_) return Error{ErrorCode::internal, "gzip compression failed", path_.string(), ""};
    constexpr std::size_t kPiece = std::size_t{1} << 30;  // its counters have 32 bits
    std::vector<unsigned char> output(kOutputBytes);
    do {
      const std::string_view piece = text.substr(0, kPiece);
      text.remove_prefix(piece.size());
      // The library only reads, but its pointer is not const.
      stream_.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
      stream_.avail_in = static_cast<uInt>(piece.size());
      do {
        stream_.next_out = output.data();
        stream_.avail_out = static_cast<uInt>(output.size());
        if (deflate(&stream_, text.empty() ? flush : Z_NO_FLUSH) == Z_STREAM_ERROR) {
          return Error{ErrorCode::internal, "gzip compression failed", path_.string(), ""};
        }
        const std::string_view made(reinterpret_cast<const char*>(output.data()), output.size() - stream_.avail_out);
        CHOPPER_TRY([[maybe_unused]] const Done done, append_to_file(path_, made, "ab"));
      } while (stream_.avail_out == 0);
    } while (!text.empty());
    return Done{};
  }

  std::filesystem::path path_;
  z_stream stream_{};
  bool is_open_ = false;
};

#endif

template <class Sink>
Result<std::unique_ptr<ByteSink>> create(const std::filesystem::path& path) {
  CHOPPER_TRY([[maybe_unused]] const Done done, append_to_file(path, {}, "wb"));
  return std::unique_ptr<ByteSink>(std::make_unique<Sink>(path));
}

}  // namespace

Result<std::unique_ptr<ByteSink>> create_plain_file(const std::filesystem::path& path) {
  return create<PlainSink>(path);
}
Result<std::unique_ptr<ByteSink>> create_gzip_file(const std::filesystem::path& path) { return create<GzipSink>(path); }

}  // namespace chopper
