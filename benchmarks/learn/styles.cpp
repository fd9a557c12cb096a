#include "styles.h"

#include <fmt/format.h>

#include "engine/pipeline.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton::benchmarks {
namespace {

using train::Node;
using train::Tree;

/// The list of steps that models/treernn_iteration.hia goes through: the nodes from the last to the first.
std::vector<Value> steps_of(const Tree& tree) {
  constexpr uint32_t kNil = 0, kCons = 1;      // of a list
  constexpr uint32_t kShift = 0, kReduce = 1;  // of a step
  Value steps = Data(kNil, {});
  for (const Node& node : tree.nodes) {
    const Value label = int64_t{node.label};
    const Value word = int64_t{node.word};
    Value step =
        node.child_count == 0 ? Data(kShift, std::vector{label, word}) : Data(kReduce, std::vector{label});
    steps = Data(kCons, std::vector{std::move(step), std::move(steps)});
  }
  return {steps};
}

/// A program for each tree: the operations of models/treernn.hia, written out node by node.
class UnrolledTreeRnn : public Trainee {
 public:
  UnrolledTreeRnn(const Model& recursive, CompileOptions options)
      : Trainee(recursive), compile_(std::move(options)) {}

  std::vector<std::vector<Value>> predict(Trees trees) override {
    std::vector<std::vector<Value>> results;
    for (const Tree* tree : trees) {
      const std::string text = "fn main(_start: bool) -> List[f32[classes]] =\n" + states_of(*tree) + "  " +
                               probabilities_of(*tree);
      results.push_back(run_once(text, Purpose::Run, with_parameters()));
    }
    return results;
  }

 protected:
  std::vector<std::vector<Value>> run_loss(Trees trees, const RunOptions& options) override {
    std::vector<std::vector<Value>> results;
    for (const Tree* tree : trees) {
      const std::string text = "fn main(_start: bool) -> f32 =\n" + states_of(*tree) + "  " + loss_of(*tree);
      results.push_back(run_once(text, Purpose::Train, options));
    }
    return results;
  }

 private:
  std::vector<Value> run_once(const std::string& text, Purpose purpose, const RunOptions& options) const {
    static constexpr std::string_view kDeclarations =
        "size d = 1\nsize vocab = 1\nsize classes = 1\n"
        "param E: f32[vocab, d]\nparam W: f32[2 * d, d]\nparam b: f32[d]\n"
        "param V: f32[d, classes]\nparam v: f32[classes]\n";
    ir::Module module =
        lang::parse(std::make_shared<const Source>("an unrolled tree", std::string(kDeclarations) + text),
                    {compile_.sizes});
    const Program program =
        Program::from_graph(compile(std::move(module), "main", purpose, compile_), compile_);
    return program.run_all(std::vector<std::vector<Value>>{{Value(true)}}, options)[0];
  }

  /// Children stand behind their parents, so from the last node to the first they come in time.
  static std::string states_of(const Tree& tree) {
    std::string text;
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
      const Node& node = tree.nodes[i];
      if (node.child_count == 0) {
        text += fmt::format("  let h{} = E[{}]\n", i, node.word);
      } else {
        const std::size_t left = i + 1;
        text += fmt::format("  let h{} = tanh(concat(h{}, h{}, axis=0) @ W + b)\n", i, left,
                            tree.nodes[left].subtree_end);
      }
    }
    return text;
  }

  static std::string loss_of(const Tree& tree) {
    std::string text = "0.0";
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      if (tree.nodes[i].label < 0) continue;
      text += fmt::format("\n    + cross_entropy(h{} @ V + v, {})", i, tree.nodes[i].label);
    }
    return text;
  }

  static std::string probabilities_of(const Tree& tree) {
    std::string text;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      text += fmt::format("{}softmax(h{} @ V + v)", i == 0 ? "[" : ",\n   ", i);
    }
    return text + "]";
  }

  const CompileOptions compile_;
};

}  // namespace

Style style_named(const std::string& name) {
  if (name == "recursion") return Style::Recursion;
  if (name == "iteration") return Style::Iteration;
  if (name == "unrolling") return Style::Unrolling;
  throw ProgramError(fmt::format("expected recursion, iteration or unrolling, found '{}'", name));
}

std::unique_ptr<Trainee> make_treernn(Style style, const std::filesystem::path& root, const Corpus& corpus,
                                      int64_t hidden) {
  const CompileOptions options{
      .sizes = {{"d", hidden}, {"vocab", corpus.vocabulary}, {"classes", corpus.classes}}};
  if (style == Style::Iteration) {
    return std::make_unique<Trainee>(
        Model::from_file(root / "benchmarks/learn/models/treernn_iteration.hia", options), steps_of);
  }
  const Model model = Model::from_file(root / "models/treernn.hia", options);
  if (style == Style::Unrolling) return std::make_unique<UnrolledTreeRnn>(model, options);
  return std::make_unique<Trainee>(model);
}

}  // namespace hiaton::benchmarks
