// SPDX-License-Identifier: Apache-2.0
#include "base/byte_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace chopper {
namespace {

const std::string kText = "one two one two one two three\n";
// kText as one gzip member and as one zstd frame, hexadecimal.
constexpr std::string_view kGzip = "1f8b08000000000000ffcbcf4b552829cf57c847a34b328a5253b900623f152a1e000000";
constexpr std::string_view kZstd = "28b52ffd0458a50000706f6e652074776f2074687265650a0100430a1709bd902c";

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

struct Outcome {
  std::string text;
  ByteSourceNotes notes;
};

Outcome read_all(ByteSource& source, std::size_t piece) {
  Outcome out;
  std::string buffer(piece, '\0');
  for (;;) {
    const Result<std::size_t> n = source.read(buffer);
    EXPECT_TRUE(n.ok());
    if (!n.ok()) break;
    out.text.append(buffer, 0, n.value());
    if (n.value() < piece) break;
  }
  const Result<std::size_t> after = source.read(buffer);
  EXPECT_TRUE(after.ok() && after.value() == 0) << "data behind the end";
  out.notes = source.notes();
  return out;
}

// Reads in pieces of several sizes, which must not matter.
Outcome decode(const std::string& bytes) {
  Outcome first = read_all(*open_memory_source(bytes), 100000);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{64}}) {
    const Outcome again = read_all(*open_memory_source(bytes), piece);
    EXPECT_EQ(again.text, first.text) << "pieces of " << piece;
    EXPECT_EQ(again.notes.checksum_mismatch, first.notes.checksum_mismatch);
    EXPECT_EQ(again.notes.trailing_bytes, first.notes.trailing_bytes);
    EXPECT_EQ(again.notes.truncated, first.notes.truncated);
    EXPECT_EQ(again.notes.corrupt, first.notes.corrupt);
    EXPECT_EQ(again.notes.utf16, first.notes.utf16);
  }
  return first;
}

bool is_clean(const ByteSourceNotes& notes) {
  return !notes.checksum_mismatch && !notes.trailing_bytes && !notes.truncated && !notes.corrupt && !notes.utf16;
}

TEST(ByteSource, PlainBytesComeAsTheyAre) {
  for (const std::string& bytes : {std::string(), std::string("a"), std::string("ab\0\xff", 4), kText,
                                   std::string("\x1f"), std::string("\x28\xb5\x2f")}) {
    const Outcome out = decode(bytes);
    EXPECT_EQ(out.text, bytes);
    EXPECT_TRUE(is_clean(out.notes));
  }
}

TEST(ByteSource, GzipMembersFollowEachOther) {
  const std::string member = bytes_of(kGzip);
  for (int count = 1; count <= 3; count++) {
    std::string bytes, text;
    for (int i = 0; i < count; i++) {
      bytes += member;
      text += kText;
    }
    const Outcome out = decode(bytes);
    EXPECT_EQ(out.text, text);
    EXPECT_TRUE(is_clean(out.notes));
  }
}

TEST(ByteSource, WrongChecksumIsANoteAndTheNextMemberIsRead) {
  std::string member = bytes_of(kGzip);
  member[member.size() - 8] = static_cast<char>(member[member.size() - 8] ^ 1);
  const Outcome out = decode(member);
  EXPECT_EQ(out.text, kText);
  EXPECT_TRUE(out.notes.checksum_mismatch);
  EXPECT_FALSE(out.notes.corrupt || out.notes.truncated || out.notes.trailing_bytes);
}

TEST(ByteSource, BytesBehindTheLastMemberAreANote) {
  for (const std::string& tail : {std::string("garbage"), std::string(1, '\0'), std::string(600000, '\0')}) {
    const Outcome out = decode(bytes_of(kGzip) + tail);
    EXPECT_EQ(out.text, kText);
    EXPECT_TRUE(out.notes.trailing_bytes);
    EXPECT_FALSE(out.notes.corrupt || out.notes.truncated || out.notes.checksum_mismatch);
  }
}

TEST(ByteSource, EveryCutOfAMemberIsTruncated) {
  const std::string member = bytes_of(kGzip);
  for (std::size_t size = 2; size < member.size(); size++) {
    const Outcome out = decode(member.substr(0, size));
    EXPECT_TRUE(out.notes.truncated) << size;
    EXPECT_FALSE(out.notes.corrupt) << size;
    EXPECT_EQ(out.text, kText.substr(0, out.text.size())) << size;
    if (size >= member.size() - 8) {
      EXPECT_EQ(out.text, kText) << size;
    }
  }
}

TEST(ByteSource, Utf16OfEitherOrderIsConverted) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80z";  // one to four bytes
  const std::string big("\xfe\xff\0a\0\xe9\x20\xac\xd8\x3d\xde\x80\0z", 14);
  std::string little;
  for (std::size_t i = 0; i < big.size(); i += 2) {
    little.push_back(big[i + 1]);
    little.push_back(big[i]);
  }
  for (const std::string& bytes : {big, little}) {
    const Outcome out = decode(bytes);
    EXPECT_EQ(out.text, text);
    EXPECT_TRUE(out.notes.utf16);
  }
}

TEST(ByteSource, LoneSurrogatesBecomeReplacementCharacters) {
  EXPECT_EQ(decode(std::string("\xfe\xff\xd8\x3d\0a\xde\x80\0b", 10)).text,
            "\xef\xbf\xbd"
            "a\xef\xbf\xbd"
            "b");
}

#if CHOPPER_HAVE_ZSTD
TEST(ByteSource, ZstdFramesFollowEachOther) {
  const std::string frame = bytes_of(kZstd);
  EXPECT_EQ(decode(frame).text, kText);
  const Outcome two = decode(frame + frame);
  EXPECT_EQ(two.text, kText + kText);
  EXPECT_TRUE(is_clean(two.notes));
  const Outcome tail = decode(frame + "garbage");
  EXPECT_EQ(tail.text, kText);
  EXPECT_TRUE(tail.notes.trailing_bytes);
}

TEST(ByteSource, EveryCutOfAZstdFrameIsTruncated) {
  const std::string frame = bytes_of(kZstd);
  for (std::size_t size = 4; size < frame.size(); size++) {
    const Outcome out = decode(frame.substr(0, size));
    EXPECT_TRUE(out.notes.truncated) << size;
    EXPECT_EQ(out.text, kText.substr(0, out.text.size())) << size;
  }
}

// Found by the fuzzer: a call that fails says nothing of what it has decoded before.
TEST(ByteSource, DamageOfAZstdFrameLosesNothingBeforeIt) {
  const std::string start = bytes_of("28b52ffd0000");  // no size, no checksum, a window of 1 KiB
  const std::string block = bytes_of("200000") + "one\n", last = bytes_of("210000") + "two\n";
  ASSERT_EQ(decode(start + block + last).text, "one\ntwo\n");
  const std::string reserved_type = bytes_of("270000") + "two\n";
  const Outcome out = decode(start + block + reserved_type);
  EXPECT_EQ(out.text, "one\n");
  EXPECT_TRUE(out.notes.corrupt);
  const std::string two_bytes = bytes_of("110000") + "2\n";  // the frame ends with a piece of two
  const Outcome tail = decode(start + block + two_bytes + "garbage");
  EXPECT_EQ(tail.text, "one\n2\n");
  EXPECT_TRUE(tail.notes.trailing_bytes);
}

TEST(ByteSource, AWrongChecksumOfAZstdFrameLosesNothing) {
  std::string damaged = bytes_of(kZstd);
  damaged.back() ^= 1;
  const Outcome out = decode(damaged + bytes_of(kZstd));
  EXPECT_EQ(out.text, kText + kText);
  EXPECT_TRUE(out.notes.checksum_mismatch);
  EXPECT_FALSE(out.notes.corrupt || out.notes.truncated);
}
#endif

TEST(ByteSource, AFileIsReadLikeMemory) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("chopper_source_" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << bytes_of(kGzip);
  Result<std::unique_ptr<ByteSource>> source = open_byte_source(path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(read_all(*source.value(), 10).text, kText);
  EXPECT_EQ(source.value()->file_bytes_read(), bytes_of(kGzip).size());
  std::filesystem::remove(path);
}

TEST(ByteSource, SaysWhatCannotBeOpened) {
  const std::filesystem::path nowhere =
      std::filesystem::temp_directory_path() / ("chopper_nowhere_" + std::to_string(::getpid()));
  const auto missing = open_byte_source(nowhere);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  const auto directory = open_byte_source(std::filesystem::temp_directory_path());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().code, ErrorCode::unreadable);
}

TEST(ByteSource, DamageInAMemberLosesNothingBeforeIt) {
  const std::string_view hex =
      "1f8b08000000000000ff4ccfbb0dc0200003d13e53300236219f81d2428394f5d3f9d25de527d732c753d63b37a59c6aa93dd55347ea4c5d"
      "a99be54aa2084638021292a0842530a119cdbf4f6846339ad18c6634a319ed030000ffff0700000000000000000000000000000000000000"
      "00";
  std::string bytes, text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  for (int i = 0; i < 30; i++) text += std::to_string(i) + " one two\n";
  for (const std::size_t piece : {1u, 2u, 7u, 64u, 100000u}) {
    const auto source = open_memory_source(bytes);
    std::string got, buffer(piece, ' ');
    for (std::size_t n = piece; n == piece;) {
      n = source->read(buffer).value();
      got.append(buffer, 0, n);
    }
    EXPECT_EQ(got, text) << "pieces of " << piece;
    EXPECT_TRUE(source->notes().corrupt);
  }
}

}  // namespace
}  // namespace chopper
