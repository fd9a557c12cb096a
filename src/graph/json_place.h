// A value in a JSON file that knows where it stands, so that whatever is wrong with it can be told.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hiaton::graph {

class JsonPlace {
 public:
  /// The whole file. `file` must outlive all places.
  JsonPlace(const nlohmann::json& root, const std::string& file) : value_(root), file_(file) {}

  /// Throws ProgramError: "FILE: nodes[3].inputs: MESSAGE".
  [[noreturn]] void fail(std::string_view message) const;

  bool is_array() const { return value_.is_array(); }
  bool is_object() const { return value_.is_object(); }
  bool is_null() const { return value_.is_null(); }
  bool is_text() const { return value_.is_string(); }

  /// Fails unless it is an object that has no other fields than these.
  void require_fields(std::span<const std::string_view> allowed) const;
  void require_fields(std::initializer_list<std::string_view> allowed) const {
    require_fields(std::span(allowed.begin(), allowed.size()));
  }
  bool has(std::string_view field) const { return value_.contains(field); }
  /// Fails where it is missing. The places made from a place must not outlive it.
  JsonPlace field(std::string_view name) const;
  /// Fails unless it is an array.
  std::size_t size() const;
  JsonPlace operator[](std::size_t index) const;

  /// Fails unless it is a whole number from 0 to below `end`; `what` names it ("a function", "a node").
  uint32_t index(std::size_t end, std::string_view what) const;
  /// Fails unless it is a whole number that fits.
  uint32_t number() const;
  /// Fails unless it is a whole number from `least` to `most`.
  int64_t integer(int64_t least, int64_t most = std::numeric_limits<int64_t>::max()) const;
  /// Fails unless it is a whole number of 64 bits that is not negative.
  uint64_t unsigned_number() const;
  /// Fails unless it is a number, or null, which stands for not-a-number.
  double real() const;
  bool boolean() const;
  /// A string, or {"hex": ...} for what is not UTF-8.
  std::string text() const;

 private:
  JsonPlace(const nlohmann::json& value, const JsonPlace& parent, std::string_view field, std::size_t index)
      : value_(value), file_(parent.file_), parent_(&parent), field_(field), index_(index) {}
  std::string path() const;
  [[noreturn]] void fail_expecting(std::string_view expected) const;

  const nlohmann::json& value_;
  const std::string& file_;
  const JsonPlace* parent_ = nullptr;
  std::string_view field_{};  ///< empty: an element of an array
  std::size_t index_ = 0;
};

}  // namespace hiaton::graph
