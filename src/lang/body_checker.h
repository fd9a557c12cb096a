// The body of one function: from syntax to nodes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hiaton/builder.h"
#include "lang/declarations.h"
#include "lang/function_value.h"
#include "lang/functions.h"
#include "lang/generated.h"
#include "lang/no_rows.h"
#include "lang/scope.h"
#include "lang/signature.h"
#include "lang/wishes.h"

namespace hiaton::lang {

class TypeInference;

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
  /// The body of a function, which stays where it is.
  struct ReadBody {
    Syntax syntax;
    ExprId body;
  };
  /// What reads bodies that are made where a call of their functions stands.
  void read_bodies_by(std::function<const ReadBody&(const FunctionHead&)> read) {
    read_body_ = std::move(read);
  }
  /// Gives the functions that call function values their bodies, after all values are known.
  void define_calls();
  /// Where the program asks for gradients, by the functions that are made for them.
  const std::unordered_map<std::size_t, Span>& gradient_places() const { return gradient_places_; }

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
    if (differs_in_sizes(value.type(), *type)) {
      f_->set_span(place_of(expr));
      return resized(*f_, value, *type);
    }
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
  Var learned(const Expr& expr);
  Var emit(const Operation& operation, std::span<const Var> operands, Span span, Attributes attributes = {});
  Var apply(const Operation& operation, std::span<const ExprId> operands, const Wish& wish, Span span,
            Attributes attributes = {});
  Wish wish_of_operand(ExprId operand, const Wish& wish) const;
  Wish wish_beside(const Operation& operation, const Wish& type, ExprId operand, std::size_t number) const;
  /// nullptr where a Call is none of an operation.
  const Operation* operation_of(const Expr& call) const {
    return call.of_catalog ? operations_.find_shadowed(call.name) : operations_.find(call.name);
  }
  Var operation_with_text(const Expr& expr, const Operation& operation, const Wish& wish);
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
  bool is_split(const Expr& expr) const;
  Vars split(const Expr& expr);
  Var index(const Expr& expr);

  // Ranges in their brackets (slices.cpp), and tensors of sizes that the run knows (filled.cpp).
  std::optional<int64_t> known_integer(ExprId id) const;
  bool is_learned(const Expr& expr) const;
  bool may_be_place(ExprId position);
  Var slices(const Expr& expr);
  Var bound(ExprId id);
  Var range_along(Var x, int64_t axis, const Expr& range);
  Var element_along(Var x, int64_t axis, ExprId position);
  /// Whether the call is one of the built-in `range`, `zeros`, `ones` and `full`.
  bool is_filled(const Expr& expr) const;
  Var filled(const Expr& expr, const Wish& wish);
  Var stretched(Var element, std::span<const ExprId> sizes, Span span);
  Var of_sizes(const std::vector<Var>& sizes);
  Var range(const Expr& expr);

  // Values in brackets (tensors.cpp).
  Var list_literal(const Expr& expr, const Wish& wish);
  Var list_of_elements(const Expr& expr, Wish element);
  std::size_t first_to_look_at(std::span<const ExprId> ids) const;
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
  bool require_field(Var of, Symbol name, Span span);
  /// The number of the variant that a pattern has told a value to be of.
  std::optional<std::size_t> told_variant(Var of) const;
  void report_no_field(const Type& type, std::size_t variant, std::string_view name, Span span);
  Var field(const Expr& expr);
  Var update(const Expr& expr);
  Var update_at_place(const Expr& expr);
  Var by_variant(Var of, Span span, const std::function<Var(const VariantPlace&)>& make);

  // Functions as arguments (function_values.cpp).
  using FunctionValue = lang::FunctionValue;
  void bind_functions(const FunctionHead& head, std::span<const Var> captured);
  /// Names of sizes in the types of parameters are values too, where the body uses them.
  void bind_sizes(const FunctionHead& head);

  // Sizes of parameters and results that follow from symbols (computed_sizes.cpp).
  Var value_of(const SizeFormula& formula);
  /// The run checks them: of parameters where the function begins, of results where it gives them.
  void check_computed_params(const FunctionHead& head);
  Vars with_computed_sizes(ExprId body, const Vars& results);
  /// The results of a call with those sizes that its arguments tell. Throws ProgramError where these are
  /// known to be wrong.
  Vars with_known_sizes(const FunctionHead& callee, const std::vector<Var>& arguments, const Vars& results);
  /// Whether `let` binds a function here and not a value.
  bool is_function(ExprId bound) const;
  void let_function(ExprId bound, const Pattern& pattern);
  FunctionValue function_bound(ExprId bound, Symbol name);
  bool is_gradient_of_known(const Expr& gradient);
  /// The lambda, or what else is no function yet, with what it uses from around it.
  FunctionValue open_function(const Expr& expr) const;
  /// What an open function is for parameters of these types.
  FunctionValue closed(const FunctionValue& open, std::span<const Wish> params, const Wish& result);
  bool follows_types(ExprId function) const;
  std::optional<std::vector<Var>> arguments_of_open(const Expr& call, const FunctionValue& open,
                                                    FunctionValue& callee);
  /// nullptr where no parameter of a function type has this name.
  const FunctionValue* local_function(Symbol name) const;
  Vars call_local(const Expr& expr, const FunctionValue& callee, const Wish& wish);
  /// An argument for a function type of these parameters and this result, as far as they are known; unknown
  /// where it is none, which is reported.
  FunctionValue function_value(ExprId argument, std::span<const Wish> params, const Wish& result);
  FunctionValue named_function(const Expr& expr, std::span<const Wish> params, const Wish& result = {});
  FunctionValue lambda(const Expr& expr, std::span<const Wish> params, const Wish& result) {
    return closed(open_function(expr), params, result);
  }
  FunctionValue closed_lambda(const FunctionValue& open, std::span<const Wish> params, const Wish& result);
  FunctionValue closed_gradient(const FunctionValue& open, std::span<const Wish> params);
  std::vector<Symbol> names_in(const Expr& function) const;
  void add_names(std::size_t first, std::size_t last, std::vector<Symbol>& names) const;
  Vars lambda_results(const FunctionValue& open, const FunctionHead& head, const Wish& wish,
                      FunctionBuilder& builder);
  /// Binds what an open function uses to these values, and hides all else of these names.
  void bind_used(const FunctionValue& open, std::span<const Var> values);
  std::optional<Type> result_of(const FunctionValue& function, std::span<const Wish> params);
  /// The functions among the arguments of a call; false where one is wrong, which is reported.
  bool infer_functions(TypeInference& types, const FunctionHead& generic, std::span<const ExprId> arguments,
                       std::vector<FunctionValue>& found);
  bool require_function(TypeInference& types, std::size_t place, const FunctionValue& given, ExprId argument,
                        std::string_view callee, std::size_t number);

  // Functions as data values (function_data.cpp).
  FunctionType* function_type(const Type& type) const { return declarations_.function_types().find(type); }
  FunctionType* function_type(const Wish& type) const { return type ? function_type(*type) : nullptr; }
  /// What a value of the type is as something that is called.
  FunctionValue callee_of(Var value, FunctionType& type);
  /// A local function, or a value of a function type, that has this name.
  std::optional<FunctionValue> callee_named(Symbol name);
  /// Whether the name is that of a value, and not of a function.
  bool is_value(const Expr& name) const;
  bool gives_data(const Expr& expr) const;
  bool is_function(const Expr& name) const;
  bool results_in_data(const Expr& call) const;
  bool waits_for_type(ExprId id) const;
  std::vector<Pattern> params_of(const Expr& lambda);
  /// What an open place has for a type where nothing else tells it: that of what stands beside it.
  Wish type_beside_place(const Expr& lambda);
  Vars call_of_value(const Expr& expr, const Wish& wish);
  /// The function as a value of the type that is wished, or else of its own.
  Var function_as_value(ExprId id, const Wish& wish);
  FunctionValue function_of_own_types(const Expr& expr);
  Var data_of(const FunctionValue& function, FunctionType& type, const Expr& expr);
  bool has_type(const FunctionValue& function, const FunctionType& type) const;
  /// As a data value, where it is made of a function of its own kind: such ones would go on for ever.
  FunctionValue without_repetition(FunctionValue function, std::span<const Wish> params, const Wish& result,
                                   const Expr& expr);
  /// A function that does what one does that takes functions, which are then data values.
  FunctionValue taking_data(const FunctionHead& generic, std::span<const Wish> params, const Expr& expr);
  FunctionValue variant_function(const Expr& expr, std::span<const Wish> params, const Wish& result);

  // `let fn` (local_functions.cpp).
  class LocalGroup;
  void let_functions(std::span<const Let> group);

  // Generic functions and data types (generic_uses.cpp).
  /// A call of which the function and its arguments are known.
  struct Resolved {
    const FunctionHead* callee = nullptr;
    std::vector<Var> arguments;
  };
  /// What the text of an expression tells about its type, before its place does; less from one to the next.
  enum class Tells : uint8_t {
    Type,
    Elements,  ///< it has elements, of a list or of a tensor
    Float,     ///< as literals do
    Integer,
    Nothing,
  };
  Tells tells(ExprId id) const;
  std::vector<Tells> tells_each(std::span<const ExprId> ids) const;
  Tells told_by_parts(const Expr& construction) const;
  /// Whether its fields do not tell all types of the generic data type, as those of `Left(1)` of an Either.
  /// `told` is what each field tells.
  bool leaves_types_open(const Expr& construction, std::span<const Tells> told) const;
  /// What the arguments of a call tell of the type parameters in what it gives, of each the most, and of
  /// these the least: Nothing of `lookup(MapTip, 1)`, Integer of `put(MapTip, "a", 1)`.
  Tells told_by_arguments(const Expr& call, const FunctionHead& generic) const;
  /// Whether the name is that of a variant of a list, or of a generic data type of which the types are open.
  bool is_open_variant(const Expr& expr) const;
  /// Whether each argument fits the type at its place, as far as that is known; reports one that does not.
  bool require_fitting(TypeInference& types, std::span<const ExprId> arguments,
                       std::span<const std::size_t> places, std::span<const Var> found,
                       const std::function<std::string(std::size_t)>& describe);
  Var argument_for(TypeInference& types, ExprId argument, std::size_t type);
  /// The arguments, of which the types stand at `places`; likewise what is wished.
  std::vector<Var> infer(TypeInference& types, std::span<const ExprId> arguments,
                         std::span<const std::size_t> places, Wishes wishes,
                         std::span<const std::size_t> results, bool takes_functions = false);
  /// `takes_arguments`: what has the name stands in front of arguments.
  bool require_complete(const TypeInference& types, Symbol name, Span span, bool takes_arguments = true);
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

  // Calls that give functions which are known before the run (known_results.cpp).
  /// nullptr where the call is none of such a function.
  const FunctionHead* giver_of_function(const Expr& call) const;
  /// Empty where it is not known, or something is wrong.
  std::optional<FunctionValue> known_result(const Expr& call, const Wish& wish);
  std::optional<FunctionValue> known_result(const Resolved& call);
  bool let_known_result(ExprId bound, Symbol name);
  FunctionValue inside_of(const FunctionHead& callee, const ReadBody& body, std::span<const Var> arguments,
                          const FunctionType& type);

  // Types that several expressions tell together (together.cpp).
  class Applied;
  struct OverList;
  struct Collected;
  /// Whether each is a value of a generic data type that leaves types open, or a branch between such ones.
  bool all_leave_types_open(std::span<const ExprId> ids) const;
  std::vector<ExprId> bodies_of(const Expr& match) const;
  /// Calls what makes values, of which nothing stays, nor is reported. Whether nothing was to be reported.
  /// Where it is right and `stays_if_right`, all stays.
  bool attempt(const std::function<void()>& make, bool stays_if_right = false);
  /// The type that all such values have that `make` makes, where together they tell it. Nothing is made or
  /// reported.
  Wish told_together(const std::function<void()>& make, Span span);
  Wish type_of(const Collected& collected, Span span);
  Collected collected_of(ExprId id);
  /// The arguments of a call that leave types open, each another one. `told` is what each argument tells.
  void infer_together(TypeInference& types, std::span<const ExprId> arguments,
                      std::span<const std::size_t> places, std::span<const Tells> told);
  /// What one step of a `fold` or `scan` gives whose first value has no type by itself.
  Wish told_by_step(const Expr& expr, const OverList& over, const Applied& applied);
  bool keeps_type_of_elements(const Expr& expr, const OverList& over);
  Wish told_by_step_of_lambda(const Expr& expr, const Expr& lambda, const OverList& over);
  Wish find_told_by_step(const Expr& expr, const Expr& lambda, const OverList& over);
  std::optional<std::string> key_of_step(const Expr& expr, const Expr& lambda, const OverList& over) const;
  bool report_in_step(const Expr& expr, const OverList& over);
  /// The types of the loop variables that have none yet, as far as the next values tell them; with
  /// `with_numbers` also of those that begin with numbers.
  void tell_states(const Loop& loop, std::vector<Wish>& types, bool with_numbers = false);
  bool attempt_in(const Syntax& body, const std::function<void()>& make);
  /// Which expressions now stand for the value.
  std::vector<std::size_t> unfold(Syntax& in, std::size_t first, std::size_t last, Symbol name, ExprId value,
                                  bool with_numbers = false) const;
  ExprId without_open_parts(Syntax& in, std::size_t first, std::size_t last, ArmPattern& pattern,
                            ExprId value, bool with_numbers) const;

  // Types of names whose values do not tell them (let_types.cpp).
  class LetTypes;
  struct LetUses;
  /// Whether in an attempt such a value stands here, in the place of the name.
  bool is_use_of_let(ExprId id) const { return uses_ != nullptr && uses_with(id) != nullptr; }
  LetUses* uses_with(ExprId id) const;
  Var use_of_let(ExprId id, const Wish& wish);
  Var value_by_itself(ExprId id);

  // Data values whose tensors are to be of other sizes in their types (resized.cpp).
  bool differs_in_sizes(const Type& found, const Type& wanted) const;
  Var resized(FunctionBuilder& f, Var value, const Type& wanted);

  // Equality of data values, and order of tuples (comparisons.cpp).
  /// Empty where the operation compares no two values of one data type as a whole.
  std::optional<Var> compare_data(const Operation& operation, std::span<const Var> operands, Span span);

  // Strings (strings.cpp).
  Var string(const Expr& expr);
  /// What an operation on numbers is on strings; empty where none of the operands is one, or it is none on
  /// strings.
  std::optional<Var> string_operation(const Operation& operation, std::span<const Var> operands, Span span);
  Var part_of_string(Var text, const Expr& range);
  /// Whether the call is of the built-in `str`, `length` or `print`.
  bool is_string_call(const Expr& expr) const;
  bool may_take_data(ExprId function) const;
  std::optional<FunctionValue> built_in_on_data(const Expr& name, std::span<const Wish> params);
  bool is_length_of_library(const Expr& expr, const FunctionHead& function) const;
  Var string_call(const Expr& expr);
  /// The text of a value, as it is printed.
  Var text_of_value(Var of);
  Var append_text(FunctionBuilder& f, Var before, Var of);
  FunctionRef text_of_data(const Type& type);
  FunctionRef text_of_list(const Type& type);

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
  Vars emit_call(const FunctionHead& callee, const std::vector<Var>& arguments, Span span);
  void report_unknown_function(Symbol unknown, Span span);
  void report_attributes(const Expr& expr);
  void report_wrong_count(const Expr& expr, const FunctionHead& callee);
  std::string hint_at_operation(Symbol function) const;
  Vars tuple(const Expr& expr, Wishes wishes);
  Vars conditional(const Expr& expr, Wishes wishes);
  Vars branch(ExprId id, Wishes wishes, ir::BlockId& block);
  Vars join(const Expr& expr, Wishes wishes, Var condition, const Vars& then, ir::BlockId then_block,
            const Vars& otherwise, ir::BlockId else_block);
  Vars block(const Expr& expr, Wishes wishes);
  void lets(const Expr& block, const std::function<void()>& rest);
  void let(const Let& let, Wishes told);
  void let_one(ExprId bound, const Pattern& pattern, Wishes told);
  void let_several(ExprId bound, std::span<const Pattern> patterns, Wishes told);
  Var require_pattern(ExprId bound, Var found, const Pattern& pattern);
  void bind(const Pattern& pattern, Var value);
  Vars placed(const Expr& expr, Wishes wishes);
  /// Nodes go elsewhere again. The results count only where all are known.
  void close(ir::BlockId block, const Vars& results);
  Vars in_place_of(const Vars& vars);
  /// After a finding: a value of this type.
  Var stand_in(const Type& type);

  // Gradients (gradients.cpp).
  Vars gradient(const Expr& expr);
  FunctionValue gradient_value(const Expr& expr, std::span<const Wish> params);
  std::optional<std::vector<Var>> arguments_for_gradient(const Expr& expr, FunctionValue& callee);
  std::optional<std::vector<Var>> arguments_of_operation(const Expr& call, const Operation& operation,
                                                         FunctionValue& callee);
  FunctionValue function_of(const Operation& operation, std::span<const Wish> params, const Expr& expr);
  FunctionValue derived(FunctionValue of, const GradientOf& gradient);
  FunctionValue derived_once(const FunctionValue& of, const GradientOf::Step& step, Span span);
  FunctionRef with_captured_last(const FunctionHead& head, std::size_t params, FunctionRef vjp);

  // Functions over lists and tensors (over_lists.cpp).
  /// Whether the call is one of the built-in `map`, `fold` and `scan`.
  bool is_over_list(const Expr& expr) const;
  Vars over_list(const Expr& expr, Wishes wishes);
  Wish wish_of_initial(const OverList& over, const Applied& applied, Wishes wishes) const;
  std::optional<OverList> read_over_list(const Expr& expr, const Applied& applied, Wishes wishes);
  Vars map_list(const Applied& applied, const OverList& over);
  Vars map_tensor(const Applied& applied, const OverList& over);
  Vars fold_list(const Applied& applied, const OverList& over);
  Vars fold_tensor(const Applied& applied, const OverList& over);
  Vars scan_tensor(const Applied& applied, const OverList& over);
  static Type rows_like(const Applied& applied, const Type& row);
  static std::optional<std::vector<SizeOf>> sizes_of_row(const Applied& applied, const OverList& over);
  Type step_type(const Applied& applied, const OverList& over) const;

  // Loops (loops.cpp).
  Vars loop(const Expr& expr, Wishes wishes);
  Vars loop_from_numbers(const Expr& expr, const Loop& loop, const std::vector<Wish>& types, Wishes wishes);
  Vars loop_of(const Expr& expr, const Loop& loop, Wishes types);
  Vars loop_on_condition(const Expr& expr, const Loop& loop, std::vector<Var> initial);
  Vars loop_with_counter(const Expr& expr, const Loop& loop, std::vector<Var> initial);
  bool require_type_of_state(const Loop::State& state);
  bool is_value_of_open_type(ExprId id) const;
  std::string_view type_name_of_open(const Expr& value) const;
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
  std::unordered_map<std::string_view, SymbolPlace> places_;  ///< of the symbols of computed sizes
  std::vector<FunctionValue> local_functions_;
  std::unordered_map<std::size_t, Span> gradient_places_;
  std::vector<std::pair<Var, std::size_t>> narrowed_;  ///< values of which arms tell the variants
  ClosedLambdas closed_;
  /// Lambdas in the bodies of functions that give known results.
  std::unordered_map<const FunctionHead*, ClosedLambdas> closed_inside_;
  std::unordered_map<std::string, Wish> told_;  ///< first values of folds, by where and for which types
  std::vector<const FunctionHead*> inside_;     ///< functions of which such results are being made
  std::function<const ReadBody&(const FunctionHead&)> read_body_;
  const FunctionHead* head_ = nullptr;  ///< the head of the function that is being checked
  const Syntax* syntax_ = nullptr;      ///< the syntax of the function that is being checked
  int attempts_ = 0;                    ///< how many attempts are under way inside each other
  LetUses* uses_ = nullptr;             ///< takes types of names that their uses tell
  Collected* collected_ = nullptr;  ///< takes types of values that leave some open, which then are unknown
  FunctionBuilder* f_ = nullptr;    ///< makes the function that is being checked
};

}  // namespace hiaton::lang
