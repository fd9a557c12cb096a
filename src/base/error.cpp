#include "hiaton/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace hiaton {
namespace {

constexpr std::size_t kShownLineLength = 160;

std::string join_rendered(const Source& source, std::vector<Diagnostic>& diagnostics, std::size_t shown) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, diagnostics.size()); ++i) {
    if (!text.empty()) text += '\n';
    text += render(diagnostics[i], source);
  }
  if (diagnostics.size() > shown) {
    const std::size_t more = diagnostics.size() - shown;
    text += fmt::format("\n{}: {} more error{}", source.name(), more, more == 1 ? "" : "s");
  }
  return text;
}

std::string with_chain(const std::string& message, const std::vector<CallRecord>& chain, uint64_t length) {
  std::string text = message;
  const uint64_t left_out = length > chain.size() ? length - chain.size() : 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (left_out > 0 && i == chain.size() / 2) text += fmt::format("\n  ... {} more calls ...", left_out);
    const CallRecord& call = chain[i];
    text += fmt::format("\n  in {}({})", call.function, fmt::join(call.arguments, ", "));
    if (!call.call_place.empty()) text += fmt::format(" called at {}", call.call_place);
    if (!call.call_line.empty()) text += fmt::format("\n      {}", call.call_line);
  }
  return text;
}

}  // namespace

std::string render(const Diagnostic& diagnostic, const Source& source) {
  const LineColumn at = source.locate(diagnostic.span.begin);
  std::string text =
      fmt::format("{}:{}:{}: error: {}", source.name(), at.line, at.column, diagnostic.message);
  const std::string_view line = source.line_at(diagnostic.span.begin);
  if (line.size() > kShownLineLength) return text;
  const std::string_view marked = source.text(diagnostic.span);
  const std::size_t to_line_end = line.size() + 1 >= at.column ? line.size() + 1 - at.column : 0;
  const std::size_t marks =
      std::clamp<std::size_t>(marked.find('\n') == std::string_view::npos ? marked.size() : 1, 1,
                              std::max<std::size_t>(1, to_line_end));
  const std::string number = std::to_string(at.line);
  std::string indent(at.column - 1, ' ');
  for (std::size_t i = 0; i < std::min(indent.size(), line.size()); ++i) {
    if (line[i] == '\t') indent[i] = '\t';
  }
  text += fmt::format("\n {} | {}", number, line);
  text += fmt::format("\n {} | {}{}", std::string(number.size(), ' '), indent, std::string(marks, '^'));
  return text;
}

ProgramError::ProgramError(std::shared_ptr<const Source> source, std::vector<Diagnostic> diagnostics,
                           std::size_t shown)
    : Error(join_rendered(*source, diagnostics, shown)),
      source_(std::move(source)),
      diagnostics_(std::move(diagnostics)) {}

std::string_view name_of(Fault fault) {
  switch (fault) {
    case Fault::None:
      return "none";
    case Fault::DivisionByZero:
      return "division by zero";
    case Fault::Overflow:
      return "integer overflow";
    case Fault::InvalidCast:
      return "invalid cast";
    case Fault::MaxFrames:
      return "frame budget";
    case Fault::MaxBytes:
      return "byte budget";
    case Fault::Timeout:
      return "time budget";
    case Fault::Interrupted:
      return "interrupted";
    case Fault::NoResult:
      return "no result";
    case Fault::OutOfMemory:
      return "out of memory";
  }
  return "unknown fault";
}

RunError::RunError(Fault fault, std::string message, std::vector<CallRecord> chain, uint64_t chain_length)
    : Error(with_chain(message, chain, chain_length)),
      fault_(fault),
      message_(std::move(message)),
      chain_(std::move(chain)),
      chain_length_(chain_length) {}

}  // namespace hiaton
