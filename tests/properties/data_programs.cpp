#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "properties/generate.h"
#include "properties/random_choices.h"

namespace hiaton::properties {
namespace {

constexpr int kScalar = -1;
constexpr int kTensor = -2;  ///< a tensor of two numbers
constexpr int kString = -3;
constexpr int kByte = -4;

/// What each field holds: a number, a tensor, a string, a byte, or a value of the type of this number.
using Fields = std::vector<int>;

class Writer {
 public:
  Writer(uint64_t seed, FieldsOf fields)
      : random_(seed),
        has_tensors_(fields == FieldsOf::Tensors),
        has_strings_(fields == FieldsOf::Strings),
        has_bytes_(fields == FieldsOf::Bytes) {}

  std::string program() {
    make_types();
    text_ =
        "fn next(x: i64) -> i64 = (x * 1103515245 + 12345) % 2147483648\n"
        "fn doubled(x: i64) -> i64 = x * 2\n";
    for (std::size_t type = 0; type < types_.size(); ++type) {
      declare(type);
      build(type);
      measure(type);
      change(type);
      add_pairs(type);
    }
    loops();
    return text_;
  }

 private:
  /// A name that a pattern binds to a field.
  struct Bound {
    std::string name;
    int holds;
  };
  struct Arm {
    std::string pattern;
    std::vector<Bound> bound;
  };

  /// The first variant of each type holds no other values, so that every value ends.
  void make_types() {
    const int count = random_.between(1, 2);
    for (int type = 0; type < count; ++type) {
      std::vector<Fields>& variants = types_.emplace_back();
      for (int variant = random_.between(1, 8); variant > 0; --variant) {
        Fields& fields = variants.emplace_back();
        const bool is_first = variants.size() == 1;
        for (int field = random_.between(0, is_first ? 2 : 5); field > 0; --field) {
          const bool is_number =
              is_first || random_.percent(45) ||
              std::ranges::count_if(fields, [](int holds) { return is_value(holds); }) == 3;
          const bool has_others = has_tensors_ || has_strings_ || has_bytes_;
          const bool is_other = has_others && is_number && random_.percent(60);
          fields.push_back(is_other ? other() : is_number ? kScalar : random_.between(0, count - 1));
        }
      }
    }
  }

  /// Whether the field holds a value of one of the types.
  static bool is_value(int holds) { return holds >= 0; }

  int other() const { return has_tensors_ ? kTensor : has_strings_ ? kString : kByte; }

  static std::string type_of(int holds) {
    if (is_value(holds)) return fmt::format("T{}", holds);
    if (holds == kByte) return "u8";
    return holds == kTensor ? "i64[2]" : holds == kString ? "str" : "i64";
  }

  static std::string name(std::size_t type, std::size_t variant) {
    return fmt::format("V{}x{}", type, variant);
  }

  void declare(std::size_t type) {
    text_ += fmt::format("data T{} =", type);
    for (std::size_t variant = 0; variant < types_[type].size(); ++variant) {
      std::string fields;
      for (std::size_t i = 0; i < types_[type][variant].size(); ++i) {
        fields += fmt::format("{}f{}: {}", i == 0 ? "" : ", ", i, type_of(types_[type][variant][i]));
      }
      text_ += fmt::format("{}{}{}", variant == 0 ? " " : " | ", name(type, variant),
                           fields.empty() ? "" : "(" + fields + ")");
    }
    text_ += "\n";
  }

  /// Whether a pattern for what the field holds leaves something for other patterns.
  bool has_several(int holds) const {
    return is_value(holds) && types_[static_cast<std::size_t>(holds)].size() > 1;
  }

  template <class Field>
  std::string made(std::size_t type, std::size_t variant, Field field) {
    std::string fields;
    for (const int holds : types_[type][variant]) {
      fields += fmt::format("{}{}", fields.empty() ? "" : ", ", field(holds));
    }
    return name(type, variant) + (fields.empty() ? "" : "(" + fields + ")");
  }

  void build(std::size_t type) {
    text_ += fmt::format("fn build{}(depth: i64, seed: i64) -> T{} =\n  let choice = seed / 65536 % {}\n",
                         type, type, types_[type].size());
    for (std::size_t variant = types_[type].size(); variant-- > 0;) {
      int field = 0;
      const std::string value = made(type, variant, [&](int holds) {
        ++field;
        if (is_value(holds)) return fmt::format("build{}(depth - 1, next(seed + {}))", holds, field);
        const std::string number = fmt::format("seed / {} % 50", field * 100);
        if (holds == kString) return fmt::format("str({}) + \"é\"", number);
        if (holds == kByte) return fmt::format("u8({})", number);
        return holds == kTensor ? fmt::format("[1, 3] * ({})", number) : number;
      });
      text_ += variant == 0 ? "  " + value + "\n"
                            : fmt::format("  if depth > 0 and choice == {} then {} else\n", variant, value);
    }
  }

  /// `name(p0, p1, ...)`; where `nested`, one that holds a value is a pattern too.
  Arm arm(std::size_t type, std::size_t variant, bool nested) {
    Arm made{name(type, variant), {}};
    const Fields& fields = types_[type][variant];
    std::string parts;
    for (const int holds : fields) {
      std::string part = fmt::format("p{}", names_++);
      if (nested && has_several(holds)) {
        const std::size_t inner = random_.below(types_[static_cast<std::size_t>(holds)].size());
        const Arm of_field = arm(static_cast<std::size_t>(holds), inner, false);
        part = of_field.pattern;
        made.bound.insert(made.bound.end(), of_field.bound.begin(), of_field.bound.end());
        nested = false;
      } else if (random_.percent(20)) {
        part = "_";
      } else {
        made.bound.push_back({part, holds});
      }
      parts += (parts.empty() ? "" : ", ") + part;
    }
    if (!fields.empty()) made.pattern += "(" + parts + ")";
    return made;
  }

  /// A `match` on t with an arm for each variant, in any order, perhaps with one for several.
  template <class Result>
  void match(std::size_t type, Result result) {
    std::vector<std::size_t> variants;
    for (std::size_t variant = 0; variant < types_[type].size(); ++variant) variants.push_back(variant);
    random_.shuffle(variants);
    const bool has_rest = variants.size() > 1 && random_.percent(40);
    if (has_rest) variants.resize(1 + random_.below(variants.size() - 1));
    text_ += "  match t\n";
    for (const std::size_t variant : variants) {
      const Fields& fields = types_[type][variant];
      if (std::ranges::any_of(fields, [&](int holds) { return has_several(holds); }) && random_.percent(30)) {
        write(arm(type, variant, true), result);
      }
      write(arm(type, variant, false), result);
    }
    if (has_rest) write({"_", {}}, result);
  }

  /// An arm that an earlier one makes unreachable: that one's inner pattern takes all values of a type of one
  /// variant.
  template <class Result>
  void write(const Arm& arm, Result result) {
    text_ += fmt::format("    {} -> {}\n", arm.pattern, result(arm));
  }

  /// The faults of one program are all of one kind: executors may rightly differ in which one they meet
  /// first.
  void measure(std::size_t type) {
    text_ += fmt::format("fn measure{}(t: T{}, k: i64) -> i64 =\n", type, type);
    match(type, [&](const Arm& arm) {
      std::string sum = fmt::format("{} + k", random_.between(0, 9));
      for (const Bound& bound : arm.bound) {
        if (bound.holds == kTensor) {
          sum += random_.percent(4) ? fmt::format(" + {}[k - {}]", bound.name, random_.between(0, 3))
                                    : fmt::format(" + sum({} * {})", bound.name, bound.name);
        } else if (bound.holds == kString) {
          sum += measured_string(bound.name);
        } else if (bound.holds == kByte) {
          sum += measured_byte(bound.name);
        } else if (bound.holds != kScalar) {
          sum += fmt::format(" + measure{}({}, k + {})", bound.holds, bound.name, random_.between(0, 3));
        } else if (!has_tensors_ && !has_strings_ && random_.percent(4)) {
          sum += fmt::format(" + 100 / ({} - {})", bound.name, random_.between(0, 49));
        } else {
          sum += fmt::format(" + {} * {}", bound.name, random_.between(1, 9));
        }
      }
      return fmt::format("({}) % 1000003", sum);
    });
  }

  /// Only numbers out of range fail.
  std::string measured_string(const std::string& string) {
    const std::vector<std::string> ways{
        " + length({0})",
        " + {0}[0]",
        " + (if {0} < \"3\" then 1 else length({0} + {0}))",
        " + (match {0} \"7\" -> 1 \"12é\" -> 2 other -> length(other))",
        " + length({0}[1:] + {0}[:1])",
    };
    if (random_.percent(4)) return fmt::format(" + {}[k - {}]", string, random_.between(0, 3));
    return fmt::format(fmt::runtime(random_.pick(ways)), string);
  }

  std::string measured_byte(const std::string& byte) {
    const std::vector<std::string> ways{
        " + i64({0})",
        " + (match {0} 7 -> 1 12 -> 2 other -> i64(other / 3))",
        " + (if {0} < 25 then 1 else i64(49 - {0}))",
        " + i64(sum([{0}, wrapping_mul({0}, 11)]))",
    };
    return fmt::format(fmt::runtime(random_.pick(ways)), byte);
  }

  void change(std::size_t type) {
    text_ += fmt::format("fn change{}(t: T{}, k: i64) -> T{} =\n", type, type, type);
    match(type, [&](const Arm& arm) {
      const std::string first = changed(type, arm);
      if (random_.percent(75)) return first;
      return fmt::format("if k % {} == 0 then {} else {}", random_.between(2, 4), first, changed(type, arm));
    });
  }

  /// Functions of two results, one of which may be a constant.
  void add_pairs(std::size_t type) {
    text_ += fmt::format("fn pair{0}(t: T{0}, k: i64) -> (T{0}, i64) =\n", type);
    match(type, [&](const Arm& arm) {
      const auto pair = [&] {
        return fmt::format("({}, {})", changed(type, arm), random_.percent(50) ? "7" : "k");
      };
      const std::string first = pair();
      return random_.percent(50) ? first : fmt::format("if k % 2 == 0 then {} else {}", first, pair());
    });
  }

  /// A value of what the arm has bound, each at most once, so that values do not grow.
  std::string changed(std::size_t type, const Arm& arm) {
    if (random_.percent(12)) return "t";
    std::vector<Bound> left = arm.bound;
    random_.shuffle(left);
    return made(type, random_.below(types_[type].size()), [&](int holds) -> std::string {
      const auto found = std::ranges::find(left, holds, &Bound::holds);
      if (found == left.end() && holds == kTensor) return random_.percent(50) ? "[5, 7]" : "[5, 7] + k";
      if (found == left.end() && holds == kByte) return random_.percent(50) ? "5" : "u8((k % 50 + 50) % 50)";
      if (found == left.end() && holds == kString) return random_.percent(50) ? "\"5\"" : "\"k\" + str(k)";
      if (found == left.end()) return holds == kScalar ? "k" : leaf(static_cast<std::size_t>(holds));
      const std::string bound = found->name;
      left.erase(found);
      if (holds == kScalar)
        return fmt::format(fmt::runtime(random_.percent(30) ? "doubled(({} + k) % 25)" : "({} + k) % 50"),
                           bound);
      if (holds == kTensor) return changed_tensor(bound);
      if (holds == kString) return changed_string(bound);
      if (holds == kByte) return changed_byte(bound);
      return random_.percent(60) ? fmt::format("change{}({}, k + 1)", holds, bound) : bound;
    });
  }

  std::string changed_tensor(const std::string& tensor) {
    const std::vector<std::string> ways{
        "{0}",
        "({0} + k) % 50",
        "({0} * {0} + [k, 2]) % 50",
        "reshape(reshape({0}, shape=[2, 1]), shape=[2])",
        "(if k % 2 == 0 then {0} else [k, k])",
        "(with v = {0} for j in 0..k % 3 do (v + j) % 50)",
    };
    return fmt::format(fmt::runtime(random_.pick(ways)), tensor);
  }

  /// Never empty, and not much longer.
  std::string changed_string(const std::string& string) {
    const std::vector<std::string> ways{
        "{0}",
        "({0} + str(k % 50))[length({0}) / 2:]",
        "(\"x\" + {0})[:length({0}) / 2 + 1]",
        "({0} + {0})[length({0}):]",
        "from_code_point(200 + k % 50) + {0}[:length({0}) / 2]",
        "(if {0} == \"5\" then {0} + \"é\" else {0}[length({0}) - 1:])",
        "(with v = {0} for j in 0..k % 3 do (v + \"ab\")[length(v) / 2:])",
    };
    return fmt::format(fmt::runtime(random_.pick(ways)), string);
  }

  /// Less than 50.
  std::string changed_byte(const std::string& byte) {
    const std::vector<std::string> ways{
        "{0}",
        "({0} + u8((k % 9 + 9) % 9)) % 50",
        "wrapping_sub({0}, 49) % 50",
        "[{0}, 3, {0} / 2][(k % 3 + 3) % 3]",
        "(with v = {0} for j in 0..k % 3 do (v + 7) % 50)",
    };
    return fmt::format(fmt::runtime(random_.pick(ways)), byte);
  }

  std::string leaf(std::size_t type) {
    return made(type, 0, [&](int holds) {
      const int number = random_.between(0, 49);
      if (holds == kString) return fmt::format("\"{}é\"", number);
      return holds == kTensor ? fmt::format("[{}, 1]", number) : fmt::format("{}", number);
    });
  }

  /// What iterations hand on: nothing, the result of a call, or what they know without their calls.
  void loops() {
    std::vector<std::string> bodies{
        "(i64) = with s = 0 for i in 0..n do (s * 3 + measure0(x, i)) % 1000003",
        "(i64) = with s = 0 for i in 0..n do (s + measure0(change0(x, i), i)) % 1000003",
        "(i64) = with s = 0 for i in 0..n do (s * 2 + measure0(build0(2, next(i)), i)) % 1000003",
        "(i64) = with s = 0 for i in 0..n do if i % 3 == 1 then s + measure0(x, i) else (s * 2) % 1000003",
        "(T0) = with t = x for i in 0..n do change0(t, i)",
        "(T0) = with t = x for i in 0..n do if i % 2 == 0 then change0(x, i) else t",
        "(i64, T0, i64) = with i = 0, t = x, s = 0 while i < n do\n"
        "  (i + 1, if i % 3 == 0 then " +
            leaf(0) + " else if i % 3 == 1 then x else t, (s + measure0(t, i)) % 1000003)",
        "(i64, T0, T0) = with i = 0, t = x, u = " + leaf(0) + " while i < n do (i + 1, u, change0(t, i))",
        "(T0, i64) = with t = x, s = 0 for i in 0..n do\n"
        "  let (u, number) = pair0(t, i)\n"
        "  (u, (s * 3 + number) % 1000003)",
        "(List[i64]) = with xs = Nil[i64] for i in 0..n do Cons(measure0(x, i), xs)",
        "(List[T0]) = with xs = Nil[T0] for i in 0..n do Cons(change0(x, i), xs)",
        "(i64, List[T0], i64) = with i = 0, xs = Nil[T0], s = 0 while i < n do\n"
        "  (i + 1, Cons(x, xs), s + (match xs Nil -> 1 Cons(t, _) -> measure0(t, i)))",
        "(i64, List[T0], i64) = with i = 0, xs = Cons(x, Cons(" + leaf(0) +
            ", Nil)), s = 0 while i < n do\n"
            "  let (t, rest) = (match xs Nil -> (x, Nil[T0]) Cons(y, ys) -> (y, ys))\n"
            "  (i + 1, rest, s + measure0(t, i))",
        "(i64, T0, T0, i64) = with i = 0, a = x, b = " + leaf(0) +
            ", s = 1 while i < n do\n"
            "  (i + 1, b, a, (s * 5 + measure0(a, i) - measure0(b, s)) % 1000003)",
    };
    if (has_tensors_) {
      bodies.insert(
          bodies.end(),
          {
              "(i64[2]) = with v = [1, 2] for i in 0..n do (v * 3 + measure0(x, i)) % 1000003",
              "(i64[2], T0) = with v = [1, 2], t = x for i in 0..n do ((v + measure0(t, i)) % 97, change0(t, "
              "i))",
              "(i64[2]) = with v = [1, 2] for i in 0..n do if i % 3 == 1 then (v * measure0(x, i)) % 97 else "
              "v + i",
              "(List[i64[2]]) = with xs = Nil[i64[2]] for i in 0..n do Cons([1, 2] * measure0(x, i), xs)",
              "(i64[2], List[i64[2]], i64[2]) = with u = [3, 4], xs = Nil[i64[2]], v = [0, 1] for i in 0..n "
              "do\n"
              "  (v, Cons(u, xs), (u + v * measure0(x, i)) % 97)",
          });
    }
    if (has_strings_) {
      bodies.insert(
          bodies.end(),
          {
              "(str) = with s = \"\" for i in 0..n do s + str(measure0(x, i))",
              "(str, T0) = with s = \"é\", t = x for i in 0..n do (s + str(measure0(t, i)), change0(t, i))",
              "(str) = with s = \"é\" for i in 0..n do if i % 3 == 1 then str(measure0(x, i)) + s else s",
              "(List[str]) = with xs = Nil[str] for i in 0..n do Cons(str(measure0(x, i)), xs)",
              "(str, List[str], str) = with u = \"u\", xs = Nil[str], v = \"v\" for i in 0..n do\n"
              "  (v, Cons(u, xs), u + str(measure0(x, i)))",
          });
    }
    if (has_bytes_) {
      bodies.insert(
          bodies.end(),
          {
              "(u8) = with s = 0u8 for i in 0..n do wrapping_add(s, wrapping_u8(measure0(x, i)))",
              "(u8, T0) = with s = 9u8, t = x for i in 0..n do\n"
              "  ((s / 2 + wrapping_u8(measure0(t, i)) / 2), change0(t, i))",
              "(List[u8]) = with xs = Nil[u8] for i in 0..n do Cons(wrapping_u8(measure0(x, i)), xs)",
          });
    }
    std::string results;
    std::string calls;
    for (int loop = random_.between(1, 3); loop > 0; --loop) {
      const std::string& body = random_.pick(bodies);
      text_ += fmt::format("fn loop{}(x: T0, n: i64) -> {}\n", loop, body);
      std::string types = body.substr(1, body.find(") =") - 1);
      std::size_t count = 1;
      for (const char c : types) count += c == ',' ? 1 : 0;
      std::string names;
      for (std::size_t i = 0; i < count; ++i) names += fmt::format("{}r{}x{}", i == 0 ? "" : ", ", loop, i);
      calls += fmt::format("  let {} = loop{}(x, n)\n", count == 1 ? names : "(" + names + ")", loop);
      results += names + ", ";
      types_of_results_ += types + ", ";
    }
    text_ += fmt::format(
        "fn main(n: i64, seed: i64) -> ({}i64) =\n  let x = build0(3, next(seed))\n{}  ({}measure0(x, n))\n",
        types_of_results_, calls, results);
  }

  Random random_;
  const bool has_tensors_;
  const bool has_strings_;
  const bool has_bytes_;
  std::string text_;
  std::string types_of_results_;
  std::vector<std::vector<Fields>> types_;  ///< by type and variant
  int names_ = 0;
};

}  // namespace

std::string random_data_program(uint64_t seed, FieldsOf fields) {
  return Writer(seed, fields).program();
}

}  // namespace hiaton::properties
