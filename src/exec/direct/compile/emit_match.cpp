// Matches of several variants. Branches on the variants of one value, each on the side of the one before
// where that does not hold, are one jump through a table.
#include <algorithm>

#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

/// Fewer tests are faster than the jump: each is one instruction with what takes the value apart, the jump is
/// one more.
constexpr std::size_t kLeastTests = 3;

}  // namespace

uint32_t BodyEmitter::emit_side_branch(const Conditional& conditional, const Condition& condition,
                                       std::size_t tests, int first) {
  if (first == 1) {
    const uint32_t branch = emit(Opcode::UnlessObject);
    at(branch).a = narrow(slot_of_.at(condition.test.data));
    last_test_ = branch;
    return branch;
  }
  if (tests > 0) {
    if (const auto match = go_on_with_match(conditional, condition.test)) return *match;
    if (tests >= kLeastTests) return emit_match_jump(conditional, condition.test);
  }
  return emit_branch(condition, false);
}

uint32_t BodyEmitter::emit_match_jump(const Conditional& conditional, const Ownership::VariantTest& test) {
  const uint32_t jump = emit(Opcode::MatchJump);
  at(jump).a = narrow(slot_of_.at(test.data));
  const std::size_t variants = graph_[test.data].type.data->variants.size();
  Match match{
      .jump = jump, .targets = std::vector(variants, Match::kNoTarget), .others = conditional.sides[1]};
  match.targets[test.variant] = here();
  matches_.push_back(std::move(match));
  last_label_ = here();
  return jump;
}

/// The next test of a match, to which the match goes on directly.
std::optional<uint32_t> BodyEmitter::go_on_with_match(const Conditional& conditional,
                                                      const Ownership::VariantTest& test) {
  const auto match = std::ranges::find_if(matches_, [&](const Match& one) {
    return one.others == conditional.parent && one.others_at == here() &&
           at(one.jump).a == slot_of_.at(test.data);
  });
  if (match == matches_.end()) return std::nullopt;
  if (match->targets[test.variant] == Match::kNoTarget) match->targets[test.variant] = here();
  match->others = conditional.sides[1];
  match->others_at = Match::kNoTarget;
  return match->jump;
}

void BodyEmitter::set_other_variants(uint32_t match, uint32_t to) {
  std::ranges::find(matches_, match, &Match::jump)->others_at = to;
}

void BodyEmitter::set_jumps(Instruction& instruction, std::vector<int32_t> jumps) {
  plan_.jump_tables.push_back(std::move(jumps));
  instruction.jumps = plan_.jump_tables.back().data();
  instruction.count = static_cast<uint32_t>(plan_.jump_tables.back().size());
}

void BodyEmitter::finish_matches() {
  for (const Match& match : matches_) {
    std::vector<int32_t> jumps;
    for (const uint32_t target : match.targets) {
      const uint32_t to = target == Match::kNoTarget ? match.others_at : target;
      jumps.push_back(static_cast<int32_t>(to) - static_cast<int32_t>(match.jump));
    }
    set_jumps(at(match.jump), std::move(jumps));
  }
}

}  // namespace hiaton::exec::direct
