// The function `metrics` of a program: what it says of an example, as numbers with names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/model.h"
#include "hiaton/train.h"

namespace hiaton::train {

/// `metrics` takes what `loss` takes, without a seed. Its results are numbers and truth values, or values of
/// a data type with one variant whose fields are such: the fields give the metrics their names then.
class MetricNumbers {
 public:
  /// Throws ProgramError where the model has a function `metrics` of another kind.
  explicit MetricNumbers(const Model& model);

  std::size_t size() const { return metrics_.size(); }
  /// The numbers in the results of one example, in order.
  std::vector<double> numbers_in(const std::vector<Value>& results) const;
  /// `sums` of the numbers of so many examples.
  std::vector<Metric> means(std::span<const double> sums, double examples) const;

 private:
  void add(const Type& type, const std::string& name, const Type& result);
  std::vector<Metric> metrics_;  ///< named metrics, whose means are zero
};

}  // namespace hiaton::train
