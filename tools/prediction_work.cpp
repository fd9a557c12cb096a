#include "prediction_work.h"

namespace hiaton::cli {

void PredictionWork::load_model() {
  model_.emplace(cli::load_model(checkpoint_, execution_));
  wire_ = std::make_unique<TreeWire>(model_->words.size(), model_->info.classes);
}

std::vector<train::Prediction> PredictionWork::predict(std::vector<train::Tree> trees) {
  train::ModelTrainer& trainer = model_->trainer;
  return trainer.predict(train::TreeExamples(trainer.model(), std::move(trees), model_->info.classes));
}

void PredictionWork::compute(net::ByteReader& things, net::ByteWriter& results) {
  const std::vector<train::Tree> trees = wire_->read_trees(things);
  wire_->write(predict(trees), results);
}

}  // namespace hiaton::cli
