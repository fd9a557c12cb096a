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
#include "hiaton/small_vector.h"
#include "hiaton/type.h"
#include "hiaton/value.h"

#pragma GCC visibility push(default)
namespace hiaton {

class FunctionBuilder;
class Var;
struct OpDef;

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

/// The attributes of one use of an operation, in the order of its list.
using Attributes = SmallVector<int64_t, 1>;

/// A fixed integer of an operation, several, or a list of them: `axis`, `stride`, `shape`.
struct AttributeDef {
  std::string_view name;
  bool is_list = false;  ///< only the last may be one; it takes all that follow
  std::optional<int64_t>
      otherwise{};  ///< the value where it is left out, if it may be; a list that may be is empty then
  /// How many integers an attribute that is no list has, as one for each axis of an image. A program may give
  /// one, which then stands for all of them.
  std::size_t count = 1;
  /// Reads a list from a string, as which programs may write it in front of the operands; null: they may not.
  /// Throws ProgramError.
  Attributes (*from_text)(std::string_view text) = nullptr;
};

/// What a type rule looks at.
struct TypeQuestion {
  std::span<const Type> operands;
  std::span<const int64_t> attributes{};
  const Type* declared = nullptr;  ///< the result's type as the program declares it; null: not declared
};

/// Gives the result type, or throws ProgramError that says what was expected and found. The numbers of
/// operands and attributes are right when it is called. Checks ask OpDef::result_type.
using TypeRule = Type (*)(const TypeQuestion& question);

/// An operand or the result of a tensor kernel: `batch` instances of one shape, of which each stands `stride`
/// elements behind the one before; 0: all share one. Elements of an instance are in row-major order. Scalars
/// have rank 0. Elements of type bool take one byte.
struct TensorArgument {
  std::byte* elements;
  std::span<const int64_t> dims;
  DType dtype;
  int64_t stride;

  template <class T>
  T* at(int64_t instance) const {
    return reinterpret_cast<T*>(elements) + instance * stride;
  }
  int64_t size() const {
    int64_t product = 1;
    for (int64_t dim : dims) product *= dim;
    return product;
  }
  /// Lines along the last axis; of rank 1 or more.
  int64_t rows() const {
    int64_t product = 1;
    for (int64_t dim : dims.first(dims.size() - 1)) product *= dim;
    return product;
  }
};

/// One execution of an operation for a batch of instances. The result's instances are contiguous, in
/// memory of its own.
struct KernelCall {
  const OpDef* op;
  std::span<const TensorArgument> operands;
  TensorArgument result;
  std::span<const int64_t> attributes;
  int64_t batch;
  OverflowMode overflow;
};
/// Gives the same bits for an instance whatever else is in the batch.
using TensorKernel = Fault (*)(const KernelCall& call);

/// Elements [0, n) of a result, from those of one operand or two; `b` is null where there is one.
using LineKernel = void (*)(int64_t n, const std::byte* a, const std::byte* b, std::byte* out);

/// For operations of Fusion::Data: on values of any kind.
using ValueKernel = Fault (*)(std::span<const Value> operands, std::span<const int64_t> attributes,
                              Value& result);

/// Makes the string that an operation gives.
class StringMaker {
 public:
  /// Room for the code points of the result; null where there is no memory.
  virtual int32_t* make(std::size_t count) = 0;
  /// The same for a result of `count` code points that begins with the first operand: the room behind it. The
  /// operand's memory becomes the result's where nobody else refers to it.
  virtual int32_t* extend_first(std::size_t count) = 0;

 protected:
  ~StringMaker() = default;
};

/// One execution of an operation on strings.
struct StringCall {
  const Slot* operands;
  FieldKind first;  ///< what the first operand is
  Slot& result;     ///< where that is a scalar
  StringMaker& made;
};
/// For operations of Role::String: of strings, which are `Slot::data`, and scalars a string or a scalar.
using StringKernel = Fault (*)(const StringCall& call);

/// What a gradient rule sees: the operation in the function that is being extended.
struct GradientQuestion {
  FunctionBuilder& builder;
  std::span<const Var> operands;
  const Var& result;
  const Var& gradient;  ///< the gradient of the result
  std::span<const int64_t> attributes;
};
/// Builds the gradient of operand `index`, of the operand's type.
using GradientRule = Var (*)(const GradientQuestion& question, std::size_t index);
/// Builds `sum` plus the gradient of the first operand.
using AddingRule = Var (*)(const GradientQuestion& question, Var sum);

/// How gradients pass an operation.
struct Gradient {
  /// Gradients pass by this rule.
  Gradient(GradientRule given) : rule(given) {}  // NOLINT(google-explicit-constructor): a rule says it all
  /// The same of an operation that reads a part of its first operand: the gradient of that is mostly zeros,
  /// and `adding` changes a sum of others at the part alone.
  Gradient(GradientRule given, AddingRule adding) : rule(given), add_to(adding) {}
  /// No gradients pass, for this reason.
  static Gradient none(std::string_view reason) { return {nullptr, reason, false}; }
  /// Gradients pass between a data value and its fields: the pass itself sees to it.
  static Gradient between_fields() { return {nullptr, {}, true}; }

  bool passes() const { return rule != nullptr || through_data; }

  GradientRule rule;            ///< null: none pass, or not operand by operand
  AddingRule add_to = nullptr;  ///< null: the gradient of the first operand is added like any other
  std::string_view why_none{};  ///< where none pass: the reason
  bool through_data = false;

 private:
  Gradient(GradientRule given, std::string_view reason, bool data)
      : rule(given), why_none(reason), through_data(data) {}
};

/// An equation that holds bit for bit for every scalar x of certain types; simplifications use it. Floats
/// have fewer than integers: x + 0.0 is not x for x = -0.0, and x * 0.0 and x - x are not 0.0 for NaN.
struct Equation {
  enum class Form : uint8_t {
    Alone,       ///< op(x)
    Twice,       ///< op(op(x))
    WithItself,  ///< op(x, x)
    WithNumber,  ///< op(x, number), and op(number, x) where the operation is commutative
  };
  enum class Result : uint8_t { X, NotX, Number };

  Form form;
  Result result = Result::X;
  int number = 0;                      ///< what stands beside x: 0 or 1, as a number of the type of x
  int result_number = 0;               ///< what Result::Number is: 0 or 1, as a number of the result's type
  bool (*holds_for)(DType) = nullptr;  ///< the element types of x for which it holds; null: all
};

/// What passes and executors know of an operation beyond what its type rule and its kernels tell: one that
/// has none of these roles runs through its kernels and its gradient rule alone, slower, never wrong. Each
/// operation that takes data values apart or makes them has one.
enum class Role : uint8_t {
  Other,
  Identity,           ///< gives its operand
  PassAfter,          ///< gives its first operand once the others have come
  Sum,                ///< the sum of two operands, element by element
  Product,            ///< a b, of matrices and of rows of them
  ProductTransposed,  ///< a b^T
  Slice,              ///< attributes: the axis, the first element along it, how many
  Join,               ///< the operands, contiguous along the axis that is the attribute
  Size,               ///< the size of its operand along the axis that is the attribute
  Reshape,            ///< the elements of its first operand in their order, in a shape of its own
  Gather,             ///< the rows of the first operand whose numbers are the second
  At,                 ///< what stands in the first operand at the place that the others tell
  SetAt,              ///< the first operand, with the second at the place that the others tell
  AppendRow,          ///< the rows of the first operand, then the second
  DropLastRow,        ///< the rows of its operand but for the last one
  Make,               ///< a data value of the variant that is the attribute, from its fields
  Variant,            ///< the number of the variant of a data value
  Field,              ///< attributes: the variant, the field
  FieldOrZero,        ///< a field of a gradient, which may be zero as a whole
  String,             ///< has a string kernel
  Settle,             ///< gives its first operand, and leaves it in the second, a suspension: see
                      ///< passes/suspended_types.h
  CheckDimension,     ///< gives its first operand; its size along the axis, the attribute, must be the second
  Print,              ///< gives its first operand once the second, a string, has been printed
};

/// What an operation of Role::String does no more than look at: direct code has an instruction for each.
enum class StringLook : uint8_t { None, Length, CodePoint };

/// How the first operand may become the result where nothing else refers to it. Who owns it hands it on then.
enum class InPlace : uint8_t {
  No,
  Elements,  ///< the tensor kernel, given one instance, may write its result over it, and finds its faults
             ///< before it writes
  Length,    ///< direct code, or the string kernel, makes it longer or shorter
};

/// How an operation may be fused with its neighbours into one region.
enum class Fusion : uint8_t {
  Scalar,       ///< on scalars: runs inside a block of scalar code
  Elementwise,  ///< each element of the result needs one element of each operand, after broadcasting
  Tensor,       ///< anything else on tensors
  Data,         ///< makes or takes apart data values, or passes on values of any kind
};

/// One example: operands and the result it must give, in wrap mode.
struct Sample {
  std::vector<Value> operands;
  Value result;
  std::vector<int64_t> attributes{};
};

/// A field without a default: leaving it out of an OpDef does not compile.
template <class T>
struct Required {
  template <class U>
  constexpr Required(U&& given) : value(std::forward<U>(given)) {}  // NOLINT(google-explicit-constructor)
  T value;
};
/// The same for a list, which is written as one: {"a", "b"}.
template <class E>
struct Required<std::vector<E>> {
  Required() = delete;
  Required(std::initializer_list<E> given) : value(given) {}
  Required(std::vector<E> given) : value(std::move(given)) {}  // NOLINT(google-explicit-constructor)
  std::vector<E> value;
};

/// How an Accumulate node makes what it adds.
enum class Accumulation : uint8_t {
  Dense,  ///< operand: of the parameter's type
  Rows,   ///< operands: row numbers [..] (i64), values [.., k] that are added to these rows, in order
  Outer,  ///< operands: x [k] or [n, k], g [m] or [n, m]: x^T g is added to a parameter [k, m]
};

/// An operation. Constants of this type live in src/ops, one family a file; the Catalog lists them. A field
/// that has a default may be left out where it does not apply; what is left out costs speed, never
/// correctness.
struct OpDef {
  Required<std::string_view> name;  ///< unique: "add"
  std::string_view symbol{};        ///< infix or prefix spelling: "+"; empty: none
  Required<std::string_view> doc;   ///< one or two sentences, for people
  /// Their names, in order. A last one that ends in "..." stands for any number, also none.
  Required<std::vector<std::string_view>> operands;
  std::vector<AttributeDef> attributes{};
  Required<TypeRule> type_rule;
  bool takes_type = false;  ///< the program says of which type the result is: the type rule cannot tell
  std::vector<KernelVariant> kernels{};  ///< on scalars, by the element type of the first operand
  Required<TensorKernel> tensor_kernel;  ///< on tensors and on batches of scalars; null: none
  ValueKernel value_kernel = nullptr;    ///< set for Fusion::Data, and for no other
  StringKernel string_kernel = nullptr;  ///< set for Role::String, and for no other
  StringLook string_look = StringLook::None;
  InPlace in_place = InPlace::No;
  /// Some operations of Fusion::Elementwise have it: what gives the bits of the tensor kernel for operands of
  /// the result's shape, where that is not a scalar's, by their element type; null where there is none.
  LineKernel (*line_kernel)(DType) = nullptr;
  /// Whether the tensor kernel can give a Fault where the scalar kernels have none, for an index, or for no
  /// rows; or the string kernel.
  bool fails_on_elements = false;
  /// Where the list is not empty, kernels on integers fail only where the last operand is one of these
  /// values.
  std::vector<int64_t> fails_only_for{};
  Required<Gradient> gradient;
  bool is_commutative = false;  ///< bit for bit, NaN being NaN
  std::vector<Equation> equations{};
  Required<Fusion> fusion;
  Role role = Role::Other;
  Required<std::vector<Sample>> samples;

  bool may_be_in_place() const { return in_place != InPlace::No; }
  std::size_t arity() const { return operands.value.size(); }
  bool is_variadic() const { return !operands.value.empty() && operands.value.back().ends_with("..."); }
  /// Whether it can have so many operands.
  bool takes(std::size_t count) const { return is_variadic() ? count + 1 >= arity() : count == arity(); }
  /// What reads its attributes from a string; null: nothing does.
  Attributes (*attributes_from_text() const)(std::string_view) {
    return attributes.empty() ? nullptr : attributes.back().from_text;
  }
  /// Whether so many integers can be its attributes.
  bool takes_attributes(std::size_t count) const;
  /// Its attributes as a program writes them, each "name=value" or "name=[value, value]". `integers`: those
  /// of one use, as many as takes_attributes allows.
  std::vector<std::string> attribute_texts(std::span<const int64_t> integers) const;
  /// The kernels for operands of this element type; nullptr where the operation has none.
  const KernelVariant* find_kernel(DType operand) const;
  /// Whether its scalar kernels, or its tensor kernel where that goes element by element, can end a run with
  /// a Fault for operands of this type.
  bool can_fail(DType operand, OverflowMode mode) const;
  /// What the type rule says. Throws ProgramError also where no tensor can have so many dimensions or
  /// elements.
  Type result_type(const TypeQuestion& question) const {
    Type result = type_rule.value(question);
    if (!result.is_scalar()) require_room(result);
    return result;
  }

 private:
  static void require_room(const Type& type);
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

/// The attributes of the operation `einsum` from their usual form, a letter for each axis: "bij,bjk->bik".
/// Without an arrow, the result has the axes whose letters stand once, in the order of the alphabet. Throws
/// ProgramError where something else than letters, commas, spaces and an arrow stands there.
Attributes einsum_subscripts(std::string_view text);

/// How deep gradients of function values that the run chooses may stand inside each other. The `id` of the
/// operation `assume` that ends a run which goes deeper.
inline constexpr int64_t kMostNestedGradients = 3;
inline constexpr int64_t kTooDeepGradient = -(int64_t{1} << 40);

/// Every operation Hiaton has, in the order of its documentation. Defined by the ops layer.
const Catalog& catalog();

}  // namespace hiaton
#pragma GCC visibility pop
