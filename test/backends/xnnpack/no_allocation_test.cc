// Tests that calls with unchanged shapes do not allocate, even inside XNNPACK, with and without a
// tracer.
#include "test/backends/xnnpack/delegate_fixture.h"
#include "test/support/allocation_counter.h"

namespace vitrine::test {
namespace {

class CountingTracer final : public EventTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord&) override { ++count; }
  size_t count = 0;
};

TEST_F(DelegateTest, RepeatedCallsAllocateNothing) {
  PayloadBuilder b;
  const uint32_t x = b.input({4, 3}), y = b.internal({4, 2}), z = b.output({4, 2});
  b.fully_connected(x, b.constant<float>({2, 3}, {1, 2, 3, 4, 5, 6}), kInvalidId, y);
  b.unary(Tag::XNNTanh, y, z);
  CountingTracer counting;
  BackendInitContext context;
  context.tracer = &counting;
  Result<std::unique_ptr<Delegate>> loaded = xnnpack_backend().init(context, b.build(), {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();

  Tensor& in = factory.make(ScalarType::kFloat, {4, 3});
  Tensor& out = factory.make(ScalarType::kFloat, {4, 2}, {}, ShapeDynamism::kDynamicBound);
  EValue* arguments[] = {&factory.value(in), &factory.value(out)};
  const BackendExecutionContext call = {.tracer = &counting};
  ASSERT_TRUE((*loaded)->execute(call, arguments).ok());

  counting.count = 0;
  const int before = allocation_count();
  const Error traced = (*loaded)->execute(call, arguments);
  const Error untraced = (*loaded)->execute({}, arguments);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_TRUE(traced.ok() && untraced.ok());
  EXPECT_EQ(counting.count, 2u);
}

}  // namespace
}  // namespace vitrine::test
