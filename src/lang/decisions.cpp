#include "lang/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "lang/declarations.h"
#include "lang/pattern_checker.h"

namespace hiaton::lang {
namespace {

constexpr std::size_t kMaxDecisions = 100'000;
constexpr std::size_t kShownMissing = 5;

/// One arm, as far as it is not decided: patterns that wait for a variant of a value.
struct Row {
  struct Column {
    std::size_t access;
    const ArmPattern* pattern;
  };
  std::vector<Column> columns;
  std::vector<Decision::Binding> bindings;
  std::size_t arm = 0;
};

/// What is known of a value on the way to a decision.
struct Known {
  std::size_t access;
  std::optional<std::size_t> variant;
  std::string text;  ///< how a value that is no data value is written
};

struct TooMany {};

class DecisionMaker {
 public:
  DecisionMaker(std::span<const Type> matched, std::span<const Arm> arms, const Syntax& syntax,
                const PatternChecker& patterns, Span place, bool is_match, Diagnostics& diagnostics)
      : matched_count_(matched.size()),
        arms_(arms),
        syntax_(syntax),
        patterns_(patterns),
        place_(place),
        is_match_(is_match),
        diagnostics_(diagnostics) {
    for (const Type& type : matched) made_.accesses.push_back({.type = type});
  }

  std::optional<Decisions> run() {
    const std::size_t findings = diagnostics_.count();
    std::vector<Row> rows;
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      Row& row = rows.emplace_back();
      row.arm = i;
      const ArmPattern& pattern = arms_[i].pattern;
      if (matched_count_ == 1) {
        row.columns.push_back({0, &pattern});
      } else {
        for (std::size_t part = 0; part < pattern.parts.count; ++part) {
          row.columns.push_back({part, &syntax_.arm_patterns[pattern.parts.begin + part]});
        }
      }
    }
    reached_.assign(arms_.size(), false);
    try {
      make(std::move(rows));
    } catch (const TooMany&) {
      diagnostics_.add(place_, "the patterns of this 'match' need too many tests");
      return std::nullopt;
    }
    report_missing();
    report_unreached();
    return diagnostics_.count() > findings ? std::nullopt : std::optional(std::move(made_));
  }

 private:
  /// What rows of arms, the first of which counts where several fit, come down to.
  std::size_t make(std::vector<Row> rows) {
    if (made_.tree.size() == kMaxDecisions || known_.size() + guards_passed_ >= kMaxNesting) throw TooMany();
    const std::size_t id = made_.tree.size();
    made_.tree.emplace_back();
    if (rows.empty()) {
      add_missing();
      return id;
    }
    for (Row& row : rows) bind_names(row);
    if (!rows[0].columns.empty()) {
      make_test(id, rows);
      return id;
    }
    const std::size_t arm = rows[0].arm;
    reached_[arm] = true;
    made_.tree[id].arm = arm;
    made_.tree[id].bindings = std::move(rows[0].bindings);
    if (arms_[arm].guard.valid()) {
      ++guards_passed_;
      rows.erase(rows.begin());
      const std::size_t otherwise = make(std::move(rows));
      made_.tree[id].otherwise = otherwise;
      --guards_passed_;
    }
    return id;
  }

  void make_test(std::size_t id, std::vector<Row>& rows) {
    const std::size_t tested = rows[0].columns[0].access;
    made_.tree[id].tested = tested;
    if (has_variants(made_.accesses[tested].type)) {
      test_variants(id, rows, tested);
    } else {
      test_literals(id, rows, tested);
    }
  }

  void test_variants(std::size_t id, const std::vector<Row>& rows, std::size_t tested) {
    const Wanted wanted =
        wanted_by(rows, tested, [&](const ArmPattern& pattern) { return patterns_.variant(pattern); });
    std::vector<bool> is_mentioned(made_.accesses[tested].type.data->variants.size(), false);
    std::vector<Decision::Choice> choices;
    const auto choose = [&](std::size_t variant, std::vector<Row> left) {
      known_.push_back({tested, variant, ""});
      choices.push_back({static_cast<int64_t>(variant), make(std::move(left))});
      known_.pop_back();
    };
    for (const std::optional<std::size_t>& variant : wanted) {  // in the order of the arms
      if (!variant || is_mentioned[*variant]) continue;
      is_mentioned[*variant] = true;
      choose(*variant, rows_of(rows, wanted, tested, *variant));
    }
    std::vector<Row> others = rows_of(rows, wanted, tested, std::nullopt);
    const bool all_alike = !others.empty();
    if (all_alike && choices.size() > ir::kMaxNesting) throw TooMany();  // tested one inside the other
    for (std::size_t variant = 0; variant < is_mentioned.size(); ++variant) {
      if (is_mentioned[variant]) continue;
      choose(variant, std::move(others));
      if (all_alike) break;
      others.clear();
    }
    made_.tree[id].names_all_variants = choices.size() == is_mentioned.size();
    made_.tree[id].choices = std::move(choices);
  }

  void test_literals(std::size_t id, const std::vector<Row>& rows, std::size_t tested) {
    std::vector<Value> literals;
    const Wanted wanted = wanted_by(rows, tested, [&](const ArmPattern& pattern) {
      const Value literal = patterns_.literal(pattern);
      const auto same = std::find(literals.begin(), literals.end(), literal);
      const auto number = static_cast<std::size_t>(same - literals.begin());
      if (number == literals.size()) literals.push_back(literal);
      return number;
    });
    if (literals.size() > ir::kMaxNesting) throw TooMany();  // tested one inside the other
    std::vector<Decision::Choice> choices;
    for (std::size_t i = 0; i < literals.size(); ++i) {
      known_.push_back({tested, std::nullopt, to_string(literals[i], made_.accesses[tested].type)});
      choices.push_back({literals[i], make(rows_of(rows, wanted, tested, i))});
      known_.pop_back();
    }
    const bool both_truths = made_.accesses[tested].type == Type(DType::Bool) && literals.size() == 2;
    if (!both_truths) {
      known_.push_back({tested, std::nullopt, other_than(literals)});
      choices.push_back({Value(), make(rows_of(rows, wanted, tested, std::nullopt))});
      known_.pop_back();
    }
    made_.tree[id].choices = std::move(choices);
  }

  void bind_names(Row& row) {
    std::vector<Row::Column> undecided;
    for (const Row::Column& column : row.columns) {
      const ArmPattern& pattern = *column.pattern;
      if (pattern.whole) {
        const bool names_one =
            pattern.kind == ArmPattern::Kind::Variant && has_variants(made_.accesses[column.access].type);
        row.bindings.push_back({*pattern.whole, pattern.span, column.access,
                                names_one ? patterns_.variant(pattern) : std::optional<std::size_t>()});
      }
      if (pattern.kind == ArmPattern::Kind::Name) {
        row.bindings.push_back({pattern.name, pattern.span, column.access});
      } else if (pattern.kind != ArmPattern::Kind::Any) {
        undecided.push_back(column);
      }
    }
    row.columns = std::move(undecided);
  }

  static const ArmPattern* pattern_at(const Row& row, std::size_t access) {
    for (const Row::Column& column : row.columns) {
      if (column.access == access) return column.pattern;
    }
    return nullptr;
  }

  /// By row: the number of the variant or literal that it waits for; none where any will do.
  using Wanted = std::vector<std::optional<std::size_t>>;

  template <class NumberOf>
  static Wanted wanted_by(const std::vector<Row>& rows, std::size_t access, const NumberOf& number_of) {
    Wanted wanted;
    for (const Row& row : rows) {
      const ArmPattern* pattern = pattern_at(row, access);
      wanted.push_back(pattern == nullptr ? std::nullopt : std::optional(number_of(*pattern)));
    }
    return wanted;
  }

  /// The rows that are left where the value is of the variant or literal with this number; without one: where
  /// it is none that a row mentions.
  std::vector<Row> rows_of(const std::vector<Row>& rows, const Wanted& wanted, std::size_t access,
                           std::optional<std::size_t> number) {
    std::vector<Row> left;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (wanted[row] && wanted[row] != number) continue;
      Row& next = left.emplace_back(rows[row]);
      if (!wanted[row]) continue;
      const ArmPattern* pattern = pattern_at(rows[row], access);
      std::erase_if(next.columns, [&](const Row::Column& column) { return column.access == access; });
      std::vector<Row::Column> parts;
      for (std::size_t i = 0; pattern->has_parts && i < pattern->parts.count; ++i) {
        parts.push_back({field_of(access, *number, i), &syntax_.arm_patterns[pattern->parts.begin + i]});
      }
      next.columns.insert(next.columns.begin(), parts.begin(), parts.end());
    }
    return left;
  }

  std::size_t field_of(std::size_t parent, std::size_t variant, std::size_t field) {
    const auto [known, added] = fields_.try_emplace({parent, variant, field}, made_.accesses.size());
    if (added) {
      made_.accesses.push_back(
          {parent, variant, field, field_type(made_.accesses[parent].type, variant, field)});
    }
    return known->second;
  }

  // Findings.

  void add_missing() {
    std::string text;
    for (std::size_t i = 0; i < matched_count_; ++i) text += (i == 0 ? "" : ", ") + example(i);
    if (matched_count_ > 1) text = fmt::format("({})", text);
    missing_.push_back(text + (guards_passed_ > 0 ? " where no condition holds" : ""));
  }

  /// A value that takes the way that is being made: "Node(Leaf(_, _), _)".
  std::string example(std::size_t access) {
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const Known& other) { return other.access == access; });
    if (known == known_.end()) return "_";
    if (!known->variant) return known->text;
    const std::size_t variant = *known->variant;
    if (Declarations::is_list(made_.accesses[access].type)) return example_of_list(access);
    const Variant& shown = made_.accesses[access].type.data->variants[variant];
    std::string fields;
    for (std::size_t i = 0; i < shown.fields.size(); ++i) {
      const auto field = fields_.find({access, variant, i});
      fields += fields.empty() ? "" : ", ";
      fields += field == fields_.end() ? "_" : example(field->second);
    }
    return fields.empty() ? shown.name : fmt::format("{}({})", shown.name, fields);
  }

  /// "[_, 1, ..]"
  std::string example_of_list(std::size_t access) {
    std::string elements;
    std::optional<std::size_t> rest = access;
    while (rest) {
      const auto known = std::find_if(known_.begin(), known_.end(),
                                      [&](const Known& other) { return other.access == *rest; });
      if (known == known_.end() || !known->variant) break;
      if (*known->variant == Declarations::kNil) return fmt::format("[{}]", elements);
      const auto head = fields_.find({*rest, Declarations::kCons, 0});
      const auto tail = fields_.find({*rest, Declarations::kCons, 1});
      elements += elements.empty() ? "" : ", ";
      elements += head == fields_.end() ? "_" : example(head->second);
      rest = tail == fields_.end() ? std::nullopt : std::optional(tail->second);
    }
    return fmt::format("[{}, ..]", elements);
  }

  static std::string other_than(const std::vector<Value>& literals) {
    if (literals[0].is_data()) return "_";
    const DType type = literals[0].dtype();
    if (type == DType::Bool) return literals[0].as<bool>() ? "false" : "true";
    if (is_float(type)) return "_";
    int64_t other = 0;
    const auto is_taken = [&](const Value& literal) { return to_string(literal) == std::to_string(other); };
    while (std::any_of(literals.begin(), literals.end(), is_taken)) ++other;
    return std::to_string(other);
  }

  void report_missing() {
    if (missing_.empty()) return;
    const std::size_t shown = std::min(missing_.size(), kShownMissing);
    const std::string more =
        shown < missing_.size() ? fmt::format(" and {} more", missing_.size() - shown) : "";
    const std::string cases = fmt::format(
        "{}{}", fmt::join(missing_.begin(), missing_.begin() + static_cast<long>(shown), ", "), more);
    diagnostics_.add(place_,
                     is_match_ ? fmt::format("this 'match' has no arm for {}", cases)
                               : fmt::format("expected a pattern that fits every value, found one that does "
                                             "not fit {}; a 'match' has an arm for each case",
                                             cases));
  }

  void report_unreached() {
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      if (reached_[i]) continue;
      diagnostics_.add(arms_[i].pattern.span,
                       "this arm is never reached: the arms before it take everything");
    }
  }

  std::size_t matched_count_;
  std::span<const Arm> arms_;
  const Syntax& syntax_;
  const PatternChecker& patterns_;
  Span place_;
  bool is_match_;  ///< it is a match, and not the one pattern of a `let`, parameter or loop variable
  Diagnostics& diagnostics_;
  Decisions made_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::size_t> fields_;  ///< accesses
  std::vector<Known> known_;       ///< on the way to the decision that is being made
  std::size_t guards_passed_ = 0;  ///< guards on the way to that decision that did not hold
  std::vector<bool> reached_;
  std::vector<std::string> missing_;
};

}  // namespace

std::optional<Decisions> decide(std::span<const Type> matched, std::span<const Arm> arms,
                                const Syntax& syntax, const Source& source, const TokenList& tokens,
                                const Symbols& symbols, Span place, bool is_match, Diagnostics& diagnostics) {
  const std::size_t findings = diagnostics.count();
  PatternChecker patterns(syntax, source, tokens, symbols, diagnostics);
  for (const Arm& arm : arms) patterns.check(arm.pattern, matched);
  if (diagnostics.count() > findings) return std::nullopt;
  return DecisionMaker(matched, arms, syntax, patterns, place, is_match, diagnostics).run();
}

}  // namespace hiaton::lang
