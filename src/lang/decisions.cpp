#include "lang/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

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

/// A value that is known to be of a variant.
struct Known {
  std::size_t access;
  std::size_t variant;
};

struct TooMany {};

class DecisionMaker {
 public:
  DecisionMaker(const Type& matched, std::span<const Arm> arms, const Syntax& syntax, const Symbols& symbols,
                Span place, Diagnostics& diagnostics)
      : arms_(arms), syntax_(syntax), symbols_(symbols), place_(place), diagnostics_(diagnostics) {
    made_.accesses.push_back({.type = matched});
  }

  std::optional<Decisions> run() {
    const std::size_t findings = diagnostics_.count();
    for (const Arm& arm : arms_) {
      std::unordered_set<Symbol> names;
      check(arm.pattern, made_.accesses[0].type, names);
    }
    if (diagnostics_.count() > findings) return std::nullopt;
    std::vector<Row> rows;
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      rows.push_back({{{Access::kMatched, &arms_[i].pattern}}, {}, i});
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
  // Patterns against types.

  void check(const ArmPattern& pattern, const Type& type, std::unordered_set<Symbol>& names) {
    const std::string_view name = symbols_[pattern.name];
    if (pattern.kind == ArmPattern::Kind::Any) return;
    if (pattern.kind == ArmPattern::Kind::Name) {
      if (!names.insert(pattern.name).second) {
        diagnostics_.add(pattern.span, fmt::format("name '{}' is defined twice", name));
      }
      return;
    }
    if (!type.is_data()) {
      diagnostics_.add(pattern.span, fmt::format("expected a name or '_' for a value of type {}, found '{}'",
                                                 to_string(type), name));
      return;
    }
    const std::optional<std::size_t> variant = type.data->find(name);
    if (!variant) {
      diagnostics_.add(pattern.span, fmt::format("expected a variant of {} ({}), found '{}'", to_string(type),
                                                 fmt::join(names_of(type), ", "), name));
      return;
    }
    variants_.emplace(&pattern, *variant);
    const std::vector<Field>& fields = type.data->variants[*variant].fields;
    if (!has_parts(pattern)) return;
    if (pattern.parts.count != fields.size()) {
      diagnostics_.add(pattern.span,
                       fmt::format("'{}' has {} field{}, found {} in the pattern", name, fields.size(),
                                   fields.size() == 1 ? "" : "s", pattern.parts.count));
      return;
    }
    for (std::size_t i = 0; i < fields.size(); ++i) check(part(pattern, i), fields[i].type, names);
  }

  /// A variant without parentheses leaves all fields open.
  static bool has_parts(const ArmPattern& pattern) { return pattern.has_parentheses; }

  const ArmPattern& part(const ArmPattern& pattern, std::size_t i) const {
    return syntax_.arm_patterns[pattern.parts.begin + i];
  }

  static std::vector<std::string_view> names_of(const Type& type) {
    std::vector<std::string_view> names;
    for (const Variant& variant : type.data->variants) names.emplace_back(variant.name);
    return names;
  }

  // Decisions.

  /// What rows of arms, the first of which counts where several fit, come down to.
  std::size_t make(std::vector<Row> rows) {
    if (made_.tree.size() == kMaxDecisions || known_.size() == kMaxNesting) throw TooMany();
    const std::size_t id = made_.tree.size();
    made_.tree.emplace_back();
    if (rows.empty()) {
      missing_.push_back(example(Access::kMatched));
      return id;
    }
    for (Row& row : rows) bind_names(row);
    if (rows[0].columns.empty()) {
      reached_[rows[0].arm] = true;
      made_.tree[id].arm = rows[0].arm;
      made_.tree[id].bindings = std::move(rows[0].bindings);
      return id;
    }
    make_test(id, rows);
    return id;
  }

  void make_test(std::size_t id, const std::vector<Row>& rows) {
    const std::size_t tested = rows[0].columns[0].access;
    const Wanted wanted = wanted_variants(rows, tested);
    std::vector<bool> is_mentioned(made_.accesses[tested].type.data->variants.size(), false);
    std::vector<Decision::Choice> choices;
    for (const std::optional<std::size_t>& variant : wanted) {  // in the order of the arms
      if (!variant || is_mentioned[*variant]) continue;
      is_mentioned[*variant] = true;
      known_.push_back({tested, *variant});
      choices.push_back({*variant, make(rows_of(rows, wanted, tested, *variant))});
      known_.pop_back();
    }
    std::vector<Row> others = rows_of(rows, wanted, tested, std::nullopt);
    const bool all_alike = !others.empty();
    if (all_alike && choices.size() > ir::kMaxNesting) throw TooMany();  // tested one inside the other
    for (std::size_t variant = 0; variant < is_mentioned.size(); ++variant) {
      if (is_mentioned[variant]) continue;
      known_.push_back({tested, variant});
      choices.push_back({variant, make(std::move(others))});
      known_.pop_back();
      if (all_alike) break;
      others.clear();
    }
    made_.tree[id].tested = tested;
    made_.tree[id].choices = std::move(choices);
  }

  static void bind_names(Row& row) {
    std::vector<Row::Column> undecided;
    for (const Row::Column& column : row.columns) {
      const ArmPattern& pattern = *column.pattern;
      if (pattern.kind == ArmPattern::Kind::Name) {
        row.bindings.push_back({pattern.name, pattern.span, column.access});
      } else if (pattern.kind == ArmPattern::Kind::Variant) {
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

  /// By row: the variant that it waits for; none where any will do.
  using Wanted = std::vector<std::optional<std::size_t>>;

  Wanted wanted_variants(const std::vector<Row>& rows, std::size_t access) const {
    Wanted wanted;
    for (const Row& row : rows) {
      const ArmPattern* pattern = pattern_at(row, access);
      wanted.push_back(pattern == nullptr ? std::nullopt : std::optional(variants_.at(pattern)));
    }
    return wanted;
  }

  /// The rows that are left where the value is of the variant; without one: of a variant that no row
  /// mentions.
  std::vector<Row> rows_of(const std::vector<Row>& rows, const Wanted& wanted, std::size_t access,
                           std::optional<std::size_t> variant) {
    std::vector<Row> left;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (wanted[row] && wanted[row] != variant) continue;
      Row& next = left.emplace_back(rows[row]);
      if (!wanted[row]) continue;
      const ArmPattern* pattern = pattern_at(rows[row], access);
      std::erase_if(next.columns, [&](const Row::Column& column) { return column.access == access; });
      std::vector<Row::Column> parts;
      for (std::size_t i = 0; has_parts(*pattern) && i < pattern->parts.count; ++i) {
        parts.push_back({field_of(access, *variant, i), &part(*pattern, i)});
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

  /// A value that takes the way that is being made: "Node(Leaf(_, _), _)".
  std::string example(std::size_t access) {
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const Known& other) { return other.access == access; });
    if (known == known_.end()) return "_";
    const std::size_t variant = known->variant;
    const Variant& shown = made_.accesses[access].type.data->variants[variant];
    std::string fields;
    for (std::size_t i = 0; i < shown.fields.size(); ++i) {
      const auto field = fields_.find({access, variant, i});
      fields += fields.empty() ? "" : ", ";
      fields += field == fields_.end() ? "_" : example(field->second);
    }
    return fields.empty() ? shown.name : fmt::format("{}({})", shown.name, fields);
  }

  void report_missing() {
    if (missing_.empty()) return;
    const std::size_t shown = std::min(missing_.size(), kShownMissing);
    const std::string more =
        shown < missing_.size() ? fmt::format(" and {} more", missing_.size() - shown) : "";
    diagnostics_.add(
        place_,
        fmt::format("this 'match' has no arm for {}{}",
                    fmt::join(missing_.begin(), missing_.begin() + static_cast<long>(shown), ", "), more));
  }

  void report_unreached() {
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      if (reached_[i]) continue;
      diagnostics_.add(arms_[i].pattern.span,
                       "this arm is never reached: the arms before it take everything");
    }
  }

  std::span<const Arm> arms_;
  const Syntax& syntax_;
  const Symbols& symbols_;
  Span place_;
  Diagnostics& diagnostics_;
  Decisions made_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::size_t> fields_;  ///< accesses
  std::unordered_map<const ArmPattern*, std::size_t> variants_;  ///< that patterns wait for
  std::vector<Known> known_;  ///< on the way to the decision that is being made
  std::vector<bool> reached_;
  std::vector<std::string> missing_;
};

}  // namespace

std::optional<Decisions> decide(const Type& matched, std::span<const Arm> arms, const Syntax& syntax,
                                const Symbols& symbols, Span place, Diagnostics& diagnostics) {
  return DecisionMaker(matched, arms, syntax, symbols, place, diagnostics).run();
}

}  // namespace hiaton::lang
