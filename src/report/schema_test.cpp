// SPDX-License-Identifier: Apache-2.0
#include "report/schema.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace chopper {
namespace {

TEST(JsonSchema, TheFileInDocsIsWhatThisBuildWrites) {
  std::ifstream file(CHOPPER_SOURCE_DIR "/docs/schema.json");
  ASSERT_TRUE(file) << "docs/schema.json is missing; make it with: chopper schema > docs/schema.json";
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), json_schema_text()) << "columns have changed; run: chopper schema > docs/schema.json";
}

}  // namespace
}  // namespace chopper
