// Defines a fixture for tests of Vitrine's kernels in delegates. Each test runs with Vitrine's
// kernels and with XNNPACK's.
#pragma once

#include <functional>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/execution/own_kernels.h"
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {

using Shape = std::vector<uint32_t>;

inline std::vector<int32_t> sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

inline size_t count_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
}

// The location of an element in a batch of images.
struct ImagePosition {
  size_t image, y, x, channel;
};
inline ImagePosition position_in(const Shape& nhwc, size_t element) {
  const size_t pixel = element / nhwc[3];
  return {pixel / nhwc[2] / nhwc[1], pixel / nhwc[2] % nhwc[1], pixel % nhwc[2], element % nhwc[3]};
}

class OwnKernelsFixture : public DelegateTest, public testing::WithParamInterface<bool> {
 protected:
  OwnKernelsFixture() { set_option("vitrine_kernels", GetParam()); }

  // Runs a delegate with these inputs and one output, and checks that the expected kernel ran.
  // `vitrine_name` is the name of Vitrine's kernel, or empty if XNNPACK's kernel always runs.
  // `is_built` is true if this build has Vitrine's kernel.
  template <class T>
  std::vector<T> result(PayloadBuilder& b,
                        const std::vector<std::pair<Shape, std::vector<T>>>& inputs,
                        const Shape& out_shape, std::string_view vitrine_name, bool is_built) {
    RecordingTracer recorded;
    tracer = &recorded;
    load(b);
    if (!delegate) return {};  // load() reported why
    std::vector<Tensor*> tensors;
    for (const auto& [shape, elements] : inputs) {
      tensors.push_back(&factory.make<T>(sizes_of(shape), elements));
    }
    Tensor& out = factory.make(scalar_type_of<T>, sizes_of(out_shape));
    tensors.push_back(&out);
    run(tensors);
    tracer = nullptr;
    const bool is_xnnpack = vitrine_name.empty();
    EXPECT_EQ(recorded.has_run(is_xnnpack ? "Vitrine" : vitrine_name),
              !is_xnnpack && GetParam() && is_built);
    return values_of<T>(out);
  }
  template <class T>
  std::vector<T> result(PayloadBuilder& b, const Shape& in_shape, const std::vector<T>& in,
                        const Shape& out_shape, std::string_view vitrine_name) {
    return result<T>(b, {{in_shape, in}}, out_shape, vitrine_name,
                     xnnpack::OwnKernels::have(vitrine_name));
  }
};

}  // namespace vitrine::test
