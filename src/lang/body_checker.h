// The body of one function: from syntax to nodes.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <utility>

#include "hiaton/builder.h"
#include "lang/declarations.h"
#include "lang/functions.h"
#include "lang/generated.h"
#include "lang/no_rows.h"
#include "lang/scope.h"

namespace hiaton::lang {

/// The type that the surroundings would like; only literals follow it, and lists and variants without a type
/// of their own.
using Wish = std::optional<Type>;
using Wishes = std::span<const Wish>;

class TypeInference;

/// How something that takes attributes is called. For as long as what it is made of lives.
struct Signature {
  Signature(const OpDef& op)  // NOLINT(google-explicit-constructor): an operation has one
      : name(op.name.value), operands(op.operands.value), attributes(op.attributes) {}
  Signature(std::string_view name, std::span<const std::string_view> operands,
            std::span<const AttributeDef> attributes)
      : name(name), operands(operands), attributes(attributes) {}

  std::string_view name;
  std::span<const std::string_view> operands;
  std::span<const AttributeDef> attributes;
};

/// Resolves names, gives types to literals and makes the nodes, in the order of evaluation. What is wrong is
/// reported once: the value then is unknown, and so, silently, is whatever depends on it. Where its type is
/// known all the same, a constant takes its place, so that more can be checked.
class BodyChecker {
 public:
  BodyChecker(const Source& source, const TokenList& tokens, const Symbols& symbols,
              const Operations& operations, Functions& functions, Declarations& declarations,
              Generated& generated, Diagnostics& diagnostics);

  /// The results of the function; without meaning where there are findings.
  Vars check(const FunctionHead& head, const Syntax& syntax, ExprId body, FunctionBuilder& builder);

 private:
  // Findings and requirements (body_checker.cpp).
  void report(Span span, std::string message) { diagnostics_.add(span, std::move(message)); }
  /// Where the expression stands that gives the value: the last one of a block.
  Span place_of(ExprId id) const { return (*syntax_)[giver_of(id)].span; }
  ExprId giver_of(ExprId id) const;
  /// The i-th element where the expression is a tuple; else the expression itself.
  ExprId element(ExprId id, std::size_t i) const;
  /// The value, where it has the type; else reports and gives an unknown one.
  template <class Describe>
  Var require(ExprId expr, Var value, Wish type, Describe describe) {
    if (!value.id().valid() || !type || compatible(value.type(), *type)) return value;
    report_type(expr, value, *type, describe());
    return Var();
  }
  template <class Describe>
  Vars require_all(ExprId expr, const Vars& found, Wishes types, Describe describe) {
    if (found.size() != types.size()) return report_count(expr, found.size(), types.size());
    std::vector<Var> checked;
    checked.reserve(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      checked.push_back(require(element(expr, i), found[i], types[i], [&] { return describe(i); }));
    }
    return Vars(std::move(checked));
  }
  void report_type(ExprId expr, Var value, const Type& expected, const std::string& what);
  Vars report_count(ExprId expr, std::size_t found, std::size_t expected);
  std::string_view spelled(const Pattern& pattern) const;

  std::span<const Pattern> patterns(Range range) const;
  std::span<const ExprId> list(Range range) const;

  // One value, for places that take no more (values.cpp).
  Var value(ExprId id, const Wish& wish);
  Var value(ExprId id) { return value(id, std::nullopt); }
  /// Several values become a tuple.
  Var single(ExprId id, const Vars& found, const Wish& wish);
  Var number(const Expr& expr, const Wish& wish);
  Var boolean(const Expr& expr);
  Var name(const Expr& expr, const Wish& wish);
  Var constant_value(const FunctionHead& constant, Span span);
  void report_unknown_name(const Expr& expr);
  /// "; size(x, axis=0) gives it", where the name is a symbol in the type of a parameter.
  std::string hint_at_size(std::string_view name) const;
  Var learned(const Expr& expr);
  Var emit(const Operation& operation, std::span<const Var> operands, Span span, Attributes attributes = {});
  Var apply(const Operation& operation, std::span<const ExprId> operands, const Wish& wish, Span span,
            Attributes attributes = {});
  Wish wish_beside(const Operation& operation, const Wish& type, ExprId operand) const;
  /// nullptr where a Call is none of an operation.
  const Operation* operation_of(const Expr& call) const {
    return call.of_catalog ? operations_.find_shadowed(call.name) : operations_.find(call.name);
  }
  Var operation_call(const Expr& expr, const Operation& operation, const Wish& wish);
  Var binary(ExprId id, const Wish& wish);
  bool is_arithmetic(ExprId id) const;
  Var chain(ExprId last, const Wish& wish);
  Var logic(ExprId last);
  Var logic_operand(ExprId operand, const Expr& logic);
  Var logic_step(Var left, const Expr& expr);

  // Attributes, tensors and lists (tensors.cpp).
  /// By the list of the signature; empty where something is wrong, which is reported.
  std::optional<std::vector<int64_t>> attributes_of(const Expr& expr, const Signature& of);
  bool put_attribute(const Attribute& given, const AttributeDef& wanted, const Signature& of,
                     std::vector<int64_t>& values);
  /// Whether the call is of the built-in `split`.
  bool is_split(const Expr& expr) const;
  Vars split(const Expr& expr);
  Var index(const Expr& expr);
  Var list_literal(const Expr& expr, const Wish& wish);
  Var list_of_elements(const Expr& expr, Wish element);
  void report_empty_brackets(const Expr& expr);
  Var tensor_literal(const Expr& expr, const Wish& wish);
  std::optional<Tensor> constant_tensor(const Expr& expr, DType dtype);

  // Values of data types (constructions.cpp).
  /// The variant that a name or call means; empty where it means none.
  std::optional<VariantPlace> variant_of(const Expr& expr, const Wish& wish);
  Var construct(const Expr& expr, const VariantPlace& place);
  Var field_value(ExprId argument, const VariantPlace& place, std::size_t field);
  Var cons(const Expr& expr);
  bool is_construction(const Expr& expr) const;
  Var construction(const Expr& expr, const Wish& wish);

  // Their fields by name (fields.cpp).
  std::span<const FieldName> field_names(Range range) const;
  /// By argument, the field that it is for; empty where they do not fit, which is reported.
  std::optional<std::vector<std::size_t>> fields_of_arguments(const Expr& expr, const Variant& variant);
  /// Adds which fields the names mean; false where they mean none or one twice, which is reported.
  bool add_named_fields(std::span<const FieldName> names, const Variant& variant,
                        std::vector<std::size_t>& targets);
  bool require_field(const Type& type, Symbol name, Span span);
  void report_no_field(const Type& type, std::size_t variant, std::string_view name, Span span);
  Var field(const Expr& expr);
  Var update(const Expr& expr);
  Var by_variant(Var of, Span span, const std::function<Var(const VariantPlace&)>& make);

  // Functions as arguments (function_values.cpp).
  /// What is called, and the values that each call takes along.
  struct FunctionValue {
    Symbol name = 0;  ///< that it has here, where it is a parameter
    const FunctionHead* function = nullptr;
    const Operation* operation = nullptr;
    std::string text;
    std::vector<Var> captured{};
    bool known() const { return function != nullptr || operation != nullptr; }
  };
  void bind_functions(const FunctionHead& head);
  /// nullptr where no parameter of a function type has this name.
  const FunctionValue* local_function(Symbol name) const;
  Vars call_local(const Expr& expr, const FunctionValue& callee, const Wish& wish);
  /// An argument for a function type of these parameters and this result, as far as they are known; unknown
  /// where it is none, which is reported.
  FunctionValue function_value(ExprId argument, std::span<const Wish> params, const Wish& result);
  FunctionValue named_function(const Expr& expr, std::span<const Wish> params);
  FunctionValue lambda(const Expr& expr, std::span<const Wish> params, const Wish& result);
  std::vector<Symbol> names_in(const Expr& lambda) const;
  Vars lambda_results(const Expr& expr, const FunctionHead& head, const Wish& wish,
                      std::span<const Symbol> values, std::vector<FunctionValue> functions,
                      FunctionBuilder& builder);
  std::optional<Type> result_of(const FunctionValue& function, std::span<const Wish> params);
  /// The functions among the arguments of a call; false where one is wrong, which is reported.
  bool infer_functions(TypeInference& types, const FunctionHead& generic, std::span<const ExprId> arguments,
                       std::vector<FunctionValue>& found);
  bool require_function(TypeInference& types, std::size_t place, const FunctionValue& given, ExprId argument,
                        std::string_view callee, std::size_t number);

  // Generic functions and data types (generic_uses.cpp).
  /// A call of which the function and its arguments are known.
  struct Resolved {
    const FunctionHead* callee = nullptr;
    std::vector<Var> arguments;
  };
  bool follows_its_place(ExprId id) const;
  Var argument_for(TypeInference& types, ExprId argument, std::size_t type);
  /// The arguments, of which the types stand at `places`; likewise what is wished.
  std::vector<Var> infer(TypeInference& types, std::span<const ExprId> arguments,
                         std::span<const std::size_t> places, Wishes wishes,
                         std::span<const std::size_t> results);
  bool require_complete(const TypeInference& types, Symbol name, Span span);
  /// `given` are the types in brackets. Empty where something is wrong, which is reported.
  std::optional<Resolved> resolve_generic(const Expr& expr, const FunctionHead& generic,
                                          std::span<const std::optional<Type>> given, Wishes wishes);
  const FunctionHead* instance_of(const FunctionHead& generic, const TypeInference& types, Span span,
                                  const std::vector<FunctionValue>& functions = {});
  std::string first_uses(const FunctionHead& last) const;
  /// For arguments of these types; any number of them.
  const FunctionHead* instance_for(const FunctionHead& generic, const std::vector<Type>& arguments,
                                   Span span);
  Var construct_generic(const Expr& expr, const GenericVariant& variant);

  // Equality of data values (equality.cpp).
  bool compares_data(const Operation& operation, std::span<const Var> operands) const;
  Var compare_data(const Operation& operation, std::span<const Var> operands, Span span);
  FunctionRef equality_of(const Type& type);
  Var same(FunctionBuilder& f, Var a, Var b);
  Var same_from(FunctionBuilder& f, Var a, Var b, std::size_t variant);
  Var same_fields(FunctionBuilder& f, Var a, Var b, std::size_t variant, std::size_t from);

  // match (matches.cpp).
  class Matching;
  Vars match(const Expr& expr, Wishes wishes);
  void check_apart(const Arm& arm, Wishes wishes);
  /// What is to be run for a value.
  struct Side {
    Value key;
    ir::BlockId block{};
  };
  /// The last side needs no test.
  Vars test_in_turn(Var tested, std::span<const Side> sides, Span span);
  /// The same for the numbers of all variants: many sides would be branches too deep inside each other.
  Vars test_halves(Var number, std::vector<Side> sides, Span span);
  Var compare(Tok op, Var one, const Value& other, Span span);

  // Any number of values; no values at all: not even their number is known (structures.cpp).
  /// One tuple where that is wished, and its parts where several values are.
  Vars values(ExprId id, Wishes wishes);
  Vars as_many_values(ExprId id, Wishes wishes);
  Var tuple_of(const Vars& parts, const Wish& wish, Span span);
  Vars parts_of(Var tuple, Span span);
  Vars call(const Expr& expr, Wishes wishes);
  /// Arguments of the types that the callee wants; empty where their number is wrong, which is reported.
  std::vector<Var> call_arguments(const Expr& expr, const FunctionHead& callee);
  Vars stand_ins(const std::vector<std::optional<Type>>& types);
  Vars emit_call(FunctionRef callee, const std::vector<Var>& arguments, Span span);
  void report_unknown_function(Symbol unknown, Span span);
  void report_attributes(const Expr& expr);
  Vars tuple(const Expr& expr, Wishes wishes);
  Vars conditional(const Expr& expr, Wishes wishes);
  Vars branch(ExprId id, Wishes wishes, ir::BlockId& block);
  Vars join(const Expr& expr, Wishes wishes, Var condition, const Vars& then, ir::BlockId then_block,
            const Vars& otherwise, ir::BlockId else_block);
  Vars block(const Expr& expr, Wishes wishes);
  void let(const Let& let);
  void let_one(ExprId bound, const Pattern& pattern);
  void let_several(ExprId bound, std::span<const Pattern> patterns);
  Var require_pattern(ExprId bound, Var found, const Pattern& pattern);
  void bind(const Pattern& pattern, Var value);
  Vars placed(const Expr& expr, Wishes wishes);
  /// Nodes go elsewhere again. The results count only where all are known.
  void close(ir::BlockId block, const Vars& results);
  Vars in_place_of(const Vars& vars);
  /// After a finding: a value of this type.
  Var stand_in(const Type& type);

  // Gradients (gradients.cpp); functions over lists and tensors (over_lists.cpp).
  Vars gradient(const Expr& expr);
  class Applied;
  struct OverList;
  /// Whether the call is one of the built-in `map`, `fold` and `scan`.
  bool is_over_list(const Expr& expr) const;
  Vars over_list(const Expr& expr);
  std::optional<OverList> read_over_list(const Expr& expr, const Applied& applied);
  Vars map_list(const Applied& applied, const OverList& over);
  Vars map_tensor(const Applied& applied, const OverList& over);
  Vars fold_list(const Applied& applied, const OverList& over);
  Vars fold_tensor(const Applied& applied, const OverList& over);
  Vars scan_tensor(const Applied& applied, const OverList& over);
  static Type rows_like(const Applied& applied, const Type& row);
  static std::optional<std::vector<SizeOf>> sizes_of_row(const Applied& applied, const OverList& over);
  Type step_type(const Applied& applied, const OverList& over) const;

  // Loops (loops.cpp).
  Vars loop(const Expr& expr);
  Vars loop_on_condition(const Expr& expr, const Loop& loop, std::vector<Var> initial);
  Vars loop_with_counter(const Expr& expr, const Loop& loop, std::vector<Var> initial);
  void bind_states(const Loop& loop, std::span<const Var> initial, std::span<const Var> params);
  Vars next_states(const Loop& loop, std::span<const Var> initial, std::span<const Var> params);
  Var one_more(Var counter, Span span);
  std::pair<Var, Var> bounds(const Loop& loop);
  Var integer_bound(ExprId bound, const Wish& wish);

  const Source& source_;
  const TokenList& tokens_;
  const Symbols& symbols_;
  const Operations& operations_;
  Functions& functions_;
  Declarations& declarations_;
  Generated& generated_;
  Diagnostics& diagnostics_;
  Scope scope_;
  std::vector<FunctionValue> local_functions_;
  const FunctionHead* head_ = nullptr;  ///< of the function that is being checked
  const Syntax* syntax_ = nullptr;      ///< of the function that is being checked
  FunctionBuilder* f_ = nullptr;        ///< likewise
};

inline bool known(Var var) {
  return var.id().valid();
}

/// Whether their number is known.
inline bool known(const Vars& vars) {
  return vars.size() > 0;
}

bool are_known(std::span<const Var> vars);

/// Whether their number is, and each of them.
bool all_known(const Vars& vars);

inline Vars unknown() {
  return Vars(std::vector<Var>());
}

std::vector<Wish> types_of(std::span<const Var> vars);

/// The type of a literal, or of several beside each other: what is wished, if that can hold them.
DType type_of_literal(Flex flex, const Wish& wish = std::nullopt);

/// "i64", "(i64, f64)"
std::string type_list(const Vars& vars);

/// Whether either may be the value of a branch: their types go together, or each goes with what is wished.
bool alike(const Vars& one, const Vars& other, Wishes wishes);

/// "; a 'let' or result of type f64[_] takes both", where they differ in sizes that nothing wished fixes.
std::string hint_at_sizes(const Vars& one, const Vars& other, Wishes wishes);

/// "sum(a, axis=0)"
std::string to_string(const Signature& signature);

/// "1 value", "2 values"
std::string count_of(std::size_t count, std::string_view thing);

}  // namespace hiaton::lang
