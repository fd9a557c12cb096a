// Commands that predict trees with a trained model, in one process or in several.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/deal.h"
#include "net/processes.h"
#include "trained_model.h"
#include "tree_wire.h"

namespace hiaton::cli {

/// One of several processes: process 0 has the trees and takes the predictions, all have the model.
class PredictionWork : public net::Work, private net::Dealt {
 public:
  /// They must outlive this.
  PredictionWork(const std::string& checkpoint, const Execution& execution)
      : checkpoint_(checkpoint), execution_(execution) {}

  std::string prepare(int self) final;
  void work(net::Transport& transport) final;
  /// All of it, in this process.
  void work_alone();

 protected:
  /// Trees whose words are ids of the model's vocabulary.
  virtual std::vector<train::Tree> read(const TrainedModel& model) = 0;
  /// Takes the predictions of the trees from `begin` on. Trees come in order.
  virtual void take(std::size_t begin, std::span<const train::Tree> trees,
                    std::span<const train::Prediction> predictions) = 0;
  /// All trees have been taken.
  virtual void finish() {}

 private:
  static constexpr std::size_t kBatch = 100;

  void load();
  std::vector<train::Prediction> predict(std::span<const train::Tree> trees);
  std::size_t size() const override { return trees_.size(); }
  void write(const net::Range& range, net::ByteWriter& things) override {
    wire_->write(trees_of(range), things);
  }
  void work(net::ByteReader& things, net::ByteWriter& results) override;
  void take(const net::Range& range, net::ByteReader& results) override {
    take(range.begin, trees_of(range), wire_->read_predictions(trees_of(range), results));
  }
  std::span<const train::Tree> trees_of(const net::Range& range) const {
    return std::span(trees_).subspan(range.begin, range.count);
  }

  const std::string& checkpoint_;
  const Execution& execution_;
  TrainedModel model_;
  std::vector<train::Tree> trees_;
  std::unique_ptr<TreeWire> wire_;
};

}  // namespace hiaton::cli
