// Examples of a run that stand in vectors.
#pragma once

#include <span>
#include <vector>

#include "hiaton/run.h"

namespace hiaton::exec {

/// Argument lists and results that stand in vectors.
class ListedExamples : public Examples {
 public:
  explicit ListedExamples(std::span<const std::vector<Value>> lists)
      : lists_(lists), results_(lists.size()) {}

  std::size_t size() const override { return lists_.size(); }
  std::vector<Value> arguments(std::size_t index) override { return lists_[index]; }
  std::span<const Value> view_arguments(std::size_t index, std::vector<Value>&) override {
    return lists_[index];
  }
  void take_results(std::size_t index, std::vector<Value> results) override {
    results_[index] = std::move(results);
  }
  std::vector<std::vector<Value>> take_all() { return std::move(results_); }

 private:
  std::span<const std::vector<Value>> lists_;
  std::vector<std::vector<Value>> results_;
};

}  // namespace hiaton::exec
