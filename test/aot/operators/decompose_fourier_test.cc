#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/aot_error.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::Throws;

TEST(DecomposeFourier, ShortTimeTransformMatchesFormula) {
  constexpr int64_t kSignal = 20, kLength = 8, kHop = 3, kWindow = 5, kFrames = 5;
  Values signal(kSignal), window(kWindow);
  for (size_t i = 0; i < signal.size(); ++i) signal[i] = std::sin(static_cast<double>(i * i));
  for (size_t i = 0; i < window.size(); ++i) window[i] = 0.25 * static_cast<double>(i + 1);
  Values expected;
  for (int64_t frequency = 0; frequency <= kLength / 2; ++frequency) {
    for (int64_t frame = 0; frame < kFrames; ++frame) {
      double re = 0, im = 0;
      for (int64_t i = 0; i < kWindow; ++i) {
        const int64_t k = i + (kLength - kWindow) / 2;  // the window is centered
        const double value =
            signal[static_cast<size_t>(frame * kHop + k)] * window[static_cast<size_t>(i)];
        const double angle = 2 * std::numbers::pi * static_cast<double>(frequency * k) / kLength;
        re += value * std::cos(angle);
        im -= value * std::sin(angle);
      }
      expected.push_back(re / std::sqrt(8.0));
      expected.push_back(im / std::sqrt(8.0));
    }
  }
  expect_call("aten.stft.default", {floats({kSignal}, signal), floats({kWindow}, window)},
              {"$", kLength, kHop, kWindow, "$", true, true, false}, {kLength / 2 + 1, kFrames, 2},
              expected);
}

// Parameters of aten::istft, and the formula of its result.
struct Inverse {
  int64_t length = 8, hop = 3, window = 8, windows = 5, batch = 1;
  bool center = true, normalized = false, is_one_sided = true;
  int64_t result_length = 0;  // 0: not given

  int64_t frequencies() const { return is_one_sided ? length / 2 + 1 : length; }
  int64_t whole() const { return (windows - 1) * hop + length; }
  int64_t begin() const { return center ? length / 2 : 0; }
  int64_t size() const { return result_length != 0 ? result_length : whole() - 2 * begin(); }
};

double window_at(const Inverse& of, int64_t i) {
  const int64_t at = i - (of.length - of.window) / 2;
  return at < 0 || at >= of.window ? 0 : 0.25 + 0.125 * static_cast<double>(at);
}

// Returns the real part of element `i` of the inverse transform of one window. The upper half of
// the spectrum mirrors the lower half, so only the lower half is read.
double inverse_transform(const Inverse& of, const Values& spectrum, int64_t batch, int64_t window,
                         int64_t i) {
  double sum = 0;
  for (int64_t k = 0; k < of.length; ++k) {
    const bool is_mirrored = k > of.length / 2;
    const int64_t from = is_mirrored ? of.length - k : k;
    const auto at =
        static_cast<size_t>(((batch * of.frequencies() + from) * of.windows + window) * 2);
    // For a real signal, the imaginary parts of the first and the middle frequency count as 0.
    const bool is_real = from == 0 || 2 * from == of.length;
    const double im = is_real ? 0 : is_mirrored ? -spectrum[at + 1] : spectrum[at + 1];
    const double angle =
        2 * std::numbers::pi * static_cast<double>(k * i) / static_cast<double>(of.length);
    sum += spectrum[at] * std::cos(angle) - im * std::sin(angle);
  }
  return sum / (of.normalized ? std::sqrt(static_cast<double>(of.length))
                              : static_cast<double>(of.length));
}

Values inverse_by_formula(const Inverse& of, const Values& spectrum) {
  Values result;
  for (int64_t batch = 0; batch < of.batch; ++batch) {
    for (int64_t at = of.begin(); at < of.begin() + of.size(); ++at) {
      double sum = 0, squares = 0;
      for (int64_t window = 0; window < of.windows; ++window) {
        const int64_t i = at - window * of.hop;
        if (i < 0 || i >= of.length) continue;
        sum += inverse_transform(of, spectrum, batch, window, i) * window_at(of, i);
        squares += window_at(of, i) * window_at(of, i);
      }
      result.push_back(at < of.whole() ? sum / squares : 0);
    }
  }
  return result;
}

TensorData run_inverse(const Inverse& of, const Values& spectrum) {
  Values window;
  for (int64_t i = 0; i < of.window; ++i) window.push_back(0.25 + 0.125 * static_cast<double>(i));
  const bool has_batch = of.batch > 1;
  std::vector<int64_t> sizes = {of.frequencies(), of.windows, 2};
  if (has_batch) sizes.insert(sizes.begin(), of.batch);
  const auto make = [&](ModelBuilder& build, const Nodes& in) {
    Node* x = build.call("aten.view_as_complex.default", {in[0]});
    ArgumentList args = {x, of.length, of.hop, of.window, in[1], of.center, of.normalized};
    args.emplace_back(of.is_one_sided);
    args.push_back(of.result_length != 0 ? Argument(of.result_length) : Argument());
    std::vector<SymInt> result = {SymInt(of.size())};
    if (has_batch) result.insert(result.begin(), SymInt(of.batch));
    return build.call_as("aten.istft.default", args, {},
                         contiguous_spec(ScalarType::kFloat, result));
  };
  return run({floats(sizes, spectrum), floats({of.window}, window)}, make)[0];
}

TEST(DecomposeFourier, InverseShortTimeTransformMatchesFormula) {
  const Inverse cases[] = {{},
                           {.window = 6},
                           {.normalized = true},
                           {.hop = 2, .batch = 3},
                           {.length = 7, .hop = 2, .window = 5, .windows = 4},
                           {.hop = 2, .center = false},
                           {.is_one_sided = false},
                           {.result_length = 9},
                           {.result_length = 19}};
  for (const Inverse& of : cases) {
    SCOPED_TRACE(&of - cases);
    Values spectrum;
    for (int64_t i = 0; i < 2 * of.batch * of.frequencies() * of.windows; ++i) {
      spectrum.push_back(std::sin(static_cast<double>(i * i)));
    }
    expect_near(run_inverse(of, spectrum), inverse_by_formula(of, spectrum), 1e-5);
  }
}

// A real or complex transform of [2, size, 3] along dim 1.
struct OneDim {
  const char* target;
  int64_t size;
  int64_t length = 0;  // the argument n; 0: not given
  const char* norm = nullptr;
};

constexpr int64_t kBefore = 2, kAfter = 3;

bool is_named(const OneDim& of, std::string_view name) {
  return std::string_view(of.target) == name;
}

// Returns the sums over k of x[k] * e^(+-2 pi i k j / n) for each j. `full` has the n elements of
// x.
std::vector<std::complex<double>> sums(const std::vector<std::complex<double>>& full,
                                       bool is_inverse) {
  const auto n = static_cast<double>(full.size());
  std::vector<std::complex<double>> result(full.size());
  for (size_t j = 0; j < full.size(); ++j) {
    for (size_t k = 0; k < full.size(); ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(j * k) / n;
      result[j] += full[k] * std::polar(1.0, is_inverse ? angle : -angle);
    }
  }
  return result;
}

// Transforms sample values with the operator and with the formula, and compares the results.
void check_one_dim(const OneDim& of) {
  const bool is_inverse = is_named(of, "ifft") || is_named(of, "irfft");
  const bool has_half_input = is_named(of, "irfft");
  const int64_t length = of.length != 0 ? of.length : has_half_input ? 2 * (of.size - 1) : of.size;
  const bool is_complex_input = is_inverse || is_named(of, "fft");
  const int64_t parts = is_complex_input ? 2 : 1;
  Values x(static_cast<size_t>(kBefore * of.size * kAfter * parts));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i * i));

  const int64_t kept = is_named(of, "rfft") ? length / 2 + 1 : length;
  const int64_t result_parts = has_half_input ? 1 : 2;
  Values expected(static_cast<size_t>(kBefore * kept * kAfter * result_parts));
  const std::string_view norm = of.norm == nullptr ? "backward" : of.norm;
  const bool is_scaled = is_inverse == (norm == "backward");
  const auto n = static_cast<double>(length);
  const double scale = norm == "ortho" ? 1 / std::sqrt(n) : is_scaled ? 1 / n : 1;
  for (int64_t line = 0; line < kBefore * kAfter; ++line) {
    const int64_t outer = line / kAfter, inner = line % kAfter;
    std::vector<std::complex<double>> full(static_cast<size_t>(length));
    const auto element = [&](int64_t k) -> std::complex<double> {
      if (k >= of.size) return 0;
      const auto at = static_cast<size_t>(((outer * of.size + k) * kAfter + inner) * parts);
      return {x[at], is_complex_input ? x[at + 1] : 0};
    };
    for (int64_t k = 0; k < length; ++k) {
      const bool is_mirrored = has_half_input && k > length / 2;
      std::complex<double> value = element(is_mirrored ? length - k : k);
      if (is_mirrored) value = std::conj(value);
      // The imaginary parts of the first and the middle frequency of a real signal are ignored.
      if (has_half_input && (k == 0 || 2 * k == length)) value = value.real();
      full[static_cast<size_t>(k)] = value;
    }
    const auto transformed = sums(full, is_inverse);
    for (int64_t j = 0; j < kept; ++j) {
      const auto at = static_cast<size_t>(((outer * kept + j) * kAfter + inner) * result_parts);
      const std::complex<double> value = transformed[static_cast<size_t>(j)] * scale;
      expected[at] = value.real();
      if (result_parts == 2) expected[at + 1] = value.imag();
    }
  }

  std::vector<int64_t> sizes = {kBefore, of.size, kAfter};
  if (is_complex_input) sizes.push_back(2);
  const auto make = [&](ModelBuilder& build, const Nodes& in) {
    Node* self = is_complex_input ? build.call("aten.view_as_complex.default", {in[0]}) : in[0];
    ArgumentList args = {self, of.length != 0 ? Argument(of.length) : Argument(), int64_t{-2}};
    args.push_back(of.norm != nullptr ? Argument(std::string(of.norm)) : Argument());
    const ScalarType dtype = has_half_input ? ScalarType::kFloat : ScalarType::kComplexFloat;
    Node* out =
        build.call_as(std::string("aten.fft_") + of.target + ".default", args, {},
                      contiguous_spec(dtype, {SymInt(kBefore), SymInt(kept), SymInt(kAfter)}));
    return has_half_input ? out : build.call("aten.view_as_real.default", {out});
  };
  expect_near(run({floats(sizes, x)}, make)[0], expected, 1e-5);
}

TEST(DecomposeFourier, TransformsOfOneDimMatchTheFormula) {
  for (const char* target : {"fft", "ifft", "rfft", "irfft"}) {
    for (const OneDim& of : {OneDim{target, 6},
                             {target, 7, 0, "ortho"},
                             {target, 5, 0, "forward"},
                             {target, 5, 8, "backward"},
                             {target, 6, 9},
                             {target, 9, 4}}) {
      SCOPED_TRACE(testing::Message() << target << " of " << of.size << " elements, n = "
                                      << of.length << ", norm " << (of.norm ? of.norm : "None"));
      check_one_dim(of);
    }
  }
}

TEST(DecomposeFourier, RejectsTransformsOfOneDimWithInvalidArguments) {
  EXPECT_ERROR(AotError, check_one_dim({"rfft", 6, 0, "unitary"}),
               "norm must be backward, ortho or forward");
  EXPECT_THAT([] { check_one_dim({"irfft", 1}); }, Throws<AotError>());
}

TEST(DecomposeFourier, RejectsInverseTransformsWithWrongSizes) {
  EXPECT_ERROR(AotError, run_inverse({.hop = 0}, Values(50)), "hop_length must be positive");
  EXPECT_THAT([] { run_inverse({.windows = 0}, {}); }, Throws<AotError>());
}

}  // namespace
}  // namespace vitrine::aot
