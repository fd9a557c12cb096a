#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "hand_built.h"

namespace hiaton::graph {
namespace {

using namespace testing;

/// What the saved form must keep: everything that a Graph says.
void expect_equal(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.source() == nullptr, b.source() == nullptr);
  if (a.source() != nullptr) {
    EXPECT_EQ(a.source()->name(), b.source()->name());
    EXPECT_EQ(a.source()->text(), b.source()->text());
  }
  ASSERT_EQ(a.nodes().size(), b.nodes().size());
  for (std::size_t i = 0; i < a.nodes().size(); ++i) {
    const Node& x = a.nodes()[i];
    const Node& y = b.nodes()[i];
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.inputs, y.inputs);
    EXPECT_EQ(x.controls, y.controls);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.function, y.function);
    EXPECT_EQ(x.op, y.op);
    EXPECT_EQ(x.constant, y.constant);
    EXPECT_EQ(x.site, y.site);
    EXPECT_EQ(x.loop, y.loop);
    EXPECT_EQ(x.index, y.index);
    EXPECT_EQ(x.loop_constant, y.loop_constant);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.span, y.span);
    EXPECT_EQ(x.placement, y.placement);
    EXPECT_EQ(a.loop_of(NodeId(i)), b.loop_of(NodeId(i)));
  }
  ASSERT_EQ(a.functions().size(), b.functions().size());
  for (std::size_t i = 0; i < a.functions().size(); ++i) {
    const Function& x = a.functions()[i];
    const Function& y = b.functions()[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.param_names, y.param_names);
    EXPECT_EQ(x.params, y.params);
    EXPECT_EQ(x.results, y.results);
    EXPECT_EQ(x.triggered, y.triggered);
    EXPECT_EQ(x.span, y.span);
    EXPECT_EQ(x.placement, y.placement);
  }
  ASSERT_EQ(a.sites().size(), b.sites().size());
  for (std::size_t i = 0; i < a.sites().size(); ++i) {
    const Site& x = a.sites()[i];
    const Site& y = b.sites()[i];
    EXPECT_EQ(x.caller, y.caller);
    EXPECT_EQ(x.callee, y.callee);
    EXPECT_EQ(x.calls, y.calls);
    EXPECT_EQ(x.returns, y.returns);
    EXPECT_EQ(x.span, y.span);
  }
  ASSERT_EQ(a.loops().size(), b.loops().size());
  for (std::size_t i = 0; i < a.loops().size(); ++i) {
    const Loop& x = a.loops()[i];
    const Loop& y = b.loops()[i];
    EXPECT_EQ(x.function, y.function);
    EXPECT_EQ(x.enters, y.enters);
    EXPECT_EQ(x.exits, y.exits);
    EXPECT_EQ(x.nexts, y.nexts);
    EXPECT_EQ(x.span, y.span);
    EXPECT_EQ(x.parent, y.parent);
  }
  EXPECT_EQ(a.inputs(), b.inputs());
  EXPECT_EQ(a.outputs(), b.outputs());
}

void expect_round_trip(const Graph& graph) {
  const std::string saved = to_json(graph);
  const Graph loaded = from_json(saved, "saved.json");
  expect_equal(graph, loaded);
  EXPECT_EQ(to_json(loaded), saved);
}

Graph constants(const std::vector<Value>& values) {
  GraphBuilder builder;
  builder.add_function("main");
  for (const Value& value : values) builder.output(builder.constant(value));
  return builder.finish();
}

TEST(GraphJson, KeepsCalls) {
  Fact fact;
  expect_round_trip(fact.builder.finish());
}

TEST(GraphJson, KeepsLoops) {
  Counter counter;
  expect_round_trip(counter.builder.finish());
}

TEST(GraphJson, KeepsSourceSpansNamesAndPlacements) {
  GraphBuilder builder(
      std::make_shared<Source>("dir/a \"b\".hia", "fn main(x: i64) -> i64 =\n\t x + x # \xC3\xA9\n"));
  const FunctionId main = builder.add_function("main", {0, 32});
  builder.function(main).placement = "process:0";
  const OutPort x = builder.input("x", DType::I64);
  const OutPort sum = builder.op(op_named("add"), {x, x});
  builder.node(sum).span = {27, 32};
  builder.node(sum).name = "sum";
  builder.node(sum).placement = "process:1";
  builder.output(sum);
  expect_round_trip(builder.finish());
}

TEST(GraphJson, KeepsTextThatIsNotUtf8) {
  GraphBuilder builder(std::make_shared<Source>("a\xFF.hia", std::string("# \x80\xFE\0\n", 6)));
  builder.add_function("ma\xFFin");
  builder.output(builder.input("x\xC3", DType::I64));
  expect_round_trip(builder.finish());
}

TEST(GraphJson, KeepsEveryKindOfScalar) {
  const auto nan_with = [](uint64_t bits, DType dtype) {
    Slot slot;
    slot.bits = bits;
    return Value(dtype, slot);
  };
  expect_round_trip(constants({Value(true),
                               Value(false),
                               Value(std::numeric_limits<int32_t>::min()),
                               Value(std::numeric_limits<int32_t>::max()),
                               Value(std::numeric_limits<int64_t>::min()),
                               Value(std::numeric_limits<int64_t>::max()),
                               Value(int64_t{(1LL << 53) + 1}),
                               Value(0.1f),
                               Value(std::numeric_limits<float>::denorm_min()),
                               Value(std::numeric_limits<float>::max()),
                               Value(0.1),
                               Value(-0.0),
                               Value(-0.0f),
                               Value(5e-324),
                               Value(std::numeric_limits<double>::max()),
                               Value(std::numeric_limits<double>::infinity()),
                               Value(-std::numeric_limits<double>::infinity()),
                               Value(-std::numeric_limits<float>::infinity()),
                               Value(std::numeric_limits<double>::quiet_NaN()),
                               Value(-std::numeric_limits<double>::quiet_NaN()),
                               nan_with(0x7ff0000000000001, DType::F64),
                               nan_with(0xffffffffffffffff, DType::F64),
                               nan_with(0x7f800001, DType::F32),
                               nan_with(0xffc00000, DType::F32)}));
}

TEST(GraphJson, KeepsRandomBits) {
  std::mt19937_64 random(1);
  std::vector<Value> values;
  for (int i = 0; i < 2000; ++i) {
    Slot slot;
    slot.bits = random();
    values.emplace_back(DType::I64, slot);
    values.emplace_back(DType::F64, slot);
    slot.bits &= 0xffffffff;
    values.emplace_back(DType::F32, slot);
    values.emplace_back(DType::I32, slot);
  }
  expect_round_trip(constants(values));
}

TEST(GraphJson, KeepsShapes) {
  GraphBuilder builder;
  builder.add_function("main");
  Type matrix(DType::F32);
  matrix.shape = {{2, ""}, {-1, "d"}};
  builder.output(builder.input("m", matrix));
  expect_round_trip(builder.finish());
}

TEST(GraphJson, PutsOneNodeALine) {
  Fact fact;
  const Graph graph = fact.builder.finish();
  EXPECT_NE(to_json(graph).find(
                "\n    {\"kind\":\"Call\",\"site\":0,\"inputs\":[5],\"type\":\"i64\",\"function\":1}"),
            std::string::npos)
      << to_json(graph);
}

// What is wrong with a file, and where.

/// The saved fact with `from` replaced once by `to`.
std::string damaged(const std::string& from, const std::string& to) {
  Fact fact;
  std::string saved = to_json(fact.builder.finish());
  const std::size_t at = saved.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in " << saved;
  return at == std::string::npos ? saved : saved.replace(at, from.size(), to);
}

void expect_load_error(const std::string& text, const std::string& expected) {
  const std::string found = load_error(text);
  EXPECT_NE(found.find(expected), std::string::npos) << "expected: " << expected << "\nfound: " << found;
}

TEST(GraphJsonError, EmptyFile) {
  expect_load_error("", "f.json:1:1: expected more of a saved graph, found the end of the file");
}

TEST(GraphJsonError, NotJson) {
  expect_load_error("{\n  hello", "f.json:2:3: expected a saved graph, found text that is not JSON");
}

TEST(GraphJsonError, NotAnObject) {
  expect_load_error("[1]", "f.json: expected an object, found a list");
}

TEST(GraphJsonError, AnotherFormat) {
  expect_load_error(damaged("\"hiaton graph\"", "\"picture\""),
                    "f.json: format: expected 'hiaton graph', found 'picture'");
}

TEST(GraphJsonError, AnotherVersion) {
  expect_load_error(damaged("\"version\": 1", "\"version\": 2"),
                    "f.json: version: expected version 1, found 2");
}

TEST(GraphJsonError, MissingField) {
  expect_load_error(damaged("\"type\":\"i64\",\"function\":1", "\"type\":\"i64\""),
                    "f.json: nodes[0]: expected a field 'function', found none");
}

TEST(GraphJsonError, UnknownField) {
  expect_load_error(damaged("\"kind\":\"Merge\"", "\"kind\":\"Merge\",\"sight\":1"),
                    "f.json: nodes[0]: expected one of the fields");
}

TEST(GraphJsonError, WrongTypes) {
  expect_load_error(damaged("\"inputs\":[11,6]", "\"inputs\":true"),
                    "f.json: nodes[0].inputs: expected a list, found true");
  expect_load_error(damaged("\"inputs\":[11,6]", "\"inputs\":[11,\"6\"]"),
                    "f.json: nodes[0].inputs[1]: expected a node");
  expect_load_error(damaged("\"inputs\":[11,6]", "\"inputs\":[11,6.5]"),
                    "f.json: nodes[0].inputs[1]: expected a node");
  expect_load_error(damaged("\"inputs\":[11,6]", "\"inputs\":[11,-6]"),
                    "f.json: nodes[0].inputs[1]: expected a node");
  expect_load_error(damaged("\"kind\":\"Merge\"", "\"kind\":7"),
                    "f.json: nodes[0].kind: expected a text, found 7");
  expect_load_error(damaged("\"source\": null", "\"source\": 3"),
                    "f.json: source: expected an object, found 3");
}

TEST(GraphJsonError, IndicesOutOfRange) {
  expect_load_error(damaged("\"inputs\":[11,6]", "\"inputs\":[11,16]"),
                    "f.json: nodes[0].inputs[1]: expected a node: a number from 0 to 15, found 16");
  expect_load_error(damaged("\"inputs\":[11,6]", "\"inputs\":[11,4294967295]"), "f.json: nodes[0].inputs[1]");
  expect_load_error(damaged("\"inputs\":[11,6]", "\"inputs\":[11,99999999999999999999999]"),
                    "f.json: nodes[0].inputs[1]");
  expect_load_error(damaged("\"site\":0", "\"site\":2"),
                    "expected a call site: a number from 0 to 1, found 2");
  expect_load_error(damaged("\"callee\":1", "\"callee\":5"), "f.json: sites[0].callee: expected a function");
  expect_load_error(damaged("[3,1]", "[3,1,1]"), "expected a node and one of its outputs");
  expect_load_error(damaged("[3,1]", "[3,2]"), "comes from output 2 of %3 Switch");
}

TEST(GraphJsonError, UnknownNames) {
  expect_load_error(damaged("\"kind\":\"Merge\"", "\"kind\":\"Fork\""),
                    "f.json: nodes[0].kind: expected a kind of node, found 'Fork'");
  expect_load_error(damaged("\"op\":\"sub\"", "\"op\":\"subtract\""), "there is no operation 'subtract'");
  expect_load_error(damaged("\"type\":\"i64\"", "\"type\":\"i65\""),
                    "f.json: nodes[0].type: expected a type, found 'i65'");
}

TEST(GraphJsonError, ValuesThatDoNotFit) {
  expect_load_error(damaged("\"value\":\"3\"", "\"value\":\"three\""),
                    "expected a value of type i64, found 'three'");
  expect_load_error(damaged("\"value\":\"3\"", "\"value\":\"9223372036854775808\""), "out of its range");
  expect_load_error(damaged("\"value\":\"3\"", "\"value\":\"0x1\""),
                    "expected a value of type i64, found '0x1'");
}

TEST(GraphJsonError, IllegalGraph) {
  expect_load_error(damaged("\"inputs\":[11,6]", "\"inputs\":[11,5]"), "f.json: the graph is not legal:");
}

/// Every beginning of a file is an error, and says so.
TEST(GraphJsonError, TruncatedFiles) {
  Fact fact;
  const std::string saved = to_json(fact.builder.finish());
  for (std::size_t size = 0; size + 2 < saved.size(); ++size) {
    EXPECT_NE(load_error(saved.substr(0, size)).find("end of the file"), std::string::npos)
        << saved.substr(0, size);
  }
}

/// Damaged files are read or refused, never more.
TEST(GraphJsonError, RandomDamage) {
  std::mt19937 random(7);
  Fact fact;
  Counter counter;
  const std::string whole[] = {to_json(fact.builder.finish()), to_json(counter.builder.finish())};
  const std::string pieces = "0123456789,[]{}\":-.eE truefalsnl\\u\xFF";
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = whole[i % 2];
    for (int changes = random() % 3; changes >= 0; --changes)
      text[random() % text.size()] = pieces[random() % pieces.size()];
    if (!load_error(text).empty()) ++refused;
  }
  EXPECT_GT(refused, 2000);
}

/// Saved graphs whose numbers are exchanged are still JSON, so that the validator has to find what is wrong.
TEST(GraphJsonError, ExchangedNumbers) {
  std::mt19937 random(11);
  Fact fact;
  Counter counter;
  const std::string whole[] = {to_json(fact.builder.finish()), to_json(counter.builder.finish())};
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = whole[i % 2];
    for (int changes = random() % 4; changes >= 0;) {
      char& c = text[random() % text.size()];
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) continue;
      c = static_cast<char>('0' + random() % 10);
      --changes;
    }
    if (!load_error(text).empty()) ++refused;
  }
  EXPECT_GT(refused, 2000);
}

TEST(GraphJsonError, DeeplyNestedJson) {
  EXPECT_FALSE(load_error(std::string(1000000, '[')).empty());
  EXPECT_FALSE(load_error(std::string(100000, '[') + std::string(100000, ']')).empty());
}

}  // namespace
}  // namespace hiaton::graph
