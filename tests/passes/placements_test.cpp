// What is placed stays where it is, through every pass that copies bodies.
#include <algorithm>

#include "lower_support.h"
#include "support.h"

namespace hiaton::passes {
namespace {

using testing::count;

const ir::Function& function_named(const ir::Module& module, const std::string& name) {
  return module[module.function_named(name)];
}

/// The placements of the nodes of one operation, or of calls where there is no name.
std::vector<std::string> placements(const ir::Function& function, std::string_view op) {
  std::vector<std::string> found;
  for (const ir::Node& node : function.nodes) {
    const bool is_it = op.empty() ? node.kind == ir::NodeKind::Call
                                  : node.kind == ir::NodeKind::Op && node.op->name.value == op;
    if (is_it) found.emplace_back(node.placement);
  }
  return found;
}

const ir::Node& only(const ir::Function& function, ir::NodeKind kind) {
  const auto found = std::find_if(function.nodes.begin(), function.nodes.end(),
                                  [&](const ir::Node& node) { return node.kind == kind; });
  EXPECT_NE(found, function.nodes.end());
  return *found;
}

TEST(Placements, OfALoopThatBecomesACall) {
  const ir::Module module = loops_to_calls(parse(R"(
fn main(n: i64) -> i64 on "process:3" =
  let (a, _) = on "process:1" with a = 1, i = n while i > 0 do on "process:2" (a * i, on "" (i - 1))
  a + 1
)"));
  const ir::Function& main = function_named(module, "main");
  EXPECT_EQ(main.placement, "process:3");
  EXPECT_EQ(placements(main, ""), std::vector<std::string>{"process:1"});
  EXPECT_EQ(placements(main, "add"), std::vector<std::string>{""});
  const ir::Function& loop = function_named(module, "main_loop");
  EXPECT_EQ(placements(loop, "gt"), std::vector<std::string>{"process:1"});
  EXPECT_EQ(placements(loop, "mul"), std::vector<std::string>{"process:2"});
  EXPECT_EQ(placements(loop, "sub"), std::vector<std::string>{""});
  EXPECT_EQ(placements(loop, ""), std::vector<std::string>{""}) << "the next iteration stays at home";
  EXPECT_EQ(only(loop, ir::NodeKind::If).placement, "");
}

constexpr const char* kPlacedModel = R"(
param w: f64[1]

fn f(x: f64[1], n: i64) -> f64[1] on "process:1" =
  if n == 0 then x * w else on "process:2" (sin(on "process:3" f(x, n - 1)))

fn main(x: f64[1]) -> f64 on "process:4" = sum(f(x, 3))
)";

TEST(Placements, OfFunctionsAndNodesInTheGradientsOfParameters) {
  const ir::Module module = add_training_step(parse(kPlacedModel));
  EXPECT_EQ(function_named(module, "training_step").placement, "process:4");
  const ir::Function& extension = function_named(module, "f_extended");
  EXPECT_EQ(extension.placement, "process:1");
  EXPECT_EQ(placements(extension, "cos"), std::vector<std::string>{"process:2"});
  EXPECT_EQ(placements(extension, ""), std::vector<std::string>{"process:3"});
  EXPECT_EQ(only(extension, ir::NodeKind::Resume).placement, "process:3")
      << "a call is on one process, with all its phases";
  for (const ir::Node& node : extension.nodes) {
    if (node.kind != ir::NodeKind::If) continue;
    EXPECT_EQ(node.placement, "");
  }
  const graph::Graph graph = lower(module);
  for (const graph::Node& node : graph.nodes()) {
    if (node.kind != graph::NodeKind::Switch) continue;
    EXPECT_EQ(node.placement, "");
  }
}

TEST(Placements, OfBranchesThatHoldOtherPlaces) {
  const ir::Module module = loops_to_calls(parse(R"(
fn main(n: i64) -> i64 =
  let a = on "process:1" if n > 0 then on "process:2" (n * n) else n
  let (b, _) = with b = 1, i = n while i > 0 do (b, i - 1)
  a + b
)"));
  EXPECT_EQ(only(function_named(module, "main"), ir::NodeKind::If).placement, "process:1");
}

TEST(Placements, OfAConstantThatIsFolded) {
  const ir::Module module =
      fold_constants(parse("fn main() -> i64 = on \"process:1\" (2 * 3)\n"), OverflowMode::Wrap);
  const ir::Function& main = function_named(module, "main");
  const ir::Node& six = *std::find_if(main.nodes.begin(), main.nodes.end(), [](const ir::Node& node) {
    return node.kind == ir::NodeKind::Const && node.constant.as<int64_t>() == 6;
  });
  EXPECT_EQ(six.placement, "process:1");
}

TEST(Placements, OfParametersAreWrittenReadAndSaved) {
  const std::string text =
      "param E: f32[3, 2] on \"table\" = zeros\n"
      "param w: f32[2]\n"
      "\n"
      "fn main(n: i64) -> f32[2] = gather(E, n) * w\n";
  const ir::Module module = parse(text);
  EXPECT_EQ(module.parameters[0].placement, "table");
  EXPECT_EQ(module.parameters[1].placement, "");
  EXPECT_EQ(ir::print(module), text);
  EXPECT_FALSE(ir::equal(module, parse("param E: f32[3, 2] = zeros\n" + text.substr(text.find("param w")))));
  const graph::Graph graph = lower(module);
  EXPECT_EQ(graph.parameters()[0].placement, "table");
  const graph::Graph loaded = graph::from_json(graph::to_json(graph), "saved.json");
  EXPECT_EQ(loaded.parameters()[0].placement, "table");
  EXPECT_EQ(loaded.parameters()[1].placement, "");
}

TEST(Placements, OfAdditionsToGradientsInTheGraph) {
  const graph::Graph graph = lower(add_training_step(parse(R"(
param w: f64[1]
fn main(x: f64[1]) -> f64 = on "process:1" sum(x * w)
)")));
  for (const graph::Node& node : graph.nodes()) {
    if (node.kind != graph::NodeKind::Accumulate) continue;
    EXPECT_EQ(node.placement, "process:1");
  }
  EXPECT_EQ(count(graph, graph::NodeKind::Accumulate), 1u);
}

}  // namespace
}  // namespace hiaton::passes
