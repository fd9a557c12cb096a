// Making modules from C++.
//
//   ModuleBuilder program;
//   FunctionRef fact = program.declare("fact", {{DType::I64, "n"}}, {DType::I64});
//   program.define(fact, [&](FunctionBuilder& f) {
//     Var n = f.param(0);
//     return f.if_else(n == 1, [&] { return n; }, [&] { return n * f.call(fact, {n - 1}); });
//   });
//   ir::Module module = program.finish();
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hiaton/ir.h"

#pragma GCC visibility push(default)
namespace hiaton {

class Dimensions;
class FunctionBuilder;
class ModuleBuilder;

/// A value inside the function that is being built.
class Var {
 public:
  Var() = default;
  Var(FunctionBuilder* builder, ir::ValueId id) : builder_(builder), id_(id) {}

  ir::ValueId id() const { return id_; }
  /// The builder of the function that the value is of. Throws ProgramError where it is of none.
  FunctionBuilder& builder() const;
  const Type& type() const;

 private:
  FunctionBuilder* builder_ = nullptr;
  ir::ValueId id_;
};

/// One or several values: results of calls, branches and loops. A single one converts to Var.
class Vars {
 public:
  Vars(Var var) : vars_{var} {}                           // NOLINT(google-explicit-constructor)
  Vars(std::initializer_list<Var> vars) : vars_(vars) {}  // NOLINT(google-explicit-constructor)
  explicit Vars(std::span<const Var> vars) : vars_(vars) {}

  /// Throws ProgramError unless there is exactly one.
  operator Var() const;  // NOLINT(google-explicit-constructor): a single value is a value
  /// Throws ProgramError where there are not so many.
  Var operator[](std::size_t i) const;
  std::size_t size() const { return vars_.size(); }
  auto begin() const { return vars_.begin(); }
  auto end() const { return vars_.end(); }

 private:
  SmallVector<Var, 2> vars_;
};

struct FunctionRef {
  ir::FunctionId id;
};

/// Builds the body of one function, node after node. Every call checks types and throws ProgramError.
class FunctionBuilder {
 public:
  Var param(std::size_t index);
  Var constant(Value value);
  /// A constant of this type. A data value needs it: it does not tell its type. A data value with fields is
  /// made of its parts, each once, even where several others share it. Throws ProgramError where the value
  /// does not fit the type.
  Var constant(Value value, const Type& type);
  /// An operation of the catalogue. Throws ProgramError where its type rule refuses the operands.
  Var op(const OpDef& op, std::span<const Var> operands);
  Var op(const OpDef& op, const std::vector<Var>& operands) { return this->op(op, std::span(operands)); }
  Var op(const OpDef& op, const std::vector<Var>& operands, Attributes attributes,
         const Type* declared = nullptr) {
    return this->op(op, std::span(operands), std::move(attributes), declared);
  }
  Var op(std::string_view name, const std::vector<Var>& operands);
  /// The same with attributes, in the order of the operation's list; `declared` is the result's type, for
  /// operations that cannot tell it (null: they can).
  Var op(const OpDef& op, std::span<const Var> operands, Attributes attributes,
         const Type* declared = nullptr);
  Var op(std::string_view name, const std::vector<Var>& operands, Attributes attributes,
         const Type* declared = nullptr);
  /// A tensor in pieces of these lengths along an axis (negative: from the last one). Throws ProgramError
  /// where they do not add up to its size; where only the run knows that, the run fails.
  Vars split(Var tensor, int64_t axis, std::span<const int64_t> lengths);
  /// 0, 1, ... below `end` (i64), which only the run may know.
  Var range(Var end);
  /// What stands in a tensor from `begin` up to, but not including, `end` along an axis (negative: from the
  /// last one): `x[begin:end]`. The bounds are i64, and may be known to the run alone, which fails where not
  /// 0 <= begin <= end <= size. Var() is the beginning, or the end, of the axis.
  Var slice(Var tensor, int64_t axis, Var begin, Var end);
  /// What stands at one index (i64) of an axis, which the result lacks: `x[:, index]`.
  Var take(Var tensor, int64_t axis, Var index);
  /// Whether two values of one type are equal as a whole (bool): strings, lists, tuples and other data values
  /// in variant and in every field, tensors in sizes and in every element. `==` is the same, but for tensors,
  /// which it compares element by element.
  Var equal(Var a, Var b);
  /// Less than 0, 0 or more than 0 (i64), as `a` is less than `b`, equal to it or greater: two numbers,
  /// strings, or tuples of these, by the first parts that differ.
  Var order(Var a, Var b);
  /// A parameter of the module.
  Var parameter(std::size_t number);
  /// Adds to the gradient of a parameter.
  void accumulate(std::size_t parameter, Accumulation how, const std::vector<Var>& operands);
  /// A value of a data type. Throws ProgramError where the fields are not those of the variant.
  Var make(const Type& data, std::size_t variant, const std::vector<Var>& fields);
  /// Which variant a data value is (i64).
  Var variant(Var data);
  /// A field of a data value that is known to be of the variant.
  Var field(Var data, std::size_t variant, std::size_t field);
  /// The next phase of the call that gave `call`.
  Vars resume(ir::NodeId call, uint32_t phase, const std::vector<Var>& arguments);
  /// Another If that takes the side that `first` took; its blocks see the values of the same side of `first`.
  Vars finish_if_again(ir::NodeId first, ir::BlockId then, ir::BlockId otherwise);
  /// The node that was appended last.
  ir::NodeId last_node() const { return ir::NodeId(function().nodes.size() - 1); }
  Vars call(FunctionRef callee, const std::vector<Var>& arguments);
  /// The value as one of a compatible type that may know more of its dimensions: where it does, they are
  /// checked when the program runs.
  Var checked(Var value, const Type& type);
  /// The value as one that has the type of `like`, and the same sizes: those that symbols stand for too.
  Var checked_like(Var value, Var like);
  /// The value as one of a type with symbols of the function, whose sizes are those of the parameters, or of
  /// the value that was claimed first to have them. Throws ProgramError where sizes are known to differ.
  Var claimed(Var value, const Type& type);
  /// Sizes may differ: only the run knows those of the result.
  Vars if_else(Var condition, const std::function<Vars()>& then, const std::function<Vars()>& otherwise);
  /// One case for each variant of the data type, in order; each gets the fields of its variant. Throws
  /// ProgramError where `data` is no data value or the cases are not as many as its variants.
  Vars match(Var data, const std::vector<std::function<Vars(const Vars& fields)>>& cases);
  /// `condition` and `body` get the loop state; `body` gives the next state; the result is the last state.
  Vars while_loop(const Vars& initial, const std::function<Var(const Vars&)>& condition,
                  const std::function<Vars(const Vars&)>& body);
  /// `body(i, state)` for i = begin, begin + 1, ... while i < end.
  Vars for_loop(Var begin, Var end, const Vars& initial, const std::function<Vars(Var, const Vars&)>& body);
  Var cast(Var value, DType to);
  /// Names a value for people: printers and error messages show it.
  Var named(Var value, SharedString name);

  /// What the next nodes are marked with: their place in the text, and where they are to run.
  void set_span(Span span) { span_ = span; }
  Span span() const { return span_; }
  void set_placement(SharedString placement) { placement_ = std::move(placement); }
  const SharedString& placement() const { return placement_; }

  // The parts of if_else and while_loop, for callers that cannot nest C++ functions (the parser). They throw
  // ProgramError where a block or a node is not of the function, and where a block is ended that is not the
  // one that was begun last.
  /// Nodes go into this block until end_block.
  ir::BlockId begin_block(const std::vector<Type>& params);
  Vars block_params(ir::BlockId block);
  void end_block(ir::BlockId block, const Vars& results);
  Vars finish_if(Var condition, ir::BlockId then, ir::BlockId otherwise);
  /// The state has the types of the blocks' parameters.
  Vars finish_while(const Vars& initial, ir::BlockId condition, ir::BlockId body);

  /// Calls `body` and, unless it returns true, forgets the nodes that it appends: to learn which types would
  /// come of them. Values that it made must not be used any more then. Throws what `body` throws.
  void attempt(const std::function<bool()>& body);

  /// Room for about this many more nodes: only saves time.
  void reserve(std::size_t nodes);

  /// Throws ProgramError where the module is finished: it has gone to whoever finished it.
  const ir::Function& function() const {
    require_unfinished();
    return module_[function_];
  }
  const ir::Module& module() const { return module_; }

 private:
  friend class ModuleBuilder;
  FunctionBuilder(ModuleBuilder& owner, ir::Module& module, ir::FunctionId function)
      : owner_(owner), module_(module), function_(function) {}
  void require_unfinished() const {
    if (function_.index() >= module_.functions.size()) refuse_finished();
  }
  [[noreturn]] static void refuse_finished();
  /// What is being built, to change it. Throws as function() does.
  ir::Function& editable() {
    require_unfinished();
    return module_[function_];
  }
  ir::Node& append(ir::NodeKind kind);
  Var add_result(ir::Node& node, const Type& type);
  Vars add_results(ir::Node& node, const std::vector<Type>& types);
  void require_own(std::span<const Var> vars) const;
  void require_own(const Vars& vars) const { require_own({vars.begin(), vars.end()}); }
  const ir::Block& known(ir::BlockId block) const;
  const ir::Node& known(ir::NodeId node) const;
  std::vector<Type> types_of(const Vars& vars) const;
  std::vector<Var> checked_arguments(const ir::Function& callee, const std::vector<Var>& arguments,
                                     const Dimensions& dimensions);
  Var checked_size(Var value, std::size_t axis, Var like, std::size_t like_axis);
  Vars checked_results(const Vars& results);
  Var constant_data(const Value& value, const Type& type);
  /// A dimension that a symbol stands for.
  struct Measure {
    Dim symbol;
    Var of;
    std::size_t axis;
    std::size_t depth = 0;  ///< the depth of the block in which it was claimed
  };
  std::optional<Measure> measure_of(const Dim& symbol, std::size_t params);
  Var claimed(Var value, const Type& type, std::size_t params);
  std::size_t axis_of(std::string_view word, Var tensor, int64_t axis) const;
  Var range_of(Var end);
  Var at_places(Var tensor, std::size_t axis, Var places);

  ModuleBuilder& owner_;
  ir::Module& module_;
  ir::FunctionId function_;
  std::vector<ir::BlockId> open_blocks_;  ///< innermost last; nodes are appended to the last
  std::vector<Measure> measures_;         ///< measures of symbols that no parameter has, outermost first
  Span span_;
  SharedString placement_;
  std::vector<Type> operand_types_;  ///< types of the operation being made; kept for their memory
};

/// Builds a module: declare every function (in any order), then define each once.
class ModuleBuilder {
 public:
  explicit ModuleBuilder(std::shared_ptr<const Source> source = nullptr);
  /// More functions for a finished module.
  explicit ModuleBuilder(ir::Module module);

  /// Declares the next learned tensor: its number. Without `initial` it begins as default_initializer says.
  /// Throws ProgramError where the name is taken or is none, and where the type is no tensor of fixed
  /// dimensions of f32 or f64.
  std::size_t add_parameter(std::string name, Type type, Span span = {},
                            std::optional<Initializer> initial = std::nullopt, std::string placement = {});
  /// Throws ProgramError where a name is taken or is none (a keyword, or for the function a type), where two
  /// parameters share a name, where a dimension is negative, and where there is no result.
  FunctionRef declare(std::string name, std::vector<ir::ValueInfo> params, std::vector<Type> results);
  /// Declares the gradient of a function, whose body a pass derives: see ir::GradientRequest. Throws
  /// ProgramError where `of` has no such gradient: ir::gradient_signature.
  FunctionRef declare_gradient(std::string name, FunctionRef of, const ir::GradientForm& form);
  /// Throws ProgramError where the function has a body, and what `body` throws.
  void define(FunctionRef function, const std::function<Vars(FunctionBuilder&)>& body);
  /// Another body for a function of the same signature.
  void redefine(FunctionRef function, const std::function<Vars(FunctionBuilder&)>& body);
  /// A function that others need without a program having asked for it: named like `wanted`, and the same one
  /// for the same name and types of parameters. `body` gets the function itself, for calls.
  FunctionRef helper(const std::string& wanted, std::vector<ir::ValueInfo> params, std::vector<Type> results,
                     const std::function<Vars(FunctionBuilder&, FunctionRef)>& body);
  /// The module so far. Throws ProgramError where it is finished, as all other functions do.
  ir::Module& module();
  bool has(const std::string& function) const { return names_.contains(function); }
  /// A free name: `wish`, or where that is taken, `wish` with the first free number from 2 on.
  std::string unused_name(const std::string& wish) const;
  /// A name that neither a function nor an operation has, for a helper.
  std::string name_for_helper(const std::string& wanted) const;
  /// The finished, verified module. Throws ProgramError where a declared function was never defined.
  ir::Module finish();

 private:
  ir::Function& declared(FunctionRef function);
  void build(FunctionRef function, const std::function<Vars(FunctionBuilder&)>& body);

  ir::Module module_;
  bool is_finished_ = false;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> parameter_names_;
  std::unordered_map<std::string, FunctionRef> helpers_;  ///< by name and types
  /// Builders of finished functions stay, so that their values can be told from those of other functions.
  std::vector<std::unique_ptr<FunctionBuilder>> builders_;
};

/// Two strings are joined.
Var operator+(Var a, Var b);
Var operator-(Var a, Var b);
Var operator*(Var a, Var b);
Var operator/(Var a, Var b);
Var operator%(Var a, Var b);
Var operator-(Var a);
Var operator!(Var a);
/// Compares strings and other data values as FunctionBuilder::equal does, and tensors element by element.
Var operator==(Var a, Var b);
Var operator!=(Var a, Var b);
/// Orders strings and tuples as FunctionBuilder::order does.
Var operator<(Var a, Var b);
Var operator<=(Var a, Var b);
Var operator>(Var a, Var b);
Var operator>=(Var a, Var b);

/// A C++ number beside a Var becomes a constant of the Var's type. Throws ProgramError where it does not fit.
Var constant_like(Var like, double number);
Var constant_like(Var like, int64_t number);
Var constant_like(Var like, uint64_t number);

/// The number as one of the types that constants are made of.
template <class Number>
auto widest(Number number) {
  if constexpr (std::is_floating_point_v<Number>)
    return static_cast<double>(number);
  else if constexpr (std::is_signed_v<Number>)
    return static_cast<int64_t>(number);
  else
    return static_cast<uint64_t>(number);
}

#define HIATON_MIXED_OPERATOR(symbol)                                          \
  template <class Number>                                                      \
  requires std::is_arithmetic_v<Number> Var operator symbol(Var a, Number b) { \
    return a symbol constant_like(a, widest(b));                               \
  }                                                                            \
  template <class Number>                                                      \
  requires std::is_arithmetic_v<Number> Var operator symbol(Number a, Var b) { \
    return constant_like(b, widest(a)) symbol b;                               \
  }
HIATON_MIXED_OPERATOR(+)
HIATON_MIXED_OPERATOR(-)
HIATON_MIXED_OPERATOR(*)
HIATON_MIXED_OPERATOR(/)
HIATON_MIXED_OPERATOR(%)
HIATON_MIXED_OPERATOR(==)
HIATON_MIXED_OPERATOR(!=)
HIATON_MIXED_OPERATOR(<)
HIATON_MIXED_OPERATOR(<=)
HIATON_MIXED_OPERATOR(>)
HIATON_MIXED_OPERATOR(>=)
#undef HIATON_MIXED_OPERATOR

}  // namespace hiaton
#pragma GCC visibility pop
