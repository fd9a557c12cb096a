#include "lang/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/names.h"
#include "lang/functions.h"
#include "lang/library.h"
#include "lang/reader.h"
#include "lang/suggest.h"
#include "lang/token.h"

namespace hiaton::lang {
namespace {

class HeadReader : Reader {
 public:
  HeadReader(const Source& source, const TokenList& tokens, const Symbols& symbols,
             Declarations& declarations, Diagnostics& diagnostics)
      : Reader(source, tokens, declarations, diagnostics), symbols_(symbols) {}

  /// Reads the head of a generic function for one use.
  FunctionHead run_for(const FunctionHead& generic, TypeArguments arguments) {
    arguments_ = std::move(arguments);
    is_for_use_ = true;
    go_to(generic.begin);
    begin_sizes({});
    try {
      function();
    } catch (const Unreadable&) {
    }
    return std::move(heads_.back());
  }

  /// Types may name sizes and data types that come later in the text: these come first.
  std::vector<FunctionHead> run() {
    const std::size_t begin = position();
    refuse_files_that_continue();
    for_each_declaration([&] { name_type_or_size(); });
    declarations().require_sizes_of_options();
    go_to(begin);
    if (at(Tok::End)) {
      report(
          next().span,
          "expected a function ('fn name(parameters) -> type = expression'), found the end of the program");
    }
    for_each_declaration([&] { declaration(); });
    declarations().refuse_names_of_variants();
    declarations().refuse_types_without_values();
    return std::move(heads_);
  }

 private:
  template <class Read>
  void for_each_declaration(Read read) {
    while (!at(Tok::End)) {
      try {
        read();
      } catch (const Unreadable&) {
      }
      skip_to_declaration();
    }
  }

  bool at_size() const { return next_declared() == Declared::Size; }

  // The first time.

  void name_type_or_size() {
    if (at_size()) {
      take();
      const Token& name = take();
      take();
      try {
        const std::optional<int64_t> value = constant();
        ends_[name.span.begin] = position();
        declarations().add_size(name.payload, name.span, value);
      } catch (const Unreadable&) {
        declarations().add_size(name.payload, name.span, std::nullopt);
        throw;
      }
    } else if (at(Tok::Data) && after_next().kind == Tok::Name) {
      take();
      const Token& name = take();
      declarations().announce(name.payload);
      if (at(Tok::LeftBracket)) {
        GenericType generic{.name = name.payload, .span = name.span, .params = type_parameters()};
        expect(Tok::Assign, "'=' and the variants of the data type");
        accept(Tok::Bar);
        generic.variants_begin = position();
        generic_types_[name.span.begin] = declarations().declare_generic_type(std::move(generic));
      } else {
        types_[name.span.begin] = declarations().declare_type(name.payload, name.span);
      }
    } else if (next_declared() == Declared::Alias) {
      take();
      const Token& name = take();
      declarations().announce(name.payload);
      TypeAlias alias{.name = name.payload, .span = name.span, .params = {}};
      if (at(Tok::LeftBracket)) alias.params = type_parameters();
      expect(Tok::Assign, "'=' and the type");
      alias.type = position();
      aliases_[name.span.begin] = declarations().declare_alias(std::move(alias));
    } else {
      take();
    }
  }

  // The second time.

  void declaration() {
    begin_sizes({});
    if (at(Tok::Data)) return data();
    if (at(Tok::Param)) return parameter();
    switch (next_declared()) {
      case Declared::Import:
        take();
        take();
        return require_end("a new line");
      case Declared::Size:
        return size();
      case Declared::Alias:
        return alias();
      case Declared::Constant:
        return constant_function();
      case Declared::Nothing:
        break;
    }
    function();
  }

  /// It is read once for itself, so that what is wrong with it is reported.
  void alias() {
    take();
    TypeAlias* const alias = aliases_[next().span.begin];
    if (alias == nullptr) throw Unreadable();
    go_to(alias->type);
    const std::size_t findings = finding_count();
    TypeArguments any;
    for (const Symbol param : alias->params) any.push_back({param, Type(DType::I64)});
    begin_type_arguments(std::move(any));
    alias->is_being_read = true;
    field_type();
    alias->is_being_read = false;
    begin_type_arguments({});
    alias->is_broken = alias->is_broken || finding_count() > findings;
    const std::size_t end = position();
    alias->text = fmt::format("type {}{} = {}", symbols_[alias->name], in_brackets(alias->params),
                              text_between(alias->type, end));
    require_end("an operator");
  }

  /// A function without parameters.
  void constant_function() {
    const uint32_t begin = take().span.begin;
    const Token& name = take();
    FunctionHead& head = heads_.emplace_back();
    head.name = name.payload;
    head.name_span = name.span;
    head.is_constant = true;
    head.readable = false;
    expect(Tok::Colon, "':' and the type of the constant");
    head.results.push_back(type());
    expect(Tok::Assign, "'=' and the value of the constant");
    head.span = span_from(begin);
    head.body = position();
    head.readable = true;
  }

  /// Its value is known already, and findings about it are reported.
  void size() {
    take();
    const auto end = ends_.find(next().span.begin);
    if (end == ends_.end()) throw Unreadable();
    go_to(end->second);
    require_end("an operator");
  }

  void require_end(std::string_view or_more) {
    if (!at(Tok::End) && !at_declaration()) {
      fail_expected(fmt::format("{}, 'fn', 'data', 'param', 'size' or the end of the program", or_more));
    }
  }

  void data() {
    take();
    const Token& name = expect(Tok::Name, "the name of the data type");
    if (at(Tok::LeftBracket)) return generic_data(name);
    const std::optional<Type> type = types_[name.span.begin];
    expect(Tok::Assign, "'=' and the variants of the data type");
    std::vector<std::pair<Symbol, Variant>> variants;
    std::vector<Span> spans;
    accept(Tok::Bar);
    do {
      const Token& word = next();
      spans.push_back(word.span);
      if (word.kind == Tok::Name) declarations().announce(word.payload);
      variants.emplace_back(word.payload, variant());
    } while (accept(Tok::Bar));
    if (type) declarations().define_type(*type, std::move(variants), spans);
    require_end("'|' and another variant");
  }

  /// Fields and their types are read for each use; here, where they stand.
  void generic_data(const Token& name) {
    GenericType* generic = generic_types_[name.span.begin];
    if (generic == nullptr) throw Unreadable();
    go_to(generic->variants_begin);
    do {
      const Token& word = expect(Tok::Name, "the name of a variant");
      declarations().announce(word.payload);
      GenericType::VariantHead head{.name = word.payload, .span = word.span, .fields = {}};
      if (accept(Tok::LeftParen)) {
        while (!at(Tok::RightParen)) {
          const Token& field = expect(Tok::Name, "the name of a field");
          expect(Tok::Colon, "':' and the type of the field");
          head.fields.push_back({field.payload, position()});
          skip_type();
          if (!accept(Tok::Comma)) break;
        }
        expect(Tok::RightParen, "an operator, ',' or ')' after a field");
      }
      generic->variants.push_back(std::move(head));
    } while (accept(Tok::Bar));
    declarations().define_generic_type(*generic);
    generic->text = text_of(*generic, position());
    require_end("'|' and another variant");
  }

  /// In one line, as a declaration is printed.
  std::string text_of(const GenericType& generic, std::size_t end) {
    return fmt::format("data {}{} = {}", symbols_[generic.name], in_brackets(generic.params),
                       text_between(generic.variants_begin, end));
  }

  std::string in_brackets(const std::vector<Symbol>& params) {
    std::string text;
    for (const Symbol param : params) text += fmt::format("{}{}", text.empty() ? "[" : ", ", symbols_[param]);
    return text.empty() ? text : text + ']';
  }

  std::string text_between(std::size_t begin, std::size_t end) {
    std::string text;
    go_to(begin);
    while (position() < end) {
      const Token& token = take();
      const bool closes = token.kind == Tok::Comma && (at(Tok::RightParen) || at(Tok::RightBracket));
      if (closes) continue;
      if (token.kind == Tok::Bar) text += ' ';
      text += source().text(token.span);
      if (token.kind == Tok::Comma || token.kind == Tok::Colon || token.kind == Tok::Bar) text += ' ';
    }
    return text;
  }

  void parameter() {
    take();
    const Token& name = expect(Tok::Name, "the name of the learned parameter");
    declarations().announce(name.payload);
    expect(Tok::Colon, "':' and the type of the learned parameter");
    ParameterDeclaration parameter{.name = name.payload, .span = name.span, .type = Type(), .initial = {}};
    const uint32_t begin = next().span.begin;
    const std::optional<Type> read = type();
    if (read) parameter.type = *read;
    const bool fits = read && is_learnable(*read, span_from(begin));
    parameter.placement = placement();
    if (accept(Tok::Assign)) parameter.initial = initializer();
    if (fits) declarations().add_parameter(std::move(parameter));
    require_end("'on' and a place, '=' and how it begins");
  }

  /// `on "place"` after what it is about.
  std::optional<uint32_t> placement() {
    if (!accept(Tok::On)) return std::nullopt;
    return expect(Tok::String, "a place in quotes, such as \"process:0\"").payload;
  }

  bool is_learnable(const Type& type, Span span) {
    for (const Dim& dim : type.shape) {
      if (dim.size >= 0) continue;
      report_symbol(span, dim);
      return false;
    }
    if (!type.is_data() && is_float(type.dtype)) return true;
    report(span,
           fmt::format(
               "expected the type of a number or a tensor of f32 or f64 for a learned parameter, found {}",
               to_string(type)));
    return false;
  }

  std::optional<Initializer> initializer() {
    constexpr std::string_view kExpected = "zeros, ones, uniform(a), normal(s) or glorot";
    const Token& word = expect(Tok::Name, kExpected);
    const std::optional<Initializer::Kind> kind = initializer_from_name(symbols_[word.payload]);
    if (!kind) {
      fail(word.span, fmt::format("expected {}, found '{}'", kExpected, symbols_[word.payload]));
    }
    Initializer initial{.kind = *kind};
    if (!takes_number(*kind)) return initial;
    expect(Tok::LeftParen, "'(' and a number");
    const bool is_number = at(Tok::Integer) || at(Tok::Float);
    if (!is_number) fail_expected("a number greater than 0");
    const Token& number = take();
    try {
      initial.number = literal_value(source().text(number.span), false, DType::F64).as<double>();
    } catch (const ProgramError& error) {
      fail(number.span, error.what());
    }
    if (initial.number <= 0)
      fail(number.span,
           "expected a number greater than 0: normal(s) is of mean 0 and standard deviation s, "
           "uniform(a) from -a to a");
    if (at(Tok::Comma))
      fail_expected("')' (normal(s) is of mean 0 and standard deviation s, uniform(a) from -a to a)");
    expect(Tok::RightParen, "')' after the number");
    return initial;
  }

  [[noreturn]] void fail_declaration() {
    const std::string_view word = source().text(next().span);
    const std::string hint = at_all({Tok::Name, Tok::Name}) ? declared_elsewhere(word) : "";
    if (!hint.empty()) fail(next().span, fmt::format("expected a declaration, found '{}'{}", word, hint));
    fail_expected("a declaration ('fn', 'data', 'param', 'size', 'const', 'type' or 'import')");
  }

  void function() {
    const std::size_t begin = position();
    if (!at(Tok::Fn)) fail_declaration();
    const Token& fn = take();
    const Token& name = expect(Tok::Name, "the name of the function");
    FunctionHead& head = heads_.emplace_back();
    head.name = name.payload;
    head.name_span = name.span;
    head.readable = false;
    head.begin = begin;
    if (at(Tok::LeftBracket)) {
      std::vector<Symbol> type_params = type_parameters();
      if (!is_for_use_) head.type_params = std::move(type_params);
    }
    head.on_demand = !is_for_use_ && is_of_library(source().file_at(name.span.begin).key);
    head.type_arguments = arguments_;
    begin_type_arguments(arguments_);
    parameters(head);
    head.sizes = sizes_read();
    begin_sizes(head.sizes);
    expect(Tok::Arrow, "'->' and the type of the result");
    results(head);
    refuse_mistyped_sizes();
    require_symbols(head);
    if (at(Tok::Name) && symbols_[next().payload] == "recompute") {
      take();
      head.recompute = true;
    }
    head.placement = placement();
    expect(Tok::Assign, "'=' and the body of the function");
    head.span = span_from(fn.span.begin);
    head.body = position();
    if (!gives_function(head)) head.gradient = gradient_alone();
    head.readable = !head.gradient || head.computed_sizes.empty();
    if (head.readable) return;
    const Span span = head.computed_sizes[0].span;
    report(span, fmt::format("expected a number, a size, a symbol or '_' as a dimension of what a gradient "
                             "takes or gives, found '{}'",
                             source().text(span)));
  }

  /// Reports symbols of computed sizes that no tensor among the parameters has, and leaves these sizes out.
  void require_symbols(FunctionHead& head) {
    const bool are_known = std::all_of(head.params.begin(), head.params.end(),
                                       [](const Pattern& param) { return param.is_function || param.type; });
    if (head.computed_sizes.empty()) return;
    const std::unordered_map<std::string_view, SymbolPlace> places = symbol_places(head);
    std::erase_if(head.computed_sizes, [&](const ComputedSize& size) {
      bool is_wrong = false;
      for (const SizeFormula::Step& step : size.formula.steps()) {
        if (step.kind != SizeFormula::Step::Kind::Symbol) continue;
        const std::string_view name = symbols_[step.symbol];
        if (places.contains(name)) continue;
        is_wrong = true;
        if (!are_known) continue;
        const bool is_value = std::any_of(head.params.begin(), head.params.end(),
                                          [&](const Pattern& param) { return param.name == step.symbol; });
        report(
            step.span,
            fmt::format(
                "expected a size, or a symbol that is a dimension of a parameter by itself, found '{0}'{1}",
                name,
                is_value ? ", which only the run knows; '_' stands for any size"
                         : fmt::format("; a size is declared by a line 'size {} = ...'", name)));
      }
      return is_wrong;
    });
  }

  /// Whether its result is a function, and not what one gives.
  bool gives_function(const FunctionHead& head) {
    const std::optional<Type>& result = head.results[0];
    if (head.results.size() > 1) return false;
    if (result && declarations().function_types().find(*result) != nullptr) return true;
    const std::size_t body = position();
    go_to(head.result_types[0]);
    const bool is_written = at(Tok::Fn);
    go_to(body);
    return is_written;
  }

  /// `grad(f)` without arguments.
  std::optional<GradientOf> gradient_alone() {
    if (!at_gradient()) return std::nullopt;
    const std::size_t begin = position();
    while (at_gradient()) {
      take();
      if (!accept(Tok::LeftParen)) break;
    }
    const bool is_of_another = at_all({Tok::Fn, Tok::LeftParen}) || (at(Tok::Name) && !at_name_alone());
    go_to(begin);
    if (is_of_another) return std::nullopt;
    const GradientOf read = gradient_of([] { return ExprId(); }, [] { return Symbol(); });
    if ((at(Tok::End) || at_declaration()) && read.steps.size() == 1) return read;
    go_to(begin);
    return std::nullopt;
  }

  void parameters(FunctionHead& head) {
    expect(Tok::LeftParen, "'(' and the parameters");
    while (!at(Tok::RightParen)) {
      const Token& name = expect(Tok::Name, "the name of a parameter");
      expect(Tok::Colon, "':' and the type of the parameter");
      head.param_types.push_back(position());
      const bool is_function = at_all({Tok::Fn, Tok::LeftParen});
      head.takes_functions = head.takes_functions || (is_function && !is_for_use_);
      if (is_function) function_places();
      const std::size_t sizes = head.computed_sizes.size();
      head.params.push_back(
          {name.payload, is_function ? std::nullopt : type_of(head), name.span, is_function});
      for (std::size_t i = sizes; i < head.computed_sizes.size(); ++i)
        head.computed_sizes[i].param = name.payload;
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RightParen, "',' or ')' after a parameter");
  }

  void results(FunctionHead& head) {
    const auto result = [&] {
      head.result_types.push_back(position());
      const std::size_t sizes = head.computed_sizes.size();
      head.results.push_back(type_of(head));
      for (std::size_t i = sizes; i < head.computed_sizes.size(); ++i)
        head.computed_sizes[i].result = head.results.size() - 1;
    };
    if (!accept(Tok::LeftParen)) return result();
    if (at(Tok::RightParen)) fail_expected("the type of at least one result");
    while (!at(Tok::RightParen)) {
      result();
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RightParen, "',' or ')' after the type of a result");
  }

  /// That of a generic function is read for each use.
  std::optional<Type> type_of(FunctionHead& head) {
    if (!head.is_generic()) return type_with(head.computed_sizes);
    skip_type();
    return std::nullopt;
  }

  const Symbols& symbols_;
  bool is_for_use_ =
      false;  ///< what is read is a function that becomes one of the program only where it is used
  TypeArguments arguments_;  ///< the arguments of the generic function that is read for a use
  std::unordered_map<uint32_t, GenericType*> generic_types_;  ///< by where their names begin
  std::unordered_map<uint32_t, TypeAlias*> aliases_;          ///< by where their names begin
  std::unordered_map<uint32_t, std::optional<Type>> types_;   ///< by where their names begin
  std::unordered_map<uint32_t, std::size_t> ends_;  ///< the token behind a size, by where the size begins
  std::vector<FunctionHead> heads_;
};

}  // namespace

std::vector<FunctionHead> read_heads(const Source& source, const TokenList& tokens, const Symbols& symbols,
                                     Declarations& declarations, Diagnostics& diagnostics) {
  return HeadReader(source, tokens, symbols, declarations, diagnostics).run();
}

FunctionHead read_head_for(const FunctionHead& generic, TypeArguments arguments, const Source& source,
                           const TokenList& tokens, const Symbols& symbols, Declarations& declarations,
                           Diagnostics& diagnostics) {
  return HeadReader(source, tokens, symbols, declarations, diagnostics)
      .run_for(generic, std::move(arguments));
}

}  // namespace hiaton::lang
