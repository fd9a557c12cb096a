#include "hiaton/source.h"

#include <gtest/gtest.h>

namespace hiaton {
namespace {

TEST(Source, LocatesLinesAndColumnsFromOne) {
  const Source source("a.hia", "ab\nc\n\nd");
  const auto at = [&](uint32_t offset) {
    const LineColumn place = source.locate(offset);
    return std::pair(place.line, place.column);
  };
  EXPECT_EQ(at(0), std::pair(1u, 1u));
  EXPECT_EQ(at(2), std::pair(1u, 3u));
  EXPECT_EQ(at(3), std::pair(2u, 1u));
  EXPECT_EQ(at(5), std::pair(3u, 1u));
  EXPECT_EQ(at(6), std::pair(4u, 1u));
  EXPECT_EQ(at(7), std::pair(4u, 2u));
  EXPECT_EQ(at(1000), std::pair(4u, 2u)) << "an offset behind the end is the end";
}

TEST(Source, CountsCharactersNotBytes) {
  const Source source("a.hia", "äöü = 1");
  EXPECT_EQ(source.locate(6).column, 4u);
}

TEST(Source, GivesLinesWithoutTheirBreaks) {
  const Source source("a.hia", "one\r\ntwo\n\nfour");
  EXPECT_EQ(source.line_at(1), "one");
  EXPECT_EQ(source.line_at(5), "two");
  EXPECT_EQ(source.line_at(9), "");
  EXPECT_EQ(source.line_at(14), "four");
  EXPECT_EQ(source.line_begin(7), 5u);
}

TEST(Source, GivesTheTextOfASpan) {
  const Source source("a.hia", "let a = 1");
  EXPECT_EQ(source.text({4, 5}), "a");
  EXPECT_EQ(source.text({9, 9}), "");
}

TEST(Source, EmptyTextHasOneEmptyLine) {
  const Source source("a.hia", "");
  EXPECT_EQ(source.locate(0).line, 1u);
  EXPECT_EQ(source.line_at(0), "");
}

TEST(Span, IsKnownUnlessEmpty) {
  EXPECT_FALSE(Span().known());
  EXPECT_TRUE((Span{3, 4}.known()));
}

}  // namespace
}  // namespace hiaton
