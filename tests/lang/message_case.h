// Programs with a part of the message that they get; programs without errors among them.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "lang/programs.h"

namespace hiaton {

struct MessageCase {
  const char* name;
  const char* text;
  const char* error = "";  ///< a part of the message; none is expected where it is empty
};

inline void PrintTo(const MessageCase& c, std::ostream* out) {
  *out << c.name;
}

inline std::string name_of_message(const testing::TestParamInfo<MessageCase>& info) {
  return std::string(info.param.name);
}

inline void expect_message(const MessageCase& c) {
  const std::string found = error_of(c.text);
  const std::string wanted = c.error;
  if (wanted.empty()) {
    EXPECT_EQ(found, "");
  } else {
    EXPECT_NE(found.find(wanted), std::string::npos) << found;
  }
}

}  // namespace hiaton
