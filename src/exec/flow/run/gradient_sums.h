// What batches add to the gradients of parameters.
#pragma once

#include <span>
#include <vector>

#include "exec/flow/run/outer_products.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::exec::flow {

/// The sums of one worker.
class GradientSums {
 public:
  explicit GradientSums(std::size_t parameters) : products_(parameters) {}

  /// What comes goes to `gradients` from now on, which live until the last flush; null: nowhere.
  void begin(Gradients* gradients);
  /// The operands of an Accumulate node for a batch of instances.
  void add(const graph::Node& node, std::span<const TensorArgument* const> operands, int64_t batch);
  /// Adds what still waits, of all parameters or of one.
  void flush();
  void flush(std::size_t parameter);

 private:
  OuterProducts& products(std::size_t parameter);

  Gradients* gradients_ = nullptr;
  std::vector<OuterProducts> products_;  ///< by parameter
  std::vector<std::size_t> begun_;       ///< the sums that have something
};

}  // namespace hiaton::exec::flow
