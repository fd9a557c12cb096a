// Operations applied at once, outside of any program.
//
//   Value sum = apply_operation(*catalog().find("add"), std::array{Value(a), Value(b)});
#pragma once

#include <span>

#include "hiaton/op.h"
#include "hiaton/value.h"

#pragma GCC visibility push(default)
namespace hiaton {

/// The result of an operation on scalars and tensors: the bits that a program gives. Throws ProgramError
/// where its type rule refuses the operands or the attributes, and for operations on data values; RunError
/// where it fails on what the operands hold.
Value apply_operation(const OpDef& op, std::span<const Value> operands,
                      std::span<const int64_t> attributes = {}, OverflowMode mode = OverflowMode::Wrap);

}  // namespace hiaton
#pragma GCC visibility pop
