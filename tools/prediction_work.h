// Commands that predict trees with a trained model.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model_work.h"
#include "tree_input.h"
#include "tree_wire.h"

namespace hiaton::cli {

class PredictionWork : public ModelWork {
 public:
  /// They must outlive this.
  PredictionWork(const std::string& checkpoint, const Execution& execution)
      : ModelWork(checkpoint), checkpoint_(checkpoint), execution_(execution) {}

 protected:
  virtual std::unique_ptr<TreeInput> read(const TrainedModel& model) = 0;
  /// Takes the predictions of the trees from `begin` on. Trees come in order.
  virtual void take(std::size_t begin, std::span<const train::Tree> trees,
                    std::span<const train::Prediction> predictions) = 0;
  train::ModelTrainer& trainer() final { return model_->trainer; }
  const TreeInput& input() const { return *trees_; }
  const TreeWire& wire() const { return *wire_; }
  /// Any process: writes what take_written() needs of predictions.
  virtual void write_predictions(std::span<const train::Prediction> predictions, net::ByteWriter& out) const {
    wire().write(predictions, out);
  }
  /// Process 0: take() of what another one has written.
  virtual void take_written(std::size_t begin, std::span<const train::Tree> trees, net::ByteReader& in) {
    take(begin, trees, wire().read_predictions(trees, in));
  }

 private:
  void load_model() final;
  void read_examples() final { trees_ = read(*model_); }
  std::function<void()> work_here(const net::Range& range) final {
    auto trees = std::make_shared<const train::TreeExamples>(examples(trees_->encoded(range)));
    return [this, range, trees, predictions = model_->trainer.predict(*trees)] {
      take(range.begin, trees->list(), predictions);
      trees_->forget(range.begin + range.count);
    };
  }
  train::TreeExamples examples(std::vector<train::Tree> trees);
  std::size_t size() const final { return trees_->size(); }
  void write(const net::Range& range, net::ByteWriter& things) final {
    wire_->write(given_[range.begin] = trees_->encoded(range), things);
  }
  void compute(net::ByteReader& things, net::ByteWriter& results) final;
  void take_part() final { model_->trainer.predict(examples({})); }
  void take(const net::Range& range, net::ByteReader& results) final {
    const std::vector<train::Tree> trees = std::move(given_.extract(range.begin).mapped());
    take_written(range.begin, trees, results);
    trees_->forget(range.begin + range.count);
  }

  const std::string& checkpoint_;
  const Execution& execution_;
  std::optional<TrainedModel> model_;
  std::unique_ptr<TreeInput> trees_;
  std::unique_ptr<TreeWire> wire_;
  std::map<std::size_t, std::vector<train::Tree>> given_;  ///< by begin: ranges that other processes work on
};

}  // namespace hiaton::cli
