// Names that many things carry.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#pragma GCC visibility push(default)
namespace hiaton {

/// An immutable string of the size of a pointer, whose copies share the text. Reads as a std::string.
class SharedString {
 public:
  SharedString() = default;
  SharedString(std::string text)  // NOLINT(google-explicit-constructor): a string is one
      : shared_(text.empty() ? nullptr : new Shared{std::move(text)}) {}
  SharedString(std::string_view text)  // NOLINT(google-explicit-constructor): likewise
      : SharedString(std::string(text)) {}
  SharedString(const char* text)  // NOLINT(google-explicit-constructor): likewise
      : SharedString(std::string(text)) {}

  SharedString(const SharedString& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->references.fetch_add(1, std::memory_order_relaxed);
  }
  SharedString(SharedString&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  SharedString& operator=(SharedString other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~SharedString() {
    if (shared_ != nullptr) release();
  }

  bool empty() const { return shared_ == nullptr; }
  const std::string& str() const { return shared_ == nullptr ? nothing() : shared_->text; }
  operator const std::string&() const { return str(); }  // NOLINT(google-explicit-constructor)
  operator std::string_view() const { return str(); }    // NOLINT(google-explicit-constructor)

  friend bool operator==(const SharedString& a, const SharedString& b) {
    return a.shared_ == b.shared_ || a.str() == b.str();
  }
  template <std::convertible_to<std::string_view> Text>
  requires(!std::same_as<Text, SharedString>) friend bool operator==(const SharedString& a, const Text& b) {
    return a.str() == std::string_view(b);
  }

 private:
  struct Shared {
    std::string text;
    std::atomic<uint32_t> references{1};
  };

  static const std::string& nothing();
  void release();

  Shared* shared_ = nullptr;  ///< null: the empty string
};

}  // namespace hiaton
#pragma GCC visibility pop
