#include "hiaton/error.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace hiaton {
namespace {

/// A longer line is cut to about so many characters around the place.
constexpr std::size_t kShownLineLength = 120;
constexpr std::size_t kShownBefore = 60;

struct Excerpt {
  std::string line;
  std::string marks;  ///< carets below the place
};

bool is_control(std::string_view character) {
  const auto byte = static_cast<unsigned char>(character[0]);
  return byte < 0x20 || byte == 0x7F;
}

/// Character by character, so that the marks stand below what they mean; what cannot be shown becomes '?'.
Excerpt excerpt_of(Span span, const Source& source) {
  const std::string_view line = source.line_at(span.begin);
  const std::size_t column = source.locate(span.begin).column - 1;
  const std::size_t line_begin = source.line_begin(span.begin);
  const std::size_t first =
      line.size() > kShownLineLength && column > kShownBefore ? column - kShownBefore : 0;
  const std::size_t marked_end = std::max(span.end, span.begin + 1);
  Excerpt excerpt;
  if (first > 0) excerpt.line = excerpt.marks = "...";
  excerpt.marks = std::string(excerpt.marks.size(), ' ');
  std::size_t index = 0;
  for (std::size_t i = 0; i < line.size(); ++index) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(line.substr(i)));
    const std::string_view character = line.substr(i, length);
    if (index >= first + kShownLineLength) {
      excerpt.line += "...";
      break;
    }
    if (index >= first) {
      const bool shows = character == "\t" || (!is_control(character) && utf8_length(character) == length);
      excerpt.line += shows ? character : "?";
      const bool marked = line_begin + i >= span.begin && line_begin + i < marked_end;
      excerpt.marks += marked ? "^" : character == "\t" ? "\t" : " ";
    }
    i += length;
  }
  const std::size_t end = excerpt.marks.find_last_of('^');
  if (end == std::string::npos) {
    excerpt.marks += '^';  // behind the end of the line
  } else {
    excerpt.marks.resize(end + 1);
  }
  return excerpt;
}

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
    if (!call.tail_called_from.empty()) text += fmt::format(" by tail calls from {},", call.tail_called_from);
    if (!call.call_place.empty()) text += fmt::format(" called at {}", call.call_place);
    if (!call.call_line.empty()) text += fmt::format("\n      {}", call.call_line);
  }
  return text;
}

}  // namespace

std::string render(const Diagnostic& diagnostic, const Source& source) {
  const LineColumn at = source.locate(diagnostic.span.begin);
  const Excerpt excerpt = excerpt_of(diagnostic.span, source);
  const std::string number = std::to_string(at.line);
  return fmt::format("{}: error: {}\n {} | {}\n {:{}} | {}", source.place_of(diagnostic.span.begin),
                     diagnostic.message, number, excerpt.line, "", number.size(), excerpt.marks);
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
    case Fault::Shape:
      return "shape mismatch";
    case Fault::Index:
      return "index out of range";
    case Fault::Rate:
      return "rate outside of 0 to 1";
    case Fault::Size:
      return "impossible size";
    case Fault::NoRows:
      return "no rows";
    case Fault::Assumption:
      return "assumption failed";
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

RunError::RunError(Fault fault, std::string message, std::vector<CallRecord> chain, uint64_t chain_length,
                   int64_t assumption)
    : Error(with_chain(message, chain, chain_length)),
      fault_(fault),
      assumption_(assumption),
      message_(std::move(message)),
      chain_(std::move(chain)),
      chain_length_(chain_length) {}

}  // namespace hiaton
