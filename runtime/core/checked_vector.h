// CheckedVector is a vector that returns an error if memory runs out. In code without exceptions,
// std::vector would end the process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "runtime/core/checked_math.h"
#include "vitrine/error.h"

namespace vitrine {

Error no_memory_for(size_t count, size_t item_bytes);

// The functions have the meanings that they have in std::vector. A function that can fail returns
// MemoryAllocationFailed and leaves the vector unchanged.
template <class T>
class CheckedVector {
  static_assert(alignof(T) <= alignof(std::max_align_t));
  static_assert(std::is_nothrow_move_constructible_v<T>);

 public:
  using value_type = T;

  CheckedVector() = default;
  CheckedVector(CheckedVector&& other) noexcept { swap(other); }
  CheckedVector& operator=(CheckedVector&& other) noexcept {
    swap(other);
    return *this;
  }
  ~CheckedVector() {
    clear();
    std::free(items_);
  }

  Error reserve(size_t capacity) {
    if (capacity <= capacity_) return Error();
    size_t bytes = 0;
    if (mul_overflows(capacity, kItemSize, &bytes)) return no_memory_for(capacity, kItemSize);
    auto* grown = static_cast<T*>(std::malloc(bytes));
    if (grown == nullptr) return no_memory_for(capacity, kItemSize);
    for (size_t i = 0; i < size_; ++i) {
      new (grown + i) T(std::move(items_[i]));
      items_[i].~T();
    }
    std::free(std::exchange(items_, grown));
    capacity_ = capacity;
    return Error();
  }
  // New items are value-initialized.
  Error resize(size_t size) {
    VITRINE_RETURN_IF_ERROR(reserve(size));
    while (size_ > size) items_[--size_].~T();
    while (size_ < size) new (items_ + size_++) T();
    return Error();
  }
  Error assign(size_t size, const T& value) {
    VITRINE_RETURN_IF_ERROR(resize(size));
    std::fill_n(items_, size, value);
    return Error();
  }
  Error push_back(T item) {
    VITRINE_RETURN_IF_ERROR(make_room(1));
    new (items_ + size_++) T(std::move(item));
    return Error();
  }
  // `added` must not be part of this vector.
  Error append(std::span<const T> added) {
    VITRINE_RETURN_IF_ERROR(make_room(added.size()));
    for (const T& item : added) new (items_ + size_++) T(item);
    return Error();
  }

  void clear() {
    while (size_ > 0) items_[--size_].~T();
  }
  template <class Predicate>
  void erase_if(Predicate predicate) {
    T* const kept = std::remove_if(begin(), end(), predicate);
    while (end() != kept) items_[--size_].~T();
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return items_; }
  const T* data() const { return items_; }
  T* begin() { return items_; }
  const T* begin() const { return items_; }
  T* end() { return items_ + size_; }
  const T* end() const { return items_ + size_; }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }
  T& back() { return items_[size_ - 1]; }
  const T& back() const { return items_[size_ - 1]; }

 private:
  void swap(CheckedVector& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  Error make_room(size_t count) {
    if (count <= capacity_ - size_) return Error();
    size_t needed = 0;
    if (add_overflows(size_, count, &needed)) return no_memory_for(count, kItemSize);
    return reserve(std::max(needed, capacity_ + capacity_ / 2 + 4));
  }

  static constexpr size_t kItemSize = sizeof(T);  // NOLINT(*-sizeof-expression): T may be a pointer

  T* items_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace vitrine
