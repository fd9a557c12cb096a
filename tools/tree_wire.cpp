#include "tree_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace hiaton::cli {
namespace {

using train::Node;
using train::Prediction;
using train::Tree;

constexpr int64_t kNumbersOfNode = 6;
static_assert(sizeof(Node) == kNumbersOfNode * sizeof(int32_t));
constexpr uint32_t kNil = 0;
constexpr uint32_t kCons = 1;

Type open_matrix(DType dtype, int64_t columns) {
  return Type(dtype, {{-1, "n"}, {columns, ""}});
}

Type list_of_trees() {
  DataTypes types;
  return types.list_of(open_matrix(DType::I32, kNumbersOfNode));
}

/// Classes may be none, where no node has a prediction.
Type list_of_predictions() {
  DataTypes types;
  const Type prediction = types.declare("Prediction");
  types.define(prediction, {{"Prediction",
                             {{"nodes", Type(DType::I32, {{-1, "n"}})},
                              {"probabilities", Type(DType::F32, {{-1, "n"}, {-1, "classes"}})}}}});
  return types.list_of(prediction);
}

template <class T>
Tensor tensor_of(DType dtype, std::initializer_list<int64_t> dims, const T* elements) {
  Tensor tensor = Tensor::uninitialized(dtype, std::span(dims.begin(), dims.size()));
  const std::size_t bytes = static_cast<std::size_t>(tensor.size()) * size_of(dtype);
  if (bytes > 0) std::memcpy(tensor.mutable_data<std::byte>(), elements, bytes);
  return tensor;
}

/// `make` makes the value at an index.
template <class Make>
Value list_value(std::size_t size, Make make) {
  Value list = Data(kNil, {});
  for (std::size_t i = size; i-- > 0;) {
    std::array<Value, 2> cell{make(i), std::move(list)};
    list = Data::take(kCons, cell);
  }
  return list;
}

template <class Visit>
void for_each(const Value& list, Visit visit) {
  for (Data cell = list.data(); cell.variant() == kCons; cell = cell.field(1).data()) visit(cell.field(0));
}

/// Whether the nodes behind `node` are a subtree as it says. Those below its children are looked at in
/// their turn.
bool is_legal(const std::vector<Node>& nodes, std::size_t node, int32_t words, int32_t classes) {
  const auto count = static_cast<int64_t>(nodes.size());
  const Node& here = nodes[node];
  const int64_t end = here.subtree_end;
  if (here.label < Node::kNone || here.label >= classes || end > count) return false;
  if (here.child_count == 0)
    return here.word >= 0 && here.word < words && end == static_cast<int64_t>(node) + 1;
  if (here.word != Node::kNone || here.child_count < 0) return false;
  auto child = static_cast<int64_t>(node) + 1;
  for (int32_t left = here.child_count; left > 0; --left) {
    if (child >= end || nodes[static_cast<std::size_t>(child)].subtree_end <= child) return false;
    child = nodes[static_cast<std::size_t>(child)].subtree_end;
  }
  return child == end;
}

bool is_legal(const Tree& tree, int32_t words, int32_t classes) {
  if (tree.nodes.empty() || tree.nodes[0].subtree_end != static_cast<int64_t>(tree.nodes.size()))
    return false;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (!is_legal(tree.nodes, i, words, classes)) return false;
  }
  return true;
}

Prediction prediction_from(const Value& value) {
  const Tensor nodes = value.data().field(0).tensor();
  const Tensor probabilities = value.data().field(1).tensor();
  Prediction prediction;
  prediction.nodes.assign(nodes.data<int32_t>(), nodes.data<int32_t>() + nodes.size());
  prediction.classes = static_cast<int32_t>(probabilities.dims()[1]);
  prediction.probabilities.assign(probabilities.data<float>(),
                                  probabilities.data<float>() + probabilities.size());
  return prediction;
}

bool fits(const Prediction& prediction, const Tree& tree) {
  const std::vector<int32_t>& nodes = prediction.nodes;
  return prediction.probabilities.size() == nodes.size() * static_cast<std::size_t>(prediction.classes) &&
         std::adjacent_find(nodes.begin(), nodes.end(), std::greater_equal<>()) == nodes.end() &&
         (nodes.empty() || (nodes.front() >= 0 && nodes.back() < static_cast<int64_t>(tree.nodes.size())));
}

}  // namespace

TreeWire::TreeWire(int32_t words, int32_t classes)
    : words_(words), classes_(classes), trees_(list_of_trees()), predictions_(list_of_predictions()) {}

void TreeWire::write(std::span<const Tree> trees, net::ByteWriter& out) const {
  const Value list = list_value(trees.size(), [trees](std::size_t i) {
    const std::vector<Node>& nodes = trees[i].nodes;
    return Value(tensor_of(DType::I32, {static_cast<int64_t>(nodes.size()), kNumbersOfNode}, nodes.data()));
  });
  trees_.write(list, out);
}

std::vector<Tree> TreeWire::read_trees(net::ByteReader& in) const {
  std::vector<Tree> trees;
  for_each(trees_.read(in), [&](const Value& value) {
    const Tensor numbers = value.tensor();
    Tree tree;
    tree.nodes.resize(static_cast<std::size_t>(numbers.dims()[0]));
    if (!tree.nodes.empty())
      std::memcpy(tree.nodes.data(), numbers.data<std::byte>(), tree.nodes.size() * sizeof(Node));
    if (!is_legal(tree, words_, classes_)) {
      in.fail(fmt::format("expected a tree of words below {} and labels below {}, found other numbers",
                          words_, classes_));
    }
    trees.push_back(std::move(tree));
  });
  return trees;
}

void TreeWire::write(std::span<const Prediction> predictions, net::ByteWriter& out) const {
  const Value list = list_value(predictions.size(), [predictions](std::size_t i) {
    const Prediction& one = predictions[i];
    const auto nodes = static_cast<int64_t>(one.nodes.size());
    return Value(Data(0, {tensor_of(DType::I32, {nodes}, one.nodes.data()),
                          tensor_of(DType::F32, {nodes, one.classes}, one.probabilities.data())}));
  });
  predictions_.write(list, out);
}

std::vector<Prediction> TreeWire::read_predictions(std::span<const Tree> trees, net::ByteReader& in) const {
  std::vector<Prediction> predictions;
  for_each(predictions_.read(in), [&](const Value& value) {
    predictions.push_back(prediction_from(value));
    const std::size_t index = predictions.size() - 1;
    if (index >= trees.size() || !fits(predictions[index], trees[index]))
      in.fail("expected a prediction of the tree, found another one");
  });
  if (predictions.size() != trees.size())
    in.fail(fmt::format("expected {} predictions, found {}", trees.size(), predictions.size()));
  return predictions;
}

}  // namespace hiaton::cli
