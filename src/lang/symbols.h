// Names as numbers.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/token.h"

namespace hiaton::lang {

/// Numbers names in the order of their first appearance. The keywords come first, so the symbol of a keyword
/// is its Tok. Keeps views: the texts must outlive it.
class Symbols {
 public:
  Symbols();

  Symbol intern(std::string_view name) {
    const auto [entry, added] = numbers_.try_emplace(name, static_cast<Symbol>(names_.size()));
    if (added) names_.push_back(name);
    return entry->second;
  }
  /// Names that programs cannot write: those of the open places of partial applications.
  static constexpr std::size_t kPlaces = 32;
  Symbol place(std::size_t number) const { return first_place_ + static_cast<Symbol>(number); }
  bool is_place(Symbol symbol) const { return symbol >= first_place_ && symbol < first_place_ + kPlaces; }
  /// Further ones: those of values that patterns take apart where they are bound, and of the function that a
  /// gradient is of.
  static constexpr std::size_t kHidden = 16;
  Symbol hidden(std::size_t number) const { return place(kPlaces + number); }
  bool is_hidden(Symbol symbol) const {
    return symbol >= first_place_ + kPlaces && symbol < first_place_ + kPlaces + kHidden;
  }
  /// The variant of the built-in list that has elements.
  Symbol cons() const { return hidden(kHidden); }
  std::string_view operator[](Symbol symbol) const { return names_[symbol]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::unordered_map<std::string_view, Symbol> numbers_;
  std::vector<std::string_view> names_;
  Symbol first_place_ = 0;
};

}  // namespace hiaton::lang
