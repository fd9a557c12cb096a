// Types with symbols and data types; values of any type as text.
#include <gtest/gtest.h>

#include <functional>

#include "hiaton/error.h"
#include "hiaton/initializer.h"
#include "hiaton/value.h"
#include "tensor/dimensions.h"

namespace hiaton {
namespace {

Type symbolic(std::vector<std::string> dims) {
  Type type(DType::F32);
  for (std::string& dim : dims) {
    const bool is_number = dim.find_first_not_of("0123456789") == std::string::npos;
    type.shape.push_back(is_number ? Dim{std::stoll(dim), ""} : Dim{-1, std::move(dim)});
  }
  return type;
}

TEST(Types, AreCompatibleWhereNothingDiffers) {
  EXPECT_TRUE(compatible(symbolic({"2", "n"}), symbolic({"2", "3"})));
  EXPECT_TRUE(compatible(symbolic({"_"}), symbolic({"n"})));
  EXPECT_FALSE(compatible(symbolic({"2", "n"}), symbolic({"3", "3"})));
  EXPECT_FALSE(compatible(symbolic({"n"}), symbolic({"n", "n"})));
  EXPECT_FALSE(compatible(symbolic({"n"}), DType::F32));
  EXPECT_FALSE(compatible(DType::F64, DType::F32));
  DataTypes types;
  EXPECT_TRUE(compatible(types.list_of(DType::I64), types.list_of(DType::I64)));
  EXPECT_FALSE(compatible(types.list_of(DType::I64), types.list_of(DType::F64)));
  EXPECT_FALSE(compatible(types.list_of(DType::I64), DType::I64));
}

TEST(Types, JoinKeepsWhatBothSay) {
  EXPECT_EQ(join(symbolic({"2", "n", "m"}), symbolic({"2", "n", "3"})), symbolic({"2", "n", "_"}));
}

TEST(Dimensions, BindAndSubstitute) {
  Dimensions dimensions;
  EXPECT_TRUE(dimensions.bind(symbolic({"n", "m"}), symbolic({"_", "k"})));
  EXPECT_TRUE(dimensions.bind(symbolic({"n"}), symbolic({"4"})));
  EXPECT_EQ(dimensions.substitute(symbolic({"m", "n", "q", "2"})), symbolic({"k", "4", "_", "2"}));
  EXPECT_EQ(dimensions.first_of("n").argument, 0u);
  EXPECT_EQ(dimensions.first_of("m").axis, 1u);
  EXPECT_FALSE(dimensions.bind(symbolic({"n"}), symbolic({"5"})));
  EXPECT_TRUE(dimensions.bind(symbolic({"_"}), symbolic({"9"})));
}

class TreeValues : public testing::Test {
 protected:
  TreeValues() : tree(types.declare("Tree")) {
    types.define(tree, {{"Leaf", {{"x", tensor_type(DType::F32, {2})}}},
                        {"Node", {{"left", tree}, {"right", tree}, {"n", DType::I64}}},
                        {"Empty", {}}});
  }
  std::string message(const Type& type, const std::string& text) {
    try {
      parse_value(type, text);
    } catch (const ProgramError& error) {
      return error.what();
    }
    return "";
  }

  DataTypes types;
  Type tree;
};

TEST_F(TreeValues, TextReadsBack) {
  const std::pair<Type, const char*> values[] = {
      {tree, "Empty"},
      {tree, "Node(Leaf([1.0, 2.5]), Node(Empty, Empty, -3), 0)"},
      {types.list_of(DType::I64), "[]"},
      {types.list_of(DType::I64), "[1, -2, 3]"},
      {types.list_of(types.list_of(tree)), "[[Empty], [], [Empty, Leaf([nan, inf])]]"},
      {tensor_type(DType::Bool, {2, 1}), "[[true], [false]]"},
      {tensor_type(DType::I64, {0}), "[]"},
      {Type(DType::F64, {unknown_dim(), Dim{2, ""}}), "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"},
  };
  for (const auto& [type, text] : values) {
    const Value value = parse_value(type, text);
    EXPECT_EQ(to_string(value, type), text);
    EXPECT_TRUE(fits(value, type)) << text;
  }
}

TEST_F(TreeValues, BlanksAndTheNamesOfListsAreRead) {
  const Type list = types.list_of(DType::I64);
  EXPECT_EQ(to_string(parse_value(list, " Cons( 1 ,Cons(2,Nil) ) "), list), "[1, 2]");
  EXPECT_EQ(to_string(parse_value(tree, "Node ( Empty,\n Empty , 1 )"), tree), "Node(Empty, Empty, 1)");
  EXPECT_EQ(to_string(parse_value(list, "[1,\r\n 2]\r\n"), list), "[1, 2]");
}

TEST_F(TreeValues, MessagesSayWhatIsWrong) {
  EXPECT_EQ(message(tree, "Leef([1, 2])"),
            "expected a value of type Tree (Leaf, Node, Empty), found 'Leef', at column 1");
  EXPECT_EQ(message(tree, ""),
            "expected a value of type Tree (Leaf, Node, Empty), found nothing, at column 1");
  EXPECT_EQ(message(tree, "Leaf"),
            "expected a value of type Tree, found nothing instead of '(', at column 5");
  EXPECT_EQ(message(tree, "Leaf([1, 2]"),
            "expected a value of type Tree, found nothing instead of ')', at column 12");
  EXPECT_EQ(message(tree, "Leaf([1, 2], 3)"), "expected 1 field of Leaf ('x'), found more, at column 12");
  EXPECT_EQ(message(tree, "Node(Empty, Empty)"),
            "expected 3 fields of Node ('left', 'right', 'n'), found 2, at column 18");
  EXPECT_EQ(message(tree, "Node(, Empty, 1)"),
            "expected a value of type Tree (Leaf, Node, Empty), found ', Empty, 1)', at column 6");
  EXPECT_EQ(message(tree, "Node(Empty;\n Empty)"),
            "expected a value of type Tree (Leaf, Node, Empty), found 'Empty;', at line 1, column 6");
  EXPECT_EQ(message(tree, "Node(Empty ;\n Empty)"),
            "expected a value of type Tree, found ';...' instead of ',', at line 1, column 12");
  EXPECT_EQ(message(tree, "Empty Empty"),
            "expected a value of type Tree, found 'Empty' behind it, at column 7");
  EXPECT_EQ(message(tree, "Leaf([1, x])"), "expected a value of type f32, found 'x', at column 10");
  EXPECT_EQ(message(tree, "Node(Empty,\n     Leaf([1, x]), 3)"),
            "expected a value of type f32, found 'x', at line 2, column 15");
  EXPECT_EQ(message(tensor_type(DType::F32, {2}), "[1, 1e39]"),
            "expected a value of type f32, found '1e39', which is out of its range, at column 5");
  EXPECT_EQ(message(tensor_type(DType::F32, {2}), "[1, ]"),
            "expected a value of type f32, found ']', at column 5");
  EXPECT_EQ(message(tensor_type(DType::F64, {2, 2}), "[1,2]"),
            "expected a value of type f64[2, 2], found '1,2]' instead of '[', at column 2");
  EXPECT_EQ(message(tensor_type(DType::F32, {2}), "[1, " + std::string(100, 'x') + "]"),
            "expected a value of type f32, found '" + std::string(40, 'x') + "...', at column 5");
  EXPECT_EQ(message(tree, "Leaf([1, 2, 3])"),
            "expected a value of type f32[2], found 3 elements along dimension 0, at column 6");
  EXPECT_EQ(message(tensor_type(DType::F32, {2, 2}), "[[1, 2], [3]]"),
            "expected a value of type f32[2, 2], found rows of 2 and of 1 elements, at column 10");
  EXPECT_EQ(message(types.list_of(DType::I64), "[1, 2"),
            "expected a value of type List[i64], found nothing instead of ']', at column 6");
}

TEST_F(TreeValues, JsonIsRead) {
  const Type list = types.list_of(tree);
  const Type tuple = types.tuple_of({DType::I64, tensor_type(DType::F64, {2})});
  const Type point = types.declare("Point");
  types.define(point, {{"Point", {{"x", DType::F64}, {"tree", tree}}}});
  const std::tuple<Type, const char*, const char*> values[] = {
      {tree, R"("Empty")", "Empty"},
      {tree, R"(["Empty"])", "Empty"},
      {tree, R"({"Empty": []})", "Empty"},
      {tree, R"({"Leaf": [[1, 2.5]]})", "Leaf([1.0, 2.5])"},
      {tree, R"({"Leaf": {"x": [1, NaN]}})", "Leaf([1.0, nan])"},
      {tree, R"(["Node", "Empty", ["Leaf", [0, -Infinity]], 3])", "Node(Empty, Leaf([0.0, -inf]), 3)"},
      {tree, R"({"Node": {"n": 1, "right": "Empty", "left": {"Node": ["Empty", "Empty", 2]}}})",
       "Node(Node(Empty, Empty, 2), Empty, 1)"},
      {list, R"(["Empty", {"Leaf": [[1, 2]]}, Empty])", "[Empty, Leaf([1.0, 2.0]), Empty]"},
      {tuple, "[7, [1, 2]]", "(7, [1.0, 2.0])"},
      {point, R"({"tree": "Empty", "x": 1e-3})", "Point(0.001, Empty)"},
      {point, R"({"Point": {"x": 1, "tree": "Empty"}})", "Point(1.0, Empty)"},
      {point, R"(["Point", 1, "Empty"])", "Point(1.0, Empty)"},
  };
  for (const auto& [type, json, expected] : values)
    EXPECT_EQ(to_string(parse_value(type, json), type), expected) << json;
}

TEST_F(TreeValues, MessagesOnJsonSayWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"Leef": [[1, 2]]})",
       "expected a value of type Tree (Leaf, Node, Empty), found '\"Leef\"', at column 2"},
      {R"("Leaf")", "expected the fields of Leaf, as in [\"Leaf\", ...], found nothing, at column 7"},
      {R"({"Leaf": {"y": [1, 2]}})", "expected a field of Leaf ('x'), found '\"y\"', at column 11"},
      {R"({"Leaf": {"x": [1, 2], "x": [1, 2]}})", "expected each field once, found 'x' twice, at column 24"},
      {R"({"Node": {"n": 1, "left": "Empty"}})",
       "expected the field 'right' of Node, found none, at column 34"},
      {R"(["Node", "Empty"])", "expected 3 fields of Node ('left', 'right', 'n'), found 1, at column 17"},
      {R"(["Leaf", ["a", 2]])", "expected a value of type f32, found '\"a\"', at column 11"},
      {R"({"Leaf": )", "expected a value of type f32[2], found nothing instead of '[', at column 10"},
      {R"({"Node": "Empty"})", "expected the fields of Node as '{' or '[', found '\"Empty\"}', at column 10"},
      {R"(["Leaf)",
       "expected '\"' at the end of the string '\"Leaf', found the end of the line, at column 2"},
      {"{", "expected a value of type Tree (Leaf, Node, Empty), found '{', at column 1"},
      {"\xff\xfe",
       "expected a value of type Tree (Leaf, Node, Empty), found bytes that are not UTF-8, at column 1"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(message(tree, text), expected) << text;
}

TEST_F(TreeValues, FitsLooksAtEveryField) {
  const Value leaf = Data(0, std::vector<Value>{Tensor(DType::F32, {2})});
  const Value wrong_leaf = Data(0, std::vector<Value>{Tensor(DType::F32, {3})});
  const auto node = [](const Value& left, const Value& n) {
    return Value(Data(1, std::vector<Value>{left, Value(Data(2, {})), n}));
  };
  EXPECT_TRUE(fits(node(leaf, int64_t{1}), tree));
  EXPECT_FALSE(fits(node(wrong_leaf, int64_t{1}), tree));
  EXPECT_FALSE(fits(node(leaf, 1.0), tree));
  EXPECT_FALSE(fits(Value(Data(3, {})), tree));
  EXPECT_FALSE(fits(Value(Data(0, {})), tree));
  EXPECT_FALSE(fits(int64_t{1}, tree));
  EXPECT_FALSE(fits(leaf, DType::I64));
}

TEST_F(TreeValues, FitsLooksAtSharedPartsOnce) {
  Value shared = Data(2, {});
  for (int64_t i = 0; i < 100; ++i) shared = Data(1, std::vector<Value>{shared, shared, i});
  EXPECT_TRUE(fits(shared, tree));
  const Value wrong = Data(1, std::vector<Value>{shared, Value(Data(2, {})), 1.0});
  EXPECT_FALSE(fits(Value(Data(1, std::vector<Value>{shared, wrong, int64_t{1}})), tree));
}

TEST_F(TreeValues, MayBeAsDeepAsMemoryAllows) {
  std::string text;
  const int depth = 200'000;
  for (int i = 0; i < depth; ++i) text += "Node(";
  text += "Empty";
  for (int i = 0; i < depth; ++i) text += ", Empty, 1)";
  const Value value = parse_value(tree, text);
  EXPECT_TRUE(fits(value, tree));
  EXPECT_EQ(to_string(value, tree), text);
  EXPECT_NE(message(tree, text.substr(0, text.size() / 2)), "");

  std::string list = "[0";
  for (int i = 1; i < depth; ++i) list += ", " + std::to_string(i);
  list += "]";
  const Type numbers = types.list_of(DType::I64);
  EXPECT_EQ(to_string(parse_value(numbers, list), numbers), list);
}

TEST(Initializers, ReadBackByName) {
  for (int i = 0; i <= static_cast<int>(Initializer::Kind::Glorot); ++i) {
    const auto kind = static_cast<Initializer::Kind>(i);
    EXPECT_EQ(initializer_from_name(name_of(kind)), kind);
  }
  EXPECT_EQ(initializer_from_name("random"), std::nullopt);
  EXPECT_EQ(to_string(Initializer{Initializer::Kind::Uniform, 0.5}), "uniform(0.5)");
  EXPECT_EQ(to_string(Initializer{Initializer::Kind::Glorot, 0}), "glorot");
  EXPECT_EQ(default_initializer(1).kind, Initializer::Kind::Zeros);
  EXPECT_EQ(default_initializer(2).kind, Initializer::Kind::Glorot);
}

TEST(Shapes, AreUsedAsVectors) {
  Shape shape;
  EXPECT_TRUE(shape.empty());
  EXPECT_EQ(shape, Shape(std::vector<Dim>()));
  shape.push_back({.size = 2, .symbol = ""});
  shape.insert(shape.begin(), {.size = -1, .symbol = "d"});
  const Shape copied = shape;
  EXPECT_EQ(to_string(Type(DType::F32, shape)), "f32[d, 2]");
  shape.erase(shape.begin());
  shape[0].size = 3;
  EXPECT_EQ(to_string(Type(DType::F32, shape)), "f32[3]");
  EXPECT_EQ(to_string(Type(DType::F32, copied)), "f32[d, 2]");
  shape.erase(shape.begin());
  EXPECT_EQ(shape, Shape());
  EXPECT_TRUE(Type(DType::F32, shape).is_scalar());
}

/// What is thrown, or "".
std::string refusal_of(const std::function<void()>& act) {
  try {
    act();
    return "";
  } catch (const ProgramError& error) {
    return error.what();
  }
}

TEST(DataTypes, AreDefinedOnceWithNamesThatDiffer) {
  DataTypes types;
  const Type tree = types.declare("Tree");
  const auto define = [&](std::vector<Variant> variants) {
    return refusal_of([&] { types.define(tree, std::move(variants)); });
  };
  EXPECT_EQ(define({}), "data type 'Tree': expected variants, found none");
  EXPECT_EQ(define({{"Leaf", {}}, {"Leaf", {}}}),
            "data type 'Tree': expected the variant 'Leaf' once, found it twice");
  EXPECT_EQ(define({{"Leaf", {{"x", DType::I64}, {"x", DType::F64}}}}),
            "variant 'Leaf': expected the field 'x' once, found it twice");
  EXPECT_EQ(define({{"Leaf", {}}}), "");
  EXPECT_EQ(define({{"Node", {}}}), "data type 'Tree' is defined twice");
  EXPECT_EQ(tree.data->variants[0].name, "Leaf");
  EXPECT_EQ(refusal_of([&] {
              types.define(DType::I64, {{"Leaf", {}}});
            }),
            "expected a data type that was declared here, found i64");
  DataTypes others;
  EXPECT_EQ(refusal_of([&] {
              others.define(tree, {{"Leaf", {}}});
            }),
            "expected a data type that was declared here, found Tree");
}

TEST(DataTypes, AreMadeOfTypesOfOneCollection) {
  DataTypes others;
  const Type foreign = others.declare("Leaf");
  others.define(foreign, {{"Leaf", {}}});
  DataTypes types;
  const Type tree = types.declare("Tree");
  const std::string message =
      "expected a type of this collection of data types, found 'Leaf' of another one: declare it here, too";
  const auto define_tree = [&](const Type& leaf) {
    types.define(tree, {{"Tree", {{"leaf", leaf}, {"name", string_type()}}}});
  };
  EXPECT_EQ(refusal_of([&] { define_tree(foreign); }), message);
  EXPECT_TRUE(tree.data->variants.empty());
  EXPECT_EQ(refusal_of([&] { types.list_of(foreign); }), message);
  EXPECT_EQ(refusal_of([&] { types.tuple_of({DType::I64, foreign}); }), message);
  EXPECT_EQ(refusal_of([&] { types.gradient_of(foreign); }), message);
  EXPECT_EQ(types.all().size(), 1);  // what was refused leaves nothing behind

  const Type leaf = types.declare("Leaf");
  EXPECT_EQ(refusal_of([&] { define_tree(foreign); }), message);  // the same name does not make it the same
  EXPECT_EQ(refusal_of([&] {
              types.define(foreign, {{"Leaf", {}}});
            }),
            "expected a data type that was declared here, found Leaf");
  EXPECT_EQ(refusal_of([&] { define_tree(leaf); }), "");
}

TEST(DataTypes, HaveNoOtherFields) {
  DataTypes types;
  const Type list = types.list_of(DType::I64);
  EXPECT_EQ(field_type(list, 1, 0), Type(DType::I64));
  EXPECT_EQ(refusal_of([&] { field_type(list, 1, 2); }),
            "expected a data type with a field 2 of variant 1, found List[i64]");
  EXPECT_EQ(refusal_of([&] { field_type(list, 2, 0); }),
            "expected a data type with a field 0 of variant 2, found List[i64]");
  EXPECT_EQ(refusal_of([] { field_type(DType::I64, 0, 0); }),
            "expected a data type with a field 0 of variant 0, found i64");
}

TEST(Types, HaveNoNegativeSizes) {
  EXPECT_EQ(refusal_of([] {
              tensor_type(DType::F32, {2, -7});
            }),
            "expected dimensions of 0 or more, found -7");
}

TEST(Values, AreShownAsTheirTypeAlone) {
  DataTypes types;
  const Type list = types.list_of(DType::I64);
  EXPECT_EQ(to_string(make_list({int64_t{1}, int64_t{2}}), list), "[1, 2]");
  EXPECT_EQ(refusal_of([&] { to_string(Data(7, {1.5}), list); }),
            "expected a value of type List[i64], found a data value of variant 7, where List[i64] has 2");
  EXPECT_EQ(refusal_of([&] { to_string(make_list({0.5}), list); }),
            "expected a value of type List[i64], found 0.5 (f64) as field 'head: i64' of Cons");
  EXPECT_EQ(refusal_of([&] { to_string(make_list({}), DType::I64); }),
            "expected a value of type i64, found a data value");
}

TEST(Lists, AreMadeAndTakenApart) {
  const std::vector<Value> elements = {int64_t{1}, int64_t{2}, int64_t{3}};
  EXPECT_EQ(list_elements(make_list(elements)), elements);
  EXPECT_EQ(list_elements(make_list({})), std::vector<Value>());
  EXPECT_EQ(list_elements(make_list(std::vector<Value>(1'000'000, Value(0.5)))).size(), 1'000'000u);
  EXPECT_EQ(refusal_of([] { list_elements(int64_t{3}); }), "expected a data value, found 3 (i64)");
  EXPECT_EQ(refusal_of([] { list_elements(Data(2, {int64_t{3}})); }),
            "expected a list, found a data value of variant 2 with 1 fields");
}

TEST(Data, HasNoOtherFields) {
  const Data pair(0, {int64_t{1}, 0.5});
  EXPECT_EQ(pair.field(1), Value(0.5));
  EXPECT_EQ(refusal_of([&] { pair.field(2); }), "expected a field below 2 of a data value, found 2");
  EXPECT_EQ(refusal_of([] { Data(3, {}).field(0); }), "expected a field below 0 of a data value, found 0");
}

TEST(Tensors, HaveElementsOfTheirTypeAlone) {
  Tensor tensor(DType::F32, {3});
  tensor.mutable_data<float>()[2] = 1.5F;
  EXPECT_EQ(tensor.data<float>()[2], 1.5F);
  EXPECT_NE(tensor.data<std::byte>(), nullptr);
  EXPECT_EQ(refusal_of([&] { tensor.mutable_data<double>(); }), "expected a tensor of f64, found one of f32");
  EXPECT_EQ(refusal_of([&] { tensor.data<int32_t>(); }), "expected a tensor of i32, found one of f32");
}

}  // namespace
}  // namespace hiaton
