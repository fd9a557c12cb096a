// What the tests of the language share.
#pragma once

#include <memory>
#include <string>

#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton {

inline ir::Module parse(std::string text) {
  return lang::parse(std::make_shared<Source>("test.hia", std::move(text)));
}

/// The message of the ProgramError that parsing gives; empty where the program is fine.
inline std::string error_of(std::string text) {
  try {
    parse(std::move(text));
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "";
}

inline std::string repeat(std::string_view text, int times) {
  std::string repeated;
  for (int i = 0; i < times; ++i) repeated += text;
  return repeated;
}

/// A program of one function n -> i64 with this body.
inline std::string with_body(const std::string& body) {
  return "fn f(n: i64) -> i64 = " + body + "\n";
}

}  // namespace hiaton
