// Discrete Fourier transforms of any length. Real and imaginary parts are in separate arrays.
//
// Uses Stockham's algorithm with one radix per prime factor, and Bluestein's algorithm for lengths
// with a large prime factor (https://en.wikipedia.org/wiki/Chirp_Z-transform).
#pragma once

#include <array>
#include <cstdint>

#include "vitrine/kernel_context.h"

namespace vitrine {

// T is float or double. Lengths with a large prime factor need double.
template <class T>
class FourierTransform {
 public:
  static constexpr int64_t kMaxLength = int64_t{1} << 40;  // squares of indices fit into int64

  // Allocates temporary memory for tables. Precondition: 0 < length <= kMaxLength. If
  // needs_double(length), T must be double.
  [[nodiscard]] bool prepare(KernelContext& context, int64_t length);
  static bool needs_double(int64_t length);

  // Number of elements of run()'s `scratch`.
  int64_t scratch_size() const;

  // Replaces value j with the sum over k of value[k] * exp(-2 pi i j k / length). For the inverse
  // transform times the length, swap the arrays of real and imaginary parts.
  void run(T* re, T* im, T* scratch) const;

 private:
  void run_stages(T* re, T* im, T* scratch) const;
  void run_chirp(T* re, T* im, T* scratch) const;

  int64_t length_ = 0;  // length of the stages; a larger power of two for Bluestein's algorithm
  std::array<int32_t, 40> radices_{};
  int num_radices_ = 0;
  const T* root_re_ = nullptr;  // exp(-2 pi i k / length_)
  const T* root_im_ = nullptr;
  // Members for Bluestein's algorithm. The chirp is exp(-pi i k^2 / n), where n is chirp_length_.
  // The filter is the transform of the chirp's conjugate.
  int64_t chirp_length_ = 0;
  const T* chirp_re_ = nullptr;
  const T* chirp_im_ = nullptr;
  const T* filter_re_ = nullptr;
  const T* filter_im_ = nullptr;
};

extern template class FourierTransform<float>;
extern template class FourierTransform<double>;

}  // namespace vitrine
