#include "runtime/extension/trace_buffer.h"
#include "test/runtime/executor/method_fixture.h"
#include "test/support/allocation_counter.h"

namespace vitrine {
namespace {

using schema::program::TensorShapeDynamism;
using test::allocation_count;
using test::Planned;

class NoAllocationTest : public test::MethodTest {
 protected:
  // Builds a method with every kind of instruction. Shapes are dynamic, up to f32[64,6].
  void build_all(const char* kernel) {
    const auto tensor = [this](uint64_t offset) {
      return forward_.tensor({.sizes = {64, 6},
                              .planned = Planned{1, offset},
                              .dynamism = TensorShapeDynamism::DYNAMIC_BOUND});
    };
    forward_.buffer_sizes = {0, 3 * 1536};
    x_ = tensor(0);
    const int between = tensor(1536);
    out_ = tensor(3072);
    const int rows = forward_.integer(0);
    const int few = forward_.boolean(false);
    forward_.inputs = {x_};
    forward_.outputs = {out_};
    call(kernel, {x_, forward_.integer(2), between, between});
    forward_.delegate_call(delegate(3), {between, out_});
    call("test::size.int", {x_, forward_.integer(0), rows});
    forward_.move(rows, forward_.integer(0));
    call("test::less.Scalar", {rows, forward_.integer(100), few});
    forward_.jump_false(few, 0);
    forward_.free(between);
  }
  // Counts the allocations of set_input() and execute() for an input with `rows` rows.
  int allocations_of_run(Method& method, int32_t rows) {
    const EValue x = value({rows, 6}, std::vector<float>(static_cast<size_t>(rows) * 6, 1.f));
    const int before = allocation_count();
    const Error set = method.set_input(0, x);
    const Error run = method.execute();
    const int taken = allocation_count() - before;
    EXPECT_TRUE(set.ok()) << set.message();
    EXPECT_TRUE(run.ok()) << run.message();
    EXPECT_EQ(output(method)[0], 6);
    return taken;
  }
};

TEST_F(NoAllocationTest, AllocationCounterIncludesMallocAndNew) {
  const int before = allocation_count();
  ::operator delete(::operator new(4));
  EXPECT_GE(allocation_count() - before, 1);
  HeapArena arena;
  const int between = allocation_count();
  ASSERT_NE(arena.allocate(10, 8), nullptr);
  EXPECT_EQ(allocation_count() - between, 1) << "calls of malloc in the runtime must count";
}

TEST_F(NoAllocationTest, FirstRunAllocatesNothingIfKernelsNeedNoTemporaryMemory) {
  build_all("test::scale.out");
  TraceBuffer trace;
  const auto method = load({.tracer = &trace});
  for (const int32_t rows : {64, 1, 30, 64}) EXPECT_EQ(allocations_of_run(*method, rows), 0);
  method->set_tracer(nullptr);
  EXPECT_EQ(allocations_of_run(*method, 64), 0);
}

TEST_F(NoAllocationTest, RecordingValuesAllocatesNothing) {
  build_all("test::scale.out");
  ValueBuffer values(size_t{1} << 16, 64);
  TraceBuffer trace(TraceBuffer::kDefaultRecords, TraceBuffer::kDefaultBlocks, &values);
  const auto method = load({.tracer = &trace});
  for (const int32_t rows : {64, 1, 64}) EXPECT_EQ(allocations_of_run(*method, rows), 0);
  EXPECT_FALSE(values.entries().empty());
}

// The first run allocates the temporary memory of kernels; later runs reuse it.
TEST_F(NoAllocationTest, SecondRunAllocatesNothingEvenIfKernelsNeedTemporaryMemory) {
  build_all("test::scale_scratch.out");
  const auto method = load();
  EXPECT_GT(allocations_of_run(*method, 64), 0);
  // If the runs did not reuse memory, one of these 100 runs would need another allocation.
  for (int run = 0; run < 100; ++run) EXPECT_EQ(allocations_of_run(*method, run % 64 + 1), 0);
}

}  // namespace
}  // namespace vitrine
