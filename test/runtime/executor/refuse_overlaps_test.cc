// Tests that a memory plan may reuse the memory of a value after its last use, but not earlier.
#include <algorithm>

#include "test/runtime/executor/method_fixture.h"

namespace vitrine {
namespace {

using test::bytes_of;
using test::Planned;
using testing::ElementsAre;
using testing::HasSubstr;

void copy_in_place(KernelContext&, Tensor& self, const Tensor& source) {
  std::copy_n(source.data<float>(), source.numel(), self.mutable_data<float>());
}
void update(KernelContext&, const Tensor& value, Tensor& cache, TensorSlot) {
  std::copy_n(value.data<float>(), value.numel(), cache.mutable_data<float>());
}
void view(KernelContext& context, const Tensor& self, EValue& result) {
  if (Error error = result.unchecked_tensor().alias(self, self.sizes()); !error.ok()) {
    context.fail(std::move(error));
  }
}
void split(KernelContext&, const Tensor& self, std::span<Tensor* const> out) {
  const float* from = self.data<float>();
  for (Tensor* part : out) {
    std::copy_n(from, part->numel(), part->mutable_data<float>());
    from += part->numel();
  }
}
void join(KernelContext&, OptionalTensorList parts, Tensor& out) {
  float* to = out.mutable_data<float>();
  for (const Tensor* part : parts.tensors) {
    if (part != nullptr) to = std::copy_n(part->data<float>(), part->numel(), to);
  }
}
void scale_in_place(KernelContext&, const Tensor& factors, Tensor& self) {
  for (int64_t i = 0; i < self.numel(); ++i)
    self.mutable_data<float>()[i] *= factors.data<float>()[i];
}
void twice(KernelContext&, const Tensor& self, Tensor& once_out, Tensor& twice_out) {
  for (int64_t i = 0; i < self.numel(); ++i) {
    const float x = self.data<float>()[i];
    once_out.mutable_data<float>()[i] = x;
    twice_out.mutable_data<float>()[i] = 2 * x;
  }
}

VITRINE_KERNEL(plan_copy, "plan::copy_", copy_in_place);
VITRINE_KERNEL(plan_update, "plan::update.out", update);
VITRINE_KERNEL(plan_view, "plan::view", view);
VITRINE_KERNEL(plan_split, "plan::split.out", split);
VITRINE_KERNEL(plan_join, "plan::join.out", join);
VITRINE_KERNEL(plan_scale, "plan::scale_", scale_in_place);
VITRINE_KERNEL(plan_twice, "plan::twice.out", twice);
constexpr const Kernel* kPlanKernels[] = {
    &kernel_plan_copy, &kernel_plan_update, &kernel_plan_view, &kernel_plan_split,
    &kernel_plan_join, &kernel_plan_scale,  &kernel_plan_twice};

class OverlapCheckTest : public test::PlanTest {
 protected:
  OverlapCheckTest() {
    EXPECT_TRUE(all_.add("plan", kPlanKernels).ok());
    for (const char* name : {"test::add.out", "test::scale.out"}) {
      found_.push_back(test::test_kernels().find(name).kernel);
    }
    EXPECT_TRUE(all_.add("test", std::span<const Kernel* const>(found_)).ok());
    kernels_ = &all_;
  }

  // Adds an instruction that doubles the value `from`. Returns the result, which is at byte
  // `offset` of memory 1.
  int32_t scaled(int32_t from, uint64_t offset) {
    const int32_t to = at(offset);
    scale(from, to);
    return to;
  }

  // Loads the method with the check for overlaps. Returns the error, or an empty string if the
  // method loads. Also expects that the method loads if the check is off.
  std::string refusal() {
    load({.kernels = kernels_});
    const Error error = try_load(options()).take_error();
    EXPECT_TRUE(error.ok() || error.code() == ErrorCode::kInvalidProgram);
    return error.message();
  }
  static std::string value_text(int32_t value) { return "values[" + std::to_string(value) + "]"; }
  static auto Needs(const std::string& user, int32_t value) {
    return HasSubstr(user + ": needs " + value_text(value));
  }

  const int32_t x_ = input(0);

 private:
  KernelRegistry all_;
  std::vector<const Kernel*> found_;
};

TEST_F(OverlapCheckTest, AllowsReuseOfMemory) {
  const int32_t a = scaled(x_, 16);
  forward_.outputs = {scaled(a, 0)};  // x is not read again
  EXPECT_EQ(refusal(), "");
}

TEST_F(OverlapCheckTest, RejectsOverwrittenResults) {
  const int32_t a = scaled(x_, 16);
  const int32_t b = scaled(x_, 24);
  const int32_t c = at(64);
  add(a, b, c);
  forward_.outputs = {c};
  EXPECT_EQ(refusal(), "forward, chains[0].instructions[2]: needs " + value_text(a) +
                           " (bytes 16 to 32 of memory 1) as written by chains[0].instructions[0] "
                           "(test::scale.out), but chains[0].instructions[1] (test::scale.out) has "
                           "overwritten it with " +
                           value_text(b) +
                           " (bytes 24 to 40 of memory 1): the memory plan is wrong");
}

TEST_F(OverlapCheckTest, RejectsOverwrittenInputs) {
  const int32_t y = input(32);
  add(scaled(x_, 44), y, at(64));  // overlaps one element of y
  EXPECT_THAT(refusal(),
              HasSubstr("needs values[1] (bytes 32 to 48 of memory 1) as written by inputs[1]"));
}

TEST_F(OverlapCheckTest, RejectsOverlappingInputs) {
  const int32_t y = input(12);
  add(x_, y, at(64));
  EXPECT_THAT(refusal(),
              HasSubstr("written by inputs[0], but inputs[1] has overwritten it with values[1]"));
}

TEST_F(OverlapCheckTest, RejectsOverwrittenOutputs) {
  const int32_t a = scaled(x_, 32);
  const int32_t b = scaled(x_, 32);
  forward_.outputs = {b};
  EXPECT_EQ(refusal(), "");
  forward_.outputs = {b, a};
  EXPECT_THAT(refusal(), Needs("forward, outputs[1]", a));
}

// The check accepts in-place results. A kernel that cannot work in place reports an error itself.
TEST_F(OverlapCheckTest, AllowsInPlaceResults) {
  const int32_t c = scaled(scaled(scaled(x_, 32), 32), 40);
  forward_.outputs = {c};
  EXPECT_EQ(refusal(), "");
  scaled(x_, 44);
  EXPECT_THAT(refusal(),
              HasSubstr("forward, outputs[0]: needs " + value_text(c) + " (bytes 40 to 56"));
}

// A planner may give a copy the memory of its source.
TEST_F(OverlapCheckTest, AllowsACopyInTheMemoryOfItsSource) {
  const int32_t a = scaled(x_, 32);
  const int32_t copy = at(32);
  call("test::scale.out", {a, forward_.integer(1), copy, copy});
  forward_.outputs = {a, copy};
  EXPECT_EQ(refusal(), "");
}

TEST_F(OverlapCheckTest, AllowsViewsWithoutAViewInstruction) {
  const int32_t a = at(32, 8);
  const int32_t part = at(48);  // a part of a
  call("plan::join.out", {forward_.optional_tensor_list({x_, x_}), a, a});
  scaled(part, 64);
  scaled(part, 80);
  EXPECT_EQ(refusal(), "");
}

// The parts are computed in the memory of their concatenation. No instruction writes the
// concatenation itself.
TEST_F(OverlapCheckTest, AllowsPartsComputedInTheMemoryOfAConcatenation) {
  const int32_t first = scaled(x_, 32);
  scaled(x_, 48);
  scaled(first, 64);
  scale(at(32, 8), at(96, 8));
  EXPECT_EQ(refusal(), "");
}

// The address of the view is known only at run time.
TEST_F(OverlapCheckTest, IgnoresResultsOfViewInstructions) {
  const int32_t seen = scaled(x_, 16);
  call("plan::view", {x_, seen});
  scaled(x_, 16);
  scaled(seen, 64);
  EXPECT_EQ(refusal(), "");
}

TEST_F(OverlapCheckTest, AllowsStatesThatAreWrittenBack) {
  const uint32_t initial = builder_.initial_state(bytes_of<float>({1, 2, 3, 4}));
  const int32_t state = forward_.tensor({.sizes = {4}, .planned = Planned{1, 32}, .data = initial});
  const int32_t sum = at(64);
  add(state, x_, sum);
  call("plan::copy_", {state, sum, state});
  call("plan::update.out", {x_, state, at(128), at(144)});
  forward_.outputs = {sum};
  EXPECT_EQ(refusal(), "");
  const auto method = load(options());
  for (const float expected : {11.0F, 20.0F}) {
    EXPECT_EQ(run(*method, value({4}, {10, 10, 10, 10})).at(0), expected);
  }
}

// Several methods may use the same memory, as they do for shared buffers. The check of a method
// covers only the method's own instructions.
TEST_F(OverlapCheckTest, ChecksEachMethodSeparately) {
  scaled(x_, 32);
  test::MethodSpec& other = builder_.method("other");
  other.buffer_sizes = {0, 64};
  const int y = other.tensor({.sizes = {4}, .planned = Planned{1, 0}});
  const int z = other.tensor({.sizes = {4}, .planned = Planned{1, 8}});
  other.inputs = {y};
  other.outputs = {y};
  const int copied = other.tensor({.sizes = {4}, .planned = Planned{1, 40}});
  other.kernel_call(other.op("test::scale", "out"), {y, other.integer(2), copied, copied});
  other.kernel_call(other.op("test::scale", "out"), {copied, other.integer(2), z, z});
  EXPECT_EQ(refusal(), "");
  const auto program = build();
  EXPECT_TRUE(Method::load(program, "forward", options()).ok());
  EXPECT_THAT(Method::load(program, "other", options()).take_error().message(),
              HasSubstr("other, outputs[0]: needs values[0]"));
}

TEST_F(OverlapCheckTest, InPlaceWriteThroughAnAliasKeepsTheValue) {
  const int32_t a = scaled(x_, 32);
  const int32_t alias = at(32);
  call("plan::copy_", {alias, x_, alias});
  forward_.outputs = {a};
  EXPECT_EQ(refusal(), "");
  // Another result overlaps and overwrites `a`, so the check rejects the plan.
  scaled(x_, 36);
  EXPECT_THAT(refusal(), Needs("forward, outputs[0]", a));
}

TEST_F(OverlapCheckTest, OnlyReturnedArgumentsCountAsResults) {
  forward_.outputs = {scaled(x_, 32)};
  const int32_t alias = at(32);
  const int32_t returned = at(64);
  call("plan::update.out", {x_, alias, returned, returned});
  call("plan::twice.out", {x_, alias, at(80), forward_.none()});
  EXPECT_EQ(refusal(), "");
}

TEST_F(OverlapCheckTest, InPlaceWriteRestoresAnOverwrittenValue) {
  const int32_t a = scaled(x_, 32);
  scaled(x_, 40);
  call("plan::copy_", {a, x_, a});
  forward_.outputs = {a};
  EXPECT_EQ(refusal(), "");
}

// The kernel writes its last argument. Since the name of the kernel ends in "_", the argument is
// not a new result.
TEST_F(OverlapCheckTest, InPlaceKernelsHaveNoNewResult) {
  forward_.outputs = {scaled(x_, 32)};
  const int32_t alias = at(32);
  call("plan::scale_", {x_, alias, alias});
  EXPECT_EQ(refusal(), "");
}

TEST_F(OverlapCheckTest, RejectsOverwrittenItemsOfLongLists) {
  forward_.buffer_sizes = {0, 2048};
  std::vector<int64_t> items;
  for (uint64_t i = 1; i <= 40; ++i) items.push_back(scaled(x_, 16 * i));
  const int32_t joined = at(1024, 160);
  const int32_t list = forward_.optional_tensor_list(items);
  call("plan::join.out", {list, joined, joined});
  forward_.outputs = {joined};
  EXPECT_EQ(refusal(), "");
  scaled(x_, 16 * 40);
  EXPECT_EQ(refusal(), "");
  call("plan::join.out", {list, joined, joined});
  EXPECT_THAT(refusal(), HasSubstr("instructions[42]: needs values[79] (bytes 640 to 656"));
}

TEST_F(OverlapCheckTest, AllowsListsWithoutOverlap) {
  forward_.values[0].tensor.sizes = {8};
  const int32_t a = at(32);
  const int32_t b = at(48);
  const int32_t parts = forward_.tensor_list({a, b});
  const int32_t joined = at(64, 8);
  call("plan::split.out", {x_, parts, parts});
  call("plan::join.out", {forward_.optional_tensor_list({a, -1, b}), joined, joined});
  forward_.outputs = {joined};
  EXPECT_EQ(refusal(), "");
  EXPECT_THAT(run(*load(options()), value({8}, {1, 2, 3, 4, 5, 6, 7, 8})),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(OverlapCheckTest, RejectsOverwrittenListItems) {
  forward_.values[0].tensor.sizes = {8};
  const int32_t a = at(32);
  const int32_t b = at(48);
  const int32_t parts = forward_.tensor_list({a, b});
  call("plan::split.out", {x_, parts, parts});
  scaled(a, 60);  // overlaps the last element of b
  const int32_t joined = at(96, 8);
  call("plan::join.out", {forward_.optional_tensor_list({-1, b}), joined, joined});
  EXPECT_THAT(refusal(), HasSubstr("instructions[2]: needs values[2] (bytes 48 to 64"));
}

TEST_F(OverlapCheckTest, RejectsOverlappingResultsOfOneStep) {
  const int32_t once = at(32);
  const int32_t doubled = at(44);
  call("plan::twice.out", {x_, once, doubled, forward_.tensor_list({once, doubled})});
  forward_.outputs = {doubled};
  EXPECT_EQ(refusal(), "");  // the other result is not read
  forward_.outputs = {doubled, once};
  EXPECT_THAT(refusal(), Needs("forward, outputs[1]", once));
}

TEST_F(OverlapCheckTest, RejectsDelegatesThatOverwriteALiveValue) {
  const int32_t a = scaled(x_, 32);
  const int32_t b = at(40);
  forward_.delegate_call(delegate(3, {{"inputs", {std::byte{1}}}}), {x_, b});
  add(a, b, at(64));
  EXPECT_THAT(refusal(), HasSubstr("but chains[0].instructions[1] (TestBackend) has overwritten "
                                   "it with " +
                                   value_text(b) + " (bytes 40 to 56 of memory 1)"));
  forward_.delegates[0].compile_specs = {};  // the delegate does not report what it writes
  EXPECT_EQ(refusal(), "");
}

// Only one branch runs, so both may use the same memory. After the branches, the check does not
// know which values the memory holds.
TEST_F(OverlapCheckTest, AllowsBranchesInTheSameMemory) {
  const int32_t result = at(64);
  forward_.jump_false(forward_.boolean(true), 4);
  forward_.move(scaled(x_, 32), result);
  forward_.jump_false(forward_.boolean(false), 6);
  forward_.move(scaled(x_, 32), result);
  forward_.outputs = {scaled(result, 96)};
  EXPECT_EQ(refusal(), "");
}

TEST_F(OverlapCheckTest, AllowsBranchResultsAtTheSameAddress) {
  forward_.jump_false(forward_.boolean(true), 3);
  const int32_t one = scaled(x_, 32);
  forward_.jump_false(forward_.boolean(false), 4);
  const int32_t other = scaled(x_, 32);
  scaled(one, 64);
  EXPECT_EQ(refusal(), "");
  // After the end of the branches, the check applies again.
  scale(x_, one);
  scale(x_, other);
  scaled(one, 64);
  EXPECT_THAT(refusal(), Needs("instructions[7]", one));
}

TEST_F(OverlapCheckTest, ChecksInstructionsInsideBranches) {
  forward_.jump_false(forward_.boolean(true), 4);
  const int32_t a = scaled(x_, 32);
  add(a, scaled(x_, 40), at(64));
  EXPECT_THAT(refusal(), Needs("instructions[3]", a));
}

TEST_F(OverlapCheckTest, AllowsValuesCarriedByALoop) {
  const int32_t carried = scaled(x_, 32);
  const int begin = forward_.next_instruction();
  scale(scaled(carried, 48), carried);
  scaled(carried, 16);
  forward_.jump_false(forward_.boolean(true), begin);
  forward_.outputs = {carried};
  EXPECT_EQ(refusal(), "");
}

TEST_F(OverlapCheckTest, IgnoresConstantUnplannedAndEmptyTensors) {
  const uint32_t data = builder_.constant(bytes_of<float>({1, 2, 3, 4}));
  const int32_t constant = forward_.tensor({.sizes = {4}, .data = data});
  const int32_t given = forward_.tensor({.sizes = {4}});
  forward_.inputs = {given};
  const int32_t a = at(0);
  const int32_t empty = at(8, 0);
  add(given, constant, a);
  scale(empty, empty);
  forward_.outputs = {a, given};
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace vitrine
