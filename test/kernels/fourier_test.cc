// Compares discrete Fourier transforms with their definition, computed in double.

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {
namespace {

using Signal = std::vector<std::complex<double>>;

// Computes the sum over k of x[k] * exp(sign * 2 pi i j k / n) for each j.
Signal transformed(const Signal& x, int sign) {
  const size_t n = x.size();
  Signal roots(n);
  for (size_t j = 0; j < n; ++j) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
    roots[j] = std::polar(1.0, sign * angle);
  }
  Signal result(n);
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < n; ++k) result[j] += x[k] * roots[j * k % n];
  }
  return result;
}

class Fourier : public testing::Test {
 protected:
  // Makes a random signal with [lines, length, inner] complex or real elements.
  Tensor& random_tensor(ScalarType dtype, const Sizes& sizes) {
    Tensor& tensor = call.make(dtype, sizes);
    const int64_t parts = tensor.numel() * (is_complex(dtype) ? 2 : 1);
    for (int64_t i = 0; i < parts; ++i) {
      const double value = random.real(-1, 1);
      if (real_type(dtype) == ScalarType::kDouble) {
        static_cast<double*>(tensor.mutable_raw_data())[i] = value;
      } else {
        static_cast<float*>(tensor.mutable_raw_data())[i] = static_cast<float>(value);
      }
    }
    return tensor;
  }
  static std::complex<double> at(const Tensor& tensor, int64_t index) {
    const auto part = [&](int64_t i) {
      return real_type(tensor.dtype()) == ScalarType::kDouble
                 ? static_cast<const double*>(tensor.raw_data())[i]
                 : static_cast<double>(static_cast<const float*>(tensor.raw_data())[i]);
    };
    if (!is_complex(tensor.dtype())) return part(index);
    return {part(2 * index), part(2 * index + 1)};
  }
  // Returns line `line` of a tensor [lines, length, inner].
  static Signal line_of(const Tensor& tensor, int64_t line, int64_t inner) {
    Signal result;
    for (int64_t i = 0; i < tensor.size(1); ++i) {
      result.push_back(at(tensor, (line * tensor.size(1) + i) * tensor.size(2) + inner));
    }
    return result;
  }
  static void expect_near(const Signal& found, const Signal& expected, double tolerance) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i].real(), expected[i].real(), tolerance) << i;
      ASSERT_NEAR(found[i].imag(), expected[i].imag(), tolerance) << i;
    }
  }

  KernelCall call;
  Random random{11};
};

// The tested lengths are powers of two, products of small primes, primes, and multiples of large
// primes.
constexpr int32_t kLengths[] = {1,  2,  3,  4,  5,  6,   7,   8,   9,   12,  15,  16,  25,
                                30, 32, 49, 61, 67, 100, 128, 134, 210, 256, 400, 509, 1018};

TEST_F(Fourier, MatchesDefinitionAtAnyLength) {
  for (const int32_t n : kLengths) {
    for (const ScalarType part : {ScalarType::kFloat, ScalarType::kDouble}) {
      SCOPED_TRACE(testing::Message() << n << " " << static_cast<int>(part));
      const bool is_double = part == ScalarType::kDouble;
      const ScalarType complex = is_double ? ScalarType::kComplexDouble : ScalarType::kComplexFloat;
      const double tolerance = (is_double ? 1e-14 : 1e-6) * std::sqrt(n) * (3 + std::log2(n));
      Tensor& real = random_tensor(part, {2, n, 3});
      Tensor& half = call.output_of(complex, {2, n / 2 + 1, 3}, "aten::_fft_r2c.out", real,
                                    call.ints({1}), 0, true);
      Tensor& all =
          call.output_of(complex, {2, n, 3}, "aten::_fft_r2c.out", real, call.ints({-2}), 0, false);
      Tensor& signal = random_tensor(complex, {2, n, 3});
      Tensor& backward = call.output_of(complex, {2, n, 3}, "aten::_fft_c2c.out", signal,
                                        call.ints({1}), 2, false);
      Tensor& again =
          call.output_of(part, {2, n, 3}, "aten::_fft_c2r.out", half, call.ints({1}), 2, n);
      for (int64_t line = 0; line < 2; ++line) {
        for (int64_t inner = 0; inner < 3; ++inner) {
          Signal expected = transformed(line_of(real, line, inner), -1);
          expect_near(line_of(all, line, inner), expected, tolerance);
          expected.resize(static_cast<size_t>(n / 2 + 1));
          expect_near(line_of(half, line, inner), expected, tolerance);
          expect_near(line_of(again, line, inner), line_of(real, line, inner), tolerance);
          expected = transformed(line_of(signal, line, inner), 1);
          for (std::complex<double>& value : expected) value /= n;
          expect_near(line_of(backward, line, inner), expected, tolerance);
        }
      }
    }
  }
}

// Transforms one dimension after the other, and divides by the square root of the product of both
// lengths.
TEST_F(Fourier, TransformsSeveralDimensions) {
  Tensor& x = random_tensor(ScalarType::kFloat, {1, 6, 10});
  Tensor& out = call.output_of(ScalarType::kComplexFloat, {1, 6, 6}, "aten::_fft_r2c.out", x,
                               call.ints({1, 2}), 1, true);
  Tensor& again = call.output_of(ScalarType::kFloat, {1, 6, 10}, "aten::_fft_c2r.out", out,
                                 call.ints({1, 2}), 1, 10);
  for (int64_t j = 0; j < 6; ++j) {
    for (int64_t k = 0; k < 6; ++k) {
      std::complex<double> sum = 0;
      for (int64_t a = 0; a < 6; ++a) {
        for (int64_t b = 0; b < 10; ++b) {
          const double turns = static_cast<double>(j * a) / 6 + static_cast<double>(k * b) / 10;
          sum += at(x, a * 10 + b) * std::polar(1.0, -2 * std::numbers::pi * turns);
        }
      }
      EXPECT_LT(std::abs(at(out, j * 6 + k) - sum / std::sqrt(60.0)), 1e-6);
    }
  }
  for (int64_t i = 0; i < 60; ++i) EXPECT_NEAR(at(again, i).real(), at(x, i).real(), 1e-6);
}

TEST_F(Fourier, ThreadsDoNotChangeResults) {
  Tensor& x = random_tensor(ScalarType::kFloat, {200, 400, 1});
  Tensor& alone = call.make(ScalarType::kComplexFloat, {200, 201, 1});
  Tensor& together = call.make(ScalarType::kComplexFloat, {200, 201, 1});
  ASSERT_TRUE(succeeds(call.run("aten::_fft_r2c.out", x, call.ints({1}), 0, true, alone)));
  call.use_threads();
  ASSERT_TRUE(succeeds(call.run("aten::_fft_r2c.out", x, call.ints({1}), 0, true, together)));
  EXPECT_EQ(std::memcmp(alone.raw_data(), together.raw_data(), alone.nbytes()), 0);
}

TEST_F(Fourier, RejectsInvalidArguments) {
  Tensor& x = random_tensor(ScalarType::kFloat, {2, 6});
  Tensor& out = call.make(ScalarType::kComplexFloat, {2, 4});
  EXPECT_TRUE(fails(call.run("aten::_fft_r2c.out", x, call.ints({}), 0, true, out), kBad, "dim"));
  EXPECT_TRUE(fails(call.run("aten::_fft_r2c.out", x, call.ints({1}), 3, true, out), kBad,
                    "normalization is 3"));
  EXPECT_TRUE(fails(call.run("aten::_fft_c2r.out", out, call.ints({1}), 0, 9, x), kBad,
                    "last_dim_size 9 needs 5"));
  Tensor& doubles = call.make(ScalarType::kComplexDouble, {2, 4});
  EXPECT_TRUE(
      fails(call.run("aten::_fft_r2c.out", x, call.ints({1}), 0, true, doubles), kBad, "out"));
}

}  // namespace
}  // namespace vitrine::test
