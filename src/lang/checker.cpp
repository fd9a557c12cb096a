#include "lang/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"
#include "lang/heads.h"
#include "lang/parser.h"

namespace hiaton::lang {
namespace {

/// Thrown out of ModuleBuilder::define, which wants results.
struct NoModule {};

}  // namespace

ir::Module check(const std::shared_ptr<const Source>& source, const TokenList& tokens, const Symbols& symbols,
                 Operations& operations, const ParseOptions& options, Diagnostics& diagnostics) {
  ModuleBuilder builder(source);
  Declarations declarations(symbols, builder.module().data_types, options, diagnostics);
  const std::vector<FunctionHead> heads = read_heads(*source, tokens, symbols, declarations, diagnostics);
  for (const FunctionHead& head : heads) {
    if (!dtype_from_name(symbols[head.name])) operations.shadow(head.name);
  }
  for (const ParameterDeclaration& parameter : declarations.parameters()) {
    builder.add_parameter(std::string(symbols[parameter.name]), parameter.type, parameter.span,
                          parameter.initial);
  }
  const Functions functions(*source, tokens, symbols, operations, heads, declarations, builder, diagnostics);
  Generated generated(builder);
  Parser parser(*source, tokens, operations, declarations, diagnostics);
  BodyChecker checker(*source, tokens, symbols, operations, functions, declarations, generated, diagnostics);
  for (const FunctionHead& head : heads) {
    if (!head.readable) continue;
    if (head.gradient) {
      functions.define_gradient(head);
      continue;
    }
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
  }
  if (!diagnostics.empty()) return ir::Module();
  std::sort(builder.module().gradient_requests.begin(), builder.module().gradient_requests.end(),
            [](const auto& a, const auto& b) { return a.function < b.function; });
  return builder.finish();
}

}  // namespace hiaton::lang
