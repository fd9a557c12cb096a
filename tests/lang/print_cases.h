// Programs compared with what they print as: every type, attribute and generated function is explicit there.
#pragma once

#include <gtest/gtest.h>

#include "lang/programs.h"

namespace hiaton {

struct PrintCase {
  const char* name;
  const char* program;
  const char* printed;
};

inline void PrintTo(const PrintCase& c, std::ostream* out) {
  *out << c.name;
}

/// Prints as expected, and what is printed parses back to an equal module that prints the same.
inline void expect_printed(const PrintCase& c) {
  const ir::Module module = parse(c.program);
  const std::string text = print(module);
  EXPECT_EQ(text, c.printed);
  const ir::Module again = parse(text);
  EXPECT_TRUE(equal(module, again));
  EXPECT_EQ(print(again), text);
}

struct ErrorCase {
  const char* name;
  const char* program;
  const char* message;  ///< "line:column: ..." of the only finding
};

inline void PrintTo(const ErrorCase& c, std::ostream* out) {
  *out << c.name;
}

inline void expect_error(const ErrorCase& c) {
  const std::string message = error_of(c.program);
  const std::string first = message.substr(0, message.find('\n'));
  std::string wanted = c.message;
  wanted.insert(wanted.find(' ') + 1, "error: ");
  EXPECT_EQ(first, "test.hia:" + wanted);
  EXPECT_EQ(message.find("error: "), message.rfind("error: ")) << "more than one finding:\n" << message;
}

template <class Case>
std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.name);
}

}  // namespace hiaton
