// SPDX-License-Identifier: Apache-2.0
#include "base/id_index.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace chopper {
namespace {

std::vector<std::uint32_t> rows_of(const IdIndex& index, std::int64_t id) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t at = index.first(id); at != IdIndex::kNone; at = index.next(at)) rows.push_back(at);
  return rows;
}

using Rows = std::vector<std::uint32_t>;

TEST(IdIndex, ListsTheRowsOfAnIdInOrder) {
  const std::vector<std::int64_t> ids = {7, 5, 7, 9, 5, 7};
  const IdIndex index(ids, 9);
  EXPECT_EQ(rows_of(index, 7), (Rows{0, 2, 5}));
  EXPECT_EQ(rows_of(index, 5), (Rows{1, 4}));
  EXPECT_EQ(rows_of(index, 9), Rows{}) << "left out";
  EXPECT_EQ(rows_of(index, 8), Rows{});
}

TEST(IdIndex, NothingIsFoundInNothing) {
  const IdIndex index({}, 0);
  EXPECT_EQ(index.first(0), IdIndex::kNone);
  EXPECT_EQ(index.first(1), IdIndex::kNone);
}

TEST(IdIndex, AnyIdIsAnId) {
  const std::vector<std::int64_t> ids = {0, INT64_MIN, INT64_MAX, -1};
  const IdIndex index(ids, 1);
  for (std::uint32_t row = 0; row < ids.size(); row++) EXPECT_EQ(rows_of(index, ids[row]), Rows{row});
}

TEST(IdIndex, AgreesWithASearch) {
  for (std::uint64_t seed = 1; seed <= 200; seed++) {
    test::Random random(seed);
    const std::int64_t step = std::int64_t{1} << random.below(62);  // ids that differ in a few upper bits alone
    std::vector<std::int64_t> ids;
    for (std::size_t i = random.below(200); i > 0; i--)
      ids.push_back(step * static_cast<std::int64_t>(random.below(2)) + random.between(0, 40));
    const IdIndex index(ids, 3);
    std::vector<std::int64_t> asked = ids;
    for (std::int64_t id = 0; id <= 41; id++) asked.push_back(id);
    for (const std::int64_t id : asked) {
      Rows expected;
      for (std::uint32_t row = 0; row < ids.size(); row++) {
        if (ids[row] == id && id != 3) expected.push_back(row);
      }
      ASSERT_EQ(rows_of(index, id), expected) << "seed " << seed << ", id " << id;
    }
  }
}

}  // namespace
}  // namespace chopper
