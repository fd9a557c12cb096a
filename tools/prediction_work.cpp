#include "prediction_work.h"

#include <algorithm>

namespace hiaton::cli {

void PredictionWork::load() {
  model_ = load_model(checkpoint_, execution_);
  wire_ = std::make_unique<TreeWire>(model_.words.size(), model_.info.classes);
}

std::string PredictionWork::prepare(int self) {
  load();
  if (self == 0) trees_ = read(model_);
  return "the model " + hash_of_model(checkpoint_);
}

void PredictionWork::work(net::Transport& transport) {
  net::deal(transport, *this, kBatch);
  if (transport.self() == 0) finish();
}

void PredictionWork::work_alone() {
  load();
  trees_ = read(model_);
  for (std::size_t begin = 0; begin < trees_.size(); begin += kBatch) {
    const std::span<const train::Tree> trees = trees_of({begin, std::min(kBatch, trees_.size() - begin)});
    take(begin, trees, predict(trees));
  }
  finish();
}

std::vector<train::Prediction> PredictionWork::predict(std::span<const train::Tree> trees) {
  std::vector<const train::Tree*> batch;
  for (const train::Tree& tree : trees) batch.push_back(&tree);
  return model_.learner->predict(batch);
}

void PredictionWork::work(net::ByteReader& things, net::ByteWriter& results) {
  wire_->write(predict(wire_->read_trees(things)), results);
}

}  // namespace hiaton::cli
