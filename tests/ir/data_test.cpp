// The ir of data types, tensors, learned parameters and gradients: Builder, verifier, equality.
#include <gtest/gtest.h>

#include "ir/support.h"

namespace hiaton {
namespace {

const char* const kTree = "data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n";

ModuleBuilder with_tree() {
  ModuleBuilder builder;
  DataTypes& types = builder.module().data_types;
  const Type tree = types.declare("Tree");
  types.define(tree, {{"Leaf", {{"word", DType::I64}}}, {"Node", {{"left", tree}, {"right", tree}}}});
  return builder;
}

TEST(BuilderOfData, MakesWhatTheTextMakes) {
  ModuleBuilder builder = with_tree();
  const Type tree = *builder.module().data_types.find("Tree");
  const FunctionRef total = builder.declare("total", {{tree, "t"}}, {DType::I64});
  builder.define(total, [&](FunctionBuilder& f) {
    const Var t = f.param(0);
    return f.if_else(
        f.variant(t) == 0, [&] { return f.field(t, 0, 0); },
        [&] {
          const Var l = f.field(t, 1, 0);
          const Var r = f.field(t, 1, 1);
          const Var left = f.call(total, {l});
          return left + f.call(total, {r});
        });
  });
  EXPECT_TRUE(
      equal(builder.finish(),
            parse(std::string(kTree) +
                  "fn total(t: Tree) -> i64 = match t Leaf(w) -> w Node(l, r) -> total(l) + total(r)")));
}

TEST(BuilderOfData, MatchesWithOneCaseForEachVariant) {
  ModuleBuilder builder = with_tree();
  const Type tree = *builder.module().data_types.find("Tree");
  const FunctionRef total = builder.declare("total", {{tree, "t"}}, {DType::I64});
  builder.define(total, [&](FunctionBuilder& f) {
    const auto leaf = [](const Vars& fields) { return fields[0]; };
    const auto node = [&](const Vars& fields) {
      const Var left = f.call(total, {fields[0]});
      return left + f.call(total, {fields[1]});
    };
    return f.match(f.param(0), {leaf, node});
  });
  EXPECT_TRUE(
      equal(builder.finish(),
            parse(std::string(kTree) +
                  "fn total(t: Tree) -> i64 = match t Leaf(w) -> w Node(l, r) -> total(l) + total(r)")));
}

TEST(BuilderOfData, MatchesAnyNumberOfVariants) {
  const auto print_match = [](std::size_t variants) {
    ModuleBuilder builder;
    DataTypes& types = builder.module().data_types;
    const Type type = types.declare("Choice");
    std::vector<Variant> all{
        {"A", {{"n", DType::I64}}}, {"B", {{"n", DType::I64}}}, {"C", {{"n", DType::I64}}}};
    all.resize(variants);
    types.define(type, all);
    std::vector<std::function<Vars(const Vars&)>> cases;
    for (std::size_t i = 0; i < variants; ++i) {
      cases.emplace_back([i](const Vars& fields) { return fields[0] * static_cast<int64_t>(i + 2); });
    }
    builder.define(builder.declare("f", {{type, "c"}}, {DType::I64}),
                   [&](FunctionBuilder& f) { return f.match(f.param(0), cases); });
    return print(builder.finish());
  };
  EXPECT_EQ(print_match(1),
            "data Choice = A(n: i64)\n\nfn f(c: Choice) -> i64 = field(c, variant=0, field=0) * 2\n");
  EXPECT_EQ(print_match(3),
            "data Choice = A(n: i64) | B(n: i64) | C(n: i64)\n\n"
            "fn f(c: Choice) -> i64 =\n"
            "  let v1 = variant(c)\n"
            "  if v1 == 0 then field(c, variant=0, field=0) * 2 else if v1 == 1 then field(c, variant=1, "
            "field=0) * 3 "
            "else field(c, variant=2, field=0) * 4\n");
}

TEST(BuilderOfData, MakesConstantsOfVariantsWithoutFields) {
  ModuleBuilder builder;
  const Type list = builder.module().data_types.list_of(DType::F32);
  builder.define(builder.declare("f", {}, {list}),
                 [&](FunctionBuilder& f) -> Vars { return f.make(list, 0, {}); });
  const ir::Module module = builder.finish();
  EXPECT_EQ(module.functions[0].nodes[0].kind, ir::NodeKind::Const);
  EXPECT_EQ(print(module), "fn f() -> List[f32] = Nil[f32]\n");
}

TEST(BuilderOfData, RefusesWhatDoesNotFit) {
  const auto message = [](const std::function<void(FunctionBuilder&, const Type&)>& make) {
    return error_of([&] {
      ModuleBuilder builder = with_tree();
      const Type tree = *builder.module().data_types.find("Tree");
      builder.define(builder.declare("f", {{DType::I64, "n"}, {DType::F64, "x"}}, {tree}),
                     [&](FunctionBuilder& f) -> Vars {
                       make(f, tree);
                       return f.param(0);
                     });
    });
  };
  using F = FunctionBuilder;
  EXPECT_EQ(message([](F& f, const Type& tree) { f.make(tree, 0, {f.param(1)}); }),
            "[make] field 'word' of Leaf: expected i64, found f64");
  EXPECT_EQ(message([](F& f, const Type& tree) { f.make(tree, 0, {}); }),
            "[make] Leaf has 1 fields, found 0 values");
  EXPECT_EQ(message([](F& f, const Type& tree) { f.make(tree, 2, {}); }), "[make] there is no variant 2");
  EXPECT_EQ(message([](F& f, const Type&) { f.make(DType::I64, 0, {}); }),
            "[make] expected a data type, found i64");
  EXPECT_EQ(message([](F& f, const Type&) { f.variant(f.param(0)); }),
            "[variant] expected a data type, found i64");
  EXPECT_EQ(message([](F& f, const Type& tree) { f.field(f.make(tree, 0, {f.param(0)}), 0, 1); }),
            "[field] there is no field 1");
  EXPECT_EQ(message([](F& f, const Type&) { f.match(f.param(0), {}); }),
            "match: expected a data type, found i64");
  EXPECT_EQ(message([](F& f, const Type& tree) {
              f.match(f.make(tree, 0, {f.param(0)}), {[](const Vars& fields) { return fields[0]; }});
            }),
            "match: expected 2 cases, one for each variant of Tree, found 1");
  EXPECT_EQ(message([](F& f, const Type& tree) { f.constant(Value(Data(0, {})), tree); }),
            "expected a constant of type Tree, found a data value");
}

TEST(BuilderOfTensors, ChecksSizesThatOnlyTheRunKnows) {
  const Type open(DType::F32, {unknown_dim()});
  const Type four = tensor_type(DType::F32, {4});
  const ir::Module module =
      module_of({{open, "x"}}, {four}, [](FunctionBuilder& f) -> Vars { return f.param(0); });
  EXPECT_EQ(print(module), "fn f(x: f32[_]) -> f32[4] = check_shape(x, shape=[4])\n");
}

TEST(BuilderOfTensors, LoopsKeepTheTypesOfTheirState) {
  const Type four = tensor_type(DType::F32, {4});
  const auto build = [&](const std::function<Var(FunctionBuilder&, Var)>& next) {
    return module_of({{four, "x"}}, {four}, [&](FunctionBuilder& f) -> Vars {
      return f.while_loop(
          f.param(0), [&](const Vars&) { return f.constant(false); },
          [&](const Vars& now) -> Vars { return next(f, now[0]); });
    });
  };
  EXPECT_EQ(error_of([&] { build([](FunctionBuilder& f, Var x) {
                             return f.op("concat", {x, x}, {0});
                           }); }),
            "next state of a loop: expected (f32[4]), found (f32[8])");
  build([](FunctionBuilder&, Var x) { return x + x; });
}

TEST(BuilderOfParameters, RefusesWhatCannotBeLearned) {
  const auto message = [](const std::string& name, const Type& type) {
    return error_of([&] {
      ModuleBuilder builder;
      builder.add_parameter("W", tensor_type(DType::F32, {2}));
      builder.add_parameter(name, type);
    });
  };
  EXPECT_EQ(message("W", tensor_type(DType::F32, {2})), "parameter 'W' is declared twice");
  EXPECT_EQ(message("a b", tensor_type(DType::F32, {2})),
            "expected a name for a learned parameter, found 'a b'");
  for (const Type& type :
       {Type(DType::I64), tensor_type(DType::I64, {2}), Type(DType::F32, {unknown_dim()})}) {
    EXPECT_NE(message("b", type).find("expected a number or a tensor of f32 or f64 with fixed dimensions"),
              std::string::npos);
  }
  EXPECT_EQ(message("b", tensor_type(DType::F64, {2})), "");
  EXPECT_EQ(message("b", Type(DType::F32)), "");
}

TEST(BuilderOfGradients, DeclaresThemWithoutBodies) {
  ModuleBuilder builder;
  const FunctionRef f = builder.declare("f", {{DType::F32, "x"}, {DType::I64, "n"}}, {DType::F32});
  builder.define(f, [](FunctionBuilder& b) -> Vars { return b.param(0); });
  builder.declare_gradient("slope", f, {});
  builder.declare_gradient("both", f, {ir::GradientForm::Kind::ValueAndGradients});
  const std::size_t w = builder.add_parameter("w", Type(DType::F32, {Dim{.size = 2, .symbol = ""}}));
  builder.declare_gradient("product", f, {ir::GradientForm::Kind::Vjp, {{.number = 0}}});
  builder.declare_gradient("by_w", f, {.wrt = {{.is_learned = true, .number = w}, {.number = 0}}});
  const ir::Module module = builder.finish();
  EXPECT_EQ(print(module),
            "param w: f32[2]\n\n"
            "fn f(x: f32, n: i64) -> f32 = x\n\n"
            "fn slope(x: f32, n: i64) -> f32 = grad(f)\n\n"
            "fn both(x: f32, n: i64) -> (f32, f32) = value_and_grad(f)\n\n"
            "fn product(x: f32, n: i64, g1: f32) -> f32 = vjp(f, wrt=0)\n\n"
            "fn by_w(x: f32, n: i64) -> (f32[2], f32) = grad(f, wrt=(w, 0))\n");
}

TEST(VerifyGradients, KnowsTheirSignature) {
  const auto after = [](const std::function<void(ir::Module&)>& damage) {
    ir::Module module =
        parse("fn f(x: f32, n: i64) -> f32 = x\nfn g(x: f32, n: i64) -> (f32, f32) = value_and_grad(f)\n");
    damage(module);
    return error_of([&] { ir::verify(module); });
  };
  const char* const wrong = "function 'g': its parameters and results are not those of the gradient of 'f'";
  EXPECT_EQ(after([](ir::Module&) {}), "");
  EXPECT_EQ(after([](ir::Module& m) { m.gradient_requests.clear(); }), "function 'g': it has no body");
  EXPECT_EQ(after([](ir::Module& m) { m.gradient_requests[0].form = {}; }), wrong);
  EXPECT_EQ(after([](ir::Module& m) { m.gradient_requests[0].form.kind = ir::GradientForm::Kind::Vjp; }),
            wrong);
  EXPECT_EQ(after([](ir::Module& m) { m.gradient_requests[0].form.wrt = {{.number = 2}}; }),
            "function 'g': it is by a parameter that 'f' does not have");
  EXPECT_EQ(after([](ir::Module& m) { m.gradient_requests[0].form.wrt = {{.is_learned = true}}; }),
            "function 'g': it is by a parameter that 'f' does not have");
  EXPECT_EQ(after([](ir::Module& m) { m.functions[1].params[1].type = DType::I32; }), wrong);
  EXPECT_EQ(after([](ir::Module& m) { m.gradient_requests[0].of = ir::FunctionId(9); }),
            "function 'g': it is the gradient of no function");
  EXPECT_EQ(after([](ir::Module& m) { m.gradient_requests[0].function = m.gradient_requests[0].of; }),
            "function 'f': expected no body of a gradient that is to be derived");
}

TEST(VerifyData, VariantsHaveNamesOfTheirOwn) {
  const auto after = [](const std::function<void(ModuleBuilder&)>& add) {
    ModuleBuilder builder = with_tree();
    add(builder);
    return error_of([&] { builder.finish(); });
  };
  const auto define = [](ModuleBuilder& builder, const std::string& name) {
    builder.define(builder.declare(name, {{DType::I64, "n"}}, {DType::I64}),
                   [](FunctionBuilder& f) -> Vars { return f.param(0); });
  };
  EXPECT_EQ(after([](ModuleBuilder&) {}), "");
  EXPECT_EQ(after([&](ModuleBuilder& b) { define(b, "Leaf"); }),
            "function 'Leaf': it or a parameter has the name of a variant");
  EXPECT_EQ(after([](ModuleBuilder& b) { b.add_parameter("Node", tensor_type(DType::F32, {2})); }),
            "parameter 'Node' has the name of a variant");
  EXPECT_EQ(after([](ModuleBuilder& b) {
              DataTypes& types = b.module().data_types;
              types.define(types.declare("Other"), {{"Leaf", {}}});
            }),
            "data types 'Tree' and 'Other' both have a variant 'Leaf'");
  EXPECT_EQ(after([](ModuleBuilder& b) { b.module().data_types.declare("Empty"); }),
            "data type 'Empty' has no variants");
  EXPECT_EQ(after([](ModuleBuilder& b) { b.module().data_types.declare("small"); }),
            "'small' is no name for a data type");
}

TEST(VerifyData, CallsBindEachSymbolToOneSize) {
  ir::Module module = parse(
      "fn g(x: f32[n], y: f32[n]) -> f32[n] = x + y\n"
      "fn f(x: f32[3], y: f32[3]) -> f32[3] = g(x, y)\n");
  ir::Function& f = module.functions[1];
  f.params[1].type = tensor_type(DType::F32, {4});
  f[f[f.body].params[1]].type = f.params[1].type;
  EXPECT_EQ(error_of([&] { ir::verify(module); }),
            "function 'f', node 0 (call of g): arguments: expected (f32[n], f32[n]), found (f32[3], f32[4])");
}

TEST(EqualData, SeesEveryDifference) {
  const std::string base =
      "data A = X(a: i64, b: f32[2]) | Y\n"
      "param W: f32[2, 3]\n"
      "fn f(x: f32[4, 6], a: A) -> f32[4] = sum(x, axes=[1])\n"
      "fn g(y: f32) -> f32 = grad(h)\n"
      "fn h(y: f32) -> f32 = y\n"
      "fn k(a: A) -> A = Y\n"
      "fn p() -> f32[2, 3] = W\n"
      "fn t() -> i64[2] = [1, 2]\n";
  const std::pair<const char*, const char*> changes[] = {
      {"data A", "data B = Z\ndata A"},
      {"a: i64, b", "c: i64, b"},
      {"a: i64, b", "a: i32, b"},
      {"b: f32[2]", "b: f32[3]"},
      {"| Y", "| Y | Z"},
      {"param W: f32[2, 3]", "param V: f32[1]\nparam W: f32[2, 3]"},
      {"param W: f32[2, 3]", "param W: f32[2, 3] = ones"},
      {"param W: f32[2, 3]", "param W: f32[2, 3] = normal(0.5)"},
      {"sum(x, axes=[1])", "logsumexp(x, axes=[1])"},
      {"x: f32[4, 6]", "x: f32[4, 7]"},
      {"x: f32[4, 6]", "x: f32[4, n]"},
      {"grad(h)", "h(y)"},
      {"= Y\nfn p", "= X(1, [1, 2])\nfn p"},
      {"= W\n", "= W * W\n"},
      {"[1, 2]", "[1, 3]"},
  };
  EXPECT_TRUE(equal(parse(base), parse(base)));
  for (const auto& [from, to] : changes) {
    std::string changed = base;
    ASSERT_NE(changed.find(from), std::string::npos) << from;
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(equal(parse(base), parse(changed))) << to;
    EXPECT_FALSE(equal(parse(changed), parse(base))) << to;
  }
  EXPECT_FALSE(equal(parse("fn f(x: f32[2, 2]) -> f32[2] = sum(x, axes=0)"),
                     parse("fn f(x: f32[2, 2]) -> f32[2] = sum(x, axes=1)")));
}

TEST(EqualData, TellsConstantsOfDataByTheirType) {
  const auto nil_of = [](const std::string& element) {
    return parse("data P = P(a: List[i64], b: List[f64])\nfn f(n: i64) -> i64 =\n  let x = Cons[List[" +
                 element + "]](Nil, Nil)\n  n\n");
  };
  EXPECT_TRUE(equal(nil_of("i64"), nil_of("i64")));
  EXPECT_FALSE(equal(nil_of("i64"), nil_of("f64")));
}

}  // namespace
}  // namespace hiaton
