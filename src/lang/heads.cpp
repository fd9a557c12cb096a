#include "lang/heads.h"

#include "lang/reader.h"

namespace hiaton::lang {
namespace {

class HeadReader : Reader {
 public:
  using Reader::Reader;

  std::vector<FunctionHead> run() {
    if (at(Tok::End)) {
      report(
          next().span,
          "expected a function ('fn name(parameters) -> type = expression'), found the end of the program");
    }
    while (!at(Tok::End)) {
      try {
        head();
      } catch (const Unreadable&) {
      }
      skip_to_function();
    }
    return std::move(heads_);
  }

 private:
  void head() {
    const Token& fn = expect(Tok::Fn, "'fn' (the start of a function)");
    const Token& name = expect(Tok::Name, "the name of the function");
    FunctionHead& head = heads_.emplace_back();
    head.name = name.payload;
    head.name_span = name.span;
    head.readable = false;
    parameters(head);
    expect(Tok::Arrow, "'->' and the type of the result");
    results(head);
    if (accept(Tok::On))
      head.placement = expect(Tok::String, "a place in quotes, such as \"worker:0\"").payload;
    expect(Tok::Assign, "'=' and the body of the function");
    head.span = span_from(fn.span.begin);
    head.body = position();
    head.readable = true;
  }

  void parameters(FunctionHead& head) {
    expect(Tok::LeftParen, "'(' and the parameters");
    while (!at(Tok::RightParen)) {
      const Token& name = expect(Tok::Name, "the name of a parameter");
      expect(Tok::Colon, "':' and the type of the parameter");
      head.params.push_back({name.payload, type(), name.span});
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RightParen, "',' or ')' after a parameter");
  }

  void results(FunctionHead& head) {
    if (!accept(Tok::LeftParen)) {
      head.results.push_back(type());
      return;
    }
    if (at(Tok::RightParen)) fail_expected("the type of at least one result");
    while (!at(Tok::RightParen)) {
      head.results.push_back(type());
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RightParen, "',' or ')' after the type of a result");
  }

  std::vector<FunctionHead> heads_;
};

}  // namespace

std::vector<FunctionHead> read_heads(const Source& source, const TokenList& tokens,
                                     Diagnostics& diagnostics) {
  return HeadReader(source, tokens, diagnostics).run();
}

}  // namespace hiaton::lang
