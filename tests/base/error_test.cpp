#include "hiaton/error.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace hiaton {
namespace {

std::string rendered(const std::string& text, Span span) {
  return render({span, "expected a, found b"}, Source("x.hia", text));
}

TEST(Render, ShowsPlaceLineAndCarets) {
  EXPECT_EQ(rendered("fn f\n  a + b\n", {7, 8}),
            "x.hia:2:3: error: expected a, found b\n"
            " 2 |   a + b\n"
            "   |   ^");
  EXPECT_EQ(rendered("abc def", {4, 7}),
            "x.hia:1:5: error: expected a, found b\n"
            " 1 | abc def\n"
            "   |     ^^^");
}

TEST(Render, MarksCharactersNotBytes) {
  EXPECT_EQ(rendered("ä öü b", {3, 7}),
            "x.hia:1:3: error: expected a, found b\n"
            " 1 | ä öü b\n"
            "   |   ^^");
}

TEST(Render, MarksOnePlaceForAnEmptySpan) {
  EXPECT_EQ(rendered("abc", {1, 1}),
            "x.hia:1:2: error: expected a, found b\n"
            " 1 | abc\n"
            "   |  ^");
  EXPECT_EQ(rendered("abc", {3, 3}),
            "x.hia:1:4: error: expected a, found b\n"
            " 1 | abc\n"
            "   |    ^");
}

TEST(Render, MarksTheFirstLineOfALongSpan) {
  EXPECT_EQ(rendered("ab cd\nef", {3, 8}),
            "x.hia:1:4: error: expected a, found b\n"
            " 1 | ab cd\n"
            "   |    ^^");
}

TEST(Render, ReplacesWhatCannotBeShown) {
  EXPECT_EQ(rendered("a\x01\xFFz", {3, 4}),
            "x.hia:1:4: error: expected a, found b\n"
            " 1 | a??z\n"
            "   |    ^");
}

TEST(Render, AlignsWideLineNumbers) {
  EXPECT_EQ(rendered(std::string(99, '\n') + "ab", {100, 101}),
            "x.hia:100:2: error: expected a, found b\n"
            " 100 | ab\n"
            "     |  ^");
}

TEST(Render, CutsLongLinesAroundThePlace) {
  const std::string text = std::string(500, 'a') + "!" + std::string(500, 'b');
  EXPECT_EQ(rendered(text, {500, 501}),
            "x.hia:1:501: error: expected a, found b\n"
            " 1 | ..." +
                std::string(60, 'a') + "!" + std::string(59, 'b') + "...\n   | " + std::string(63, ' ') +
                "^");
}

TEST(ProgramError, ListsFindingsInTheOrderOfTheText) {
  const auto source = std::make_shared<Source>("x.hia", "a b c");
  const ProgramError error(source, {{{4, 5}, "third"}, {{0, 1}, "first"}, {{2, 3}, "second"}});
  const std::string text = error.what();
  EXPECT_LT(text.find("first"), text.find("second"));
  EXPECT_LT(text.find("second"), text.find("third"));
  EXPECT_EQ(error.diagnostics()[0].message, "first");
}

TEST(ProgramError, SaysHowManyFindingsItDoesNotShow) {
  const auto source = std::make_shared<Source>("x.hia", "abc");
  const std::vector<Diagnostic> three = {{{0, 1}, "first"}, {{1, 2}, "second"}, {{2, 3}, "third"}};
  const std::string two_shown = ProgramError(source, three, 2).what();
  EXPECT_TRUE(two_shown.ends_with("\nx.hia: 1 more error")) << two_shown;
  EXPECT_EQ(two_shown.find("third"), std::string::npos);
  const std::string one_shown = ProgramError(source, three, 1).what();
  EXPECT_TRUE(one_shown.ends_with("\nx.hia: 2 more errors")) << one_shown;
}

TEST(RunError, ShowsTheChainOfCalls) {
  const std::vector<CallRecord> chain = {{"f", {"n = 0"}, "x.hia:1:9", "f(n - 1)"},
                                         {"main", {"n = 2"}, "", ""}};
  const RunError error(Fault::DivisionByZero, "division by zero", chain, 4);
  EXPECT_EQ(std::string(error.what()),
            "division by zero\n"
            "  in f(n = 0) called at x.hia:1:9\n"
            "      f(n - 1)\n"
            "  ... 2 more calls ...\n"
            "  in main(n = 2)");
  EXPECT_EQ(error.chain_length(), 4u);
}

TEST(Fault, EveryOneHasAName) {
  for (int fault = 0; fault <= static_cast<int>(Fault::OutOfMemory); ++fault) {
    EXPECT_NE(name_of(static_cast<Fault>(fault)), "unknown fault") << fault;
  }
}

TEST(Faults, AreOfAnOperationOrOfABudgetOrNeither) {
  for (const Fault fault : {Fault::DivisionByZero, Fault::Overflow, Fault::InvalidCast, Fault::Shape,
                            Fault::Index, Fault::Rate, Fault::Size, Fault::NoRows, Fault::Assumption}) {
    EXPECT_TRUE(is_operation_fault(fault)) << name_of(fault);
    EXPECT_FALSE(is_budget_fault(fault)) << name_of(fault);
  }
  for (const Fault fault :
       {Fault::MaxFrames, Fault::MaxBytes, Fault::Timeout, Fault::Interrupted, Fault::OutOfMemory}) {
    EXPECT_FALSE(is_operation_fault(fault)) << name_of(fault);
    EXPECT_TRUE(is_budget_fault(fault)) << name_of(fault);
  }
  for (const Fault fault : {Fault::None, Fault::NoResult}) {
    EXPECT_FALSE(is_operation_fault(fault) || is_budget_fault(fault)) << name_of(fault);
  }
}

TEST(Check, ABrokenInvariantIsAnInternalError) {
  EXPECT_NO_THROW(HIATON_CHECK(1 + 1 == 2));
  EXPECT_THROW(HIATON_CHECK(1 + 1 == 3), InternalError);
}

}  // namespace
}  // namespace hiaton
