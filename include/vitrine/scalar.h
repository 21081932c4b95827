// Scalar is a number that is passed to an operator: an integer, a double or a bool.
#pragma once

#include <cstdint>

namespace vitrine {

class Scalar {
 public:
  enum class Kind : uint8_t { kInt, kDouble, kBool };

  Scalar(int64_t value) : kind_(Kind::kInt), int_(value) {}  // NOLINT(google-explicit-constructor)
  Scalar(double value)
      : kind_(Kind::kDouble), double_(value) {}  // NOLINT(google-explicit-constructor)
  Scalar(bool value)
      : kind_(Kind::kBool), int_(value ? 1 : 0) {}  // NOLINT(google-explicit-constructor)

  Kind kind() const { return kind_; }
  bool is_floating() const { return kind_ == Kind::kDouble; }
  bool is_bool() const { return kind_ == Kind::kBool; }

  // Converts integers and bools by static_cast, and also doubles if T is a floating-point type. For
  // any other T, a double is first converted to int64_t. This conversion saturates and turns NaN
  // into 0.
  template <class T>
  T to() const {
    if (kind_ != Kind::kDouble) return static_cast<T>(int_);
    if constexpr (requires(T t) { t % t; }) {
      if (!(double_ == double_)) return T(0);
      if (double_ <= -9223372036854775808.0) return static_cast<T>(INT64_MIN);
      if (double_ >= 9223372036854775808.0) return static_cast<T>(INT64_MAX);
      return static_cast<T>(static_cast<int64_t>(double_));
    } else {
      return static_cast<T>(double_);
    }
  }

 private:
  Kind kind_;
  union {
    int64_t int_;
    double double_;
  };
};

template <>
inline bool Scalar::to<bool>() const {
  return kind_ == Kind::kDouble ? double_ != 0.0 : int_ != 0;
}

}  // namespace vitrine
