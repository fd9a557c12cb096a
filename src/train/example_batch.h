// Examples of data sets as batches.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/examples.h"
#include "train/batch_runner.h"
#include "train/random_stream.h"

namespace hiaton::train {

/// Some examples of a data set, each with a seed of its own behind its arguments where one is given.
class ExampleBatch : public Batch {
 public:
  struct Seed {
    bool is_random = false;  ///< else it is the number itself
    uint64_t number = 0;
  };

  ExampleBatch(const DataSet& examples, std::span<const uint32_t> chosen, std::optional<Seed> seed)
      : examples_(examples), chosen_(chosen), seed_(seed) {}

  std::size_t size() const override { return chosen_.size(); }
  std::size_t weight(std::size_t index) const override { return examples_.weight(chosen_[index]); }
  std::vector<Value> arguments(std::size_t index) const override {
    std::vector<Value> arguments = examples_.arguments(chosen_[index]);
    if (seed_) {
      const uint64_t seed = seed_->is_random ? mix_bits(seed_->number + index) : seed_->number;
      arguments.emplace_back(static_cast<int64_t>(seed));
    }
    return arguments;
  }
  std::string place_of(std::size_t index) const override { return examples_.place_of(chosen_[index]); }
  std::string hint(std::size_t index, std::string_view message) const override {
    return examples_.hint(chosen_[index], message);
  }

 private:
  const DataSet& examples_;
  const std::span<const uint32_t> chosen_;
  const std::optional<Seed> seed_;
};

/// Argument lists as they are.
class ArgumentBatch : public Batch {
 public:
  explicit ArgumentBatch(std::span<const std::vector<Value>> lists) : lists_(lists) {}

  std::size_t size() const override { return lists_.size(); }
  std::size_t weight(std::size_t /*index*/) const override { return 1; }
  std::vector<Value> arguments(std::size_t index) const override { return lists_[index]; }
  std::string place_of(std::size_t index) const override { return fmt::format("example {}", index); }

 private:
  const std::span<const std::vector<Value>> lists_;
};

}  // namespace hiaton::train
