#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

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
  const Arguments arguments = [&](const Nodes& in) {
    return ArgumentList{in[0], kLength, kHop, kWindow, in[1], true, true, false};
  };
  expect_near(lowered("aten.stft.default", {floats({kSignal}, signal), floats({kWindow}, window)},
                      arguments, {SymInt(kLength / 2 + 1), SymInt(kFrames), SymInt(2)}),
              expected);
}

}  // namespace
}  // namespace vitrine::aot
