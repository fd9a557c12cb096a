// Models: programs with parameters that are learned.
//
//   Model model = Model::from_file("models/treelstm.hia", {.sizes = {{"d", 128}}});
//   std::vector<Value> parameters = model.initial_parameters(seed);
//   Gradients gradients(model.parameters());
//   model.loss(examples, {.parameters = parameters, .gradients = &gradients});
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/engine.h"

#pragma GCC visibility push(default)
namespace hiaton {

/// A program with a function `loss`, whose first result is to be made small, and perhaps functions `predict`
/// and `metrics`. All take one example. Immutable; several threads may use it at once. One that was moved
/// from is refused by a ProgramError.
class Model {
 public:
  /// Throws ProgramError where the file cannot be read or holds no legal program with a function `loss` whose
  /// first result is f32 or f64.
  static Model from_file(const std::filesystem::path& path, const CompileOptions& options = {});
  static Model from_text(std::string name, std::string text, const CompileOptions& options = {});
  static Model from_module(ir::Module module, const CompileOptions& options = {});

  const std::vector<graph::Parameter>& parameters() const;
  /// The functions as they were written.
  const ir::Module& module() const;
  /// First values, as the program says; the same for a seed on every machine.
  std::vector<Value> initial_parameters(uint64_t seed) const;

  /// The loss of each example (further results of `loss` behind it); examples are argument lists. With
  /// `options.gradients`, adds the gradients of the sum of the losses there.
  std::vector<std::vector<Value>> loss(std::span<const std::vector<Value>> examples,
                                       RunOptions options) const;
  void loss(Examples& examples, RunOptions options) const;
  /// The results of `predict` for each example. Throws ProgramError where the program has no such function.
  std::vector<std::vector<Value>> predict(std::span<const std::vector<Value>> examples,
                                          RunOptions options) const;
  void predict(Examples& examples, RunOptions options) const;
  bool can_predict() const;
  bool has_metrics() const;

  /// The graphs that run.
  const Program& training_program() const;
  const Program& loss_program() const;
  /// Throws ProgramError where the program has no function `predict`.
  const Program& predict_program() const;
  /// Throws ProgramError where the program has no function `metrics`.
  const Program& metrics_program() const;

 private:
  struct Parts;
  const Parts& parts() const;
  const Program& program_of_loss(const RunOptions& options) const;
  explicit Model(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace hiaton
#pragma GCC visibility pop
