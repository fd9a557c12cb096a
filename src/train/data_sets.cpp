#include <fmt/format.h>

#include <algorithm>

#include "hiaton/examples.h"
#include "net/values.h"
#include "tensor/shown.h"
#include "train/checkpoint.h"
#include "train/columns.h"
#include "train/random_stream.h"
#include "train/tree_place.h"
#include "train/tree_values.h"

namespace hiaton::train {
namespace {

std::string name_of_model(const Model& model) {
  const auto& source = model.module().source;
  return source == nullptr ? "the model" : source->name();
}

/// Whether an example has what `loss` takes, but for a seed.
void require_arguments(std::span<const Value> arguments, std::span<const EntryParameter> parameters,
                       const std::string& place) {
  if (arguments.size() != parameters.size()) {
    throw ProgramError(fmt::format("{}: expected {} argument{} of loss, found {}", place, parameters.size(),
                                   parameters.size() == 1 ? "" : "s", arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& [name, type] = parameters[i];
    if (const std::optional<std::string> found = misfit(arguments[i], type)) {
      throw ProgramError(fmt::format("{}: expected argument '{}' of loss to be of type {}, found {}", place,
                                     name, to_string(type), *found));
    }
  }
}

}  // namespace

std::string place_of_line(uint32_t line) {
  return fmt::format("the example in line {} of the data", line);
}

ExampleList::ExampleList(const Model& model, std::vector<Example> examples, std::vector<std::string> places)
    : examples_(std::move(examples)),
      places_(std::move(places)),
      parameters_(example_parameters(model.loss_program())) {}

std::string ExampleList::place_of(std::size_t index) const {
  if (index < places_.size()) return places_[index];
  const uint32_t line = examples_[index].line;
  return line > 0 ? place_of_line(line) : fmt::format("example {}", index);
}

void ExampleList::require_fit() const {
  for (std::size_t index = 0; index < examples_.size(); ++index)
    require_arguments(examples_[index].arguments, parameters_, place_of(index));
}

uint64_t ExampleList::fingerprint() const {
  require_fit();
  std::vector<net::ValueCodec> codecs;
  for (const EntryParameter& parameter : parameters_) codecs.emplace_back(parameter.type);
  uint64_t hash = examples_.size();
  for (const Example& example : examples_) {
    net::ByteWriter bytes;
    for (std::size_t i = 0; i < example.arguments.size(); ++i) codecs[i].write(example.arguments[i], bytes);
    for (const std::byte byte : bytes.bytes()) hash = mix_bits(hash ^ static_cast<uint64_t>(byte));
  }
  return hash;
}

TreeData::TreeData(const Model& model, int32_t classes)
    : classes_(classes),
      model_(name_of_model(model)),
      values_(std::make_shared<const TreeValues>(model.loss_program(), model_)) {}

std::vector<Value> TreeData::arguments(std::size_t index) const {
  Tree space;
  std::vector<Value> arguments;
  arguments.push_back(values_->value_of(tree(index, space)));
  return arguments;
}

std::string TreeData::hint(std::size_t index, std::string_view message) const {
  if (message.find("-1") == std::string_view::npos) return "";
  Tree space;
  const bool lacks = std::ranges::any_of(tree(index, space).nodes,
                                         [](const Node& node) { return node.label == Node::kNone; });
  return lacks ? ", which has nodes without a label: theirs is -1" : "";
}

Prediction TreeData::prediction_in(const Value& predicted, std::size_t index) const {
  Tree space;
  return train::prediction_in(predicted, tree(index, space), classes_, model_);
}

TreeExamples::TreeExamples(const Model& model, std::vector<Tree> trees, int32_t classes)
    : TreeData(model, classes), list_(std::move(trees)) {
  sizes_.reserve(list_.size());
  for (const Tree& tree : list_) sizes_.push_back(static_cast<uint32_t>(tree.nodes.size()));
}

std::string TreeExamples::place_of(std::size_t index) const {
  return train::place_of(list_[index]);
}

uint64_t TreeExamples::fingerprint() const {
  return train::fingerprint(list_);
}

}  // namespace hiaton::train
