// Graphs with data types, tensors, learned parameters and phases: as text, saved and validated.
#include <gtest/gtest.h>

#include <random>

#include "hand_built.h"

namespace hiaton::graph {
namespace {

using namespace testing;

/// A program with one of everything.
struct Everything {
  DataTypes types;
  Type tree = types.declare("Tree");
  Type row = tensor_type(DType::F32, {2});
  GraphBuilder builder;
  FunctionId main;
  FunctionId twice;
  std::size_t weights;

  Everything() {
    types.define(tree, {{"Leaf", {{"x", row}}}, {"Node", {{"left", tree}, {"right", tree}}}, {"Empty", {}}});
    weights = builder.add_parameter("W", tensor_type(DType::F32, {3, 2}), {Initializer::Kind::Normal, 0.25});
    builder.add_parameter("b", row, {Initializer::Kind::Ones, 0});
    main = builder.add_function("main");
    twice = builder.add_function("twice");
    const OutPort a = builder.merge(row);
    const OutPort g = builder.merge(row);
    builder.add_param("a", a);
    builder.add_param("g", g);
    builder.add_result(builder.op(op_named("add"), {a, a}));
    builder.add_result(builder.op(op_named("add"), {g, g}));
    builder.function(twice).phases = {{1, 1}, {1, 1}};

    builder.in_function(main);
    const OutPort t = builder.input("t", tree);
    const OutPort x = builder.input("x", Type(DType::F32, {Dim{-1, "n"}, Dim{2, ""}}));
    const CallSite site = builder.add_site(twice);
    const OutPort first = builder.op(op_named("gather"), {x, builder.constant(int64_t{0})}, row);
    builder.add_input(a, {builder.call(site, first)});
    const OutPort doubled = builder.return_from(site, row);
    builder.add_input(g, {builder.call(site, doubled)});
    const OutPort again = builder.return_from(site, row);
    builder.accumulate(weights, Accumulation::Rows, {builder.op(op_named("variant"), {t}), again});
    const OutPort shaped =
        builder.op(op_named("reshape"), {builder.parameter(0)}, tensor_type(DType::F32, {2, 3}), {2, -1});
    builder.output(builder.op(op_named("make"), {t, builder.constant(Value(Data(2, {})), tree)}, tree, {1}));
    builder.output(again);
    builder.output(shaped);
    Tensor numbers(DType::F32, {2});
    numbers.mutable_data<float>()[1] = 0.5f;
    builder.output(builder.op(op_named("mul"), {builder.constant(Value(numbers)), doubled}));
  }
};

TEST(GraphOfEverything, IsLegalAndKeptWhenSaved) {
  Everything all;
  const Graph graph = all.builder.finish();
  const std::string saved = to_json(graph);
  const Graph loaded = from_json(saved, "saved.json");
  EXPECT_EQ(to_json(loaded), saved);
  EXPECT_EQ(to_text(loaded), to_text(graph));
  ASSERT_EQ(loaded.nodes().size(), graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& x = graph.nodes()[i];
    const Node& y = loaded.nodes()[i];
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.attributes, y.attributes);
    EXPECT_EQ(x.parameter, y.parameter);
    if (x.parameter < 0) {
      EXPECT_EQ(x.constant, y.constant);
    }
  }
  ASSERT_EQ(loaded.parameters().size(), 2u);
  EXPECT_EQ(loaded.parameters()[0].name, "W");
  EXPECT_EQ(loaded.parameters()[0].type, tensor_type(DType::F32, {3, 2}));
  EXPECT_EQ(loaded.parameters()[0].initial, (Initializer{Initializer::Kind::Normal, 0.25}));
  EXPECT_EQ(loaded.functions()[1].phases, graph.functions()[1].phases);
  const DataType& tree = *loaded[loaded.inputs()[0]].type.data;
  ASSERT_EQ(tree.variants.size(), 3u);
  EXPECT_EQ(tree.variants[1].fields[1].name, "right");
  EXPECT_EQ(tree.variants[1].fields[1].type.data.get(), &tree);
}

TEST(GraphOfEverything, ShowsAttributesAndParameters) {
  Everything all;
  const std::string text = to_text(all.builder.finish());
  for (const char* line :
       {" = reshape(%14, shape=[2, -1]) : f32[2, 3]", " = Param : f32[3, 2]  # W",
        " = Accumulate(%12, %11, Rows) into W : f32[3, 2]", " = make(%4, %16, variant=1) : Tree",
        " = Const Empty : Tree", " = Const [0.0, 0.5] : f32[2]", " = Input : f32[n, 2]  # x"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(GraphOfEverything, MessagesSayWhatIsWrongInASavedOne) {
  Everything all;
  const std::string saved = to_json(all.builder.finish());
  const std::tuple<const char*, const char*, const char*> changes[] = {
      {"\"data\":\"Tree\"", "\"data\":\"Tee\"", "there is no data type 'Tee'"},
      {"\"name\":\"Tree\",\"variants\"", "\"name\":\"List[i64]\",\"variants\"", ""},
      {"\"name\":\"Node\"", "\"name\":\"Leaf\"",
       "data_types[0].variants[1]: variant 'Leaf' is defined twice"},
      {"\"initial\":\"normal\"", "\"initial\":\"norm\"", "expected how a parameter begins, found 'norm'"},
      {"\"number\":\"0.25\"", "\"number\":\"x\"", "parameters[0].number: expected a value of type f64"},
      {"\"shape\":[3,2]},\"initial\"", "\"shape\":[4,2]},\"initial\"", "expected the type of its parameter"},
      {"\"attributes\":[2,-1]", "\"attributes\":[2,-1.5]", "attributes[1]: expected a whole number"},
      {"\"attributes\":[2,-1]", "\"attributes\":[4,-1]", "a multiple of 4 elements"},
      {"\"op\":\"make\",\"attributes\":[1]", "\"op\":\"make\",\"attributes\":[3]", "there is no variant 3"},
      {"\"op\":\"make\",\"attributes\":[1]", "\"op\":\"make\"", "expected 1 attributes, found 0"},
      {"\"attributes\":[1],\"parameter\":0", "\"attributes\":[3],\"parameter\":0",
       "expected one attribute that says how it adds"},
      {"\"attributes\":[1],\"parameter\":0", "\"attributes\":[1],\"parameter\":2",
       "expected a parameter: a number from 0 to 1, found 2"},
      {"\"value\":2", "\"value\":3", "expected a variant: a number from 0 to 2, found 3"},
      {"\"value\":2", "\"value\":0",
       "expected a value of type Tree, found a data value of variant 0 with 0 fields"},
      {"\"value\":[\"0.0\",\"0.5\"]", "\"value\":[\"0.0\"]", "expected 2 elements, found 1"},
      {"\"value\":[\"0.0\",\"0.5\"]", "\"value\":[\"0.0\",\"half\"]", "expected a value of type f32"},
      {"\"phases\":[[1,1],[1,1]]", "\"phases\":[[1,1],[1,2]]", "its phases have 2 parameters and 3 results"},
      {"\"phases\":[[1,1],[1,1]]", "\"phases\":[[1,1],[1]]", "expected how many parameters and results"},
  };
  for (const auto& [from, to, message] : changes) {
    std::string text = saved;
    ASSERT_NE(text.find(from), std::string::npos) << from << "\n" << saved;
    text.replace(text.find(from), std::string_view(from).size(), to);
    const std::string found = load_error(text);
    EXPECT_FALSE(found.empty()) << to;
    EXPECT_NE(found.find(message), std::string::npos) << "expected: " << message << "\nfound: " << found;
  }
}

TEST(GraphOfEverything, DamagedOnesAreReadOrRefused) {
  std::mt19937 random(3);
  Everything all;
  const std::string whole = to_json(all.builder.finish());
  const std::string pieces = "0123456789,[]{}\":-.eE truefalsnl\\u";
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = whole;
    for (int changes = random() % 3; changes >= 0; --changes) {
      char& c = text[random() % text.size()];
      c = i % 2 == 0                                         ? pieces[random() % pieces.size()]
          : std::isdigit(static_cast<unsigned char>(c)) != 0 ? static_cast<char>('0' + random() % 10)
                                                             : c;
    }
    if (!load_error(text).empty()) ++refused;
  }
  EXPECT_GT(refused, 1000);
}

TEST(GraphBuilderOfTensors, RefusesOperationsWithoutTheirAttributes) {
  GraphBuilder builder;
  builder.add_function("main");
  const OutPort x = builder.input("x", tensor_type(DType::F32, {2}));
  try {
    builder.op(op_named("concat"), {x, x});
    FAIL();
  } catch (const ProgramError& error) {
    EXPECT_STREQ(error.what(), "[concat] expected 1 attributes, found none");
  }
}

}  // namespace
}  // namespace hiaton::graph
