// Defines a fixture for tests of Vitrine's kernels in delegates. Each test runs with Vitrine's
// kernels and with XNNPACK's.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/execution/own_kernels.h"
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {

using Shape = std::vector<uint32_t>;

inline std::vector<int32_t> sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

class OwnKernelsFixture : public DelegateTest, public testing::WithParamInterface<bool> {
 protected:
  OwnKernelsFixture() { options = option_; }

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

 private:
  const BackendOption option_[1] = {{"XnnpackBackend", "vitrine_kernels", GetParam()}};
};

}  // namespace vitrine::test
