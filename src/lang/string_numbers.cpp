// The length of a text leaves the strings of that length, and a code point at a place where these differ
// leaves fewer of them; the last one left is compared as a whole.
#include <map>
#include <utility>
#include <vector>

#include "lang/decisions.h"
#include "tensor/strings.h"

namespace hiaton::lang {
namespace {

/// So many tests of a number are as fast one after the other.
constexpr std::size_t kMostNumbersInTurn = 4;

class StringNumbers {
 public:
  StringNumbers(FunctionBuilder& f, Var text, std::span<const Value> strings, Span span)
      : f_(f), text_(text), strings_(strings), span_(span) {}

  Var run() {
    Places all;
    for (std::size_t i = 0; i < strings_.size(); ++i) all.push_back(i);
    const Groups groups = by(all, [&](std::size_t i) { return code_points(i).size(); });
    f_.set_span(span_);
    return among(f_.op("string_length", {text_}), groups);
  }

 private:
  using Places = std::vector<std::size_t>;  ///< of strings
  struct Group {
    int64_t key;
    Places places;
  };
  using Groups = std::vector<Group>;  ///< in ascending order of their keys

  std::span<const int32_t> code_points(std::size_t i) const {
    return code_points_of(strings_[i].slot().data);
  }

  template <class KeyOf>
  static Groups by(const Places& places, const KeyOf& key_of) {
    std::map<int64_t, Places> groups;
    for (const std::size_t i : places) groups[static_cast<int64_t>(key_of(i))].push_back(i);
    Groups made;
    for (auto& [key, members] : groups) made.push_back({key, std::move(members)});
    return made;
  }

  /// Among strings of one length, which the text has.
  Var of_one_length(const Places& places) {
    if (places.size() == 1) return compared(places[0]);
    Groups best;
    std::size_t where = 0;
    for (std::size_t at = 0; at < code_points(places[0]).size(); ++at) {
      Groups groups = by(places, [&](std::size_t i) { return code_points(i)[at]; });
      if (groups.size() <= best.size()) continue;
      best = std::move(groups);
      where = at;
    }
    f_.set_span(span_);
    return among(f_.op("string_code_point", {text_, f_.constant(static_cast<int64_t>(where))}), best);
  }

  Var compared(std::size_t i) {
    f_.set_span(span_);
    const Var is_it = f_.equal(text_, f_.constant(strings_[i], text_.type()));
    return choose(
        is_it, [&] { return number(i); }, [&] { return number(strings_.size()); });
  }

  /// By the group whose key the number is.
  Var among(Var key, std::span<const Group> groups) {
    if (groups.size() <= kMostNumbersInTurn) return in_turn(key, groups);
    const std::size_t half = groups.size() / 2;
    f_.set_span(span_);
    return choose(
        key < groups[half].key, [&] { return among(key, groups.first(half)); },
        [&] { return among(key, groups.subspan(half)); });
  }

  Var in_turn(Var key, std::span<const Group> groups) {
    if (groups.empty()) return number(strings_.size());
    f_.set_span(span_);
    return choose(
        key == groups[0].key, [&] { return of_one_length(groups[0].places); },
        [&] { return in_turn(key, groups.subspan(1)); });
  }

  Var number(std::size_t i) {
    f_.set_span(span_);
    return f_.constant(static_cast<int64_t>(i));
  }

  template <class Then, class Otherwise>
  Var choose(Var condition, const Then& then, const Otherwise& otherwise) {
    const ir::BlockId held = f_.begin_block({});
    f_.end_block(held, {then()});
    const ir::BlockId failed = f_.begin_block({});
    f_.end_block(failed, {otherwise()});
    f_.set_span(span_);
    return f_.finish_if(condition, held, failed);
  }

  FunctionBuilder& f_;
  const Var text_;
  const std::span<const Value> strings_;
  const Span span_;
};

}  // namespace

Var number_among(FunctionBuilder& f, Var text, std::span<const Value> strings, Span span) {
  return StringNumbers(f, text, strings, span).run();
}

}  // namespace hiaton::lang
