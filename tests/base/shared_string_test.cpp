#include "hiaton/shared_string.h"

#include <gtest/gtest.h>

namespace hiaton {
namespace {

TEST(SharedString, ReadsAsItsText) {
  const SharedString name = std::string("process:0");
  const std::string& text = name;
  const std::string_view view = name;
  EXPECT_EQ(text, "process:0");
  EXPECT_EQ(view, "process:0");
  EXPECT_FALSE(name.empty());
  EXPECT_TRUE(SharedString().empty());
  EXPECT_TRUE(SharedString("").empty());
  EXPECT_EQ(SharedString().str(), "");
}

TEST(SharedString, IsEqualByText) {
  const SharedString a = "n";
  const SharedString b = std::string_view("n");
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, "n");
  EXPECT_EQ(a, std::string("n"));
  EXPECT_NE(a, SharedString("m"));
  EXPECT_NE(a, SharedString());
  EXPECT_NE(a, "");
}

TEST(SharedString, CopiesShareTheTextAndOutliveEachOther) {
  SharedString first = std::string(100, 'x');
  const SharedString second = first;
  EXPECT_EQ(&first.str(), &second.str());
  first = "other";
  EXPECT_EQ(second, std::string(100, 'x'));
  const SharedString& itself = first;
  first = itself;
  EXPECT_EQ(first, "other");
  const SharedString moved = std::move(first);
  EXPECT_EQ(moved, "other");
  first = {};
  EXPECT_TRUE(first.empty());
}

}  // namespace
}  // namespace hiaton
