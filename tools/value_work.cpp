#include "value_work.h"

#include <fmt/format.h>

#include "example_file.h"

namespace hiaton::cli {

LineWire::LineWire(std::span<const Type> types) {
  for (const Type& type : types) codecs_.emplace_back(type);
}

void LineWire::write(std::span<const Value> values, net::ByteWriter& out) const {
  for (std::size_t i = 0; i < codecs_.size(); ++i) codecs_[i].write(values[i], out);
}

std::vector<Value> LineWire::read(net::ByteReader& in) const {
  std::vector<Value> values;
  for (const net::ValueCodec& codec : codecs_) values.push_back(codec.read(in));
  return values;
}

std::vector<Type> types_of(std::span<const EntryParameter> parameters) {
  std::vector<Type> types;
  for (const EntryParameter& parameter : parameters) types.push_back(parameter.type);
  return types;
}

void ValueWork::load_model() {
  model_.emplace(cli::load_model(checkpoint_, execution_));
  const train::ExampleForm lines = form();
  wire_.emplace(types_of(std::span(lines.parameters).first(lines.required)));
}

void ValueWork::read_examples() {
  const ModelInfo& info = model_->info;
  const std::string from = file(info);
  // What was too large to be kept in training is so here.
  const bool is_streamed = info.data.is_streamed && from == info.data.train;
  examples_ = ExampleFile(from, is_streamed).examples(model_->trainer.model(), form(), model_->words);
  for (std::size_t i = 0; i < examples_->size(); ++i) {
    if (is_chosen(i, info)) chosen_.push_back(static_cast<uint32_t>(i));
  }
}

train::ExampleList ValueWork::examples_of(const net::Range& range) const {
  std::vector<train::Example> examples;
  std::vector<std::string> places;
  for (const uint32_t index : std::span(chosen_).subspan(range.begin, range.count)) {
    examples.push_back({examples_->arguments(index)});
    places.push_back(examples_->place_of(index));
  }
  return {trainer().model(), std::move(examples), std::move(places)};
}

void ValueWork::write(const net::Range& range, net::ByteWriter& things) {
  things.compact(range.count);
  const train::ExampleList examples = examples_of(range);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    wire_->write(examples.arguments(i), things);
    things.text(examples.place_of(i));
  }
}

train::ExampleList ValueWork::read_from(net::ByteReader& things) const {
  const uint64_t count = things.compact();
  if (count > kMostAtOnce)
    things.fail(fmt::format("expected at most {} examples, found {}", kMostAtOnce, count));
  std::vector<train::Example> examples;
  std::vector<std::string> places;
  for (uint64_t i = 0; i < count; ++i) {
    examples.push_back({wire_->read(things)});
    places.push_back(things.text());
  }
  return {trainer().model(), std::move(examples), std::move(places)};
}

}  // namespace hiaton::cli
