#include "lang/unused.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "lang/bodies_for_calls.h"
#include "lang/heads.h"
#include "lang/type_inference.h"

namespace hiaton::lang {
namespace {

/// Thrown out of a body of which no function is to come.
struct NoFunction {};

bool is_same(const Diagnostic& a, const Diagnostic& b) {
  return a.span.begin == b.span.begin && a.span.end == b.span.end && a.message == b.message;
}

/// A program of its own, of which nothing stays: there each function is checked for several types.
class Trial {
 public:
  Trial(const std::shared_ptr<const Source>& source, const TokenList& tokens, const Symbols& symbols,
        const Operations& operations, const ParseOptions& options)
      : source_(*source),
        tokens_(tokens),
        symbols_(symbols),
        builder_(source),
        declarations_(*source, symbols, builder_.module().data_types, options, findings_),
        heads_(read_heads(*source, tokens, symbols, declarations_, findings_)),
        functions_(*source, tokens, symbols, operations, heads_, declarations_, builder_, findings_),
        generated_(builder_),
        parser_(*source, tokens, operations, generic_names(heads_), declarations_, findings_),
        bodies_([this, &operations] {
          return Parser(source_, tokens_, operations, generic_names(heads_), declarations_, findings_);
        }),
        checker_(*source, tokens, symbols, operations, functions_, declarations_, generated_, findings_) {
    for (const ParameterDeclaration& parameter : declarations_.parameters())
      builder_.add_parameter(std::string(symbols[parameter.name]), parameter.type, parameter.span,
                             parameter.initial, "");
    checker_.read_bodies_by(
        [this](const FunctionHead& head) -> const BodyChecker::ReadBody& { return bodies_.of(head); });
  }

  bool is_readable() const { return findings_.empty(); }
  const std::vector<FunctionHead>& heads() const { return heads_; }

  /// What is found for all of the types.
  std::vector<Diagnostic> check(const FunctionHead& generic) {
    std::optional<std::vector<Diagnostic>> common;
    for (const Type& type : types_for(generic)) {
      std::vector<Diagnostic> found = check_for(generic, type);
      if (!common) {
        common = std::move(found);
      } else {
        std::erase_if(*common, [&](const Diagnostic& one) {
          return std::ranges::none_of(found, [&](const Diagnostic& other) { return is_same(one, other); });
        });
      }
      if (common->empty()) break;
    }
    return common.value_or(std::vector<Diagnostic>());
  }

 private:
  /// Types that differ in all that an expression may ask of them: the messages about it then differ too.
  std::vector<Type> types_for(const FunctionHead& generic) {
    const Type number(DType::I64);
    if (generic.type_params.empty()) return {number};
    return {number,
            Type(DType::F64),
            string_type(),
            Type(DType::F64, {unknown_dim()}),
            declarations_.list_of(number),
            declarations_.tuple_of({number, number}),
            declarations_.function_types().of({number}, number).type};
  }

  std::vector<Diagnostic> check_for(const FunctionHead& generic, const Type& type) {
    TypeArguments arguments;
    std::vector<std::optional<Type>> types;
    for (const Symbol param : generic.type_params) {
      arguments.push_back({param, type});
      types.emplace_back(type);
    }
    const std::size_t findings = findings_.count();
    const Diagnostics::Part part(findings_);
    TypeInference inference(generic.type_params, source_, tokens_, declarations_, findings_);
    inference.set(types);
    const std::vector<FunctionArgument> given = functions_for(generic, inference);
    const FunctionHead* const made = functions_.instance(generic, arguments, nobody_, given, generic.span);
    if (made != nullptr && !made->gradient) check_body(*made);
    return findings_.take_after(findings);
  }

  /// Functions without bodies, for the parameters that are functions.
  std::vector<FunctionArgument> functions_for(const FunctionHead& generic, TypeInference& types) {
    std::vector<FunctionArgument> given;
    for (std::size_t i = 0; i < generic.params.size(); ++i) {
      if (!generic.params[i].is_function) continue;
      const std::string name(symbols_[*generic.params[i].name]);
      FunctionHead head{.name = *generic.params[i].name, .span = generic.params[i].span};
      const auto places = types.function_at(generic.param_types[i]);
      for (const std::size_t place : places->params)
        head.params.push_back({.name = std::nullopt, .type = types.type_at(place)});
      head.results.push_back(types.type_at(places->result));
      const FunctionRef made = generated_.declare(name, infos_of(head), {known_or_any(head.results[0])});
      given.push_back({.name = head.name, .function = functions_.add_lambda(head, made), .text = name});
    }
    return given;
  }

  static Type known_or_any(const std::optional<Type>& type) { return type.value_or(DType::I64); }
  static std::vector<ir::ValueInfo> infos_of(const FunctionHead& head) {
    std::vector<ir::ValueInfo> infos;
    for (const Pattern& param : head.params)
      infos.push_back({known_or_any(param.type), "x" + std::to_string(infos.size() + 1)});
    return infos;
  }

  void check_body(const FunctionHead& head) {
    functions_.enter(head);
    const ExprId body = parser_.read_body(head);
    try {
      builder_.define(functions_.reference(head), [&](FunctionBuilder& f) -> Vars {
        checker_.check(head, parser_.syntax(), body, f);
        throw NoFunction();
      });
    } catch (const NoFunction&) {
    } catch (const ProgramError&) {  // of sizes, which other types may not have
    }
  }

  Diagnostics findings_;
  const FunctionHead nobody_;  ///< which uses are made for
  const Source& source_;
  const TokenList& tokens_;
  const Symbols& symbols_;
  ModuleBuilder builder_;
  Declarations declarations_;
  std::vector<FunctionHead> heads_;
  Functions functions_;
  Generated generated_;
  Parser parser_;
  BodiesForCalls bodies_;
  BodyChecker checker_;
};

}  // namespace

void report_in_unused(const std::shared_ptr<const Source>& source, const TokenList& tokens,
                      const Symbols& symbols, const Operations& operations, const ParseOptions& options,
                      const std::unordered_set<std::size_t>& unused, Diagnostics& diagnostics) {
  if (unused.empty()) return;
  Trial trial(source, tokens, symbols, operations, options);
  if (!trial.is_readable()) return;
  for (const FunctionHead& head : trial.heads()) {
    if (!unused.contains(head.begin)) continue;
    for (Diagnostic& found : trial.check(head)) diagnostics.add(found.span, std::move(found.message));
  }
}

}  // namespace hiaton::lang
