// Operations on tensors fail where the reference says, and nowhere else, however a program is simplified and
// run: also where nobody needs what they give, and never in a branch that is not taken.
#include <gtest/gtest.h>

#include <limits>
#include <ostream>

#include "hiaton/lang.h"
#include "properties/ways.h"

namespace hiaton::properties {
namespace {

struct Expression {
  std::string name;
  std::string text;  ///< f32, of the parameters below
  bool always_fails = false;

  friend std::ostream& operator<<(std::ostream& out, const Expression& it) { return out << it.name; }
};

const Expression kExpressions[] = {
    {"a_row_out_of_range", "sum(z[i], axes=[0])"},
    {"an_element_out_of_range", "x[i]"},
    {"no_such_class", "cross_entropy(x, i)"},
    {"the_largest_of_none", "f32(argmax(e, axis=0))"},
    {"shapes_that_do_not_go_together", "sum(w + y, axes=[0])"},
    {"a_product_of_other_sizes", "dot(w, y)"},
    {"a_slice_beyond_the_end", "sum(slice(w, axis=0, start=2, length=2), axes=[0])"},
    {"a_shape_of_another_size", "sum(reshape(w, shape=[2, 2]), axes=[0, 1])"},
    {"a_call_with_other_sizes", "alike(w, y)"},
    {"a_division_by_a_zero", "f32(reduce_max(p / q, axes=[0]))"},
    {"a_division_by_a_constant_zero", "f32(reduce_max(p / [1, 0], axes=[0]))", true},
    {"a_cast_that_does_not_fit", "f32(reduce_max(i64(w), axes=[0]))"},
};

struct Context {
  std::string name;
  std::string text;  ///< f32, with the expression for E
  bool runs = true;

  friend std::ostream& operator<<(std::ostream& out, const Context& it) { return out << it.name; }
};

const Context kContexts[] = {
    {"used", "E"},
    {"used_twice", "E + E"},
    {"unused", "let unused = E 1.0"},
    {"unused_result_of_a_call", "let unused = called(x, z, e, w, y, p, q, i) 1.0"},
    {"unused_in_a_loop", "with a: f32 = 1.0 for k in 0..2 do let unused = E a + 1.0"},
    {"unused_in_a_branch", "if i > -1 then let unused = E 1.0 else 2.0"},
    {"behind_a_condition", "if i > -1 and E > 0.0 then 1.0 else 2.0"},
    {"in_a_branch_not_taken", "if i < 0 then E else 1.0", false},
    {"unused_in_a_branch_not_taken", "if i < 0 then let unused = E 1.0 else 2.0", false},
    {"behind_a_false_condition", "if i < 0 and E > 0.0 then 1.0 else 2.0", false},
    {"behind_a_true_alternative", "if i > -1 or E > 0.0 then 1.0 else 2.0", false},
    {"in_a_loop_that_never_turns", "with a: f32 = 1.0 for k in 0..0 do a + E", false},
};

std::string program_of(const Expression& expression, const Context& context) {
  std::string body = context.text;
  for (std::size_t at = body.find('E'); at != std::string::npos; at = body.find('E', at + 1)) {
    body.replace(at, 1, expression.text);
    at += expression.text.size() - 1;
  }
  const std::string parameters =
      "(x: f32[3], z: f32[2, 2], e: f32[j], w: f32[k], y: f32[m], p: i64[2], q: i64[2], i: i64) -> f32 =\n  ";
  return "fn alike(a: f32[n], b: f32[n]) -> f32 = 1.0\nfn called" + parameters + expression.text +
         "\nfn main" + parameters + body + "\n";
}

template <class T>
Value vector(std::initializer_list<T> elements) {
  Tensor tensor(ScalarTraits<T>::dtype, {static_cast<int64_t>(elements.size())});
  std::copy(elements.begin(), elements.end(), tensor.template mutable_data<T>());
  return tensor;
}

/// Arguments with which every expression fails, or none but those that always do.
std::vector<Value> arguments(bool failing) {
  const Value x = vector<float>({0.5, 1, 2});
  const Value z = Tensor(DType::F32, {2, 2});
  const Value p = vector<int64_t>({1, 2});
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (failing) {
    return {x,
            z,
            vector<float>({}),
            vector<float>({1, 2, kNan}),
            vector<float>({1, 2}),
            p,
            vector<int64_t>({1, 0}),
            int64_t{7}};
  }
  return {x,
          z,
          vector<float>({1}),
          vector<float>({1, 2, 3, 4}),
          vector<float>({1, 2, 3, 4}),
          p,
          vector<int64_t>({1, 2}),
          int64_t{1}};
}

class TensorFaults : public testing::TestWithParam<std::tuple<Expression, Context>> {};

TEST_P(TensorFaults, AreTheSameHoweverAProgramIsSimplifiedAndRun) {
  const auto& [expression, context] = GetParam();
  const std::string text = program_of(expression, context);
  for (const bool failing : {false, true}) {
    const Program program{.module = lang::parse(std::make_shared<Source>("main.hia", text)),
                          .arguments = arguments(failing)};
    const Outcome reference = Runner(program, OverflowMode::Wrap).run(ways()[0]);
    EXPECT_EQ(reference.fault != Fault::None, context.runs && (failing || expression.always_fails))
        << text << to_string(reference);
    Runner runner(program, OverflowMode::Wrap);
    for (const Way& way : ways()) {
      const Outcome outcome = runner.run(way);
      EXPECT_TRUE(agree(reference, outcome, true))
          << text << way.name << ": " << to_string(outcome) << ", expected " << to_string(reference);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, TensorFaults,
                         testing::Combine(testing::ValuesIn(kExpressions), testing::ValuesIn(kContexts)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace hiaton::properties
