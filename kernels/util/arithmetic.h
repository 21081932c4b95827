// Element arithmetic that is defined for every value. Integers wrap around, as in PyTorch.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace vitrine {

template <class T>
inline constexpr bool is_integer_v = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// An unsigned type in which T's arithmetic may wrap around.
template <class T>
using Wrapping =
    std::conditional_t<(sizeof(T) < sizeof(uint32_t)), uint32_t,
                       std::make_unsigned_t<std::conditional_t<is_integer_v<T>, T, int64_t>>>;

template <class T>
constexpr T wrapping_add(T a, T b) {
  if constexpr (is_integer_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else {
    return a + b;
  }
}

template <class T>
constexpr T wrapping_sub(T a, T b) {
  if constexpr (is_integer_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  } else {
    return static_cast<T>(a - b);
  }
}

template <class T>
constexpr T wrapping_mul(T a, T b) {
  if constexpr (is_integer_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  } else if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else {
    return a * b;
  }
}

template <class T>
constexpr T wrapping_neg(T a) {
  if constexpr (is_integer_v<T>) {
    return wrapping_sub(T(0), a);
  } else {
    return -a;  // 0 - a would lose the sign of zero
  }
}

// --- Division. An integer divisor must not be zero. The smallest integer divided by -1 wraps
// around to itself. ---

template <class T>
T divide_trunc(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::trunc(a / b);
  } else {
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return wrapping_neg(a);
    }
    return static_cast<T>(a / b);
  }
}

// Remainder with the dividend's sign.
template <class T>
T fmod_trunc(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(0);
    }
    return static_cast<T>(a % b);
  }
}

// Remainder with the divisor's sign, like Python's %.
template <class T>
T remainder_floor(T a, T b) {
  const T remainder = fmod_trunc(a, b);
  return remainder != T(0) && (remainder < T(0)) != (b < T(0)) ? static_cast<T>(remainder + b)
                                                               : remainder;
}

// Quotient rounded toward negative infinity, like Python's //. Returns a / b if a floating b is 0.
// floor(a / b) is too large if a / b was rounded up to an integer.
template <class T>
T divide_floor(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == T(0)) return a / b;
    const T remainder = std::fmod(a, b);
    T quotient = (a - remainder) / b;
    if (remainder != T(0) && (b < T(0)) != (remainder < T(0))) quotient -= T(1);
    if (quotient == T(0)) return std::copysign(T(0), a / b);
    const T floored = std::floor(quotient);
    return quotient - floored > T(0.5) ? floored + T(1) : floored;
  } else {
    const T quotient = divide_trunc(a, b);
    const bool rounded_up = fmod_trunc(a, b) != T(0) && (a < T(0)) != (b < T(0));
    return rounded_up ? static_cast<T>(quotient - 1) : quotient;
  }
}

// --- Ordering. If an operand is NaN, the result is NaN, as in PyTorch. ---

template <class T>
constexpr T larger(T a, T b) {
  return a < b || b != b ? b : a;
}
template <class T>
constexpr T smaller(T a, T b) {
  return b < a || b != b ? b : a;
}
// Clamps x to [low, high]. Returns `high` if low > high. NaN stays NaN.
template <class T>
constexpr T clamped(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return high < raised ? high : raised;
}

template <class T>
T absolute(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else if constexpr (std::is_signed_v<T>) {
    return x < 0 ? wrapping_neg(x) : x;
  } else {
    return x;
  }
}

template <class T>
T log_add_exp(T a, T b) {
  if (a == b && std::isinf(a)) return a;
  return larger(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

// Returns x * log(y), but 0 if x is 0 and y is not NaN.
template <class T>
T x_log_y(T x, T y) {
  return x == 0 && !std::isnan(y) ? T{0} : x * std::log(y);
}

// The result is -1, 0 or 1. The sign of NaN is 0.
template <class T>
constexpr T sign_of(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(x != 0);
  } else {
    return static_cast<T>((x > 0) - (x < 0));
  }
}

// max(x, 0). NaN stays NaN.
template <class T>
constexpr T rectified(T x) {
  if constexpr (std::is_signed_v<T>) {
    return x < 0 ? T(0) : x;
  } else {
    return x;
  }
}

// --- Bits ---

template <class T>
constexpr T inverted(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return !x;
  } else {
    return static_cast<T>(~x);
  }
}

// A negative shift, or a shift of at least the width of T, shifts all bits out.
template <class T>
constexpr T shift_left(T a, T bits) {
  constexpr T kWidth = static_cast<T>(sizeof(T) * 8);
  if (bits < T(0) || bits >= kWidth) return T(0);
  return static_cast<T>(static_cast<Wrapping<T>>(a) << bits);
}
template <class T>
constexpr T shift_right(T a, T bits) {
  constexpr int kWidth = static_cast<int>(sizeof(T) * 8);
  const bool shifts_all = bits < T(0) || bits >= T(kWidth);
  if (shifts_all && std::is_unsigned_v<T>) return T(0);
  return static_cast<T>(a >> (shifts_all ? kWidth - 1 : static_cast<int>(bits)));
}

// Large results wrap around. For a negative exponent, the result is rounded toward zero, and 0 to a
// negative power is 0.
template <class T>
constexpr T integer_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == T(1)) return T(1);
      if (base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
      return T(0);
    }
  }
  T result = 1;
  for (T remaining = exponent; remaining != 0; remaining = static_cast<T>(remaining / 2)) {
    if (remaining % 2 != 0) result = wrapping_mul(result, base);
    base = wrapping_mul(base, base);
  }
  return result;
}

}  // namespace vitrine
