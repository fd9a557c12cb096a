#include "exec/direct/kernel_table.h"

#include <map>

#include "kernels/bits.h"
#include "kernels/scalar.h"

namespace hiaton::exec::direct {

using namespace kernels;

namespace {

template <class Entry>
std::optional<Entry> look_up(const std::map<Kernel, Entry>& table, Kernel kernel) {
  const auto found = table.find(kernel);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<FastBinary> fast_binary(Kernel kernel) {
  static const std::map<Kernel, FastBinary> table = {
#define HIATON_ROW(Name, F, In, Out) \
  {binary<F, In, Out>, {Opcode::Name##_SlotSlot, Opcode::Name##_SlotConst, Opcode::Name##_ConstSlot}},
      HIATON_FAST_BINARY(HIATON_ROW)
#undef HIATON_ROW
  };
  return look_up(table, kernel);
}

std::optional<Opcode> fast_unary(Kernel kernel) {
  static const std::map<Kernel, Opcode> table = {
#define HIATON_ROW(Name, F, In, Out) {unary<F, In, Out>, Opcode::Name##_Slot},
      HIATON_FAST_UNARY(HIATON_ROW)
#undef HIATON_ROW
  };
  return look_up(table, kernel);
}

std::optional<FastBranch> fast_branch(Kernel predicate) {
  static const std::map<Kernel, FastBranch> table = {
#define HIATON_ROW(Name, F, In, Out)                                                                   \
  {binary<F, In, Out>,                                                                                 \
   {Opcode::Unless##Name##_SlotSlot, Opcode::Unless##Name##_SlotConst, Opcode::While##Name##_SlotSlot, \
    Opcode::While##Name##_SlotConst}},
      HIATON_FAST_PREDICATES(HIATON_ROW)
#undef HIATON_ROW
  };
  return look_up(table, predicate);
}

std::optional<FastReturn> fast_return(Kernel kernel) {
  static const std::map<Kernel, FastReturn> table = {
#define HIATON_ROW(Name, F, In, Out) \
  {binary<F, In, Out>, {Opcode::Return##Name##_SlotSlot, Opcode::Return##Name##_SlotConst}},
      HIATON_RETURNED_KERNELS(HIATON_ROW)
#undef HIATON_ROW
  };
  return look_up(table, kernel);
}

std::optional<FastReturnIf> fast_return_if(Kernel predicate) {
  static const std::map<Kernel, FastReturnIf> table = {
#define HIATON_ROW(Name, F, In, Out)                                            \
  {binary<F, In, Out>,                                                          \
   {{Opcode::If##Name##_SlotSlot_Const, Opcode::If##Name##_SlotSlot_Slot,       \
     Opcode::If##Name##_SlotConst_Const, Opcode::If##Name##_SlotConst_Slot},    \
    {Opcode::IfNot##Name##_SlotSlot_Const, Opcode::IfNot##Name##_SlotSlot_Slot, \
     Opcode::IfNot##Name##_SlotConst_Const, Opcode::IfNot##Name##_SlotConst_Slot}}},
      HIATON_RETURN_PREDICATES(HIATON_ROW)
#undef HIATON_ROW
  };
  return look_up(table, predicate);
}

Operands operands_of(Opcode opcode) {
  constexpr auto kFirst = static_cast<std::size_t>(Opcode::EqBool_SlotSlot);
  constexpr auto kEnd = static_cast<std::size_t>(Opcode::NotBool_Slot);
  const auto number = static_cast<std::size_t>(opcode);
  if (number >= kFirst && number < kEnd) return static_cast<Operands>((number - kFirst) % 3);
  switch (opcode) {
#define HIATON_CODE(Name, F, In, Out) case Opcode::Name##_ResultConst:
    HIATON_INTEGER_ARITHMETIC(HIATON_CODE)
#undef HIATON_CODE
    return Operands::SlotConst;
    default:
      return Operands::SlotSlot;
  }
}

bool is_returned_kernel(Opcode opcode) {
  switch (opcode) {
#define HIATON_OPCODE(Name) case Opcode::Name:
    HIATON_RETURNED_KERNELS(HIATON_RETURN_FORMS)
#undef HIATON_OPCODE
    return true;
    default:
      return false;
  }
}

const char* name_of(Opcode opcode) {
  static const char* const names[] = {
#define HIATON_OPCODE(Name) #Name,
      HIATON_ALL_OPCODES
#undef HIATON_OPCODE
  };
  return names[static_cast<std::size_t>(opcode)];
}

}  // namespace hiaton::exec::direct
