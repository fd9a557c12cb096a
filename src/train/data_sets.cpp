#include <fmt/format.h>

#include <algorithm>

#include "hiaton/examples.h"
#include "net/values.h"
#include "train/checkpoint.h"
#include "train/columns.h"
#include "train/random.h"
#include "train/tree_place.h"
#include "train/tree_values.h"

namespace hiaton::train {
namespace {

std::string name_of_model(const Model& model) {
  const auto& source = model.module().source;
  return source == nullptr ? "the model" : source->name();
}

}  // namespace

std::string place_of_line(uint32_t line) {
  return fmt::format("the example in line {} of the data", line);
}

ExampleList::ExampleList(const Model& model, std::vector<Example> examples)
    : examples_(std::move(examples)), parameters_(example_parameters(model.loss_program())) {}

std::string ExampleList::place_of(std::size_t index) const {
  const uint32_t line = examples_[index].line;
  return line > 0 ? place_of_line(line) : fmt::format("example {}", index);
}

uint64_t ExampleList::fingerprint() const {
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

TreeExamples::TreeExamples(const Model& model, std::vector<Tree> trees, int32_t classes)
    : list_(std::move(trees)),
      classes_(classes),
      model_(name_of_model(model)),
      values_(std::make_shared<const TreeValues>(model.loss_program(), model_)) {}

std::vector<Value> TreeExamples::arguments(std::size_t index) const {
  std::vector<Value> arguments;
  arguments.push_back(values_->value_of(list_[index]));
  return arguments;
}

std::string TreeExamples::place_of(std::size_t index) const {
  return train::place_of(list_[index]);
}

std::string TreeExamples::hint(std::size_t index, std::string_view message) const {
  const bool lacks =
      std::ranges::any_of(list_[index].nodes, [](const Node& node) { return node.label == Node::kNone; });
  const bool is_of_labels = message.find("-1") != std::string_view::npos;
  return lacks && is_of_labels ? ", which has nodes without a label: theirs is -1" : "";
}

uint64_t TreeExamples::fingerprint() const {
  return train::fingerprint(list_);
}

Prediction TreeExamples::prediction_in(const Value& predicted, std::size_t index) const {
  return train::prediction_in(predicted, list_[index], classes_, model_);
}

}  // namespace hiaton::train
