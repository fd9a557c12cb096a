// Instructions that do what several did.
#include <optional>

#include "exec/direct/compile/emit.h"

namespace hiaton::exec::direct {
namespace {

/// Opcodes that differ in how many values they are about: the first one, and how many there are.
struct OpcodeForms {
  Opcode first;
  std::size_t count;

  /// Which of them it is.
  constexpr std::optional<std::size_t> find(Opcode opcode) const {
    const std::size_t form = static_cast<std::size_t>(opcode) - static_cast<std::size_t>(first);
    return form < count ? std::optional(form) : std::nullopt;
  }
  constexpr Opcode operator[](std::size_t form) const {
    return static_cast<Opcode>(static_cast<std::size_t>(first) + form);
  }
};

constexpr OpcodeForms kTakes{Opcode::Take1, 4};
constexpr OpcodeForms kCalls{Opcode::Call1, 3};
constexpr OpcodeForms kTakesWithCall{Opcode::Take1Call1, 12};  // each take with each call
constexpr OpcodeForms kMakes{Opcode::Make1, 8};                // and those with constants
constexpr OpcodeForms kMakesWithHole{Opcode::MakeHole1, 8};
constexpr OpcodeForms kMakesToHole{Opcode::MakeToHole1, 8};
constexpr OpcodeForms kPeeks{Opcode::PeekObject1, 3};
constexpr OpcodeForms kPeeksWithTest{Opcode::PeekTest1, 3};
constexpr OpcodeForms kPeeksOrReturns{Opcode::PeekOrReturn1, 3};
constexpr OpcodeForms kNextPeeks{Opcode::NextPeekObject1, 3};
constexpr OpcodeForms kNextPeeksOrReturns{Opcode::NextPeekOrReturn1, 3};
constexpr OpcodeForms kSetElements{Opcode::SetElementOf8, 3};
constexpr OpcodeForms kSetElementsToConst{Opcode::ConstSetElementOf8, 3};
constexpr OpcodeForms kMatches{Opcode::MatchObject1, 4};
constexpr OpcodeForms kMatchesOrReturns{Opcode::MatchOrReturn1, 4};

static_assert(kTakesWithCall[11] == Opcode::Take4Call3);
static_assert(kMakes[7] == Opcode::MakeConst4 && kMakesWithHole[7] == Opcode::MakeConstHole4 &&
              kMakesToHole[7] == Opcode::MakeConstToHole4);

class InstructionFusion {
 public:
  explicit InstructionFusion(Plan& plan) : plan_(plan) {}

  void run(uint32_t begin) {
    const auto end = static_cast<uint32_t>(plan_.code.size());
    for (uint32_t i = end - 1; i-- > begin;) {
      take_and_call(i);
      make_with_hole(i);
      set_to_constant(i);
      compare_again(i);
      test_what_is_read(i);
      return_in_place(i, kPeeks, kPeeksOrReturns);
      return_in_place(i, kMatches, kMatchesOrReturns);
    }
    for (uint32_t i = begin; i < end; ++i) peek_at_target(i);
  }

 private:
  const Instruction& at(uint32_t i) const { return plan_.code[i]; }
  Opcode& opcode(uint32_t i) { return plan_.opcodes[i]; }
  uint32_t target(uint32_t i) const { return static_cast<uint32_t>(static_cast<int32_t>(i) + at(i).jump); }

  void take_and_call(uint32_t i) {
    const auto take = kTakes.find(opcode(i));
    const auto call = kCalls.find(opcode(i + 1));
    if (take && call) opcode(i) = kTakesWithCall[*take * kCalls.count + *call];
  }

  void make_with_hole(uint32_t i) {
    const auto make = kMakes.find(opcode(i));
    if (!make || opcode(i + 1) != Opcode::HoleOf || at(i + 1).a != at(i).d) return;
    const bool fills = opcode(i + 2) == Opcode::FillHole && at(i + 2).b() == at(i).d;
    opcode(i) = (fills ? kMakesToHole : kMakesWithHole)[*make];
  }

  void set_to_constant(uint32_t i) {
    const auto set = kSetElements.find(opcode(i + 1));
    if (set && opcode(i) == Opcode::Const && at(i).d == at(i + 1).b()) opcode(i) = kSetElementsToConst[*set];
  }

  void compare_again(uint32_t i) {
    if (opcode(i) != Opcode::UnlessLtI64_SlotSlot) return;
    const uint32_t to = target(i);
    if (opcode(to) == Opcode::UnlessGtI64_SlotSlot && at(to).a == at(i).a && at(to).d == at(i).d)
      opcode(i) = Opcode::UnlessLtGtI64_SlotSlot;
  }

  void test_what_is_read(uint32_t i) {
    const uint16_t read = at(i).d;  // the field that is read, or the first one
    const Opcode next = opcode(i + 1);
    if (const auto peek = kPeeks.find(opcode(i));
        peek && next == Opcode::UnlessImmediate && at(i + 1).a == read)
      opcode(i) = kPeeksWithTest[*peek];
    if (opcode(i) != Opcode::Field) return;
    if (next == Opcode::PeekTest1 && at(i + 1).a == read) opcode(i) = Opcode::FieldPeekTest;
    if (next == Opcode::UnlessLtI64_SlotSlot && at(i + 1).d == read && at(i + 1).a != read)
      opcode(i) = Opcode::FieldUnlessLt;
  }

  /// Where the other side only returns a number, that stands in place of the jump.
  void return_in_place(uint32_t i, const OpcodeForms& forms, const OpcodeForms& returning) {
    const auto form = forms.find(opcode(i));
    if (!form || opcode(target(i)) != Opcode::ReturnConst) return;
    const int64_t returned = at(target(i)).constant.i64;
    const auto number = static_cast<int32_t>(returned);
    if (number != returned) return;
    plan_.code[i].jump = number;
    opcode(i) = returning[*form];
  }

  void peek_at_target(uint32_t i) {
    if (opcode(i) != Opcode::NextField || at(target(i)).a != at(i).d) return;
    if (const auto peek = kPeeks.find(opcode(target(i)))) opcode(i) = kNextPeeks[*peek];
    if (const auto peek = kPeeksOrReturns.find(opcode(target(i)))) opcode(i) = kNextPeeksOrReturns[*peek];
  }

  Plan& plan_;
};

}  // namespace

void fuse_instructions(Plan& plan, uint32_t begin) {
  InstructionFusion(plan).run(begin);
}

}  // namespace hiaton::exec::direct
