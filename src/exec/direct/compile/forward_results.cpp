#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "exec/direct/compile/direct_passes.h"
#include "kernels/bits.h"
#include "kernels/scalar.h"

namespace hiaton::exec::direct {
namespace {

enum class ResultUse : uint8_t {
  None,     ///< the latest result may stand in no register behind it
  Keeps,    ///< a branch: the latest result stays
  Computes  ///< its result is the latest one, in slot d
};

ResultUse use_of(Opcode opcode) {
  switch (opcode) {
#define HIATON_OPCODE(Name) case Opcode::Name:
    HIATON_INTEGER_UNARY(HIATON_UNARY_FORMS)
    HIATON_INTEGER_UNARY(HIATON_UNARY_RESULT_FORMS)
    HIATON_INTEGER_ARITHMETIC(HIATON_BINARY_FORMS)
    HIATON_INTEGER_ARITHMETIC(HIATON_BINARY_RESULT_FORMS)
    case Opcode::ElementOf8:
    case Opcode::ElementOf4:
    case Opcode::ElementOf1:
    case Opcode::ElementOf8In2:
    case Opcode::ElementOf4In2:
    case Opcode::ElementOf1In2:
    case Opcode::SizeOf:
    case Opcode::Field:
    case Opcode::Field2:
    case Opcode::Field3:
    case Opcode::PeekObject1:
    case Opcode::PeekObject2:
    case Opcode::PeekObject3:
    case Opcode::PeekVariant1:
    case Opcode::PeekVariant2:
    case Opcode::PeekVariant3:
    case Opcode::PeekOrReturn1:
    case Opcode::PeekOrReturn2:
    case Opcode::PeekOrReturn3:
      return ResultUse::Computes;
      HIATON_FAST_PREDICATES(HIATON_BRANCH_FORMS)
      HIATON_INTEGER_PREDICATES(HIATON_BRANCH_RESULT_FORMS)
      return ResultUse::Keeps;
#undef HIATON_OPCODE
    default:
      return ResultUse::None;
  }
}

/// The form of the instruction that takes its left operand from the register.
std::optional<Opcode> result_form(Opcode opcode) {
  switch (opcode) {
#define HIATON_FORM(from, to) \
  case Opcode::from:          \
    return Opcode::to;
#define HIATON_CODE(Name, F, In, Out) HIATON_FORM(Name##_Slot, Name##_Result)
    HIATON_INTEGER_UNARY(HIATON_CODE)
#undef HIATON_CODE
#define HIATON_CODE(Name, F, In, Out)             \
  HIATON_FORM(Name##_SlotSlot, Name##_ResultSlot) \
  HIATON_FORM(Name##_SlotConst, Name##_ResultConst)
    HIATON_INTEGER_ARITHMETIC(HIATON_CODE)
#undef HIATON_CODE
#define HIATON_CODE(Name, F, In, Out)                               \
  HIATON_FORM(Unless##Name##_SlotSlot, Unless##Name##_ResultSlot)   \
  HIATON_FORM(Unless##Name##_SlotConst, Unless##Name##_ResultConst) \
  HIATON_FORM(While##Name##_SlotSlot, While##Name##_ResultSlot)     \
  HIATON_FORM(While##Name##_SlotConst, While##Name##_ResultConst)
    HIATON_INTEGER_PREDICATES(HIATON_CODE)
#undef HIATON_CODE
#undef HIATON_FORM
    default:
      return std::nullopt;
  }
}

template <class F, class... Fs>
constexpr bool is_one_of = (std::is_same_v<F, Fs> || ...);

/// Whether its operands are two slots, which may change places. Not where it can fail: errors show them in
/// their order.
bool is_commutative(Opcode opcode) {
  using namespace kernels;
  switch (opcode) {
#define HIATON_CODE(Name, F, In, Out) \
  case Opcode::Name##_SlotSlot:       \
    return is_one_of<F, Add, Mul, Min, Max, BitAnd, BitOr, BitXor>;
    HIATON_INTEGER_ARITHMETIC(HIATON_CODE)
#undef HIATON_CODE
    default:
      return false;
  }
}

bool jumps(Opcode opcode) {
  const auto is_between = [&](Opcode first, Opcode last) { return opcode >= first && opcode <= last; };
  return is_between(Opcode::Jump, Opcode::LoopTrue) || is_between(Opcode::Fork, Opcode::ForkRoom) ||
         is_between(Opcode::NextField, Opcode::NextPeekOrReturn3) ||
         is_between(Opcode::UnlessVariant, Opcode::PeekVariant3) ||
         is_between(Opcode::PeekTest1, Opcode::FieldUnlessLt) ||
         is_between(Opcode::MatchObject1, Opcode::MatchObject4) ||
         is_between(Opcode::MatchVariant1, Opcode::MatchVariant4) ||
         is_between(Opcode::UnlessEqBool_SlotSlot, Opcode::WhileGeF64_SlotConst);
}

/// By instruction: whether it is reached in another way than from the one before.
std::vector<bool> find_targets(const Plan& plan) {
  std::vector<bool> is_target(plan.code.size());
  for (const Plan::Body& body : plan.bodies) is_target[body.begin + 1] = true;
  for (const Group& group : plan.groups) {
    is_target[plan.index_of(group.joined)] = true;
    for (const Group::Call& call : group.calls) is_target[plan.index_of(call.resume)] = true;
  }
  for (std::size_t i = 0; i < plan.code.size(); ++i) {
    const auto mark = [&](int32_t jump) {
      is_target[static_cast<std::size_t>(static_cast<int64_t>(i) + jump)] = true;
    };
    if (jumps(plan.opcodes[i])) mark(plan.code[i].jump);
    if (jumps_by_table(plan.opcodes[i])) {
      std::ranges::for_each(std::span(plan.code[i].jumps, plan.code[i].count), mark);
    };
  }
  return is_target;
}

}  // namespace

void forward_results(Plan& plan) {
  const std::vector<bool> is_target = find_targets(plan);
  uint16_t latest = kNoSlot;  ///< the slot of the latest result
  for (std::size_t i = 0; i < plan.code.size(); ++i) {
    if (is_target[i]) latest = kNoSlot;
    Opcode& opcode = plan.opcodes[i];
    Instruction& instruction = plan.code[i];
    if (instruction.b() == latest && is_commutative(opcode)) std::swap(instruction.a, instruction.b());
    if (const auto form = result_form(opcode); form && instruction.a == latest) opcode = *form;
    switch (use_of(opcode)) {
      case ResultUse::None:
        latest = kNoSlot;
        break;
      case ResultUse::Keeps:
        break;
      case ResultUse::Computes:
        latest = instruction.d;
        break;
    }
  }
}

}  // namespace hiaton::exec::direct
