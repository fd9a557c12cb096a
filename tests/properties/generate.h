// Random well-typed programs that end, whatever they do, after a bounded number of calls and iterations.
#pragma once

#include <cstdint>
#include <vector>

#include "hiaton/ir.h"

namespace hiaton::properties {

/// Which faults a program may run into. Where there are two kinds, executors may rightly differ in which one
/// they meet first.
enum class Danger : uint8_t {
  None,  ///< nothing but, under trapping overflow, Fault::Overflow
  DivisionByZero,
  InvalidCast,
  Assumption,
  Any,
};

struct Program {
  uint64_t seed = 0;
  Danger danger = Danger::None;
  ir::Module module;
  std::vector<Value> arguments;
};

/// The program of this seed. How it ends by construction: functions that may call themselves take fuel, call
/// each other only with less of it, and only while there is some; loops count up to a small bound; what main
/// spends in all is at most about 10,000 calls and iterations, mostly far less.
Program generate(uint64_t seed);

}  // namespace hiaton::properties
