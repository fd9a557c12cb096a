// Plans as text. What an instruction's fields mean is read off its name: see instruction.h.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "exec/direct/direct_plan.h"
#include "exec/direct/kernel_table.h"

namespace hiaton::exec::direct {
namespace {

class InstructionText {
 public:
  InstructionText(const Plan& plan, const graph::Graph& graph, uint32_t index)
      : plan_(plan),
        graph_(graph),
        index_(index),
        at_(plan.code[index]),
        opcode_(plan.opcodes[index]),
        name_(name_of(opcode_)) {}

  std::string text() const {
    if (has_tensor_operation(opcode_)) return fmt::format("{} = {}", slot(at_.d), tensor_operation());
    switch (opcode_) {
      case Opcode::Header:
        return fmt::format("results of a stolen call to {} in {}", callee(), slot(at_.d));
      case Opcode::Const:
      case Opcode::ConstSetElementOf8:
      case Opcode::ConstSetElementOf4:
      case Opcode::ConstSetElementOf1:
        return fmt::format("{} = {}", slot(at_.d), constant_of());
      case Opcode::Move:
      case Opcode::Apply1:
        return fmt::format("{} = {}", slot(at_.d), slot(at_.a));
      case Opcode::Apply2:
        return fmt::format("{} = {}, {}", slot(at_.d), slot(at_.a), slot(at_.b()));
      case Opcode::Apply3:
        return fmt::format("{} = {}, {}, {}", slot(at_.d), slot(at_.a), slot(at_.b()), slot(at_.c()));
      case Opcode::Jump:
      case Opcode::JumpBack:
      case Opcode::ForkRoom:
        return target();
      case Opcode::BranchFalse:
      case Opcode::LoopTrue:
        return slot(at_.a) + ": " + target();
      case Opcode::Call1:
      case Opcode::Call2:
      case Opcode::Call3:
      case Opcode::Call4:
      case Opcode::CallN:
      case Opcode::Call2Const:
      case Opcode::Call3Const:
        return fmt::format("{} = {}({})", slot(at_.d), callee(), arguments());
      case Opcode::TailCall1:
      case Opcode::TailCall2:
      case Opcode::TailCall3:
      case Opcode::TailCall4:
      case Opcode::TailCallN:
      case Opcode::TailCall2Const:
      case Opcode::TailCall3Const:
        return fmt::format("{}({})", callee(), arguments());
      case Opcode::NextField:
      case Opcode::NextPeekObject1:
      case Opcode::NextPeekObject2:
      case Opcode::NextPeekObject3:
      case Opcode::NextPeekOrReturn1:
      case Opcode::NextPeekOrReturn2:
      case Opcode::NextPeekOrReturn3:
        return fmt::format("{} = {}.{}, {} + {}: {}", slot(at_.d), slot(at_.a), at_.number,
                           slot(static_cast<uint16_t>(at_.plus[0])), at_.plus[1], target());
      case Opcode::Return1:
        return slot(at_.a);
      case Opcode::ReturnConst:
        return constant_of();
      case Opcode::ReturnSum:
        return fmt::format("{}, {}, {}", slot(at_.a), slot(at_.b()), at_.constant.i64);
      case Opcode::ReturnN:
        return slots(at_.returns->slots);
      case Opcode::Fork:
        return group() + "; no room: " + target();
      case Opcode::ForkSome:
        return fmt::format("{}, the first {}", group(), slot(at_.a));
      case Opcode::NextOfSome:
        return fmt::format("{}, {} of {} done", group(), at_.a, slot(at_.d));
      case Opcode::Next:
        return fmt::format("{}, {} done", group(), at_.a);
      case Opcode::Join:
      case Opcode::StolenReturn:
        return group();
      case Opcode::SendCall:
        return fmt::format("{}", at_.number);
      case Opcode::Halt:
      case Opcode::BeginCall:
      case Opcode::EndCall:
        return {};
      case Opcode::Retain:
      case Opcode::Release:
      case Opcode::RetainTensor:
      case Opcode::ReleaseTensor:
      case Opcode::Print:
        return slot(at_.a);
      case Opcode::Settle:
        return fmt::format("{} holds {}", slot(at_.a), slot(at_.b()));
      case Opcode::StringLength:
        return fmt::format("{} = length of {}", slot(at_.d), slot(at_.a));
      case Opcode::CodePoint:
        return fmt::format("{} = {}[{}]", slot(at_.d), slot(at_.a), slot(at_.b()));
      case Opcode::Parameter:
        return fmt::format("{} = {}", slot(at_.d), graph_.parameters()[at_.number].name);
      case Opcode::Field:
      case Opcode::FieldPeekTest:
      case Opcode::FieldUnlessLt:
        return fmt::format("{} = {}.{}", slot(at_.d), slot(at_.a), at_.number);
      case Opcode::Field2:
      case Opcode::Field3:
        return peeks(Opcode::Field);
      case Opcode::MatchJump:
        return fmt::format("{}: {}", slot(at_.a),
                           jumps([](uint32_t variant) { return std::to_string(variant); }));
      case Opcode::NumberJump:
        return fmt::format("{}: {}", slot(at_.a), jumps([&](uint32_t i) { return number_of_jump(i); }));
      case Opcode::IntervalJump:
        return fmt::format("{}: {}", slot(at_.a), jumps([&](uint32_t i) { return interval_of_jump(i); }));
      case Opcode::VariantOf:
        return fmt::format("{} = {}", slot(at_.d), slot(at_.a));
      case Opcode::RequireVariant:
        return fmt::format("{}, {}", slot(at_.a), at_.number);
      case Opcode::UnlessVariant:
        return fmt::format("{}, {}: {}", slot(at_.a), at_.number, target());
      case Opcode::UnlessImmediate:
        return fmt::format("{}, {}: {}", slot(at_.a), at_.number / 2, target());
      case Opcode::UnlessObject:
        return fmt::format("{}: {}", slot(at_.a), target());
      case Opcode::PeekObject1:
      case Opcode::PeekObject2:
      case Opcode::PeekObject3:
        return fmt::format("{}; else {}", peeks(Opcode::PeekObject1), target());
      case Opcode::PeekOrReturn1:
      case Opcode::PeekOrReturn2:
      case Opcode::PeekOrReturn3:
        return fmt::format("{}; else returns {}", peeks(Opcode::PeekOrReturn1), at_.jump);
      case Opcode::PeekTest1:
      case Opcode::PeekTest2:
      case Opcode::PeekTest3:
        return fmt::format("{}; else {}", peeks(Opcode::PeekTest1), target());
      case Opcode::PeekVariant1:
      case Opcode::PeekVariant2:
      case Opcode::PeekVariant3:
        return fmt::format("{}, {}; else {}", peeks(Opcode::PeekVariant1), at_.number >> 16, target());
      case Opcode::Take1:
      case Opcode::Take2:
      case Opcode::Take3:
      case Opcode::Take4:
      case Opcode::Take1Call1:
      case Opcode::Take1Call2:
      case Opcode::Take1Call3:
      case Opcode::Take2Call1:
      case Opcode::Take2Call2:
      case Opcode::Take2Call3:
      case Opcode::Take3Call1:
      case Opcode::Take3Call2:
      case Opcode::Take3Call3:
      case Opcode::Take4Call1:
      case Opcode::Take4Call2:
      case Opcode::Take4Call3:
      case Opcode::TakeN:
        return fmt::format("{} = {}", taken(), slot(at_.a));
      case Opcode::MatchObject1:
      case Opcode::MatchObject2:
      case Opcode::MatchObject3:
      case Opcode::MatchObject4:
        return fmt::format("{} = {}; else {}", taken(), slot(at_.a), target());
      case Opcode::MatchOrReturn1:
      case Opcode::MatchOrReturn2:
      case Opcode::MatchOrReturn3:
      case Opcode::MatchOrReturn4:
        return fmt::format("{} = {}; else returns {}", taken(), slot(at_.a), at_.jump);
      case Opcode::MatchVariant1:
      case Opcode::MatchVariant2:
      case Opcode::MatchVariant3:
      case Opcode::MatchVariant4:
        return fmt::format("{} = {}, {}; else {}", taken(), slot(at_.a), at_.d, target());
      case Opcode::Make1:
      case Opcode::Make2:
      case Opcode::Make3:
      case Opcode::Make4:
      case Opcode::MakeConst1:
      case Opcode::MakeConst2:
      case Opcode::MakeConst3:
      case Opcode::MakeConst4:
      case Opcode::MakeHole1:
      case Opcode::MakeHole2:
      case Opcode::MakeHole3:
      case Opcode::MakeHole4:
      case Opcode::MakeConstHole1:
      case Opcode::MakeConstHole2:
      case Opcode::MakeConstHole3:
      case Opcode::MakeConstHole4:
      case Opcode::MakeToHole1:
      case Opcode::MakeToHole2:
      case Opcode::MakeToHole3:
      case Opcode::MakeToHole4:
      case Opcode::MakeConstToHole1:
      case Opcode::MakeConstToHole2:
      case Opcode::MakeConstToHole3:
      case Opcode::MakeConstToHole4:
      case Opcode::MakeN:
        return fmt::format("{} = {}({})", slot(at_.d), variant_of(made_header()), made());
      case Opcode::ReturnMake1:
      case Opcode::ReturnMake2:
      case Opcode::ReturnMake3:
      case Opcode::ReturnMake4:
      case Opcode::ReturnMakeConst1:
      case Opcode::ReturnMakeConst2:
      case Opcode::ReturnMakeConst3:
      case Opcode::ReturnMakeConst4:
        return fmt::format("{}({})", variant_of(made_header()), made());
      case Opcode::HoleOf:
        return fmt::format("{} = address of {}.{}", slot(at_.d), slot(at_.a), at_.number);
      case Opcode::FillHole:
      case Opcode::ReturnToHole:
        return fmt::format("at {}: {}", slot(at_.a), slot(at_.b()));
      case Opcode::Count:
        return fmt::format("region {}", at_.number);
      default:
        return computation();
    }
  }

 private:
  /// The address of a tensor tells nobody anything.
  std::string constant_of() const {
    const bool is_tensor = std::ranges::any_of(graph_.nodes(), [&](const graph::Node& node) {
      return node.kind == graph::NodeKind::Const && node.type.is_tensor() &&
             node.constant.slot().bits == at_.constant.bits;
    });
    return is_tensor ? "a constant tensor" : fmt::format("{}", at_.constant.i64);
  }

  /// An operand that the operation lets go of has a star.
  std::string tensor_operation() const {
    std::string operands;
    for (const TensorOperation::Operand& operand : at_.tensor->operands) {
      if (!operands.empty()) operands += ", ";
      operands += slot(operand.slot) + (operand.takes ? "*" : "");
    }
    return fmt::format("{}({}) : {}", at_.tensor->op->name.value, operands, to_string(at_.tensor->type));
  }

  static std::string slot(uint32_t number) { return fmt::format("s{}", number); }

  static std::string slots(const std::vector<uint16_t>& numbers) {
    std::string text;
    for (const uint16_t number : numbers) text += (text.empty() ? "" : ", ") + slot(number);
    return text;
  }

  std::string target() const { return fmt::format("to {}", static_cast<int32_t>(index_) + at_.jump); }
  std::string callee() const {
    const graph::CallSite site = plan_.sites[index_];
    return site.valid() ? graph_[graph_[site].callee].name : "task";
  }

  /// What goes on at the same place stands together; `name` says which values a jump is for.
  template <class Name>
  std::string jumps(const Name& name) const {
    std::map<int32_t, std::string> names;
    for (uint32_t i = 0; i < at_.count; ++i) {
      std::string& text = names[at_.jumps[i]];
      text += fmt::format("{}{}", text.empty() ? "" : " ", name(i));
    }
    std::string text;
    for (const auto& [jump, of] : names) {
      text += fmt::format("{}{} to {}", text.empty() ? "" : ", ", of, static_cast<int32_t>(index_) + jump);
    }
    return text;
  }
  /// The first and the last jump are for what is less and more, too.
  std::string number_of_jump(uint32_t i) const {
    const int64_t number = at_.least + static_cast<int64_t>(i);
    if (i == 0) return fmt::format("..{}", number);
    return i + 1 == at_.count ? fmt::format("{}..", number) : std::to_string(number);
  }
  std::string interval_of_jump(uint32_t i) const {
    if (i + 1 == at_.count) return i == 0 ? "all" : fmt::format("{}..", at_.begins[i]);
    if (i == 0) return fmt::format("..{}", at_.begins[1] - 1);
    const int64_t last = at_.begins[i + 1] - 1;
    return at_.begins[i] == last ? std::to_string(last) : fmt::format("{}..{}", at_.begins[i], last);
  }

  std::string taken() const {
    std::string text;
    for (const TakeList::Field& field : at_.taken->fields) {
      text += (text.empty() ? "" : ", ") + (field.slot == kNoSlot ? "_" : slot(field.slot));
    }
    return text;
  }
  uint64_t made_header() const { return opcode_ == Opcode::MakeN ? at_.made->header : at_.number; }
  static uint64_t variant_of(uint64_t header) { return header >> 17 & 0x7fff; }
  std::string made() const {
    if (opcode_ == Opcode::MakeN) return slots(at_.made->slots);
    const auto form = static_cast<std::size_t>(opcode_) - static_cast<std::size_t>(Opcode::Make1);
    std::string text;
    for (std::size_t i = 0; i <= form % 4; ++i) {
      const bool is_constant = form / 4 % 2 == 1 && at_.a == i;
      text += (text.empty() ? "" : ", ") + (is_constant ? fmt::format("{}", at_.jump) : slot(at_.takes[i]));
    }
    return text;
  }
  std::string peeks(Opcode one) const {
    const auto count = static_cast<std::size_t>(opcode_) - static_cast<std::size_t>(one) + 1;
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const PeekedField field = peeked(at_, i);
      text += fmt::format("{}{} = {}.{}", i == 0 ? "" : ", ", slot(field.slot), slot(at_.a), field.field);
    }
    return text;
  }

  std::string group() const {
    const auto found = std::find_if(plan_.groups.begin(), plan_.groups.end(),
                                    [&](const Group& group) { return &group == at_.group; });
    return fmt::format("group {}", found - plan_.groups.begin());
  }

  static std::string argument(const Argument& argument) {
    if (argument.is_constant()) return fmt::format("{}", argument.plus);
    if (argument.plus == 0) return slot(argument.slot);
    return fmt::format("{} {} {}", slot(argument.slot), argument.plus < 0 ? '-' : '+',
                       std::abs(int{argument.plus}));
  }

  std::string arguments() const {
    std::array<Argument, kMostPassed> in_instruction;
    std::string text;
    for (const Argument& from : plan_.arguments_of(&at_, in_instruction)) {
      text += (text.empty() ? "" : ", ") + argument(from);
    }
    return text;
  }

  bool has(std::string_view part) const { return name_.find(part) != std::string_view::npos; }
  bool starts_with(std::string_view part) const { return name_.starts_with(part); }

  std::string constant(const Slot& value) const {
    if (has("F64")) return fmt::format("{}", value.f64);
    if (has("F32")) return fmt::format("{}", value.f32);
    if (has("I32")) return fmt::format("{}", value.i32);
    if (has("Bool")) return value.boolean ? "true" : "false";
    return fmt::format("{}", value.i64);
  }

  /// One of the kernels that have instructions of their own, in one of its forms.
  std::string computation() const {
    const bool branches = starts_with("Unless") || starts_with("While");
    const bool may_return = starts_with("If");
    const bool is_predicate = branches || may_return;  // its right operand is in d
    const uint16_t right_slot = is_predicate ? at_.d : at_.b();
    std::string operands = slot(at_.a);
    if (has("_ConstSlot")) operands = fmt::format("{}, {}", constant(at_.constant), slot(at_.b()));
    if (has("_SlotSlot") || has("_ResultSlot")) operands += ", " + slot(right_slot);
    if (has("_SlotConst") || has("_ResultConst")) operands += ", " + constant(at_.constant);
    if (branches) return operands + ": " + target();
    if (may_return && name_.ends_with("_Const")) return fmt::format("{}: {}", operands, constant(at_.other));
    if (may_return) return fmt::format("{}: {}", operands, slot(at_.c()));
    if (starts_with("Return")) return operands;
    return fmt::format("{} = {}", slot(at_.d), operands);
  }

  const Plan& plan_;
  const graph::Graph& graph_;
  const uint32_t index_;
  const Instruction& at_;
  const Opcode opcode_;
  const std::string_view name_;
};

}  // namespace

std::string to_text(const Plan& plan, const graph::Graph& graph) {
  std::string text;
  for (const Plan::Body& body : plan.bodies) {
    text += fmt::format("{} ({}), {} bytes a frame\n", graph[body.function].name,
                        body.part == Plan::Body::Part::Sent ? "sent"
                        : !body.is_whole()                  ? "task"
                        : body.forking ? (body.to_hole ? "forking, to a hole" : "forking")
                        : body.to_hole ? "sequential, to a hole"
                                       : "sequential",
                        frame_bytes(body.slots));
    for (uint32_t i = body.begin + 1; i < body.end; ++i) {
      text += fmt::format("{:4} {:<25} {}\n", i, name_of(plan.opcodes[i]),
                          InstructionText(plan, graph, i).text());
    }
  }
  return text;
}

}  // namespace hiaton::exec::direct
