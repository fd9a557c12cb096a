#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/components.h"
#include "lang/bodies_for_calls.h"
#include "lang/body_checker.h"
#include "lang/function_types.h"
#include "lang/heads.h"
#include "lang/library.h"
#include "lang/parser.h"
#include "lang/reading_steps.h"
#include "lang/type_inference.h"
#include "lang/unused.h"

namespace hiaton::lang {
namespace {

/// Thrown out of ModuleBuilder::define, which wants results.
struct NoModule {};

/// What a run is given, and gives, can be written.
void refuse_functions_of_main(const std::vector<FunctionHead>& heads, const Symbols& symbols,
                              const FunctionTypes& types, Diagnostics& diagnostics) {
  for (const FunctionHead& head : heads) {
    if (symbols[head.name] != "main") continue;
    for (const Pattern& param : head.params) {
      if (!param.is_function && !(param.type && types.is_inside(*param.type))) continue;
      diagnostics.add(
          param.span,
          fmt::format("parameter '{}' of 'main': expected a value that can be written, "
                      "found {}: no function can be given to a run",
                      symbols[*param.name], param.type ? to_string(*param.type) : "the type of a function"));
    }
    for (const std::optional<Type>& result : head.results) {
      if (!result || !types.is_inside(*result)) continue;
      diagnostics.add(
          head.name_span,
          fmt::format("the result of 'main': expected a value that can be written, found {}: a run "
                      "cannot show a function",
                      to_string(*result)));
    }
  }
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kLongest = 60;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + " ...";
}

/// What is said behind findings in the body of a function that was made for a use: for which types, and of
/// the standard library, which place of the program uses it.
std::string context_of(const FunctionHead& made, const Source& source, const Declarations& declarations) {
  const auto is_in_library = [&](Span span) { return is_of_library(source.file_at(span.begin).key); };
  std::string text = shortened(text_of_use(made, declarations));
  if (!text.empty()) text = "where " + text;
  if (is_in_library(made.name_span)) {
    const FunctionHead* use = &made;
    while (is_in_library(use->used_at) && use->made_for != nullptr && use->made_for->depth > 0)
      use = use->made_for;
    text += fmt::format("{}used at {}", text.empty() ? "" : ", ", source.place_of(use->used_at.begin));
  }
  return text.empty() ? text : fmt::format(" ({})", text);
}

/// To read the body of a generic function that nothing uses.
FunctionHead with_any_types(FunctionHead head) {
  for (const Symbol param : head.type_params) head.type_arguments.push_back({param, Type(DType::I64)});
  return head;
}

/// Calls itself: what stands in its body was made where it would be called.
void define_uncalled(FunctionRef function, ModuleBuilder& builder) {
  builder.define(function, [&](FunctionBuilder& f) {
    std::vector<Var> same;
    for (std::size_t i = 0; i < f.function().params.size(); ++i) same.push_back(f.param(i));
    return f.call(function, same);
  });
}

/// Reports constants that are computed from themselves: as they have no arguments, that never ends.
void refuse_endless_constants(const std::vector<FunctionHead>& heads, const Functions& functions,
                              const ir::Module& module, Diagnostics& diagnostics) {
  const auto is_constant = [](const FunctionHead& head) { return head.is_constant; };
  if (std::none_of(heads.begin(), heads.end(), is_constant)) return;
  std::vector<std::vector<std::size_t>> callees(module.functions.size());
  for (std::size_t i = 0; i < callees.size(); ++i) {
    for (const ir::Node& node : module.functions[i].nodes) {
      if (node.kind == ir::NodeKind::Call) callees[i].push_back(node.callee.index());
    }
  }
  const Components components = strongly_connected_components(callees);
  for (const FunctionHead& head : heads) {
    if (!head.is_constant) continue;
    const std::size_t id = functions.reference(head).id.index();
    const std::vector<std::size_t>& called = callees[id];
    if (components.sizes[components.of[id]] == 1 &&
        std::find(called.begin(), called.end(), id) == called.end())
      continue;
    diagnostics.add(head.name_span, "this constant is computed from itself");
  }
}

}  // namespace

ir::Module check(const std::shared_ptr<const Source>& source, const TokenList& tokens, const Symbols& symbols,
                 Operations& operations, const ParseOptions& options, Diagnostics& diagnostics) {
  ModuleBuilder builder(source);
  Declarations declarations(*source, symbols, builder.module().data_types, options, diagnostics);
  const std::vector<FunctionHead> heads = read_heads(*source, tokens, symbols, declarations, diagnostics);
  for (const FunctionHead& head : heads) {
    if (!dtype_from_name(symbols[head.name])) operations.shadow(head.name);
  }
  for (const ParameterDeclaration& parameter : declarations.parameters()) {
    builder.add_parameter(std::string(symbols[parameter.name]), parameter.type, parameter.span,
                          parameter.initial,
                          parameter.placement ? std::string(tokens.strings[*parameter.placement]) : "");
  }
  Functions functions(*source, tokens, symbols, operations, heads, declarations, builder, diagnostics);
  Generated generated(builder);
  const auto make_parser = [&] {
    return Parser(*source, tokens, operations, generic_names(heads), declarations, diagnostics);
  };
  Parser parser = make_parser();
  BodyChecker checker(*source, tokens, symbols, operations, functions, declarations, generated, diagnostics);
  BodiesForCalls bodies(make_parser);
  checker.read_bodies_by(
      [&](const FunctionHead& head) -> const BodyChecker::ReadBody& { return bodies.of(head); });
  const auto check_body = [&](const FunctionHead& head) {
    functions.enter(head);
    const Diagnostics::Part part(diagnostics);
    if (head.gradient) return functions.define_gradient(head);
    const ExprId body = parser.read_body(head);
    try {
      builder.define(functions.reference(head), [&](FunctionBuilder& f) {
        const Vars results = checker.check(head, parser.syntax(), body, f);
        if (!diagnostics.empty()) throw NoModule();
        return results;
      });
    } catch (const NoModule&) {
    } catch (const ProgramError& error) {  // of sizes that results share
      diagnostics.add(parser.syntax()[body].span,
                      fmt::format("the results of '{}': {}", symbols[head.name], error.what()));
    }
  };
  for (const FunctionHead& head : heads) {
    if (head.readable && !head.is_generic()) check_body(head);
  }
  std::unordered_set<std::size_t> broken;  // generic functions, by their first token
  std::unordered_set<std::size_t> used;
  std::unordered_set<const FunctionHead*> checked;
  const auto check_instances = [&] {
    const std::size_t before = checked.size();
    for (std::size_t i = 0; i < functions.instances().size(); ++i) {
      const FunctionHead& head = functions.instances()[i];
      used.insert(head.begin);
      const bool is_next = !broken.contains(head.begin) && functions.is_needed(head);
      if (!is_next || !checked.insert(&head).second) continue;
      const std::size_t findings = diagnostics.count();
      diagnostics.set_context(context_of(head, *source, declarations));
      check_body(head);
      diagnostics.set_context("");
      if (diagnostics.count() > findings) broken.insert(head.begin);
    }
    return checked.size() > before;
  };
  while (check_instances()) {
  }
  for (const FunctionHead& head : functions.instances()) {
    if (!checked.contains(&head) && diagnostics.empty()) define_uncalled(functions.reference(head), builder);
  }
  std::unordered_set<std::size_t> unused;
  for (const FunctionHead& head : heads) {
    if (!head.readable || !head.is_generic() || head.on_demand || used.contains(head.begin)) continue;
    const std::size_t findings = diagnostics.count();
    parser.read_body(with_any_types(head));
    if (diagnostics.count() == findings) unused.insert(head.begin);
  }
  report_in_unused(source, tokens, symbols, operations, options, unused, diagnostics);
  refuse_functions_of_main(heads, symbols, declarations.function_types(), diagnostics);
  if (diagnostics.empty()) checker.define_calls();
  if (diagnostics.empty())
    separate_nested_gradients(builder, declarations.function_types(), checker.gradient_places());
  if (diagnostics.empty()) refuse_endless_constants(heads, functions, builder.module(), diagnostics);
  if (!diagnostics.empty()) return ir::Module();
  builder.module().generic_data_types = declarations.generic_texts();
  std::sort(builder.module().gradient_requests.begin(), builder.module().gradient_requests.end(),
            [](const auto& a, const auto& b) { return a.function < b.function; });
  return builder.finish();
}

}  // namespace hiaton::lang
