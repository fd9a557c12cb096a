// Tests of one number. Branches that compare one slot with constants, each where the one before has decided
// nothing, are one jump: through a table where the constants stand close together, else by binary search.
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/fast_kernels.h"
#include "kernels/scalar.h"

namespace hiaton::exec::direct {

using namespace kernels;

namespace {

/// Fewer tests are as fast or faster: a processor predicts them one by one, and goes on before it knows the
/// number, which the jump waits for.
constexpr std::size_t kFewestTests = 12;
/// The most entries of a table for each of its tests.
constexpr uint64_t kMostEntries = 8;

/// A branch on how the number in a slot compares with a constant. An instruction that returns on one side is
/// the target of that side itself.
struct Test {
  uint16_t slot;
  int64_t constant;
  bool (*holds)(int64_t, int64_t);
  std::array<uint32_t, 2> targets;  ///< where it holds, and where not
};

template <class Predicate>
bool holds(int64_t number, int64_t constant) {
  return Predicate{}(number, constant);
}

std::optional<Test> test_at(const Plan& plan, uint32_t index) {
  const Instruction& at = plan.code[index];
  const auto test = [&](auto predicate, uint32_t then, uint32_t otherwise) {
    return Test{at.a, at.constant.i64, holds<decltype(predicate)>, {then, otherwise}};
  };
  switch (plan.opcodes[index]) {
#define HIATON_CASE(Name, F, In, Out)                                                            \
  case Opcode::Unless##Name##_SlotConst:                                                         \
    if constexpr (std::is_same_v<In, int64_t>)                                                   \
      return test(F{}, index + 1, static_cast<uint32_t>(static_cast<int32_t>(index) + at.jump)); \
    break;
    HIATON_INTEGER_PREDICATES(HIATON_CASE)
#undef HIATON_CASE
#define HIATON_CASE(Name, F, In, Out)                                              \
  case Opcode::If##Name##_SlotConst_Const:                                         \
  case Opcode::If##Name##_SlotConst_Slot:                                          \
    if constexpr (std::is_same_v<In, int64_t>) return test(F{}, index, index + 1); \
    break;                                                                         \
  case Opcode::IfNot##Name##_SlotConst_Const:                                      \
  case Opcode::IfNot##Name##_SlotConst_Slot:                                       \
    if constexpr (std::is_same_v<In, int64_t>) return test(F{}, index + 1, index); \
    break;
    HIATON_RETURN_PREDICATES(HIATON_CASE)
#undef HIATON_CASE
    default:
      break;
  }
  return std::nullopt;
}

/// The tests of one slot that follow from the one at `first`, as a tree.
class TestTree {
 public:
  TestTree(const Plan& plan, uint32_t first) : first_(first) {
    std::vector<uint32_t> found{first};
    while (!found.empty()) {
      const uint32_t index = found.back();
      found.pop_back();
      if (is_test(index)) continue;
      const std::optional<Test> test = test_at(plan, index);
      if (!test || test->slot != plan.code[first].a) continue;
      if (tests_.size() <= index - first) tests_.resize(index - first + 1);
      tests_[index - first] = test;
      indices_.push_back(index);
      for (const uint32_t target : test->targets) {
        if (target > index) found.push_back(target);
      }
    }
  }

  /// Where the tests are.
  const std::vector<uint32_t>& indices() const { return indices_; }

  /// Where the number goes on behind all tests.
  uint32_t target_of(int64_t number) const {
    uint32_t index = first_;
    while (is_test(index)) {
      const Test& test = *tests_[index - first_];
      const uint32_t next = test.targets[test.holds(number, test.constant) ? 0 : 1];
      if (next <= index) return next;
      index = next;
    }
    return index;
  }

  /// The least numbers of the intervals within which all tests come out alike.
  std::vector<int64_t> begins() const {
    std::vector<int64_t> begins{std::numeric_limits<int64_t>::min()};
    for (const uint32_t index : indices_) {
      const int64_t constant = tests_[index - first_]->constant;
      begins.push_back(constant);
      if (constant != std::numeric_limits<int64_t>::max()) begins.push_back(constant + 1);
    }
    std::ranges::sort(begins);
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    return begins;
  }

 private:
  bool is_test(uint32_t index) const { return index - first_ < tests_.size() && tests_[index - first_]; }

  const uint32_t first_;
  std::vector<std::optional<Test>> tests_;  ///< by index, counted from the first
  std::vector<uint32_t> indices_;
};

}  // namespace

/// The jump takes the place of the first test. Where that is an instruction that returns on one side, a copy
/// of it after the body does so.
void BodyEmitter::merge_tests(uint32_t begin) {
  std::vector<bool> merged(here() - begin, false);
  const uint32_t end = here();
  for (uint32_t first = begin; first < end; ++first) {
    if (merged[first - begin] || !test_at(plan_, first)) continue;
    const TestTree tree(plan_, first);
    for (const uint32_t index : tree.indices()) merged[index - begin] = true;
    if (tree.indices().size() < kFewestTests) continue;
    uint32_t returning = first;
    const auto target_of = [&](int64_t number) {
      const uint32_t target = tree.target_of(number);
      if (target != first) return static_cast<int32_t>(target) - static_cast<int32_t>(first);
      if (returning == first) {
        returning = emit(plan_.opcodes[first], plan_.nodes[first]);
        at(returning) = at(first);
        plan_.params_held[returning] = plan_.params_held[first];
      }
      return static_cast<int32_t>(returning) - static_cast<int32_t>(first);
    };
    Instruction jump;
    jump.a = at(first).a;
    const std::vector<int64_t> begins = tree.begins();
    const int64_t least = begins[1] - 1;
    const uint64_t last = static_cast<uint64_t>(begins.back()) - static_cast<uint64_t>(least);
    const bool is_dense = last < kMostEntries * tree.indices().size();
    std::vector<int32_t> jumps;
    if (is_dense) {
      for (uint64_t i = 0; i <= last; ++i) jumps.push_back(target_of(least + static_cast<int64_t>(i)));
      jump.least = least;
    } else {
      std::vector<int64_t>& kept = plan_.interval_begins.emplace_back();
      for (const int64_t number : begins) {
        const int32_t target = target_of(number);
        if (!jumps.empty() && jumps.back() == target) continue;
        kept.push_back(number);
        jumps.push_back(target);
      }
      jump.begins = plan_.interval_begins.back().data();
    }
    set_jumps(jump, std::move(jumps));
    at(first) = jump;
    plan_.opcodes[first] = is_dense ? Opcode::NumberJump : Opcode::IntervalJump;
  }
}

}  // namespace hiaton::exec::direct
