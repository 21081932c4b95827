// Discrete Fourier transforms of real and complex tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "kernels/util/checks.h"
#include "kernels/util/fourier.h"
#include "kernels/util/parallel.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Values of the argument `normalization`, as in ATen.
enum Normalization : int64_t { kNone, kByRoot, kByLength };

// The lines of a row-major tensor along one dimension.
struct Lines {
  int64_t count;
  int64_t inner;  // distance between neighbors in a line, in elements
  int64_t length;

  int64_t begin(int64_t line) const { return line / inner * inner * length + line % inner; }
};

Lines lines_along(const Tensor& tensor, size_t dim) {
  const int64_t inner = size_product(tensor, dim + 1, tensor.rank());
  const int64_t length = tensor.size(dim);
  return {length == 0 ? 0 : tensor.numel() / length, inner, length};
}

// Transforms every line of a tensor and stores the results in another tensor. T is the type of the
// tensor's real and imaginary parts. C is the type of the computation.
template <class T, class C>
class LineTransform {
 public:
  LineTransform(int64_t length, bool is_forward, double scale)
      : length_(length), is_forward_(is_forward), scale_(static_cast<C>(scale)) {}

  bool prepare(KernelContext& context) {
    if (!transform_.prepare(context, length_)) return false;
    size_ = 2 * length_ + transform_.scratch_size();
    memory_ =
        static_cast<C*>(context.allocate_temp({worker_count(context), size_, int64_t{sizeof(C)}}));
    return memory_ != nullptr;
  }

  // For each line: load(line, re, im) fills the arrays, which are then transformed. store(line, re,
  // im) stores the results.
  template <class Load, class Store>
  void run(KernelContext& context, int64_t lines, const Load& load, const Store& store) const {
    const int64_t work = work_of({lines, length_, 100});
    parallel(context, lines, work, [&](int64_t line, int64_t worker) {
      C* const re = memory_ + worker * size_;
      C* const im = re + length_;
      load(line, re, im);
      if (is_forward_) {
        transform_.run(re, im, im + length_);
      } else {
        transform_.run(im, re, im + length_);
      }
      for (int64_t i = 0; i < 2 * length_; ++i) re[i] *= scale_;
      store(line, re, im);
    });
  }

 private:
  const int64_t length_;
  const bool is_forward_;
  const C scale_;
  FourierTransform<C> transform_;
  C* memory_ = nullptr;
  int64_t size_ = 0;
};

template <class T, class C>
bool transform_complex(KernelContext& context, T* data, const Lines& lines, bool is_forward,
                       double scale) {
  LineTransform<T, C> transform(lines.length, is_forward, scale);
  if (!transform.prepare(context)) return false;
  transform.run(
      context, lines.count,
      [&](int64_t line, C* re, C* im) {
        const T* from = data + 2 * lines.begin(line);
        for (int64_t i = 0; i < lines.length; ++i, from += 2 * lines.inner) {
          re[i] = from[0];
          im[i] = from[1];
        }
      },
      [&](int64_t line, const C* re, const C* im) {
        T* to = data + 2 * lines.begin(line);
        for (int64_t i = 0; i < lines.length; ++i, to += 2 * lines.inner) {
          to[0] = static_cast<T>(re[i]);
          to[1] = static_cast<T>(im[i]);
        }
      });
  return true;
}

// Calls run(C{}), where C is double if T is not precise enough for `length`, otherwise T.
template <class T>
bool with_arithmetic(int64_t length, const auto& run) {
  return FourierTransform<double>::needs_double(length) ? run(double{}) : run(T{});
}

template <class T>
bool transform_along(KernelContext& context, T* data, const Lines& lines, bool is_forward,
                     double scale) {
  if (lines.count == 0) return true;
  KernelContext::TemporaryScope scope(context);
  return with_arithmetic<T>(lines.length, [&](auto arithmetic) {
    return transform_complex<T, decltype(arithmetic)>(context, data, lines, is_forward, scale);
  });
}

struct Dims {
  std::array<size_t, kMaxRank> dims{};
  size_t count = 0;
  double scale = 1;

  size_t last() const { return dims[count - 1]; }
};

// Reads the arguments `dim` and `normalization`. Uses only the sizes of `signal`. A `last_size`
// other than 0 replaces the size of the last dimension in `dim`.
std::optional<Dims> read_dims(KernelContext& context, const Tensor& signal,
                              std::span<const int64_t> dim, int64_t normalization,
                              int64_t last_size) {
  if (dim.empty() || !dim_mask(context, dim, signal.rank()) || signal.rank() == 0) {
    context.fail(ErrorCode::kInvalidArgument, "dim must list existing dimensions of self");
    return std::nullopt;
  }
  if (normalization < kNone || normalization > kByLength) {
    context.fail(ErrorCode::kInvalidArgument, "normalization is %lld; expected 0, 1 or 2",
                 static_cast<long long>(normalization));
    return std::nullopt;
  }
  Dims result;
  double length = 1;
  for (const int64_t d : dim) {
    const size_t normal = *normalize_dim(context, d, signal.rank());
    result.dims[result.count++] = normal;
    const bool is_last = result.count == dim.size() && last_size != 0;
    length *= static_cast<double>(is_last ? last_size : signal.size(normal));
    if (signal.size(normal) == 0) {
      context.fail(ErrorCode::kInvalidArgument, "dimension %zu of self is empty", normal);
      return std::nullopt;
    }
  }
  if (normalization == kByRoot) result.scale = 1 / std::sqrt(length);
  if (normalization == kByLength) result.scale = 1 / length;
  return result;
}

// Checks that `real` is Float or Double, and that `complex` has the matching complex dtype.
bool check_parts(KernelContext& context, const Tensor& real, const Tensor& complex,
                 const char* complex_name) {
  const ScalarType expected =
      real.dtype() == ScalarType::kDouble ? ScalarType::kComplexDouble : ScalarType::kComplexFloat;
  if (real.dtype() != ScalarType::kDouble && real.dtype() != ScalarType::kFloat) {
    fail_unsupported_dtype(context, real.dtype());
    return false;
  }
  return check_dtype(context, complex, expected, complex_name);
}

bool check_memory(KernelContext& context, const Tensor& self, const Tensor& out) {
  return check_contiguous(context, self, "self") && check_contiguous(context, out, "out") &&
         check_data(context, {&self, &out}) && check_no_overlap(context, out, {&self});
}

// Calls run(T{}), where T is the type of the real and imaginary parts: float or double.
template <class Run>
void with_part(const Tensor& tensor, const Run& run) {
  const bool is_double = real_type(tensor.dtype()) == ScalarType::kDouble;
  is_double ? run(double{}) : run(float{});
}

template <class T, class C>
bool real_to_complex(KernelContext& context, const T* self, const Lines& in, T* out,
                     const Lines& to, double scale) {
  LineTransform<T, C> transform(in.length, true, scale);
  if (!transform.prepare(context)) return false;
  transform.run(
      context, in.count,
      [&](int64_t line, C* re, C* im) {
        const T* const from = self + in.begin(line);
        for (int64_t i = 0; i < in.length; ++i) re[i] = from[i * in.inner];
        std::fill_n(im, in.length, C{0});
      },
      [&](int64_t line, const C* re, const C* im) {
        T* result = out + 2 * to.begin(line);
        for (int64_t i = 0; i < to.length; ++i, result += 2 * to.inner) {
          result[0] = static_cast<T>(re[i]);
          result[1] = static_cast<T>(im[i]);
        }
      });
  return true;
}

// If `onesided`, computes only the values 0 to size / 2 of the last dimension in `dim`.
void fft_r2c_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dim,
                 int64_t normalization, bool onesided, Tensor& out) {
  const auto dims = read_dims(context, self, dim, normalization, 0);
  if (!dims || !check_parts(context, self, out, "out")) return;
  std::array<int32_t, kMaxRank> sizes{};
  std::ranges::copy(self.sizes(), sizes.begin());
  if (onesided) sizes[dims->last()] = sizes[dims->last()] / 2 + 1;
  if (!context.resize(out, std::span(sizes).first(self.rank())) ||
      !check_memory(context, self, out)) {
    return;
  }
  with_part(self, [&]<class T>(T) {
    const Lines in = lines_along(self, dims->last()), to = lines_along(out, dims->last());
    if (in.count == 0) return;
    auto* const result = static_cast<T*>(out.mutable_raw_data());
    const bool is_done = with_arithmetic<T>(in.length, [&](auto arithmetic) {
      KernelContext::TemporaryScope scope(context);
      return real_to_complex<T, decltype(arithmetic)>(context, self.unchecked_data<T>(), in, result,
                                                      to, dims->scale);
    });
    for (size_t i = 0; is_done && i + 1 < dims->count; ++i) {
      if (!transform_along(context, result, lines_along(out, dims->dims[i]), true, 1)) return;
    }
  });
}

template <class T, class C>
bool complex_to_real(KernelContext& context, const T* self, const Lines& in, T* out,
                     const Lines& to, double scale) {
  LineTransform<T, C> transform(to.length, false, scale);
  if (!transform.prepare(context)) return false;
  transform.run(
      context, to.count,
      [&](int64_t line, C* re, C* im) {
        const T* from = self + 2 * in.begin(line);
        for (int64_t i = 0; i < in.length; ++i, from += 2 * in.inner) {
          re[i] = from[0];
          im[i] = from[1];
        }
        im[0] = 0;
        if (to.length % 2 == 0) im[to.length / 2] = 0;
        for (int64_t i = in.length; i < to.length; ++i) {
          re[i] = re[to.length - i];
          im[i] = -im[to.length - i];
        }
      },
      [&](int64_t line, const C* re, const C*) {
        T* const result = out + to.begin(line);
        for (int64_t i = 0; i < to.length; ++i) result[i * to.inner] = static_cast<T>(re[i]);
      });
  return true;
}

// The inverse of a one-sided fft_r2c_out. Ignores the imaginary parts of value 0 and, for even
// sizes, of the middle value.
void fft_c2r_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dim,
                 int64_t normalization, int64_t last_dim_size, Tensor& out) {
  if (last_dim_size < 1 || last_dim_size > INT32_MAX) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "last_dim_size is %lld; expected 1 to 2^31 - 1",
                        static_cast<long long>(last_dim_size));
  }
  const auto dims = read_dims(context, self, dim, normalization, last_dim_size);
  if (!dims || !check_parts(context, out, self, "self")) return;
  if (self.size(dims->last()) != last_dim_size / 2 + 1) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "dimension %zu of self has size %d, but last_dim_size %lld needs %lld",
                        dims->last(), self.size(dims->last()),
                        static_cast<long long>(last_dim_size),
                        static_cast<long long>(last_dim_size / 2 + 1));
  }
  std::array<int32_t, kMaxRank> sizes{};
  std::ranges::copy(self.sizes(), sizes.begin());
  sizes[dims->last()] = static_cast<int32_t>(last_dim_size);
  if (!context.resize(out, std::span(sizes).first(self.rank())) ||
      !check_memory(context, self, out)) {
    return;
  }
  with_part(self, [&]<class T>(T) {
    const Lines in = lines_along(self, dims->last()), to = lines_along(out, dims->last());
    if (to.count == 0) return;
    const T* from = static_cast<const T*>(self.raw_data());
    if (dims->count > 1) {
      auto* const copy =
          static_cast<T*>(context.allocate_temp({self.numel(), 2 * int64_t{sizeof(T)}}));
      if (copy == nullptr) return;
      std::copy_n(from, 2 * self.numel(), copy);
      for (size_t i = 0; i + 1 < dims->count; ++i) {
        if (!transform_along(context, copy, lines_along(self, dims->dims[i]), false, 1)) return;
      }
      from = copy;
    }
    (void)with_arithmetic<T>(to.length, [&](auto arithmetic) {
      return complex_to_real<T, decltype(arithmetic)>(
          context, from, in, out.unchecked_mutable_data<T>(), to, dims->scale);
    });
  });
}

void fft_c2c_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dim,
                 int64_t normalization, bool forward, Tensor& out) {
  const auto dims = read_dims(context, self, dim, normalization, 0);
  if (!dims) return;
  if (self.dtype() != ScalarType::kComplexFloat && self.dtype() != ScalarType::kComplexDouble) {
    return fail_unsupported_dtype(context, self.dtype());
  }
  if (!check_dtype(context, out, self.dtype(), "out") || !context.resize(out, self.sizes()) ||
      !check_memory(context, self, out) || self.numel() == 0) {
    return;
  }
  std::memcpy(out.mutable_raw_data(), self.raw_data(), self.nbytes());
  with_part(self, [&]<class T>(T) {
    auto* const result = static_cast<T*>(out.mutable_raw_data());
    for (size_t i = 0; i < dims->count; ++i) {
      const double scale = i + 1 == dims->count ? dims->scale : 1;
      if (!transform_along(context, result, lines_along(out, dims->dims[i]), forward, scale)) {
        return;
      }
    }
  });
}

}  // namespace

VITRINE_KERNEL(_fft_r2c_out, "aten::_fft_r2c.out", fft_r2c_out);
VITRINE_KERNEL(_fft_c2r_out, "aten::_fft_c2r.out", fft_c2r_out);
VITRINE_KERNEL(_fft_c2c_out, "aten::_fft_c2c.out", fft_c2c_out);

}  // namespace vitrine::portable
