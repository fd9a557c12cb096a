// Programs with arguments and results as text, in every executor.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "engine/all_ways.h"

namespace hiaton {

struct KnownCase {
  const char* name;
  const char* text;
  std::vector<const char*> arguments;
  std::vector<const char*> expected;
};

inline void PrintTo(const KnownCase& c, std::ostream* out) {
  *out << c.name;
}

inline std::string name_of_known(const testing::TestParamInfo<KnownCase>& info) {
  return std::string(info.param.name);
}

inline void expect_known(const KnownCase& c) {
  const Program program = Program::from_text("test.hia", c.text);
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    arguments.push_back(parse_value(program.parameters()[i].type, c.arguments[i]));
  }
  std::vector<Value> expected;
  for (std::size_t i = 0; i < c.expected.size(); ++i) {
    expected.push_back(parse_value(program.results()[i], c.expected[i]));
  }
  expect_in_all_ways(c.text, arguments, expected);
}

}  // namespace hiaton
