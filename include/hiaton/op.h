// What an operation is: everything the engine knows about it, in one constant.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/type.h"
#include "hiaton/value.h"

namespace hiaton {

/// What an integer result that does not fit becomes.
enum class OverflowMode : uint8_t {
  Wrap,  ///< its low bits (two's complement)
  Trap,  ///< a run error
};

/// Reads its operands from consecutive slots and writes its result to `out`, which may be one of them.
using Kernel = Fault (*)(const Slot* operands, Slot* out);

/// The kernel for operands of one element type. `trap` differs from `wrap` where integers can overflow.
struct KernelVariant {
  DType operand;
  Kernel wrap;
  bool wrap_can_fail;
  Kernel trap;
  bool trap_can_fail;
};

/// Gives the result type for operand types, or throws ProgramError that says what was expected and found.
/// The number of operands is right when it is called.
using TypeRule = Type (*)(std::span<const Type> operands);

/// Algebraic facts that the passes may use.
enum class Algebra : uint8_t { None, Commutative };

/// How an operation may be fused with its neighbours into one region.
enum class Fusion : uint8_t {
  Scalar,  ///< runs inside a block of scalar code
};

/// One example: operands and the result it must give, in wrap mode.
struct Sample {
  std::vector<Value> operands;
  Value result;
};

/// A field without a default: leaving it out of an OpDef does not compile.
template <class T>
struct Required {
  template <class U>
  constexpr Required(U&& given) : value(std::forward<U>(given)) {}  // NOLINT(google-explicit-constructor)
  T value;
};

/// An operation. Constants of this type live in src/ops, one family a file; the Catalog lists them.
struct OpDef {
  Required<std::string_view> name;    ///< unique: "add"
  Required<std::string_view> symbol;  ///< infix or prefix spelling, empty where it has none: "+"
  Required<std::string_view> doc;     ///< one or two sentences, for people
  Required<std::vector<std::string_view>> operands;  ///< their names, in order
  Required<TypeRule> type_rule;
  Required<std::vector<KernelVariant>> kernels;  ///< by the element type of the first operand
  Required<Algebra> algebra;
  Required<Fusion> fusion;
  Required<std::vector<Sample>> samples;

  std::size_t arity() const { return operands.value.size(); }
  /// The kernels for operands of this element type; nullptr where the operation has none.
  const KernelVariant* find_kernel(DType operand) const;
  /// Whether it can end a run with a Fault for operands of this type.
  bool can_fail(DType operand, OverflowMode mode) const;
};

/// The operations there are, by name and by symbol. Immutable; `catalog()` is the one the engine is built
/// with.
class Catalog {
 public:
  explicit Catalog(std::vector<const OpDef*> ops);

  const std::vector<const OpDef*>& all() const { return ops_; }
  /// nullptr where there is no such operation.
  const OpDef* find(std::string_view name) const;
  /// The operation spelled `symbol` with `arity` operands ("-" is both subtraction and negation).
  const OpDef* find_symbol(std::string_view symbol, std::size_t arity) const;

 private:
  std::vector<const OpDef*> ops_;
  std::unordered_map<std::string_view, const OpDef*> by_name_;
};

/// Every operation Hiaton has, in the order of its documentation. Defined by the ops layer.
const Catalog& catalog();

}  // namespace hiaton
