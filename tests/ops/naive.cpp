#include "ops/naive.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace hiaton {
namespace {

__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): only a typedef can be marked

Wide wide_of(const Value& value) {
  switch (value.dtype()) {
    case DType::Bool:
      return value.as<bool>() ? 1 : 0;
    case DType::U8:
      return value.as<uint8_t>();
    case DType::I32:
      return value.as<int32_t>();
    default:
      return value.as<int64_t>();
  }
}

double double_of(const Value& value) {
  return value.dtype() == DType::F32 ? value.as<float>() : value.as<double>();
}

/// How many bits an integer type has.
int width_of(DType type) {
  return static_cast<int>(8 * size_of(type));
}

/// The number as an integer of `type`: wrapped to its low bits, or a fault.
Outcome integer(DType type, Wide exact, OverflowMode mode) {
  const Wide two_to_the_width = Wide{1} << width_of(type);
  Wide wrapped = exact % two_to_the_width;
  if (wrapped < 0) wrapped += two_to_the_width;
  if (type != DType::U8 && wrapped >= two_to_the_width / 2) wrapped -= two_to_the_width;
  if (mode == OverflowMode::Trap && wrapped != exact) return {Fault::Overflow, {}};
  if (type == DType::U8) return {Fault::None, Value(static_cast<uint8_t>(wrapped))};
  if (type == DType::I32) return {Fault::None, Value(static_cast<int32_t>(wrapped))};
  return {Fault::None, Value(static_cast<int64_t>(wrapped))};
}

/// A float of `type`. For f32, arithmetic in double and one rounding at the end is exact for + - * / and
/// sqrt.
Outcome floating(DType type, double exact) {
  if (type == DType::F32) return {Fault::None, Value(static_cast<float>(exact))};
  return {Fault::None, Value(exact)};
}

Outcome truth(bool holds) {
  return {Fault::None, Value(holds)};
}

/// The quotient, rounded down.
Wide floor_of(Wide a, Wide b) {
  const Wide quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// Bit by bit. The result may have more than `width` bits, of which the low ones count.
Wide of_bits(std::string_view op, Wide a, Wide b, int width) {
  const auto bit = [width](Wide of, int i) { return i < width && floor_of(of, Wide{1} << i) % 2 != 0; };
  const auto count = static_cast<int>(((b % width) + width) % width);
  if (op == "bitwise_left_shift") return a * (Wide{1} << count);
  if (op == "bitwise_right_shift") return floor_of(a, Wide{1} << count);
  Wide result = 0;
  for (int i = 0; i < width; ++i) {
    const bool in_a = bit(a, i);
    const bool in_b = bit(b, i);
    const bool is_set = op == "bitwise_and"           ? in_a && in_b
                        : op == "bitwise_or"          ? in_a || in_b
                        : op == "bitwise_xor"         ? in_a != in_b
                        : op == "bitwise_invert"      ? !in_a
                        : op == "bitwise_rotate_left" ? bit(a, (i + width - count) % width)
                                                      : bit(a, i + count);
    if (is_set) result += Wide{1} << i;
  }
  return result;
}

/// Ten rounds of Philox4x32 on the words of a counter and a key, with numbers that are wide enough.
Wide philox_seed(Wide seed, Wide number) {
  constexpr Wide kWord = Wide{1} << 32;
  const auto low = [](Wide x) { return ((x % kWord) + kWord) % kWord; };
  const auto high = [low](Wide x) { return low(floor_of(x, kWord)); };
  Wide c[] = {low(number), high(number), 1, 0};
  Wide key[] = {low(seed), high(seed)};
  for (int round = 0; round < 10; ++round) {
    const Wide a = c[0] * 0xD2511F53;
    const Wide b = c[2] * 0xCD9E8D57;
    c[0] = of_bits("bitwise_xor", of_bits("bitwise_xor", high(b), c[1], 32), key[0], 32);
    c[2] = of_bits("bitwise_xor", of_bits("bitwise_xor", high(a), c[3], 32), key[1], 32);
    c[1] = low(b);
    c[3] = low(a);
    key[0] = low(key[0] + 0x9E3779B9);
    key[1] = low(key[1] + 0xBB67AE85);
  }
  return c[0] + c[1] * kWord;
}

std::optional<Outcome> on_integers(std::string_view op, const std::vector<Value>& operands,
                                   OverflowMode mode) {
  const DType type = operands[0].dtype();
  const Wide a = wide_of(operands[0]);
  const Wide b = operands.size() > 1 ? wide_of(operands[1]) : 0;
  const bool divides = op == "div" || op == "rem" || op.starts_with("floor_");
  if (divides && b == 0) return Outcome{Fault::DivisionByZero, {}};
  if (op == "add") return integer(type, a + b, mode);
  if (op == "sub") return integer(type, a - b, mode);
  if (op == "mul") return integer(type, a * b, mode);
  if (op == "div") return integer(type, a / b, mode);
  if (op == "rem") return integer(type, a - a / b * b, mode);
  if (op == "floor_div") return integer(type, floor_of(a, b), mode);
  if (op == "floor_mod") return integer(type, a - floor_of(a, b) * b, mode);
  if (op == "sign") return integer(type, a == 0 ? 0 : a > 0 ? 1 : -1, mode);
  if (op == "check_end") return a > b ? Outcome{Fault::Index, {}} : integer(type, a, {});
  if (op == "range_length") return a < 0 || b < a ? Outcome{Fault::Index, {}} : integer(type, b - a, {});
  if (op == "check_count")
    return a < 0 || a > 68'719'476'736 ? Outcome{Fault::Size, {}} : integer(type, a, mode);
  if (op.starts_with("bitwise_")) return integer(type, of_bits(op, a, b, width_of(type)), {});
  if (op == "fold_in") return integer(type, philox_seed(a, b), {});
  if (op == "neg") return integer(type, -a, mode);
  if (op == "abs") return integer(type, a < 0 ? -a : a, mode);
  if (op == "min") return integer(type, a < b ? a : b, mode);
  if (op == "max") return integer(type, a > b ? a : b, mode);
  return std::nullopt;
}

/// -0.0 lies below 0.0.
bool below(double a, double b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

/// Each step rounded, as f32 asks for.
std::optional<Outcome> single_slope(std::string_view op, const std::vector<Value>& operands) {
  const volatile auto y = operands[0].as<float>();
  const volatile auto g = operands[1].as<float>();
  const volatile float square = y * y;
  const volatile float rest = 1.0f - (op == "tanh_gradient" ? square : y);
  const volatile float slope = op == "tanh_gradient" ? rest : y * rest;
  if (op == "relu_gradient") return Outcome{Fault::None, Value(y > 0 ? g : 0.0f)};
  return Outcome{Fault::None, Value(g * slope)};
}

/// The remainder with the sign of b.
double floor_mod(double a, double b) {
  const double remainder = std::fmod(a, b);
  if (remainder == 0) return std::copysign(0.0, b);
  return std::signbit(remainder) != std::signbit(b) ? remainder + b : remainder;
}

double floor_div(double a, double b) {
  if (b == 0 || std::isinf(a)) return a / b;
  if (std::isinf(b) && !std::isnan(a)) return a == 0 || std::signbit(a) == std::signbit(b) ? 0 / b : -1.0;
  return std::rint((a - floor_mod(a, b)) / b);
}

std::optional<Outcome> on_floats(std::string_view op, const std::vector<Value>& operands) {
  static const std::map<std::string_view, double (*)(double)> kUnary = {
      {"sqrt", std::sqrt},   {"exp", std::exp},     {"log", std::log},     {"sin", std::sin},
      {"cos", std::cos},     {"tan", std::tan},     {"asin", std::asin},   {"acos", std::acos},
      {"atan", std::atan},   {"sinh", std::sinh},   {"cosh", std::cosh},   {"tanh", std::tanh},
      {"floor", std::floor}, {"ceil", std::ceil},   {"round", std::round}, {"trunc", std::trunc},
      {"abs", std::fabs},    {"erf", std::erf},     {"expm1", std::expm1}, {"log1p", std::log1p},
      {"log2", std::log2},   {"log10", std::log10}, {"asinh", std::asinh}, {"acosh", std::acosh},
      {"atanh", std::atanh}};
  const DType type = operands[0].dtype();
  const double a = double_of(operands[0]);
  if (const auto found = kUnary.find(op); found != kUnary.end()) return floating(type, found->second(a));
  if (op == "rsqrt") return floating(type, 1 / std::sqrt(a));
  if (op == "sign") return floating(type, std::isnan(a) || a == 0 ? a + 0.0 : std::copysign(1.0, a));
  if (op == "gelu") return floating(type, a * std::erfc(-a / std::sqrt(2.0)) / 2);
  if (op == "softplus") return floating(type, a > 0 ? a + std::log1p(std::exp(-a)) : std::log1p(std::exp(a)));
  if (op == "is_nan") return truth(a != a);
  if (op == "is_inf") return truth(std::fabs(a) == std::numeric_limits<double>::infinity());
  if (op == "is_finite") return truth(std::fabs(a) <= std::numeric_limits<double>::max());
  if (op == "neg") return floating(type, -a);
  if (op == "relu") return floating(type, a > 0 || std::isnan(a) ? a : 0.0);
  if (op == "sigmoid") return floating(type, std::exp(std::min(a, 0.0)) / (1 + std::exp(-std::fabs(a))));
  if (operands.size() < 2) return std::nullopt;
  const double b = double_of(operands[1]);
  if (type == DType::F32 && op.ends_with("_gradient")) return single_slope(op, operands);
  if (op == "tanh_gradient") return floating(type, b * (1 - a * a));
  if (op == "sigmoid_gradient") return floating(type, b * (a * (1 - a)));
  if (op == "relu_gradient") return floating(type, a > 0 ? b : 0.0);
  const bool any_nan = std::isnan(a) || std::isnan(b);
  if (op == "add") return floating(type, a + b);
  if (op == "sub") return floating(type, a - b);
  if (op == "mul") return floating(type, a * b);
  if (op == "div") return floating(type, a / b);
  if (op == "rem") return floating(type, std::fmod(a, b));
  if (op == "floor_mod") return floating(type, floor_mod(a, b));
  if (op == "floor_div") return floating(type, floor_div(a, b));
  if (op == "leaky_relu") return floating(type, a * (a > 0 ? 1 : b));
  if (op == "min") return floating(type, any_nan ? std::nan("") : below(b, a) ? b : a);
  if (op == "max") return floating(type, any_nan ? std::nan("") : below(a, b) ? b : a);
  if (op == "pow") return floating(type, std::pow(a, b));
  if (op == "atan2") return floating(type, std::atan2(a, b));
  return std::nullopt;
}

template <class Number>
std::optional<Outcome> compare(std::string_view op, Number a, Number b) {
  if (op == "eq") return truth(a == b);
  if (op == "ne") return truth(!(a == b));
  if (op == "lt") return truth(a < b);
  if (op == "le") return truth(a < b || a == b);
  if (op == "gt") return truth(b < a);
  if (op == "ge") return truth(b < a || a == b);
  return std::nullopt;
}

std::optional<Outcome> on_truth(std::string_view op, const std::vector<Value>& operands) {
  const bool a = operands[0].as<bool>();
  if (op == "not") return truth(a ? false : true);
  if (op == "assume") return a ? truth(true) : Outcome{Fault::Assumption, {}};
  if (operands.size() < 2) return std::nullopt;
  const bool b = operands[1].as<bool>();
  if (op == "and") return truth(a ? b : false);
  if (op == "or") return truth(a ? true : b);
  return std::nullopt;
}

std::optional<Outcome> cast_to(DType to, const Value& from, OverflowMode mode) {
  if (is_float(from.dtype())) {
    const double number = double_of(from);
    if (to == DType::Bool) return truth(!(number == 0));
    if (is_float(to)) return floating(to, number);
    const double end = to == DType::U8 ? 256.0 : to == DType::I32 ? 2147483648.0 : 9223372036854775808.0;
    const double least = to == DType::U8 ? 0.0 : -end;
    const double whole = std::trunc(number);
    if (std::isnan(whole) || whole < least || whole >= end) return Outcome{Fault::InvalidCast, {}};
    return integer(to, static_cast<Wide>(whole), mode);
  }
  const Wide number = wide_of(from);
  if (to == DType::Bool) return truth(number != 0);
  if (to == DType::F32) return Outcome{Fault::None, Value(static_cast<float>(number))};
  if (to == DType::F64) return Outcome{Fault::None, Value(static_cast<double>(number))};
  return integer(to, number, mode);
}

/// A few units in the last place of the smaller type: the C library may round f32 and f64 functions
/// differently.
template <class Float>
bool near(Float a, Float b, Float units) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= units * std::numeric_limits<Float>::epsilon() * std::abs(b) +
                                std::numeric_limits<Float>::denorm_min() * 4;
}

bool is_exact(std::string_view op) {
  static constexpr std::string_view kLibrary[] = {
      "exp",   "log",   "sin",   "cos",   "tan",     "asin",     "acos",      "atan",     "sinh", "cosh",
      "tanh",  "pow",   "atan2", "rem",   "sigmoid", "erf",      "expm1",     "log1p",    "log2", "log10",
      "asinh", "acosh", "atanh", "rsqrt", "gelu",    "softplus", "floor_div", "floor_mod"};
  for (std::string_view name : kLibrary) {
    if (name == op) return false;
  }
  return true;
}

bool both_nan(const Value& a, const Value& b) {
  return is_float(a.dtype()) && a.dtype() == b.dtype() && std::isnan(double_of(a)) &&
         std::isnan(double_of(b));
}

}  // namespace

std::optional<Outcome> naive(std::string_view op, const std::vector<Value>& operands, OverflowMode mode) {
  // On scalars, what concerns shapes gives back its first operand.
  static const std::set<std::string_view> kFirst = {
      "identity", "sum_like", "broadcast_like", "broadcast_to", "expand_like", "reshape", "reshape_like"};
  if (kFirst.contains(op)) return Outcome{Fault::None, operands[0]};
  if (op == "where") return Outcome{Fault::None, operands[operands[0].as<bool>() ? 1 : 2]};
  if (op == "clip") {
    const std::optional<Outcome> at_least = naive("max", {operands[0], operands[1]}, mode);
    return naive("min", {at_least->value, operands[2]}, mode);
  }
  if (op.starts_with("checked_")) return naive(op.substr(8), operands, OverflowMode::Trap);
  if (op.starts_with("wrapping_")) return naive(op.substr(9), operands, OverflowMode::Wrap);
  if (op == "zeros_like") return Outcome{Fault::None, zero_of(operands[0].dtype())};
  if (op == "ones_like") return cast_to(operands[0].dtype(), Value(true), mode);
  if (const std::optional<DType> to = dtype_from_name(op)) return cast_to(*to, operands[0], mode);
  const DType type = operands[0].dtype();
  if (operands.size() == 2) {
    const auto compared = is_float(type) ? compare(op, double_of(operands[0]), double_of(operands[1]))
                                         : compare(op, wide_of(operands[0]), wide_of(operands[1]));
    if (compared) return compared;
  }
  if (type == DType::Bool) return on_truth(op, operands);
  return is_integer(type) ? on_integers(op, operands, mode) : on_floats(op, operands);
}

bool agree(std::string_view op, const Value& kernel, const Value& naive) {
  if (kernel == naive || both_nan(kernel, naive)) return true;
  if (kernel.dtype() != naive.dtype() || is_exact(op)) return false;
  if (kernel.dtype() == DType::F32) return near(kernel.as<float>(), naive.as<float>(), 4.0F);
  return kernel.dtype() == DType::F64 &&
         near(kernel.as<double>(), naive.as<double>(), op == "gelu" ? 2048.0 : 4.0);
}

}  // namespace hiaton
