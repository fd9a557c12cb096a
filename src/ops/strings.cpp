// Operations on strings, which are lists of code points. What these can do, std/string builds upon.
#include "tensor/strings.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <memory>
#include <string_view>
#include <type_traits>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/shapes.h"

namespace hiaton::ops {
// Names of their own: those of other families mean tensors.
namespace on_strings {
namespace {

/// Values of strings do not tell that they are: programs in tests/ have the samples.
const std::vector<Sample> none{};

using Text = std::span<const int32_t>;

Text text(const StringCall& call, std::size_t operand) {
  return code_points_of(call.operands[operand].data);
}

// Types.

/// Strings in the first places, then integers of type i64.
template <std::size_t strings, std::size_t integers>
void require_strings(const TypeQuestion& question) {
  for (std::size_t i = 0; i < strings + integers; ++i) {
    const Type& type = question.operands[i];
    if (i < strings ? is_string(type) : type == Type(DType::I64)) continue;
    refuse(integers == 0 ? (strings == 1 ? "a string" : "two strings") : "a string and integers of type i64",
           question.operands);
  }
}

template <std::size_t strings, std::size_t integers = 0>
Type gives_string(const TypeQuestion& question) {
  require_strings<strings, integers>(question);
  return string_type();
}

template <DType result, std::size_t strings, std::size_t integers = 0>
Type gives_scalar(const TypeQuestion& question) {
  require_strings<strings, integers>(question);
  return result;
}

Type text_of_type(const TypeQuestion& question) {
  if (question.operands[0].is_data()) refuse("a number, truth value or tensor", question.operands);
  return string_type();
}

Type of_code_point_type(const TypeQuestion& question) {
  if (question.operands[0] != Type(DType::I64)) refuse("an integer of type i64", question.operands);
  return string_type();
}

Type print_type(const TypeQuestion& question) {
  if (!is_string(question.operands[1])) refuse("any value, and a string to print", question.operands);
  return question.operands[0];
}

// Kernels.

Fault give(const StringCall& call, Text code_points) {
  int32_t* to = call.made.make(code_points.size());
  if (to == nullptr) return Fault::OutOfMemory;
  std::copy(code_points.begin(), code_points.end(), to);
  return Fault::None;
}

/// Gives a string of characters of ASCII.
Fault give(const StringCall& call, std::string_view ascii) {
  int32_t* to = call.made.make(ascii.size());
  if (to == nullptr) return Fault::OutOfMemory;
  std::copy(ascii.begin(), ascii.end(), to);
  return Fault::None;
}

template <class T>
Fault give_scalar(const StringCall& call, T scalar) {
  call.result = make_slot(scalar);
  return Fault::None;
}

Fault join(const StringCall& call) {
  const Text second = text(call, 1);
  const std::size_t first_size = text(call, 0).size();
  int32_t* to = call.made.extend_first(first_size + second.size());
  if (to == nullptr) return Fault::OutOfMemory;
  // Both may be the same string: the second was looked at before the first grew.
  std::copy(second.begin(), second.end(), to);
  return Fault::None;
}

Fault length(const StringCall& call) {
  return give_scalar(call, static_cast<int64_t>(text(call, 0).size()));
}

Fault code_point(const StringCall& call) {
  const Text of = text(call, 0);
  const auto index = static_cast<uint64_t>(call.operands[1].i64);
  if (index >= of.size()) return Fault::Index;
  return give_scalar(call, int64_t{of[index]});
}

Fault slice(const StringCall& call) {
  const Text of = text(call, 0);
  const int64_t begin = call.operands[1].i64;
  const int64_t end = call.operands[2].i64;
  if (begin < 0 || end < begin || static_cast<uint64_t>(end) > of.size()) return Fault::Index;
  return give(call, of.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
}

Fault equal(const StringCall& call) {
  return give_scalar(call, std::ranges::equal(text(call, 0), text(call, 1)));
}

Fault compare(const StringCall& call) {
  const Text a = text(call, 0);
  const Text b = text(call, 1);
  const auto order = std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  return give_scalar(call, int64_t{order < 0 ? -1 : order > 0 ? 1 : 0});
}

Fault text_of(const StringCall& call) {
  return give(call, to_string(ValueView(call.first, call.operands[0])));
}

Fault quoted(const StringCall& call) {
  const std::string text_in_quotes = quoted_string(to_utf8(text(call, 0)));
  int32_t* to = call.made.make(count_code_points(text_in_quotes));
  if (to == nullptr) return Fault::OutOfMemory;
  for_each_code_point(text_in_quotes, [&](int32_t code_point) { *to++ = code_point; });
  return Fault::None;
}

Fault of_code_point(const StringCall& call) {
  if (!is_code_point(call.operands[0].i64)) return Fault::InvalidCast;
  const auto code_point = static_cast<int32_t>(call.operands[0].i64);
  return give(call, Text(&code_point, 1));
}

/// The number that the text is, as it is written where a value is read. Empty where it is none.
template <class T>
std::optional<T> number_in(Text digits) {
  std::string ascii;
  for (const int32_t code_point : digits) {
    if (code_point > 0x7F) return std::nullopt;
    ascii += static_cast<char>(code_point);
  }
  try {
    return parse_value(ScalarTraits<T>::dtype, ascii).template as<T>();
  } catch (const ProgramError&) {
    return std::nullopt;
  }
}

template <class T>
Fault is_number(const StringCall& call) {
  return give_scalar(call, number_in<T>(text(call, 0)).has_value());
}

template <class T>
Fault to_number(const StringCall& call) {
  const std::optional<T> number = number_in<T>(text(call, 0));
  return number ? give_scalar(call, *number) : Fault::InvalidCast;
}

// The same on values.

/// Room for a string and what is written behind it later. Strings that begin alike share it: each sees as
/// much of it as it is long, and the longest one may be lengthened in place.
struct GrowingText {
  Tensor room;
  std::atomic<int64_t> used;

  /// Whether the code points from `from` to `to` are the caller's to write: nobody took them before.
  bool take(int64_t from, int64_t to) {
    return to <= room.size() && used.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }
};

/// By which the owner of a string is known to be a GrowingText.
struct EndOfText {
  void operator()(GrowingText* text) const { delete text; }
};

/// A string of fewer code points is copied, and has no room behind it.
constexpr int64_t kLeastGrowing = 64;

class OutsideString : public StringMaker {
 public:
  explicit OutsideString(std::span<const Value> operands) : operands_(operands) {}

  int32_t* make(std::size_t count) override {
    const int64_t dims[] = {static_cast<int64_t>(count)};
    code_points_ = Tensor::uninitialized(DType::I32, dims);
    return code_points_.mutable_data<int32_t>();
  }
  int32_t* extend_first(std::size_t count) override {
    const Text first = code_points_of(operands_[0].slot().data);
    const auto size = static_cast<int64_t>(count);
    if (size < kLeastGrowing) return std::copy(first.begin(), first.end(), make(count));
    const auto begin = static_cast<int64_t>(first.size());
    std::shared_ptr<const void> owner = operands_[0].data().field(0).tensor().object()->owner;
    const bool grows = std::get_deleter<EndOfText>(owner) != nullptr;
    auto* text = grows ? static_cast<GrowingText*>(const_cast<void*>(owner.get())) : nullptr;
    if (text == nullptr || !text->take(begin, size)) {
      const int64_t room[] = {2 * size};
      const std::shared_ptr<GrowingText> made(
          new GrowingText{.room = Tensor::uninitialized(DType::I32, room), .used = size}, EndOfText());
      std::copy(first.begin(), first.end(), made->room.mutable_data<int32_t>());
      text = made.get();
      owner = made;
    }
    auto* const points = text->room.mutable_data<int32_t>();
    const int64_t dims[] = {size};
    code_points_ = Tensor(DType::I32, dims, reinterpret_cast<std::byte*>(points), std::move(owner));
    return points + begin;
  }
  Value take() {
    Value fields[] = {std::move(code_points_)};
    return Data::take(0, fields);
  }

 private:
  std::span<const Value> operands_;
  Tensor code_points_;
};

/// `Result` is void for a string.
template <StringKernel kernel, class Result>
Fault on_values(std::span<const Value> operands, std::span<const int64_t>, Value& result) {
  constexpr std::size_t kMost = 3;
  std::array<Slot, kMost> slots;
  for (std::size_t i = 0; i < operands.size(); ++i) slots[i] = operands[i].slot();
  OutsideString made(operands);
  Slot scalar;
  const Fault fault = kernel({slots.data(), ValueView(operands[0]).kind, scalar, made});
  if (fault != Fault::None) return fault;
  if constexpr (std::is_void_v<Result>)
    result = made.take();
  else
    result = get<Result>(scalar);
  return Fault::None;
}

Fault first_operand(std::span<const Value> operands, std::span<const int64_t>, Value& result) {
  result = operands[0];
  return Fault::None;
}

Var gradient_of_print(const GradientQuestion& question, std::size_t) {
  return question.gradient;
}

constexpr std::string_view a_string = "strings have none";

template <StringKernel kernel, class Result>
OpDef operation(std::string_view name, std::string_view doc, const std::vector<std::string_view>& operands,
                TypeRule type_rule, bool fails, StringLook look = StringLook::None) {
  return {
      .name = name,
      .doc = doc,
      .operands = operands,
      .type_rule = type_rule,
      .tensor_kernel = nullptr,
      .value_kernel = on_values<kernel, Result>,
      .string_kernel = kernel,
      .string_look = look,
      .fails_on_elements = fails,
      .gradient = Gradient::none(a_string),
      .fusion = Fusion::Data,
      .role = Role::String,
      .samples = none,
  };
}

OpDef join_operation() {
  OpDef op = operation<join, void>("string_join",
                                   "Two strings as one, the second after the first; in programs a + b.",
                                   {"a", "b"}, gives_string<2>, false);
  op.in_place = InPlace::Length;
  return op;
}

std::span<const OpDef> operations() {
  static const OpDef all[] = {
      join_operation(),
      operation<length, int64_t>("string_length", "How many code points a string has; in programs length(s).",
                                 {"s"}, gives_scalar<DType::I64, 1>, false, StringLook::Length),
      operation<code_point, int64_t>("string_code_point",
                                     "The code point with this number, counted from 0; in programs s[i]. A "
                                     "number that is none of them fails.",
                                     {"s", "i"}, gives_scalar<DType::I64, 1, 1>, true, StringLook::CodePoint),
      operation<slice, void>(
          "string_slice",
          "The code points from begin up to, but not including, end; in programs s[begin:end]. A range "
          "that does not lie in the string fails.",
          {"s", "begin", "end"}, gives_string<1, 2>, true),
      operation<equal, bool>("string_equal",
                             "Whether two strings have the same code points; in programs a == b.", {"a", "b"},
                             gives_scalar<DType::Bool, 2>, false),
      operation<compare, int64_t>(
          "string_compare",
          "-1, 0 or 1 where a stands before b, is equal to it, or stands after it, in the order "
          "of their code points; in programs a < b.",
          {"a", "b"}, gives_scalar<DType::I64, 2>, false),
      operation<text_of, void>(
          "string_of", "The text of a number, truth value or tensor, as it is printed; in programs str(x).",
          {"x"}, text_of_type, false),
      operation<quoted, void>("string_quoted", "A string in quotes, as values are printed.", {"s"},
                              gives_string<1>, false),
      operation<of_code_point, void>("from_code_point",
                                     "The string of one code point. What is no code point of Unicode fails.",
                                     {"c"}, of_code_point_type, true),
      operation<is_number<int64_t>, bool>("is_i64", "Whether i64(s) gives a number.", {"s"},
                                          gives_scalar<DType::Bool, 1>, false),
      operation<is_number<double>, bool>("is_f64", "Whether f64(s) gives a number.", {"s"},
                                         gives_scalar<DType::Bool, 1>, false),
      operation<to_number<int64_t>, int64_t>(
          "string_to_i64", "The integer that a string is; in programs i64(s). A string that is none fails.",
          {"s"}, gives_scalar<DType::I64, 1>, true),
      operation<to_number<double>, double>(
          "string_to_f64", "The number that a string is; in programs f64(s). A string that is none fails.",
          {"s"}, gives_scalar<DType::F64, 1>, true),
      {
          .name = "print_text",
          .doc = "x itself, once a line with the text has been printed; in programs print(x).",
          .operands = {"x", "text"},
          .type_rule = print_type,
          .tensor_kernel = nullptr,
          .value_kernel = first_operand,
          .gradient = gradient_of_print,
          .fusion = Fusion::Data,
          .role = Role::Print,
          .samples = none,
      },
  };
  return all;
}

}  // namespace
}  // namespace on_strings

std::span<const OpDef> strings() {
  return on_strings::operations();
}

}  // namespace hiaton::ops
