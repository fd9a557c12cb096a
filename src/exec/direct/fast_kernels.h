// The kernels that have instructions of their own. A kernel that is missing here runs through a function
// pointer: slower, never wrong. Each row: name, function object, operand type, result type.
#pragma once

#include <cstdint>

// Binary operations; each has three instructions, by which operand is a constant.
#define HIATON_INTEGER_PREDICATES(X) \
  X(EqI32, Eq, int32_t, bool)        \
  X(NeI32, Ne, int32_t, bool)        \
  X(LtI32, Lt, int32_t, bool)        \
  X(LeI32, Le, int32_t, bool)        \
  X(GtI32, Gt, int32_t, bool)        \
  X(GeI32, Ge, int32_t, bool)        \
  X(EqI64, Eq, int64_t, bool)        \
  X(NeI64, Ne, int64_t, bool)        \
  X(LtI64, Lt, int64_t, bool)        \
  X(LeI64, Le, int64_t, bool)        \
  X(GtI64, Gt, int64_t, bool)        \
  X(GeI64, Ge, int64_t, bool)
#define HIATON_FAST_PREDICATES(X) \
  X(EqBool, Eq, bool, bool)       \
  X(NeBool, Ne, bool, bool)       \
  HIATON_INTEGER_PREDICATES(X)    \
  X(EqF32, Eq, float, bool)       \
  X(NeF32, Ne, float, bool)       \
  X(LtF32, Lt, float, bool)       \
  X(LeF32, Le, float, bool)       \
  X(GtF32, Gt, float, bool)       \
  X(GeF32, Ge, float, bool)       \
  X(EqF64, Eq, double, bool)      \
  X(NeF64, Ne, double, bool)      \
  X(LtF64, Lt, double, bool)      \
  X(LeF64, Le, double, bool)      \
  X(GtF64, Gt, double, bool)      \
  X(GeF64, Ge, double, bool)

#define HIATON_INTEGER_ARITHMETIC(X)                           \
  X(AddI32, Add, int32_t, int32_t)                             \
  X(SubI32, Sub, int32_t, int32_t)                             \
  X(MulI32, Mul, int32_t, int32_t)                             \
  X(DivI32, DivInt, int32_t, int32_t)                          \
  X(RemI32, RemInt, int32_t, int32_t)                          \
  X(MinI32, Min, int32_t, int32_t)                             \
  X(MaxI32, Max, int32_t, int32_t)                             \
  X(TrapAddI32, TrapAdd, int32_t, int32_t)                     \
  X(TrapSubI32, TrapSub, int32_t, int32_t)                     \
  X(TrapMulI32, TrapMul, int32_t, int32_t)                     \
  X(TrapDivI32, TrapDivInt, int32_t, int32_t)                  \
  X(AddI64, Add, int64_t, int64_t)                             \
  X(SubI64, Sub, int64_t, int64_t)                             \
  X(MulI64, Mul, int64_t, int64_t)                             \
  X(DivI64, DivInt, int64_t, int64_t)                          \
  X(RemI64, RemInt, int64_t, int64_t)                          \
  X(MinI64, Min, int64_t, int64_t)                             \
  X(MaxI64, Max, int64_t, int64_t)                             \
  X(TrapAddI64, TrapAdd, int64_t, int64_t)                     \
  X(TrapSubI64, TrapSub, int64_t, int64_t)                     \
  X(TrapMulI64, TrapMul, int64_t, int64_t)                     \
  X(TrapDivI64, TrapDivInt, int64_t, int64_t)                  \
  X(BitAndI32, BitAnd, int32_t, int32_t)                       \
  X(BitOrI32, BitOr, int32_t, int32_t)                         \
  X(BitXorI32, BitXor, int32_t, int32_t)                       \
  X(ShiftLeftI32, ShiftLeft, int32_t, int32_t)                 \
  X(ShiftRightI32, ShiftRight, int32_t, int32_t)               \
  X(ShiftRightLogicalI32, ShiftRightLogical, int32_t, int32_t) \
  X(RotateLeftI32, RotateLeft, int32_t, int32_t)               \
  X(BitAndI64, BitAnd, int64_t, int64_t)                       \
  X(BitOrI64, BitOr, int64_t, int64_t)                         \
  X(BitXorI64, BitXor, int64_t, int64_t)                       \
  X(ShiftLeftI64, ShiftLeft, int64_t, int64_t)                 \
  X(ShiftRightI64, ShiftRight, int64_t, int64_t)               \
  X(ShiftRightLogicalI64, ShiftRightLogical, int64_t, int64_t) \
  X(RotateLeftI64, RotateLeft, int64_t, int64_t)
#define HIATON_OTHER_ARITHMETIC(X)    \
  X(AddF32, Add, float, float)        \
  X(SubF32, Sub, float, float)        \
  X(MulF32, Mul, float, float)        \
  X(DivF32, DivFloat, float, float)   \
  X(MinF32, Min, float, float)        \
  X(MaxF32, Max, float, float)        \
  X(AddF64, Add, double, double)      \
  X(SubF64, Sub, double, double)      \
  X(MulF64, Mul, double, double)      \
  X(DivF64, DivFloat, double, double) \
  X(MinF64, Min, double, double)      \
  X(MaxF64, Max, double, double)      \
  X(AndBool, And, bool, bool)         \
  X(OrBool, Or, bool, bool)

#define HIATON_FAST_BINARY(X) \
  HIATON_FAST_PREDICATES(X) HIATON_INTEGER_ARITHMETIC(X) HIATON_OTHER_ARITHMETIC(X)

#define HIATON_INTEGER_UNARY(X)    \
  X(NegI32, Neg, int32_t, int32_t) \
  X(NegI64, Neg, int64_t, int64_t) \
  X(AbsI32, Abs, int32_t, int32_t) \
  X(AbsI64, Abs, int64_t, int64_t)
#define HIATON_OTHER_UNARY(X)                  \
  X(NotBool, Not, bool, bool)                  \
  X(NegF32, Neg, float, float)                 \
  X(NegF64, Neg, double, double)               \
  X(AbsF32, Abs, float, float)                 \
  X(AbsF64, Abs, double, double)               \
  X(SqrtF32, Sqrt, float, float)               \
  X(SqrtF64, Sqrt, double, double)             \
  X(I32ToI64, Cast<int64_t>, int32_t, int64_t) \
  X(I64ToI32, Cast<int32_t>, int64_t, int32_t) \
  X(I32ToF32, Cast<float>, int32_t, float)     \
  X(I32ToF64, Cast<double>, int32_t, double)   \
  X(I64ToF32, Cast<float>, int64_t, float)     \
  X(I64ToF64, Cast<double>, int64_t, double)   \
  X(F32ToF64, Cast<double>, float, double)     \
  X(F64ToF32, Cast<float>, double, float)
#define HIATON_FAST_UNARY(X) HIATON_OTHER_UNARY(X) HIATON_INTEGER_UNARY(X)

// Kernels that are often the last of a function: computed and returned in one instruction.
#define HIATON_RETURNED_KERNELS(X) \
  X(AddI32, Add, int32_t, int32_t) \
  X(MulI32, Mul, int32_t, int32_t) \
  X(AddI64, Add, int64_t, int64_t) \
  X(SubI64, Sub, int64_t, int64_t) \
  X(MulI64, Mul, int64_t, int64_t) \
  X(AddF32, Add, float, float)     \
  X(MulF32, Mul, float, float)     \
  X(AddF64, Add, double, double)   \
  X(MulF64, Mul, double, double)

// Predicates that often decide whether a function returns at once.
#define HIATON_RETURN_PREDICATES(X) \
  X(EqI32, Eq, int32_t, bool)       \
  X(LtI32, Lt, int32_t, bool)       \
  X(LeI32, Le, int32_t, bool)       \
  X(GtI32, Gt, int32_t, bool)       \
  X(GeI32, Ge, int32_t, bool)       \
  X(EqI64, Eq, int64_t, bool)       \
  X(NeI64, Ne, int64_t, bool)       \
  X(LtI64, Lt, int64_t, bool)       \
  X(LeI64, Le, int64_t, bool)       \
  X(GtI64, Gt, int64_t, bool)       \
  X(GeI64, Ge, int64_t, bool)
