// Tests when a method keeps a result that depends only on constants, and when the method computes
// this result again in each run.
#include "test/runtime/executor/method_fixture.h"
#include "vitrine/kernel.h"
#include "vitrine/value_tracer.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

int transpositions = 0;  // calls of the kernel below

void transpose(KernelContext& context, const Tensor& self, Tensor& out) {
  ++transpositions;
  if (self.rank() != 2 || out.rank() != 2 || out.numel() != self.numel()) {
    return context.fail(ErrorCode::kInvalidArgument, "expected two matrices of equal size");
  }
  for (int32_t r = 0; r < self.size(0); ++r) {
    for (int32_t c = 0; c < self.size(1); ++c) {
      out.unchecked_mutable_data<float>()[c * self.size(0) + r] =
          self.data<float>()[r * self.size(1) + c];
    }
  }
}

// Makes `view` another name for the memory of `self`.
void view_other(KernelContext& context, const Tensor& self, ChangedTensor view) {
  Error error = view.tensor->alias(self, view.tensor->sizes());
  if (!error.ok()) context.fail(std::move(error));
}

VITRINE_KERNEL(keep_transpose, "aten::t_copy.out", transpose);
VITRINE_KERNEL(keep_view, "keep::view", view_other);

constexpr const Kernel* kKeepTable[] = {&kernel_keep_transpose, &kernel_keep_view};

const KernelRegistry& keep_kernels() {
  static const KernelRegistry registry = [] {
    KernelRegistry tables = test_kernels();
    EXPECT_TRUE(tables.add("keep", kKeepTable).ok());
    return tables;
  }();
  return registry;
}

// Records the result of each instruction.
class ResultRecorder : public ValueTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord&) override {}
  bool wants_values() const override { return true; }
  void record_value(const TracedValue& value) override {
    if (!value.is_method_output)
      results.push_back(values_of<float>(value.value->unchecked_tensor()));
  }
  std::vector<std::vector<float>> results;
};

// The methods transpose a constant [[1, 2, 3], [4, 5, 6]]. All results have the shape [3,2].
class KeepResultsTest : public PlanTest {
 protected:
  KeepResultsTest() {
    kernels_ = &keep_kernels();
    transpositions = 0;
  }

  int32_t matrix_at(uint64_t offset) {
    return forward_.tensor({.sizes = {3, 2}, .planned = Planned{1, offset}});
  }
  int32_t constant() {
    const uint32_t data = builder_.constant(bytes_of<float>({1, 2, 3, 4, 5, 6}));
    return forward_.tensor({.sizes = {2, 3}, .data = data});
  }
  void transpose_to(int32_t from, int32_t to) { call("aten::t_copy.out", {from, to, to}); }
  // Adds an instruction that transposes the constant. Returns the result, which is at byte `offset`
  // of memory 1.
  int32_t transposed_at(uint64_t offset) {
    const int32_t to = matrix_at(offset);
    transpose_to(constant(), to);
    return to;
  }
  // Makes the method return twice the value `from`, with the same shape. The output is at byte
  // `offset` of memory 1.
  void return_doubled(int32_t from, uint64_t offset) {
    TensorSpec spec = forward_.values[static_cast<size_t>(from)].tensor;
    spec.planned = Planned{1, offset};
    forward_.outputs = {forward_.tensor(spec)};
    scale(from, forward_.outputs[0]);
  }

  // out = 2 * transposed + 2 * x. The product 2 * x overwrites the planned memory of `transposed`.
  void build_sum() {
    const int32_t x = input_matrix(128);
    const int32_t doubled = matrix_at(32);
    const int32_t other = matrix_at(0);
    const int32_t out = matrix_at(64);
    scale(transposed_at(0), doubled);
    scale(x, other);
    add(doubled, other, out);
    forward_.outputs = {out};
  }
  int32_t input_matrix(uint64_t offset) {
    forward_.inputs.push_back(matrix_at(offset));
    return forward_.inputs.back();
  }

  // Loads the method and runs it twice with x = [[0, 1], [2, 3], [4, 5]]. Returns the last output.
  // `transpositions` counts the calls of the transpose kernel.
  std::vector<float> run_twice(const MethodOptions& options, uint64_t* kept = nullptr) {
    const auto method = load(options);
    for (int run = 0; run < 2; ++run) {
      for (size_t i = 0; i < method->num_inputs(); ++i) {
        EXPECT_TRUE(method->set_input(i, value({3, 2}, {0, 1, 2, 3, 4, 5})).ok());
      }
      const Error error = method->execute();
      EXPECT_TRUE(error.ok()) << error.message();
    }
    if (kept != nullptr) {
      *kept = method->memory_usage().delegates.bytes(DelegateMemory::Kind::kPackedWeights);
    }
    return output(*method);
  }
  // Runs the method twice. Expects `outputs` from the second run, and `calls` kernel calls in
  // both runs together.
  void expect_run(const std::vector<float>& outputs, int calls) {
    EXPECT_EQ(run_twice(options()), outputs);
    EXPECT_EQ(transpositions, calls);
  }
};

TEST_F(KeepResultsTest, RunsTheKernelOnceAndCountsTheMemoryOfTheResult) {
  build_sum();
  uint64_t kept = 0;
  EXPECT_THAT(run_twice(options(), &kept), ElementsAre(2, 10, 8, 16, 14, 22));
  EXPECT_EQ(transpositions, 1);
  EXPECT_GE(kept, 6 * sizeof(float));
}

TEST_F(KeepResultsTest, TracersReceiveTheResultInEachRun) {
  build_sum();
  ResultRecorder recorder;
  MethodOptions traced = options();
  traced.tracer = &recorder;
  run_twice(traced);
  ASSERT_EQ(recorder.results.size(), 8U);  // 4 steps in 2 runs
  EXPECT_THAT(recorder.results[0], ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(recorder.results[4], ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_EQ(transpositions, 1);
}

TEST_F(KeepResultsTest, ValuesThatDependOnlyOnKeptResultsAreComputedOnce) {
  const int32_t twice = forward_.tensor({.sizes = {2, 3}, .planned = Planned{1, 32}});
  transpose_to(transposed_at(0), twice);
  return_doubled(twice, 64);
  expect_run({2, 4, 6, 8, 10, 12}, 2);
}

TEST_F(KeepResultsTest, RunsTheKernelInEachRunIfTheInputMayChange) {
  const int32_t transposed = forward_.tensor({.sizes = {2, 3}, .planned = Planned{1, 0}});
  transpose_to(input_matrix(128), transposed);
  return_doubled(transposed, 32);
  expect_run({0, 4, 8, 2, 6, 10}, 2);
}

TEST_F(KeepResultsTest, WritesOutputsInEachRun) {
  forward_.outputs = {transposed_at(0)};
  expect_run({1, 4, 2, 5, 3, 6}, 2);
}

// The memory plan gives a view and the transposed matrix the same address.
TEST_F(KeepResultsTest, WritesTheResultInEachRunIfAViewReadsItsPlannedMemory) {
  transposed_at(0);
  return_doubled(at(0, 6), 32);
  expect_run({2, 8, 4, 10, 6, 12}, 2);
}

TEST_F(KeepResultsTest, WritesTheResultInEachRunIfAnOutputReturnsItsPlannedMemory) {
  transposed_at(0);
  forward_.outputs = {at(0, 6)};
  expect_run({1, 4, 2, 5, 3, 6}, 2);
}

// `view` has the address of the transposed matrix. Before `view` is read, 2 * x overwrites the
// matrix, so the elements of `view` are 2 * x.
TEST_F(KeepResultsTest, IgnoresViewsOfLaterValues) {
  const int32_t x = input_matrix(128);
  const int32_t doubled = matrix_at(32);
  const int32_t view = at(0, 6);
  const int32_t out = at(64, 6);
  scale(transposed_at(0), doubled);
  scale(x, matrix_at(0));
  add(view, doubled, out);
  forward_.outputs = {out};
  expect_run({2, 10, 8, 16, 14, 22}, 1);
}

// Another instruction overwrites only the end of the result, so the view still contains elements of
// the result.
TEST_F(KeepResultsTest, WritesTheResultInEachRunIfAViewReadsAPartOfIt) {
  const int32_t x = input_matrix(128);
  transposed_at(0);
  scale(x, matrix_at(16));
  return_doubled(at(8, 6), 64);
  expect_run({4, 10, 0, 4, 8, 12}, 2);
}

TEST_F(KeepResultsTest, RunsTheKernelInEachRunIfAStepChangesTheResult) {
  const int32_t transposed = transposed_at(0);
  scale(transposed, transposed);
  return_doubled(transposed, 32);
  expect_run({4, 16, 8, 20, 12, 24}, 2);
}

// An instruction can write to the result through the view.
TEST_F(KeepResultsTest, RunsTheKernelInEachRunIfAStepMakesAViewOfTheResult) {
  const int32_t view = at(64, 6);
  call("keep::view", {transposed_at(0), view});
  scale(view, view);
  return_doubled(view, 32);
  expect_run({4, 16, 8, 20, 12, 24}, 2);
}

TEST_F(KeepResultsTest, RunsTheKernelInEachRunIfTheBudgetIsTooSmall) {
  build_sum();
  MethodOptions limited = options();
  uint64_t kept = UINT64_MAX;
  // Finds the smallest budget with which the method loads, and runs the method with it.
  for (uint64_t bytes = 1024; kept == UINT64_MAX && bytes < (1U << 20); bytes += 64) {
    limited.limits.max_memory_bytes = bytes;
    if (!try_load(limited).ok()) continue;
    transpositions = 0;
    EXPECT_THAT(run_twice(limited, &kept), ElementsAre(2, 10, 8, 16, 14, 22));
  }
  EXPECT_EQ(kept, 0U);
  EXPECT_EQ(transpositions, 2);
}

TEST_F(KeepResultsTest, ReportsErrorsOfTheKernelWhenTheMethodRuns) {
  const int32_t transposed = at(0);
  transpose_to(constant(), transposed);
  return_doubled(transposed, 32);
  const auto method = load(options());
  EXPECT_THAT(method->execute().message(), testing::HasSubstr("two matrices"));
}

}  // namespace
}  // namespace vitrine::test
