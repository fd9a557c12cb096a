// Random well-typed programs that end, whatever they do, after a bounded number of calls and iterations;
// those with gradients, those on data types, and how one that shows a defect is made small.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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

/// The program with a new main that is a gradient of the old one, of this kind; none where the first result
/// of that, or all its parameters, are no floats.
std::optional<ir::Module> with_gradient(
    ir::Module module, ir::GradientForm::Kind kind = ir::GradientForm::Kind::ValueAndGradients);

/// The smallest program that single steps lead to from this one, while `still_wrong` holds for each: calls,
/// operations, branches and loops become constants, operands or one of their blocks, parameters and results
/// go, constants get closer to 0.
Program shrink(Program program, const std::function<bool(const Program&)>& still_wrong);

/// What values hold beside numbers and other values, and loops carry.
enum class FieldsOf : uint8_t { Numbers, Tensors, Strings, Bytes };

/// The text of a program whose `main` takes how often its loops turn, and a number that decides about values.
std::string random_data_program(uint64_t seed, FieldsOf fields);

}  // namespace hiaton::properties
