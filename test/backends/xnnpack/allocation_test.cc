// A call with unchanged shapes takes no memory, traced or not.
#include "test/backends/xnnpack/allocation_counter.h"
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

class CountingTracer final : public EventTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord&) override { ++count; }
  size_t count = 0;
};

TEST_F(DelegateTest, RepeatedCallsAllocateNothing) {
  BlobBuilder b;
  const uint32_t x = b.input({4, 3}), y = b.internal({4, 2}), z = b.output({4, 2});
  b.fully_connected(x, b.constant<float>({2, 3}, {1, 2, 3, 4, 5, 6}), kInvalidId, y);
  b.unary(Tag::XNNTanh, y, z);
  const std::vector<std::byte> blob = b.build();
  CountingTracer counting;
  BackendInitContext context;
  context.tracer = &counting;
  Result<std::unique_ptr<Delegate>> loaded = xnnpack_backend().init(context, blob, {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();

  Tensor& in = factory.make(ScalarType::kFloat, {4, 3});
  Tensor& fewer = factory.make(ScalarType::kFloat, {2, 3});
  Tensor& out = factory.make(ScalarType::kFloat, {4, 2}, {}, ShapeDynamism::kDynamicBound);
  EValue* arguments[] = {&factory.value(in), &factory.value(out)};
  const BackendExecutionContext call = {.tracer = &counting};
  ASSERT_TRUE((*loaded)->execute(call, arguments).ok());

  counting.count = allocation_count = 0;
  ASSERT_TRUE((*loaded)->execute(call, arguments).ok());
  ASSERT_TRUE((*loaded)->execute({}, arguments).ok());
  *arguments[0] = EValue(&fewer);  // our own part of a new shape is free, too
  ASSERT_TRUE((*loaded)->execute(call, arguments).ok());
  EXPECT_EQ(allocation_count, 0u);
  EXPECT_EQ(counting.count, 4u);
}

}  // namespace
}  // namespace vitrine::test
