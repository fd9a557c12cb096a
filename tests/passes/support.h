// What the tests of the simplifications share: programs as text, before and after.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "hiaton/lang.h"
#include "hiaton/passes.h"

namespace hiaton::passes {

inline ir::Module parse(const std::string& text) {
  return lang::parse(std::make_shared<const Source>("test.hia", text));
}

inline void expect_equal(const ir::Module& found, const ir::Module& expected, const std::string& before) {
  EXPECT_NO_THROW(ir::verify(found));
  EXPECT_TRUE(ir::equal(found, expected)) << "before\n"
                                          << before << "\nexpected\n"
                                          << ir::print(expected) << "\nfound\n"
                                          << ir::print(found);
}

using Pass = std::function<ir::Module(const ir::Module&)>;

/// Where a pass leaves nodes that nothing needs any more, these do not count.
inline void expect_becomes(const Pass& pass, const std::string& before, const std::string& after) {
  const ir::Module found = drop_dead(pass(parse(before)), OverflowMode::Wrap);
  expect_equal(found, drop_dead(parse(after), OverflowMode::Wrap), before);
}

inline void expect_stays(const Pass& pass, const std::string& program) {
  expect_becomes(pass, program, program);
}

}  // namespace hiaton::passes
