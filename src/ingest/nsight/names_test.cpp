// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/names.h"

#include <gtest/gtest.h>

namespace chopper::nsight {
namespace {

TEST(NsightNames, TakesMessagesOfEmitNvtxApart) {
  const RangeName op = parse_range("aten::addmm, seq = 12, op_id = 34, sizes = [[], [2, 3]], input_op_ids = [(1,0)]");
  EXPECT_EQ(op.name, "aten::addmm");
  EXPECT_EQ(op.kind, RangeKind::operation);
  EXPECT_EQ(op.sequence_number, 12);
  EXPECT_EQ(op.shapes, "[[], [2, 3]]");
  EXPECT_EQ(parse_range("aten::to, op_id = 5").kind, RangeKind::operation);
  EXPECT_EQ(parse_range("aten::to, op_id = 5").sequence_number, kNoNumber);
  EXPECT_EQ(parse_range("MyFunction, seq = 5").kind, RangeKind::operation);
  EXPECT_EQ(parse_range("FSDP::pre_forward (blocks.3), op_id = 9").kind, RangeKind::annotation);
  EXPECT_EQ(parse_range("FSDP::pre_forward (blocks.3), op_id = 9").name, "FSDP::pre_forward (blocks.3)");
  EXPECT_EQ(parse_range("step, op_id = 9").kind, RangeKind::annotation);
}

TEST(NsightNames, OtherMessagesStayAsTheyAre) {
  for (const char* message : {"", "step 7", "a, b", "x, op_id = ", ", op_id = 3", "y, seq = -1", "aten::mm"}) {
    EXPECT_EQ(parse_range(message).name, message);
    EXPECT_EQ(parse_range(message).kind, RangeKind::annotation);
  }
  EXPECT_EQ(parse_range("z, op_id = 3, sizes = [[1]").shapes, "");
  EXPECT_EQ(parse_range("z, op_id = 3, sizes = ").shapes, "");
  EXPECT_EQ(parse_range("z, op_id = 3, sizes = 5]]").shapes, "");
}

TEST(NsightNames, CutsVersionsOfTheInterface) {
  EXPECT_EQ(call_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(call_name("cudaStreamGetCaptureInfo_v2_v11030"), "cudaStreamGetCaptureInfo_v2");
  EXPECT_EQ(call_name("cuMemAlloc_v2"), "cuMemAlloc_v2");
  EXPECT_EQ(call_name("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_EQ(call_name("x_v"), "x_v");
  EXPECT_EQ(call_kind("cudaLaunchKernel"), CallKind::runtime);
  EXPECT_EQ(call_kind("cuLaunchKernelEx"), CallKind::driver);
}

TEST(NsightNames, CopiesAreNamedAsThePyTorchProfilerNamesThem) {
  EXPECT_EQ(copy_name(1, 1, 2), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(copy_name(8, kNoNumber, kNoNumber), "Memcpy DtoD");
  EXPECT_EQ(copy_name(99, 0, -5), "Memcpy Unknown (Pageable -> Unknown)");
  EXPECT_EQ(fill_name(2), "Memset (Device)");
  EXPECT_EQ(fill_name(kNoNumber), "Memset");
}

}  // namespace
}  // namespace chopper::nsight
