#include "prediction_work.h"

namespace hiaton::cli {

void PredictionWork::load_model() {
  model_.emplace(cli::load_model(checkpoint_, execution_));
  wire_ = std::make_unique<TreeWire>(model_->words.size(), model_->info.classes);
}

train::TreeExamples PredictionWork::examples(std::vector<train::Tree> trees) {
  return {model_->trainer.model(), std::move(trees), model_->info.classes};
}

void PredictionWork::compute(net::ByteReader& things, net::ByteWriter& results) {
  write_predictions(model_->trainer.predict(examples(wire_->read_trees(things))), results);
}

}  // namespace hiaton::cli
