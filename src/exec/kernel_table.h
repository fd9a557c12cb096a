// Which kernels have instructions of their own.
#pragma once

#include <optional>

#include "exec/instruction.h"

namespace hiaton::exec {

struct FastBinary {
  Opcode slot_slot;
  Opcode slot_const;
  Opcode const_slot;
};
struct FastBranch {
  Opcode unless_slot;
  Opcode unless_const;
  Opcode while_slot;
  Opcode while_const;
};

std::optional<FastBinary> fast_binary(Kernel kernel);
std::optional<Opcode> fast_unary(Kernel kernel);
std::optional<FastBranch> fast_branch(Kernel predicate);

/// Which operands of an instruction that computes are constants.
enum class Operands : uint8_t { SlotSlot, SlotConst, ConstSlot };
Operands operands_of(Opcode opcode);

/// The name of an opcode, for people.
const char* name_of(Opcode opcode);

}  // namespace hiaton::exec
