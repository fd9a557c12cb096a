// Functions of modules whose gradients tapes ask for.
#pragma once

#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hiaton/builder.h"
#include "hiaton/engine.h"
#include "hiaton/ir.h"
#include "tensors.h"

namespace hiaton::python {

/// A call of a function of a module that has given its results, and waits for the gradients of these: nothing
/// of it is computed again. It keeps what it holds until they come, or until it goes.
class OpenGradient {
 public:
  /// What the run gives: the results of the function, then gradients by these operands.
  struct Form {
    std::vector<std::size_t> numbers;  ///< of operands that are arguments
    std::map<std::size_t, std::size_t>
        learned;          ///< by operand: which parameter it is, whose gradient is in the sums
    std::size_t results;  ///< of the function
    std::vector<std::size_t> float_results;  ///< those of them for which gradients come
  };
  OpenGradient(OpenRun run, Form form, std::unique_ptr<Gradients> sums)
      : sums_(std::move(sums)), run_(std::move(run)), form_(std::move(form)), process_(getpid()) {}

  /// The results of the function. Without the interpreter's lock.
  std::vector<Value> results(const std::atomic<bool>& cancel);
  /// The gradients by these operands, for a gradient of each result. Once: nothing afterwards, nor where it
  /// has none by one of the operands.
  std::optional<std::vector<Value>> gradients(const std::vector<std::size_t>& numbers,
                                              std::span<const Value> cotangents);

 private:
  bool has_all(const std::vector<std::size_t>& numbers) const;
  Value sum_of(std::size_t parameter) const;

  std::unique_ptr<Gradients> sums_;  ///< before the run, which adds to them
  std::optional<OpenRun> run_;       ///< none: it has given its gradients
  Form form_;
  pid_t process_;  ///< that has the threads of the run: no child of it
};

/// A function of a module as something that has gradients. Its operands are the arguments of the function and
/// the learned parameters of the module; those of a gradient are these and a cotangent for each result.
class GraphForm {
 public:
  /// Makes the form of the function `options.entry`, whose operands are its arguments first.
  GraphForm(ir::Module module, CompileOptions options);
  GraphForm(const GraphForm&) = delete;
  GraphForm& operator=(const GraphForm&) = delete;

  /// The gradients by the operands with these numbers, which hold floats. `results`: of the function.
  std::shared_ptr<GraphForm> gradient(const std::vector<std::size_t>& numbers);
  /// Without the interpreter's lock.
  std::vector<Value> run(std::span<const Value> operands);
  /// What calls run that give gradients by certain operands later.
  struct Opened {
    std::shared_ptr<const Program> program;
    OpenGradient::Form form;
    std::vector<graph::Parameter> summed{};  ///< parameters whose gradients are in sums
  };
  /// For the operands with these numbers; null where there are none, or no results of floats, of which alone
  /// there are gradients. With the interpreter's lock.
  std::shared_ptr<const Opened> opened(const std::vector<std::size_t>& numbers);
  /// Begins a call, which gives the results of the function; null where it is not within the budgets of the
  /// options with what it keeps. Without the interpreter's lock. The pool of the options must live as long.
  std::shared_ptr<OpenGradient> open(const Opened& opened, std::span<const Value> operands,
                                     const RunOptions& options, std::vector<Value>& results) const;

 private:
  GraphForm() = default;
  const ir::Function& function() const;
  std::string declare(ModuleBuilder& builder, ir::GradientForm::Kind kind,
                      const std::vector<std::size_t>& numbers) const;
  Opened compile_opened(const std::vector<std::size_t>& numbers) const;
  static std::vector<Value> chosen(std::span<const Value> operands, const std::vector<std::size_t>& numbers);

  ir::Module module_;
  CompileOptions options_;
  std::vector<std::size_t> arguments_;  ///< by parameter of the function: the number of the operand
  std::vector<std::size_t> learned_;    ///< by learned parameter
  std::size_t operands_ = 0;
  std::shared_ptr<const Program> program_;
  std::map<std::vector<std::size_t>, std::shared_ptr<GraphForm>> gradients_;
  std::map<std::vector<std::size_t>, std::shared_ptr<const Opened>> opened_;  ///< by operands
};

/// The results of such a function with the marks that the tapes of this thread give them. `marks`: of the
/// operands. `open`: the call that gave the results, if it waits for their gradients.
std::vector<EagerTensor> seen_by_tapes(const std::shared_ptr<GraphForm>& form,
                                       std::span<const Value> operands, std::span<const uint64_t> marks,
                                       std::span<const Value> results, std::shared_ptr<OpenGradient> open);

}  // namespace hiaton::python
