// The families of operations; catalog.cpp lists what stands in them.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

// arithmetic.cpp
extern const OpDef add, sub, mul, div, rem, min, max, neg, abs;
// comparison.cpp
extern const OpDef eq, ne, lt, le, gt, ge;
// logic.cpp
extern const OpDef logical_and, logical_or, logical_not, identity;
// math.cpp
extern const OpDef sqrt, exp, log, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, floor, ceil, round,
    trunc, pow, atan2;
// data.cpp
extern const OpDef make, variant, field;
// cast.cpp
extern const OpDef to_bool, to_i32, to_i64, to_f32, to_f64;

}  // namespace hiaton::ops
