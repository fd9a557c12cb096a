// Functions of modules whose gradients tapes ask for.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "hiaton/engine.h"
#include "hiaton/ir.h"
#include "tensors.h"

namespace hiaton::python {

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

 private:
  GraphForm() = default;

  ir::Module module_;
  CompileOptions options_;
  std::vector<std::size_t> arguments_;  ///< by parameter of the function: the number of the operand
  std::vector<std::size_t> learned_;    ///< by learned parameter
  std::size_t operands_ = 0;
  std::shared_ptr<const Program> program_;
  std::map<std::vector<std::size_t>, std::shared_ptr<GraphForm>> gradients_;
};

/// The results of such a function with the marks that the tapes of this thread give them. `marks`: of the
/// operands.
std::vector<EagerTensor> seen_by_tapes(const std::shared_ptr<GraphForm>& form,
                                       std::span<const Value> operands, std::span<const uint64_t> marks,
                                       std::span<const Value> results);

}  // namespace hiaton::python
