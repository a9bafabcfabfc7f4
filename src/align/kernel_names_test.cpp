// SPDX-License-Identifier: Apache-2.0
#include "align/kernel_names.h"

#include <gtest/gtest.h>

namespace chopper {
namespace {

TEST(KernelNames, WhiteSpaceThatSeparatesNothingGoes) {
  EXPECT_EQ(normalise_kernel_name(" f<int, g<float> >(float *, unsigned  int) "),
            "f<int,g<float>>(float*,unsigned int)");
  EXPECT_EQ(normalise_kernel_name("f<int,g<float>>(float*,unsigned int)"), "f<int,g<float>>(float*,unsigned int)");
  EXPECT_EQ(normalise_kernel_name(""), "");
  EXPECT_EQ(normalise_kernel_name("  "), "");
}

TEST(KernelNames, EndingsAndTheTypeOfTheResultGo) {
  EXPECT_EQ(normalise_kernel_name("Cijk_Ailk_Bljk_BBS_BH.kd"), "Cijk_Ailk_Bljk_BBS_BH");
  EXPECT_EQ(normalise_kernel_name("void f(int) [clone .kd]"), "f(int)");
  EXPECT_EQ(normalise_kernel_name("void (anonymous namespace)::f<1>(int)"), "(anonymous namespace)::f<1>(int)");
  EXPECT_EQ(normalise_kernel_name("void"), "void");
  EXPECT_EQ(normalise_kernel_name("voidance"), "voidance");
  EXPECT_EQ(normalise_kernel_name(".kd"), ".kd");
  EXPECT_EQ(normalise_kernel_name("[clone x]"), "[clone x]");
}

TEST(KernelNames, NumbersOfTemplates) {
  for (const char* name : {"f<8, true>(int)", "f<8u,true>(int)", "f<(int)8, (bool)1>(int)", "void f<8ul, 1>(int)"})
    EXPECT_EQ(normalise_kernel_name(name), "f<8,1>(int)") << name;
  EXPECT_EQ(normalise_kernel_name("f<(int)-1>"), "f<-1>");
  // Numbers in names, parameters, other casts and truth values that are names are no such arguments.
  EXPECT_EQ(normalise_kernel_name("sm90_8u<x8u>(int)"), "sm90_8u<x8u>(int)");
  EXPECT_EQ(normalise_kernel_name("f<(Mode)1>"), "f<(Mode)1>");
  EXPECT_EQ(normalise_kernel_name("f<is::true_type>(bool)"), "f<is::true_type>(bool)");
  EXPECT_EQ(normalise_kernel_name("f<0x10u>"), "f<0x10u>");
}

TEST(KernelNames, NamespacesOfDemanglers) {
  EXPECT_EQ(normalise_kernel_name("f<std::__1::array<char*, 2ul> >({anonymous}::g)"),
            "f<std::array<char*,2>>((anonymous namespace)::g)");
}

TEST(KernelNames, StemIsWhatComesBeforeArguments) {
  EXPECT_EQ(kernel_stem("at::native::f<int>(float*)"), "at::native::f");
  EXPECT_EQ(kernel_stem("f(int)"), "f");
  EXPECT_EQ(kernel_stem("Cijk_Ailk"), "Cijk_Ailk");
  EXPECT_EQ(kernel_stem("at::(anonymous namespace)::f<int>"), "at::(anonymous namespace)::f");
  EXPECT_EQ(kernel_stem("x::operator<(int)"), "x::operator<");
  EXPECT_EQ(kernel_stem("x::operator()(int)"), "x::operator()");
  EXPECT_EQ(kernel_stem("<lambda>(int)"), "<lambda>(int)");
  EXPECT_EQ(kernel_stem(""), "");
}

using Names = std::vector<std::string_view>;

TEST(KernelNames, TheSameNameOfTwoDemanglers) {
  const NameKeys keys = match_kernel_names(Names{"void f<int, 2>(int*)", "g"}, Names{"g.kd", "f<int,(int)2>(int *)"});
  EXPECT_EQ(keys.first[0], keys.second[1]);
  EXPECT_EQ(keys.first[1], keys.second[0]);
  EXPECT_NE(keys.first[0], keys.first[1]);
  EXPECT_EQ(keys.num_by_stem, 0u);
}

TEST(KernelNames, StemsOnlyWhereTheyAreUniqueOnBothSides) {
  // A truncated name with one counterpart.
  const NameKeys one = match_kernel_names(Names{"f<int>(int*)", "g"}, Names{"f", "g"});
  EXPECT_EQ(one.first[0], one.second[0]);
  EXPECT_EQ(one.num_by_stem, 1u);
  // With two.
  const NameKeys two = match_kernel_names(Names{"f<int>(int*)", "f<float>(float*)"}, Names{"f"});
  EXPECT_NE(two.first[0], two.second[0]);
  EXPECT_NE(two.first[1], two.second[0]);
  EXPECT_EQ(two.num_by_stem, 0u);
  // One of two is equal in full: the other one is another kernel.
  const NameKeys rest = match_kernel_names(Names{"f<int>", "f<float>"}, Names{"f<int>", "f<half>"});
  EXPECT_EQ(rest.first[0], rest.second[0]);
  EXPECT_NE(rest.first[1], rest.second[1]);
  // Two spellings of one name on a side are one name.
  const NameKeys same = match_kernel_names(Names{"f<int>", "f< int >"}, Names{"f"});
  EXPECT_EQ(same.first[0], same.first[1]);
  EXPECT_EQ(same.first[0], same.second[0]);
}

}  // namespace
}  // namespace chopper
