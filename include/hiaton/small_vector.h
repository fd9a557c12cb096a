// Short lists inside of what they belong to.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace hiaton {

/// A vector of which up to `kInline` elements take no memory of their own. Otherwise as std::vector, except
/// that moving one invalidates iterators and references too.
template <class T, uint32_t kInline>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() {}  // NOLINT(modernize-use-equals-default): so that a const one needs no initializer
  SmallVector(std::initializer_list<T> elements) : SmallVector(elements.begin(), elements.end()) {}
  template <std::input_iterator It>
  SmallVector(It first, It last) {
    append(first, last);
  }
  /// The elements of a std::vector, std::span, ...
  template <std::ranges::contiguous_range Elements>
  requires(std::same_as<std::ranges::range_value_t<Elements>, T> &&
           !std::same_as<std::remove_cvref_t<Elements>, SmallVector>)
      SmallVector(const Elements& elements)  // NOLINT(google-explicit-constructor): as to std::span
      : SmallVector(std::ranges::begin(elements), std::ranges::end(elements)) {}

  SmallVector(const SmallVector& other) : SmallVector(other.begin(), other.end()) {}
  SmallVector(SmallVector&& other) noexcept
      : storage_(other.storage_), size_(other.size_), capacity_(other.capacity_) {
    other.size_ = 0;
    other.capacity_ = kInline;
  }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~SmallVector() {
    if (on_heap()) std::allocator<T>().deallocate(storage_.heap, capacity_);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return on_heap() ? storage_.heap : reinterpret_cast<T*>(storage_.inside); }
  const T* data() const { return on_heap() ? storage_.heap : reinterpret_cast<const T*>(storage_.inside); }
  T* begin() { return data(); }
  const T* begin() const { return data(); }
  T* end() { return data() + size_; }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) {
    assert(i < size_);
    return data()[i];
  }
  const T& operator[](std::size_t i) const {
    assert(i < size_);
    return data()[i];
  }
  const T& at(std::size_t i) const {
    if (i >= size_) throw std::out_of_range("SmallVector::at");
    return data()[i];
  }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - std::size_t{1}]; }
  const T& back() const { return (*this)[size_ - std::size_t{1}]; }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
  void push_back(T element) {
    if (size_ == capacity_) grow(std::size_t{2} * capacity_);
    data()[size_++] = element;
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    push_back(T{std::forward<Args>(args)...});
    return back();
  }
  void pop_back() {
    assert(size_ > 0);
    --size_;
  }
  void clear() { size_ = 0; }
  void resize(std::size_t size, T added = T()) {
    reserve(size);
    if (size > size_) std::fill(end(), data() + size, added);
    size_ = static_cast<uint32_t>(size);
  }
  template <std::input_iterator It>
  void assign(It first, It last) {
    clear();
    append(first, last);
  }
  /// The elements are not those of this vector.
  template <std::input_iterator It>
  void append(It first, It last) {
    if constexpr (std::forward_iterator<It>)
      reserve(size_ + static_cast<std::size_t>(std::distance(first, last)));
    for (; first != last; ++first) push_back(*first);
  }
  /// Before `position`.
  void insert(const T* position, T element) {
    const std::ptrdiff_t index = position - begin();
    push_back(element);
    std::rotate(begin() + index, end() - 1, end());
  }
  void erase(const T* position) {
    std::copy(position + 1, std::as_const(*this).end(), begin() + (position - begin()));
    --size_;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool on_heap() const { return capacity_ > kInline; }

  void grow(std::size_t capacity) {
    T* heap = std::allocator<T>().allocate(capacity);
    std::uninitialized_copy(begin(), end(), heap);
    if (on_heap()) std::allocator<T>().deallocate(storage_.heap, capacity_);
    storage_.heap = heap;
    capacity_ = static_cast<uint32_t>(capacity);
  }

  union Storage {
    T* heap;
    alignas(T) std::byte inside[kInline * sizeof(T)];
    Storage() : heap(nullptr) {}
  };
  Storage storage_;
  uint32_t size_ = 0;
  uint32_t capacity_ = kInline;
};

}  // namespace hiaton
#pragma GCC visibility pop
