#include <atomic>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

// Runs a chain of operators. Only the last one writes the output.
class CancelTest : public DelegateTest, public testing::WithParamInterface<bool> {
 protected:
  static constexpr int kSize = 1 << 19;
  static constexpr uint32_t kOperators = 40;  // take milliseconds in total

  CancelTest() {
    if (GetParam()) tracer = &recording_;
    PayloadBuilder b;
    uint32_t value = b.input({kSize});
    const uint32_t last = b.output({kSize});
    for (uint32_t i = 1; i < kOperators; ++i) {
      const uint32_t next = b.internal({kSize});
      b.unary(Tag::XNNSigmoid, value, next);
      value = next;
    }
    b.unary(Tag::XNNSigmoid, value, last);
    load(b);
  }

  Error execute_with(const StopSignal& signal) {
    BackendExecutionContext context;
    context.tracer = tracer;
    context.stop = &signal;
    EValue* arguments[] = {&factory.value(*in_), &factory.value(*out_)};
    return delegate->execute(context, arguments);
  }
  size_t operator_records() const {
    return static_cast<size_t>(std::ranges::count(
        recording_.records, TraceRecord::Kind::kDelegateOperator, &TraceRecord::kind));
  }

  static constexpr float kUntouched = -1;
  RecordingTracer recording_;
  Tensor* in_ = &factory.make<float>({kSize}, std::vector<float>(kSize, 0.5F));
  Tensor* out_ = &factory.make<float>({kSize}, std::vector<float>(kSize, kUntouched));
};

TEST_P(CancelTest, DoesNotStartAfterCancellation) {
  const std::atomic<bool> is_canceled = true;
  const size_t before = operator_records();
  EXPECT_EQ(execute_with(StopSignal(&is_canceled)).code(), kCanceled);
  EXPECT_EQ(values_of<float>(*out_)[0], kUntouched);
  EXPECT_EQ(operator_records(), before);
}

TEST_P(CancelTest, StopsExecutionBeforeTheNextOperator) {
  if (!xnnpack::operator_times_are_measured()) {
    GTEST_SKIP() << "without its private headers, XNNPACK runs all operators in one call";
  }
  std::atomic<bool> is_canceled = false;
  StopSignal signal(&is_canceled);
  const size_t before = operator_records();
  for (const bool by_deadline : {false, true, false}) {
    is_canceled = !by_deadline;
    signal.set_deadline(by_deadline ? 1 : 0);
    const Error error = execute_with(signal);
    EXPECT_EQ(error.code(), by_deadline ? ErrorCode::kOutOfResources : kCanceled);
    EXPECT_EQ(values_of<float>(*out_)[0], kUntouched);
  }
  EXPECT_EQ(operator_records(), before);  // an incomplete list is not logged
  is_canceled = false;
  signal.set_deadline(0);
  const Error error = execute_with(signal);
  EXPECT_TRUE(error.ok()) << error.message();
  // The chain of sigmoids converges to this fixed point.
  EXPECT_NEAR(values_of<float>(*out_)[kSize - 1], 0.6590461F, 1e-5F);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTracer, CancelTest, testing::Bool());

}  // namespace
}  // namespace vitrine::test
