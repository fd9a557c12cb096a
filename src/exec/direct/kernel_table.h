// Which kernels have instructions of their own.
#pragma once

#include <optional>

#include "exec/direct/instruction.h"

namespace hiaton::exec::direct {

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

struct FastReturn {
  Opcode slot_slot;
  Opcode slot_const;
};
/// Returns where the predicate holds, and where it does not; each by what the right operand and the result
/// are.
struct FastReturnIf {
  struct Forms {
    Opcode slot_const, slot_slot;    ///< right operand a slot; returns a constant, a slot
    Opcode const_const, const_slot;  ///< right operand a constant
  };
  Forms when, when_not;
};

std::optional<FastBinary> fast_binary(Kernel kernel);
std::optional<Opcode> fast_unary(Kernel kernel);
std::optional<FastBranch> fast_branch(Kernel predicate);
std::optional<FastReturn> fast_return(Kernel kernel);
std::optional<FastReturnIf> fast_return_if(Kernel predicate);

/// Which operands of an instruction that computes are constants.
enum class Operands : uint8_t { SlotSlot, SlotConst, ConstSlot };
Operands operands_of(Opcode opcode);

/// Whether the instruction computes what it returns.
bool is_returned_kernel(Opcode opcode);

/// The name of an opcode, for people.
const char* name_of(Opcode opcode);

}  // namespace hiaton::exec::direct
