// Defines a fixture for tests of Vitrine's kernels in delegates. Each test runs with Vitrine's
// kernels and with XNNPACK's.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "backends/xnnpack/runtime/execution/own_kernels.h"
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {

using Shape = std::vector<uint32_t>;

inline std::vector<int32_t> sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

class OwnKernelsFixture : public DelegateTest, public testing::WithParamInterface<bool> {
 protected:
  OwnKernelsFixture() { options = option_; }

  // Runs a delegate that has one input and one output, and checks that the expected kernel ran.
  // `vitrine_name` is empty if XNNPACK's kernel always runs.
  template <class T>
  std::vector<T> result(PayloadBuilder& b, const Shape& in_shape, const std::vector<T>& in,
                        const Shape& out_shape, std::string_view vitrine_name) {
    RecordingTracer recorded;
    tracer = &recorded;
    load(b);
    if (!delegate) return {};  // load() reported why
    Tensor& input = factory.make<T>(sizes_of(in_shape), in);
    Tensor& out = factory.make(input.dtype(), sizes_of(out_shape));
    run({&input, &out});
    tracer = nullptr;
    const bool is_own = GetParam() && xnnpack::OwnKernels::have(vitrine_name);
    if (vitrine_name.empty()) {
      EXPECT_FALSE(has_run(recorded, "Vitrine"));
    } else {
      EXPECT_EQ(has_run(recorded, vitrine_name), is_own);
    }
    return {out.data<T>(), out.data<T>() + out.numel()};
  }

  // True if the name of a kernel that ran starts with `name` and `name` is not empty.
  static bool has_run(const RecordingTracer& recorded, std::string_view name) {
    if (name.empty()) return false;
    return std::ranges::any_of(recorded.records, [&](const TraceRecord& record) {
      return std::string_view(record.metadata, record.metadata_size).starts_with(name);
    });
  }

 private:
  const BackendOption option_[1] = {{"XnnpackBackend", "vitrine_kernels", GetParam()}};
};

}  // namespace vitrine::test
