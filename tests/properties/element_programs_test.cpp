// Random programs that read and write elements of tensors by number: in loops, in branches, in recursion,
// with tensors handed on, kept beside and put into data values. All executors and modes give the values or
// the fault of the reference, and the same gradients.
//
// HIATON_PROGRAMS=10000 HIATON_SEED=7 test_properties --gtest_filter=*ElementPrograms.*
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "engine/all_ways.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kElementPrograms = sized_programs(150, 20);

using Names = std::vector<std::string>;

/// Writes one program on tensors of one type, sizes of which only the run knows.
class ElementWriter {
 public:
  ElementWriter(uint64_t seed, std::string element)
      : random_(seed), element_(std::move(element)), rank_(random_.between(1, 3)) {
    Names dims(static_cast<std::size_t>(rank_), "_");
    tensor_ = fmt::format("{}[{}]", element_, fmt::join(dims, ", "));
  }

  /// main(x, i) takes a tensor with three elements along each axis. Nearly all places are in it.
  std::string text() {
    std::string made = fmt::format("data Held = Held(first: {0}, second: {0}, at: i64)\n", tensor_);
    made += fmt::format(
        "fn turn(x: {0}, y: {0}, k: i64, i: i64) -> ({0}, {0}) =\n  if k <= 0 then (x, y) else\n{1}", tensor_,
        statements(2, 4));
    made += fmt::format("    turn({}, {}, k - 1, {})\n", tensor(2), tensor(1), number());
    made += fmt::format("fn looked(x: {0}, y: {0}, i: i64) -> {1} =\n  let k = i + 1\n  {2}\n", tensor_,
                        element_, element(2));
    made += fmt::format(
        "fn held(h: Held) -> Held =\n  let (x, y, i, k) = (h.first, h.second, h.at, h.at)\n"
        "  Held({}, {}, {})\n",
        tensor(2), tensor(1), number());
    made += fmt::format("fn run(x: {0}, i: i64) -> ({0}, {0}, {0}, {1}) =\n  let k = 2\n  let y = {2}\n",
                        tensor_, element_, copy());
    made += fmt::format("  let (x, y) = turn(x, y, {}, i)\n", random_.between(1, 3));
    made += fmt::format("  let (a, b) = with x: {0} = x, y: {0} = {1} for k in 0..{2} do ({3}, {4})\n",
                        tensor_, tensor(1), random_.between(1, 4), tensor(2), tensor(1));
    made += "  let h = held(held(Held(a, b, i)))\n  (h.first, h.second, x, looked(a, y, i))\n";
    const std::string of_three =
        fmt::format("{}[{}]", element_, fmt::join(Names(static_cast<std::size_t>(rank_), "3"), ", "));
    if (!has_gradients()) {
      return made + fmt::format("fn main(x: {1}, i: i64) -> ({0}, {0}, {0}, {2}) = run(x, i)\n", tensor_,
                                of_three, element_);
    }
    return made + fmt::format(
                      "fn loss(x: {1}, i: i64) -> {2} =\n  let (a, b, c, d) = run(x, i)\n"
                      "  sum(tanh(a) * b) + sum(c * c) + d\n"
                      "fn main(x: {1}, i: i64) -> ({0}, {0}, {0}, {2}, {1}) =\n"
                      "  let (a, b, c, d) = run(x, i)\n  (a, b, c, d, grad(loss)(x, i))\n",
                      tensor_, of_three, element_);
  }

  bool has_gradients() const { return element_ == "f64"; }

 private:
  /// Statements in front of a result: a new x, y or i.
  std::string statements(int least, int most) {
    std::string made;
    for (int count = random_.between(least, most); count > 0; --count) {
      const std::size_t what = random_.below(5);
      made += what == 0   ? fmt::format("    let i = {}\n", number())
              : what == 1 ? fmt::format("    let y = {}\n", tensor(2))
              : what == 2 ? swapped()
                          : fmt::format("    let x = {}\n", tensor(2));
    }
    return made;
  }

  /// Two elements in each other's place.
  std::string swapped() {
    const std::string from = place();
    const std::string to = place();
    return fmt::format("    let (p, q) = (x[{0}], x[{1}])\n    let x = (x with [{0}] = q) with [{1}] = p\n",
                       from, to);
  }

  std::string copy() { return random_.percent(50) ? "x" : element_ == "bool" ? "not x" : "x + x"; }

  std::string tensor(int depth) {
    const std::string one = random_.pick<std::string>({"x", "x", "y"});
    if (depth == 0) return one;
    switch (random_.below(7)) {
      case 0:
        return one;
      case 5:
        return resized(depth);
      case 1:
        return fmt::format("(if {} then {} else {})", condition(), tensor(depth - 1), tensor(depth - 1));
      case 2:
        if (rank_ > 1)
          return fmt::format("({} with [{}] = {}[{}])", tensor(depth - 1), number(), one, number());
        [[fallthrough]];
      case 3:
        return fmt::format("(with z: {} = {} for j in 0..3 do z with [{}] = {})", tensor_, tensor(depth - 1),
                           place("j"), arithmetic(fmt::format("z[{}]", place()), element(1)));
      case 4:
        return fmt::format("set_at({}, {}, {})", tensor(depth - 1), element(2), place_from_end());
      default:
        return fmt::format("({} with [{}] = {})", tensor(depth - 1), place(), element(2));
    }
  }

  /// One that gets more or fewer rows before it has three of them again.
  std::string resized(int depth) {
    const std::string from = tensor(depth - 1);
    const std::string row = rank_ == 1 ? element(1) : fmt::format("y[{}]", number());
    if (random_.percent(40)) return fmt::format("append_row(drop_last_row({}), {})", from, row);
    if (random_.percent(50)) return fmt::format("drop_last_row(append_row({}, {}))", from, row);
    const std::string grown = fmt::format("(with z: {} = {} for j in 0..{} do append_row(z, {}))", tensor_,
                                          from, random_.between(2, 9), row);
    return fmt::format("(with z: {} = {} while size(z, axis=0) > {} do drop_last_row(z))", tensor_, grown,
                       random_.percent(97) ? 3 : 2);
  }

  /// A place some of whose numbers count from the end.
  std::string place_from_end() {
    Names numbers;
    for (int axis = 0; axis < rank_; ++axis)
      numbers.push_back(random_.percent(60) ? fmt::format("{} - 3", number()) : number());
    return fmt::format("{}, from_end=1", fmt::join(numbers, ", "));
  }

  std::string element(int depth) {
    const std::string one = random_.pick<std::string>({"x", "x", "y"});
    const std::string read = random_.percent(20) ? fmt::format("at({}, {})", one, place_from_end())
                                                 : fmt::format("{}[{}]", one, place());
    if (depth == 0 || random_.percent(40)) return read;
    if (random_.percent(20))
      return fmt::format("(if {} then {} else {})", condition(), element(depth - 1), element(depth - 1));
    return arithmetic(element(depth - 1), read);
  }

  std::string arithmetic(const std::string& a, const std::string& b) {
    if (element_ == "bool") return fmt::format("({} != {})", a, b);
    if (element_ == "f64") return fmt::format("(sin({}) {} {})", a, random_.percent(50) ? "+" : "*", b);
    return fmt::format("({} {} {})", a, random_.percent(70) ? "+" : "*", b);
  }

  std::string condition() {
    if (random_.percent(50)) return fmt::format("{} % 2 == 0", number());
    if (element_ == "bool") return element(0);
    return fmt::format("{} < {}", element(0), element(0));
  }

  /// A number of an axis; out of it now and then.
  std::string number() {
    if (random_.percent(2)) return random_.percent(50) ? "(i + 1)" : "(k - 2)";
    const std::vector<std::string> forms{
        "0", "2", "i", "(i + 1) % 3", "(i * 2 + k) % 3", "size(x, axis=0) - 1 - i", "k % 3"};
    return random_.pick(forms);
  }
  std::string place(const std::string& frequent = "i % 3") {
    Names numbers;
    for (int axis = 0; axis < rank_; ++axis) numbers.push_back(random_.percent(40) ? frequent : number());
    return fmt::format("{}", fmt::join(numbers, ", "));
  }

  Random random_;
  std::string element_;
  std::string tensor_;
  int rank_;
};

/// Numbers for the elements of the argument.
Value elements_of(const Type& type, Random& random) {
  int64_t size = 1;
  for (const Dim& dim : type.shape) size *= dim.size;
  std::vector<std::string> elements;
  for (int64_t i = 0; i < size; ++i) {
    const int number = random.between(0, 9);
    elements.push_back(type.dtype == DType::Bool ? (number % 2 == 0 ? "true" : "false")
                                                 : std::to_string(number));
  }
  for (std::size_t axis = type.shape.size(); axis-- > 0;) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < elements.size(); i += 3)
      lines.push_back(
          fmt::format("[{}]", fmt::join(elements.begin() + static_cast<std::ptrdiff_t>(i),
                                        elements.begin() + static_cast<std::ptrdiff_t>(i) + 3, ",")));
    elements = std::move(lines);
  }
  return parse_value(type, elements[0]);
}

struct ElementEnd {
  std::vector<Value> values;
  Fault fault = Fault::None;
};

ElementEnd end_of_elements(const hiaton::Program& program, const std::vector<Value>& arguments,
                           RunOptions way) {
  RunStats stats;
  way.stats = &stats;
  way.checks_counts = true;
  ElementEnd end;
  try {
    end.values = program.run(arguments, way).values;
  } catch (const RunError& error) {
    end.fault = error.fault();
  }
  EXPECT_EQ(stats.values_live_at_end, 0u);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  return end;
}

/// Gradients of shared values are added in the order in which they come.
void expect_near_gradient(const Value& found, const Value& expected) {
  const Tensor a = found.tensor();
  const Tensor b = expected.tensor();
  ASSERT_EQ(a.size(), b.size());
  for (int64_t i = 0; i < a.size(); ++i) {
    const double wanted = b.data<double>()[i];
    if (std::isfinite(wanted)) {
      EXPECT_NEAR(a.data<double>()[i], wanted, 1e-9 * (1 + std::abs(wanted))) << i;
    }
  }
}

/// What the program gives; the fifth value is a gradient.
void expect_same_elements(const std::vector<Value>& found, const std::vector<Value>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i == 4) {
      expect_near_gradient(found[i], expected[i]);
    } else {
      EXPECT_TRUE(same(found[i], expected[i])) << i;
    }
  }
}

/// Examples that run at once have their tensors in common blocks, which they change in place together.
TEST(ElementPrograms, OfSeveralExamplesAreThoseOfEach) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kElementPrograms);
  uint64_t compared = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    ElementWriter writer(random.next(), random.percent(80) ? "f64" : "i64");
    const std::string text = writer.text();
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + text);
    const hiaton::Program program = hiaton::Program::from_text("random.hia", text);
    std::vector<std::vector<Value>> examples;
    std::vector<std::vector<Value>> expected;
    for (int example = random.between(2, 6); example > 0; --example) {
      const Value number = random.percent(70) ? Value(int64_t{1}) : Value(int64_t{random.between(0, 2)});
      const std::vector<Value> arguments{elements_of(program.parameters()[0].type, random), number};
      const ElementEnd end = end_of_elements(program, arguments, {.executor = Executor::Reference});
      if (end.fault != Fault::None) continue;
      examples.push_back(arguments);
      expected.push_back(end.values);
    }
    for (const int workers : {1, 2}) {
      for (const Executor executor : {Executor::Production, Executor::Flow}) {
        const std::vector<std::vector<Value>> found =
            program.run_all(examples, {.executor = executor, .workers = workers});
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) expect_same_elements(found[i], expected[i]);
        compared += found.size();
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, count * 4);
}

TEST(ElementPrograms, AreTheSameInAllWays) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kElementPrograms);
  uint64_t faults = 0;
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    const std::string type =
        random.pick<std::string>({"f64", "f64", "f32", "i64", "i64", "i32", "bool", "u8"});
    ElementWriter writer(random.next(), type);
    const std::string text = writer.text();
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + text);
    const hiaton::Program program = hiaton::Program::from_text("random.hia", text);
    const std::vector<Value> arguments{elements_of(program.parameters()[0].type, random),
                                       Value(int64_t{random.between(0, 2)})};
    for (const graph::Node& node : program.graph().nodes())
      if (node.kind == graph::NodeKind::Op) seen[std::string(node.op->name.value)] += 1;
    const ElementEnd expected = end_of_elements(program, arguments, {.executor = Executor::Reference});
    faults += expected.fault == Fault::None ? 0u : 1u;
    for (const RunOptions& way : all_ways()) {
      const ElementEnd found = end_of_elements(program, arguments, way);
      ASSERT_EQ(found.fault, expected.fault) << way.workers << " workers";
      SCOPED_TRACE(fmt::format("{} workers", way.workers));
      expect_same_elements(found.values, expected.values);
    }
    if (::testing::Test::HasFailure()) return;
  }
  if (count >= 100) {
    EXPECT_GT(faults, count / 50);
    EXPECT_LT(faults, count / 2);
  }
  for (const char* op : {"at", "set_at", "add_at", "size", "gather", "append_row", "drop_last_row"})
    EXPECT_GT(seen[op], 0u) << op;
}

}  // namespace
}  // namespace hiaton::properties
