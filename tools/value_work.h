// Commands that put examples of any kind through a trained model.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/examples.h"
#include "model_work.h"
#include "net/values.h"

namespace hiaton::cli {

/// The values of one line of text each: as bytes, for the processes that share the work on them.
class LineWire {
 public:
  explicit LineWire(std::span<const Type> types);
  void write(std::span<const Value> values, net::ByteWriter& out) const;
  /// Throws ProgramError where the bytes are no values of the types.
  std::vector<Value> read(net::ByteReader& in) const;

 private:
  std::vector<net::ValueCodec> codecs_;
};

class ValueWork : public ModelWork {
 public:
  /// They must outlive this.
  ValueWork(const std::string& checkpoint, const Execution& execution)
      : ModelWork(checkpoint), checkpoint_(checkpoint), execution_(execution) {}

 protected:
  /// Where the examples stand.
  virtual std::string file(const ModelInfo& info) = 0;
  /// Whether one counts.
  virtual bool is_chosen(std::size_t /*index*/, const ModelInfo& /*info*/) { return true; }
  /// What a line of them holds.
  virtual train::ExampleForm form() const = 0;

  train::ModelTrainer& trainer() final { return model_->trainer; }
  const train::ModelTrainer& trainer() const { return model_->trainer; }
  train::ExampleList examples_of(const net::Range& range) const;
  std::size_t size() const final { return chosen_.size(); }
  /// As many as LineWire finds.
  train::ExampleList read_from(net::ByteReader& things) const;
  train::ExampleList no_examples() const { return {trainer().model(), {}}; }

 private:
  void load_model() final;
  void read_examples() final;
  void write(const net::Range& range, net::ByteWriter& things) final;

  const std::string& checkpoint_;
  const Execution& execution_;
  std::optional<TrainedModel> model_;
  std::optional<LineWire> wire_;
  std::unique_ptr<train::DataSet> examples_;
  std::vector<uint32_t> chosen_;
};

std::vector<Type> types_of(std::span<const EntryParameter> parameters);

}  // namespace hiaton::cli
