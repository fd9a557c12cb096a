#include "base/utf8.h"

#include <gtest/gtest.h>

namespace hiaton {
namespace {

TEST(Utf8, TakesWellFormedCharacters) {
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("ä"), 2u);
  EXPECT_EQ(utf8_length("€"), 3u);
  EXPECT_EQ(utf8_length("\xF0\x9F\x98\x80"), 4u);
  EXPECT_EQ(utf8_length("\xF4\x8F\xBF\xBF"), 4u) << "U+10FFFF";
}

TEST(Utf8, RefusesWhatIsNotWellFormed) {
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_EQ(utf8_length("\x80"), 0u) << "a continuation";
  EXPECT_EQ(utf8_length("\xC3"), 0u) << "cut off";
  EXPECT_EQ(utf8_length("\xE2\x82"), 0u) << "cut off";
  EXPECT_EQ(utf8_length("\xC0\x80"), 0u) << "overlong";
  EXPECT_EQ(utf8_length("\xE0\x80\x80"), 0u) << "overlong";
  EXPECT_EQ(utf8_length("\xF0\x80\x80\x80"), 0u) << "overlong";
  EXPECT_EQ(utf8_length("\xED\xA0\x80"), 0u) << "a surrogate";
  EXPECT_EQ(utf8_length("\xF4\x90\x80\x80"), 0u) << "beyond U+10FFFF";
  EXPECT_EQ(utf8_length("\xFF"), 0u);
}

TEST(Utf8, NumbersCharacters) {
  EXPECT_EQ(utf8_code_point("a"), 0x61u);
  EXPECT_EQ(utf8_code_point("ä"), 0xE4u);
  EXPECT_EQ(utf8_code_point("€"), 0x20ACu);
  EXPECT_EQ(utf8_code_point("\xF4\x8F\xBF\xBF"), 0x10FFFFu);
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(utf8_prefix("aä\xFFz"), 3u);
  EXPECT_TRUE(is_utf8("aä€"));
  EXPECT_FALSE(is_utf8("a\xC3"));
}

}  // namespace
}  // namespace hiaton
