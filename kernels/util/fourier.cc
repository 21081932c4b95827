#include "kernels/util/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/util/independent.h"

namespace vitrine {

namespace {

// The time of a stage is proportional to its radix, so lengths with larger prime factors use
// Bluestein's algorithm.
constexpr int64_t kMaxRadix = 61;

struct Root {
  double re;
  double im;
};

// Returns exp(-2 pi i index / length). Multiples of a quarter circle are exact.
Root root_of_unity(int64_t index, int64_t length) {
  const int64_t quarter = 4 * index / length;
  const int64_t rest = 4 * index - quarter * length;  // angle in quarter circles, times length
  const bool is_steep = 2 * rest > length;
  const double angle = std::numbers::pi / 2 * static_cast<double>(is_steep ? length - rest : rest) /
                       static_cast<double>(length);
  double cosine = std::cos(angle);
  double sine = std::sin(angle);
  if (is_steep) std::swap(cosine, sine);
  switch (quarter & 3) {
    case 0:
      return {cosine, -sine};
    case 1:
      return {-sine, -cosine};
    case 2:
      return {-cosine, sine};
    default:
      return {sine, cosine};
  }
}

int64_t largest_factor(int64_t length) {
  int64_t largest = 1;
  for (int64_t factor = 2; factor * factor <= length; ++factor) {
    while (length % factor == 0) {
      length /= factor;
      largest = factor;
    }
  }
  return std::max(largest, length);
}

template <class T>
T* allocate(KernelContext& context, int64_t count) {
  return static_cast<T*>(context.allocate_temp({count, int64_t{sizeof(T)}}));
}

// One stage of Stockham's algorithm. The arrays hold `stride` interleaved sequences. In each
// sequence, the stage computes `groups` transforms of `radix` values. The values of one transform
// are `groups` * `stride` elements apart.
template <class T>
struct Stage {
  int64_t radix, groups, stride;
  const T* root_re;  // roots of the entire transform; this stage uses every stride-th root
  const T* root_im;
};

// Computes a stage of any radix from the definition of the transform.
template <class T>
void run_generic(const Stage<T>& s, const T* re, const T* im, T* to_re, T* to_im) {
  const int64_t step = s.groups * s.stride;  // elements between the values of a group
  for (int64_t p = 0; p < s.groups; ++p) {
    for (int64_t i = 0; i < s.radix; ++i) {
      T* const out_re = to_re + s.stride * (s.radix * p + i);
      T* const out_im = to_im + s.stride * (s.radix * p + i);
      for (int64_t j = 0; j < s.radix; ++j) {
        // The root at `index` is the product of a transform coefficient and a twiddle factor.
        const int64_t index = (i * j % s.radix * step + p * i * s.stride) % (step * s.radix);
        const T c = s.root_re[index], d = s.root_im[index];
        const T* const a = re + s.stride * p + j * step;
        const T* const b = im + s.stride * p + j * step;
        VITRINE_INDEPENDENT_ITERATIONS
        for (int64_t q = 0; q < s.stride; ++q) {
          const T real = a[q] * c - b[q] * d, imaginary = a[q] * d + b[q] * c;
          out_re[q] = j == 0 ? real : out_re[q] + real;
          out_im[q] = j == 0 ? imaginary : out_im[q] + imaginary;
        }
      }
    }
  }
}

template <class T>
void run_radix2(const Stage<T>& s, const T* re, const T* im, T* to_re, T* to_im) {
  const int64_t step = s.groups * s.stride;
  for (int64_t p = 0; p < s.groups; ++p) {
    const T c = s.root_re[p * s.stride], d = s.root_im[p * s.stride];
    const int64_t from = s.stride * p, to = 2 * s.stride * p;
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t q = 0; q < s.stride; ++q) {
      const T a = re[from + q], b = im[from + q];
      const T e = re[from + step + q], f = im[from + step + q];
      to_re[to + q] = a + e;
      to_im[to + q] = b + f;
      to_re[to + s.stride + q] = (a - e) * c - (b - f) * d;
      to_im[to + s.stride + q] = (a - e) * d + (b - f) * c;
    }
  }
}

template <class T>
void run_radix4(const Stage<T>& s, const T* re, const T* im, T* to_re, T* to_im) {
  const int64_t step = s.groups * s.stride, stride = s.stride;
  for (int64_t p = 0; p < s.groups; ++p) {
    const int64_t root = p * stride;
    const T c1 = s.root_re[root], d1 = s.root_im[root];
    const T c2 = s.root_re[2 * root], d2 = s.root_im[2 * root];
    const T c3 = s.root_re[3 * root], d3 = s.root_im[3 * root];
    const T* const x = re + stride * p;
    const T* const y = im + stride * p;
    T* const u = to_re + 4 * stride * p;
    T* const v = to_im + 4 * stride * p;
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t q = 0; q < stride; ++q) {
      const T sum_re = x[q] + x[2 * step + q], sum_im = y[q] + y[2 * step + q];
      const T difference_re = x[q] - x[2 * step + q], difference_im = y[q] - y[2 * step + q];
      const T odd_re = x[step + q] + x[3 * step + q], odd_im = y[step + q] + y[3 * step + q];
      // (value 1 - value 3) * -i, where i is the imaginary unit.
      const T turned_re = y[step + q] - y[3 * step + q], turned_im = x[3 * step + q] - x[step + q];
      u[q] = sum_re + odd_re;
      v[q] = sum_im + odd_im;
      const T re1 = difference_re + turned_re, im1 = difference_im + turned_im;
      const T re2 = sum_re - odd_re, im2 = sum_im - odd_im;
      const T re3 = difference_re - turned_re, im3 = difference_im - turned_im;
      u[stride + q] = re1 * c1 - im1 * d1;
      v[stride + q] = re1 * d1 + im1 * c1;
      u[2 * stride + q] = re2 * c2 - im2 * d2;
      v[2 * stride + q] = re2 * d2 + im2 * c2;
      u[3 * stride + q] = re3 * c3 - im3 * d3;
      v[3 * stride + q] = re3 * d3 + im3 * c3;
    }
  }
}

}  // namespace

template <class T>
bool FourierTransform<T>::needs_double(int64_t length) {
  return largest_factor(length) > kMaxRadix;
}

template <class T>
int64_t FourierTransform<T>::scratch_size() const {
  return (chirp_length_ == 0 ? 2 : 4) * length_;
}

template <class T>
bool FourierTransform<T>::prepare(KernelContext& context, int64_t length) {
  const bool is_chirp = needs_double(length);
  length_ = length;
  if (is_chirp) {
    length_ = 1;
    while (length_ < 2 * length - 1) length_ *= 2;
  }
  num_radices_ = 0;
  int64_t rest = length_;
  for (int64_t radix = 4; rest > 1; radix = radix == 4 ? 2 : radix == 2 ? 3 : radix + 2) {
    for (; rest % radix == 0; rest /= radix) {
      radices_[static_cast<size_t>(num_radices_++)] = static_cast<int32_t>(radix);
    }
  }
  T* const root_re = allocate<T>(context, length_);
  T* const root_im = allocate<T>(context, length_);
  if (context.failed()) return false;
  // Swapping and negating real and imaginary parts of the first octant gives the other roots.
  const int64_t octant = length_ % 8 == 0 ? length_ / 8 : length_ - 1;
  for (int64_t k = 0; k <= octant; ++k) {
    const auto [re, im] = root_of_unity(k, length_);
    root_re[k] = static_cast<T>(re);
    root_im[k] = static_cast<T>(im);
  }
  for (int64_t k = octant + 1; k < length_; ++k) {
    const int64_t quarter = length_ / 4;
    if (k <= quarter) {  // the mirror image of the first octant
      root_re[k] = -root_im[quarter - k];
      root_im[k] = -root_re[quarter - k];
    } else {  // a quarter circle further
      root_re[k] = root_im[k - quarter];
      root_im[k] = -root_re[k - quarter];
    }
  }
  root_re_ = root_re;
  root_im_ = root_im;
  chirp_length_ = 0;
  if (!is_chirp) return true;

  T* const chirp_re = allocate<T>(context, length);
  T* const chirp_im = allocate<T>(context, length);
  T* const filter_re = allocate<T>(context, length_);
  T* const filter_im = allocate<T>(context, length_);
  T* const scratch = allocate<T>(context, 2 * length_);
  if (context.failed()) return false;
  std::fill_n(filter_re, length_, T{0});
  std::fill_n(filter_im, length_, T{0});
  int64_t square = 0;  // k^2 modulo 2 * length
  for (int64_t k = 0; k < length; ++k) {
    const auto [re, im] = root_of_unity(square, 2 * length);
    chirp_re[k] = static_cast<T>(re);
    chirp_im[k] = static_cast<T>(im);
    filter_re[k] = filter_re[(length_ - k) % length_] = static_cast<T>(re);
    filter_im[k] = filter_im[(length_ - k) % length_] = static_cast<T>(-im);
    square = (square + 2 * k + 1) % (2 * length);
  }
  run_stages(filter_re, filter_im, scratch);
  chirp_length_ = length;
  chirp_re_ = chirp_re;
  chirp_im_ = chirp_im;
  filter_re_ = filter_re;
  filter_im_ = filter_im;
  return true;
}

template <class T>
void FourierTransform<T>::run(T* re, T* im, T* scratch) const {
  if (chirp_length_ == 0) return run_stages(re, im, scratch);
  run_chirp(re, im, scratch);
}

template <class T>
void FourierTransform<T>::run_stages(T* re, T* im, T* scratch) const {
  const T *from_re = re, *from_im = im;
  T *to_re = scratch, *to_im = scratch + length_;
  int64_t stride = 1;
  for (int i = 0; i < num_radices_; ++i) {
    const int64_t radix = radices_[static_cast<size_t>(i)];
    const Stage<T> stage = {radix, length_ / stride / radix, stride, root_re_, root_im_};
    const auto run = radix == 4 ? run_radix4<T> : radix == 2 ? run_radix2<T> : run_generic<T>;
    run(stage, from_re, from_im, to_re, to_im);
    from_re = to_re;
    from_im = to_im;
    to_re = to_re == scratch ? re : scratch;
    to_im = to_im == im ? scratch + length_ : im;
    stride *= radix;
  }
  if (from_re != re) {
    std::copy_n(from_re, length_, re);
    std::copy_n(from_im, length_, im);
  }
}

// Bluestein's algorithm. Because 2 j k = j^2 + k^2 - (j - k)^2, the transform of n values is a
// convolution with exp(pi i k^2 / n), the conjugate of the chirp, between two multiplications by
// the chirp.
template <class T>
void FourierTransform<T>::run_chirp(T* re, T* im, T* scratch) const {
  T* const a = scratch;
  T* const b = scratch + length_;
  T* const rest = scratch + 2 * length_;
  std::fill_n(a, 2 * length_, T{0});
  for (int64_t k = 0; k < chirp_length_; ++k) {
    a[k] = re[k] * chirp_re_[k] - im[k] * chirp_im_[k];
    b[k] = re[k] * chirp_im_[k] + im[k] * chirp_re_[k];
  }
  run_stages(a, b, rest);
  for (int64_t k = 0; k < length_; ++k) {
    const T real = a[k] * filter_re_[k] - b[k] * filter_im_[k];
    b[k] = a[k] * filter_im_[k] + b[k] * filter_re_[k];
    a[k] = real;
  }
  run_stages(b, a, rest);  // swapped arrays: the inverse transform
  const T scale = T{1} / static_cast<T>(length_);
  for (int64_t k = 0; k < chirp_length_; ++k) {
    re[k] = (a[k] * chirp_re_[k] - b[k] * chirp_im_[k]) * scale;
    im[k] = (a[k] * chirp_im_[k] + b[k] * chirp_re_[k]) * scale;
  }
}

template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace vitrine
