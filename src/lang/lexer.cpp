#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "ir/names.h"
#include "lang/reading_steps.h"
#include "tensor/strings.h"

namespace hiaton::lang {
namespace {

constexpr std::size_t kKeywordCount = ir::kKeywords.size();
static_assert(static_cast<std::size_t>(Tok::Name) == kKeywordCount, "Tok begins with the keywords");

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  Lexer(const Source& source, Symbols& symbols, Diagnostics& diagnostics)
      : text_(source.text()), symbols_(symbols), diagnostics_(diagnostics) {
    list_.tokens.reserve(text_.size() / 3 + 1);
  }

  TokenList run() {
    while (true) {
      skip_blanks();
      if (at_ == text_.size()) break;
      read_token();
    }
    add(Tok::End, at_);
    return std::move(list_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        starts_line_ = true;
      } else if (c == '#') {
        skip_comment();
        --at_;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  /// Leaves at_ at the line break or the end.
  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  void read_token() {
    const char c = peek();
    if (ir::starts_name(c)) {
      read_word();
    } else if (is_digit(c)) {
      read_number();
    } else if (c == '"') {
      read_string();
    } else {
      read_sign();
    }
  }

  void read_word() {
    const std::size_t begin = at_;
    while (ir::continues_name(peek())) ++at_;
    const Symbol symbol = symbols_.intern(text_.substr(begin, at_ - begin));
    if (symbol < kKeywordCount) {
      add(static_cast<Tok>(symbol), begin);
    } else {
      add(Tok::Name, begin, symbol);
    }
  }

  void skip_digits() {
    while (is_digit(peek()) || (peek() == '_' && (is_digit(peek(1)) || peek(1) == '_'))) ++at_;
  }

  void read_number() {
    const std::size_t begin = at_;
    Tok kind = Tok::Integer;
    skip_digits();
    if (peek() == '.' && is_digit(peek(1))) {
      kind = Tok::Float;
      ++at_;
      skip_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        kind = Tok::Float;
        at_ += 1 + sign;
        skip_digits();
      }
    }
    const std::size_t digits_end = at_;
    while (ir::continues_name(peek())) ++at_;
    const std::string_view suffix = text_.substr(digits_end, at_ - digits_end);
    if (suffix.empty()) {
      if (peek() == '.' && peek(1) != '.') {
        ++at_;
        return fail(begin, "expected digits after the point of a number");
      }
      return add(kind, begin);
    }
    const std::optional<DType> type = dtype_from_name(suffix);
    if (!type || !is_number(*type)) {
      return fail(
          begin,
          fmt::format("expected a number, perhaps with the suffix u8, i32, i64, f32 or f64, found '{}'",
                      text_.substr(begin, at_ - begin)));
    }
    if (kind == Tok::Float && is_integer(*type)) {
      return fail(begin, fmt::format("expected an integer before the suffix {}, found '{}'", suffix,
                                     text_.substr(begin, digits_end - begin)));
    }
    add(kind, begin);
    list_.tokens.back().suffix = type;
  }

  void read_string() {
    const std::size_t begin = at_++;
    std::string content;
    while (peek() != '"') {
      if (at_ >= text_.size() || peek() == '\n') {
        return fail(begin, "expected a closing '\"' on the same line");
      }
      if (peek() == '\\') {
        if (!read_escape(content)) return skip_broken_string(begin);
        continue;
      }
      content += text_[at_++];
    }
    ++at_;
    add(Tok::String, begin, static_cast<uint32_t>(list_.strings.size()));
    list_.strings.push_back(std::move(content));
  }

  /// \" \\ \n \t \r \u{...} and \xHH, a byte in hexadecimal. Reports anything else.
  bool read_escape(std::string& content) {
    const std::size_t begin = at_++;
    const char kind = peek();
    constexpr std::string_view kEscapes = "\"\\ntr";
    constexpr std::string_view kMeant = "\"\\\n\t\r";
    if (const std::size_t simple = kEscapes.find(kind); simple != std::string_view::npos && kind != '\0') {
      content += kMeant[simple];
      ++at_;
      return true;
    }
    const auto hex = [](char c) { return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
    if (kind == 'x' && hex(peek(1)) >= 0 && hex(peek(2)) >= 0) {
      content += static_cast<char>(hex(peek(1)) * 16 + hex(peek(2)));
      at_ += 3;
      return true;
    }
    if (kind == 'u' && peek(1) == '{') {
      at_ += 2;
      return read_code_point(begin, content);
    }
    diagnostics_.add(
        span_from(begin),
        R"(expected \", \\, \n, \t, \r, \u{...} or \x with two digits 0-9a-f after '\' in a string)");
    return false;
  }

  /// The rest of \u{1F600}.
  bool read_code_point(std::size_t begin, std::string& content) {
    constexpr std::size_t kMostDigits = 6;
    const std::string_view digits =
        text_.substr(at_, std::min(text_.find('}', at_), at_ + kMostDigits + 1) - at_);
    int64_t number = -1;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    const bool is_whole = code == std::errc() && end == digits.data() + digits.size();
    if (!is_whole || digits.size() > kMostDigits || !is_code_point(number)) {
      diagnostics_.add(span_from(begin), R"(expected a code point of Unicode in \u{...}, as in \u{1F600})");
      return false;
    }
    append_utf8(static_cast<int32_t>(number), content);
    at_ += digits.size() + 1;
    return true;
  }

  void skip_broken_string(std::size_t begin) {
    while (at_ < text_.size() && peek() != '"' && peek() != '\n') ++at_;
    if (peek() == '"') ++at_;
    add(Tok::Error, begin);
  }

  void read_sign() {
    const std::size_t begin = at_;
    const auto sign = [&](std::size_t length, Tok kind) {
      at_ += length;
      add(kind, begin);
    };
    const char next = peek(1);
    switch (peek()) {
      case '(':
        return sign(1, Tok::LeftParen);
      case ')':
        return sign(1, Tok::RightParen);
      case '[':
        return sign(1, Tok::LeftBracket);
      case ']':
        return sign(1, Tok::RightBracket);
      case ',':
        return sign(1, Tok::Comma);
      case ':':
        return sign(1, Tok::Colon);
      case '+':
        return sign(1, Tok::Plus);
      case '*':
        if (next != '*') return sign(1, Tok::Star);
        break;
      case '/':
        return sign(1, Tok::Slash);
      case '%':
        return sign(1, Tok::Percent);
      case '@':
        return sign(1, Tok::At);
      case '|':
        if (next != '|') return sign(1, Tok::Bar);
        break;
      case '-':
        return next == '>' ? sign(2, Tok::Arrow) : sign(1, Tok::Minus);
      case '=':
        return next == '=' ? sign(2, Tok::Equal) : sign(1, Tok::Assign);
      case '<':
        return next == '=' ? sign(2, Tok::LessEqual) : sign(1, Tok::Less);
      case '>':
        return next == '=' ? sign(2, Tok::GreaterEqual) : sign(1, Tok::Greater);
      case '!':
        if (next == '=') return sign(2, Tok::NotEqual);
        break;
      case '.':
        if (next == '.') return sign(2, Tok::DotDot);
        if (ir::starts_name(next)) return sign(1, Tok::Dot);
        break;
    }
    read_unknown();
  }

  /// One finding for a run of characters that begin no token.
  void read_unknown() {
    const std::size_t begin = at_;
    const std::size_t length = utf8_length(text_.substr(at_));
    const std::string_view character = text_.substr(at_, length);
    std::string hint;
    if (character == "?") hint = "; a choice is written if c then a else b";
    if (character == "!") hint = "; negation is written 'not'";
    if (character == ";") hint = "; a new line, or 'in', ends the value of a 'let'";
    if (character == "{" || character == "}")
      hint = "; there are no braces: a function is one expression behind '='";
    if (character == "'" || character == "`") hint = "; strings stand in double quotes";
    if (character == "\\") hint = "; a function without a name is written fn(x) -> x + 1";
    if (character == "&" || character == "|") hint = "; logic is written 'and', 'or', 'not'";
    if (character == "^" || character == "*") hint = "; a power is written pow(x, 2)";
    if (character == "." && is_digit(peek(1))) {
      const bool is_behind_value = at_ > 0 && (ir::continues_name(text_[at_ - 1]) || text_[at_ - 1] == ')');
      hint = is_behind_value ? "; the parts of a tuple get names by let (a, b) = ..."
                             : "; write a digit before the point";
    }
    while (at_ < text_.size() && text_.substr(at_, length) == character) at_ += length;
    fail(begin, fmt::format("expected a token of the language, found {}{}", spelled(character), hint));
  }

  /// Characters beyond ASCII with their numbers: some look like spaces or like signs of the language.
  static std::string spelled(std::string_view character) {
    if (character.size() > 1) {
      return fmt::format("the character '{}' (U+{:04X})", character, utf8_code_point(character));
    }
    const bool shows = character[0] >= 0x20 && character[0] != 0x7F;
    return shows ? fmt::format("the character '{}'", character)
                 : fmt::format("the byte 0x{:02x}", character[0]);
  }

  Span span_from(std::size_t begin) const {
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  }

  void add(Tok kind, std::size_t begin, uint32_t payload = 0) {
    list_.tokens.push_back({kind, starts_line_, std::nullopt, payload, span_from(begin)});
    starts_line_ = false;
  }

  void fail(std::size_t begin, std::string message) {
    diagnostics_.add(span_from(begin), std::move(message));
    add(Tok::Error, begin);
  }

  std::string_view text_;
  Symbols& symbols_;
  Diagnostics& diagnostics_;
  TokenList list_;
  std::size_t at_ = 0;
  bool starts_line_ = true;
};

}  // namespace

Symbols::Symbols() {
  for (std::string_view keyword : ir::kKeywords) intern(keyword);
  first_place_ = static_cast<Symbol>(names_.size());
  names_.insert(names_.end(), kPlaces + kHidden, "_");
  intern("Cons");
}

TokenList lex(const Source& source, Symbols& symbols, Diagnostics& diagnostics) {
  return Lexer(source, symbols, diagnostics).run();
}

}  // namespace hiaton::lang
