// Pairs of integer operations that stand behind one another in hash functions and the like. The interpreter
// runs both at once: the indirect jump from one instruction to the next costs a processor more than either of
// them. A pair that is missing here takes that jump: slower, never wrong.
//
// Each row: the operands' type; name, function object and form of the first instruction, and of the second.
// Neither can fail.
#pragma once

#include "exec/direct/instruction.h"

// The rows of one first instruction, which stands behind the number of bits. Rotations are by constants.
#define HIATON_PAIRS_OF(X, T, Bits, ...)                      \
  X(T, __VA_ARGS__, AddI##Bits, Add, ResultSlot)              \
  X(T, __VA_ARGS__, AddI##Bits, Add, ResultConst)             \
  X(T, __VA_ARGS__, BitAndI##Bits, BitAnd, ResultSlot)        \
  X(T, __VA_ARGS__, BitOrI##Bits, BitOr, ResultSlot)          \
  X(T, __VA_ARGS__, BitXorI##Bits, BitXor, SlotSlot)          \
  X(T, __VA_ARGS__, BitXorI##Bits, BitXor, ResultSlot)        \
  X(T, __VA_ARGS__, RotateLeftI##Bits, RotateLeft, SlotConst) \
  X(T, __VA_ARGS__, RotateLeftI##Bits, RotateLeft, ResultConst)
#define HIATON_PAIRS_OF_TYPE(X, T, Bits)                                \
  HIATON_PAIRS_OF(X, T, Bits, AddI##Bits, Add, ResultSlot)              \
  HIATON_PAIRS_OF(X, T, Bits, AddI##Bits, Add, ResultConst)             \
  HIATON_PAIRS_OF(X, T, Bits, SubI##Bits, Sub, ResultConst)             \
  HIATON_PAIRS_OF(X, T, Bits, BitAndI##Bits, BitAnd, SlotSlot)          \
  HIATON_PAIRS_OF(X, T, Bits, BitAndI##Bits, BitAnd, ResultSlot)        \
  HIATON_PAIRS_OF(X, T, Bits, BitXorI##Bits, BitXor, SlotSlot)          \
  HIATON_PAIRS_OF(X, T, Bits, BitXorI##Bits, BitXor, ResultSlot)        \
  HIATON_PAIRS_OF(X, T, Bits, RotateLeftI##Bits, RotateLeft, SlotConst) \
  HIATON_PAIRS_OF(X, T, Bits, RotateLeftI##Bits, RotateLeft, ResultConst)

#define HIATON_INSTRUCTION_PAIRS(X)    \
  HIATON_PAIRS_OF_TYPE(X, int32_t, 32) \
  HIATON_PAIRS_OF_TYPE(X, int64_t, 64)
