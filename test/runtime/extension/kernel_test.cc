#include "vitrine/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "runtime/core/checked_math.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"
#include "vitrine/kernel_context.h"

namespace vitrine {
namespace {

using test::TensorFactory;
using testing::HasSubstr;

// Text of the arguments of the latest call. It is global because kernels are plain functions.
std::string called;  // NOLINT

void take_tensors(KernelContext&, const Tensor& in, const Tensor* maybe, TensorSlot slot,
                  Tensor& out) {
  called = std::to_string(in.numel()) + (maybe == nullptr ? " none " : " some ") +
           std::to_string(slot.tensor->numel());
  out.mutable_data<float>()[0] = 1;
}
void take_tensor_lists(KernelContext&, std::span<const Tensor* const> in, OptionalTensorList maybe,
                       std::span<Tensor* const> out) {
  called = std::to_string(in.size()) + ' ';
  for (const Tensor* tensor : maybe.tensors) called += tensor == nullptr ? '-' : 't';
  called += ' ' + std::to_string(out.size());
}
void take_numbers(KernelContext&, int64_t i, double d, bool b, const Scalar& s, ScalarType dtype) {
  called = std::to_string(i) + ' ' + std::to_string(static_cast<int>(d * 4)) + (b ? " t " : " f ") +
           std::to_string(static_cast<int>(s.to<double>() * 4)) + ' ' + scalar_type_name(dtype);
}
void take_optionals(KernelContext&, std::optional<int64_t> i, std::optional<double> d,
                    std::optional<bool> b, std::optional<Scalar> s, std::optional<ScalarType> dtype,
                    std::optional<std::string_view> text,
                    std::optional<std::span<const int64_t>> ints,
                    std::optional<std::span<const double>> doubles) {
  called.clear();
  for (const bool there :
       {i.has_value(), d.has_value(), b.has_value(), s.has_value(), dtype.has_value(),
        text.has_value(), ints.has_value(), doubles.has_value()}) {
    called += there ? '1' : '0';
  }
  if (s) called += ' ' + std::to_string(s->to<int64_t>());
}
void take_lists(KernelContext&, std::span<const int64_t> ints, std::span<const double> doubles,
                std::span<const bool> bools, std::string_view text) {
  called = std::to_string(ints.size()) + std::to_string(doubles.size()) +
           std::to_string(bools.size()) + ' ' + std::string(text) + ' ' + std::to_string(ints[1]);
}
void give_value(KernelContext&, const EValue& any, EValue& result) {
  called = tag_name(any.tag());
  result = EValue(int64_t{42});
}
void give_nothing(KernelContext&) { called = "nothing"; }

VITRINE_KERNEL(tensors, "test::tensors.out", take_tensors);
VITRINE_KERNEL(tensor_lists, "test::tensor_lists.out", take_tensor_lists);
VITRINE_KERNEL(numbers, "test::numbers", take_numbers);
VITRINE_KERNEL(optionals, "test::optionals", take_optionals);
VITRINE_KERNEL(lists, "test::lists", take_lists);
VITRINE_KERNEL(value, "test::value", give_value);
VITRINE_KERNEL(nothing, "test::nothing", give_nothing);

class BoxingTest : public testing::Test {
 protected:
  void SetUp() override { called = "not called"; }

  // Calls the kernel and returns its error.
  Error call(const Kernel& kernel, std::vector<EValue> arguments) {
    arguments.emplace_back();  // the return value, which some kernels have
    std::vector<EValue*> pointers;
    for (EValue& argument : arguments) pointers.push_back(&argument);
    kernel.function(context_, pointers.data());
    last_ = arguments;
    return context_.take_error();
  }
  // Expects an error that contains `text`, without a call of the kernel.
  void expect_refusal(const Kernel& kernel, std::vector<EValue> arguments,
                      const std::string& text) {
    EXPECT_THAT(call(kernel, std::move(arguments)).message(), HasSubstr(text));
    EXPECT_EQ(called, "not called");
  }

  EValue tensor(std::vector<int32_t> sizes = {2}) {
    return EValue(&factory_.make(ScalarType::kFloat, std::move(sizes)));
  }
  EValue tensor_without_memory() {
    EValue value = tensor();
    value.unchecked_tensor().set_data(nullptr);
    return value;
  }
  EValue constant() {
    EValue value = tensor();
    value.unchecked_tensor().set_read_only();
    return value;
  }
  EValue ints(std::vector<EValue> items) {
    IntListBody& body = int_lists_.emplace_back();
    body = {keep(std::move(items)), scratch_.emplace_back(8).data()};
    return EValue(&body);
  }
  EValue tensors(std::vector<EValue> items, bool optional = false) {
    TensorListBody& body = tensor_lists_.emplace_back();
    body = {keep(std::move(items)), tensor_scratch_.emplace_back(8).data()};
    return EValue(&body, optional);
  }

  TensorFactory factory_;
  HeapArena temp_;
  KernelContext context_{&temp_};
  std::vector<EValue> last_;

 private:
  std::span<EValue* const> keep(std::vector<EValue> items) {
    std::vector<EValue>& values = values_.emplace_back(std::move(items));
    std::vector<EValue*>& pointers = pointers_.emplace_back();
    for (EValue& value : values) pointers.push_back(&value);
    return pointers;
  }

  std::deque<std::vector<EValue>> values_;
  std::deque<std::vector<EValue*>> pointers_;
  std::deque<IntListBody> int_lists_;
  std::deque<TensorListBody> tensor_lists_;
  std::deque<std::vector<int64_t>> scratch_;
  std::deque<std::vector<Tensor*>> tensor_scratch_;
};

TEST_F(BoxingTest, ArgumentCountIncludesTheReturnValue) {
  EXPECT_STREQ(kernel_tensors.name, "test::tensors.out");
  EXPECT_EQ(kernel_tensors.num_arguments, 5);
  EXPECT_EQ(kernel_value.num_arguments, 2) << "the result is the return value";
  EXPECT_EQ(kernel_nothing.num_arguments, 1);
}

TEST_F(BoxingTest, KernelReceivesTensors) {
  EXPECT_TRUE(call(kernel_tensors, {tensor({3}), tensor(), tensor({4}), tensor()}).ok());
  EXPECT_EQ(called, "3 some 4");
  EXPECT_TRUE(call(kernel_tensors, {tensor({3}), EValue(), tensor({4}), tensor()}).ok());
  EXPECT_EQ(called, "3 none 4");
}

TEST_F(BoxingTest, RejectsTensorsWithoutMemory) {
  const EValue absent = tensor_without_memory();
  expect_refusal(kernel_tensors, {absent, EValue(), tensor(), tensor()},
                 "argument 0 is a tensor without memory");
  expect_refusal(kernel_tensors, {tensor(), absent, tensor(), tensor()},
                 "argument 1 is a tensor without memory");
  expect_refusal(kernel_tensors, {tensor(), EValue(), tensor(), absent},
                 "argument 3 is a tensor without memory");
  EXPECT_TRUE(call(kernel_tensors, {tensor(), EValue(), absent, tensor()}).ok())
      << "a TensorSlot accepts tensors without memory";
}

TEST_F(BoxingTest, EmptyTensorsNeedNoMemory) {
  std::array sizes{0};
  std::array<uint8_t, 1> order{0};
  std::array<int64_t, 1> strides{};
  Tensor empty(ScalarType::kFloat, sizes, order, strides, nullptr);
  EXPECT_TRUE(call(kernel_tensors, {EValue(&empty), EValue(), tensor(), tensor()}).ok());
}

TEST_F(BoxingTest, RejectsConstantsAsOutputs) {
  expect_refusal(kernel_tensors, {tensor(), EValue(), tensor(), constant()},
                 "argument 3 is an output of the operator, but it is a constant");
  EXPECT_TRUE(call(kernel_tensors, {constant(), constant(), constant(), tensor()}).ok());
}

TEST_F(BoxingTest, KernelReceivesTensorLists) {
  const EValue in = tensors({tensor(), constant()});
  const EValue maybe = tensors({tensor(), EValue()}, true);
  const EValue out = tensors({tensor()});
  EXPECT_TRUE(call(kernel_tensor_lists, {in, maybe, out}).ok());
  EXPECT_EQ(called, "2 t- 1");
  EXPECT_TRUE(call(kernel_tensor_lists, {in, in, out}).ok())
      << "a list of tensors is also a list of optional tensors";
  EXPECT_EQ(called, "2 tt 1");
}

TEST_F(BoxingTest, RejectsInvalidTensorsInLists) {
  const EValue good = tensors({tensor()});
  for (const EValue& bad :
       {tensors({tensor_without_memory()}), tensors({EValue(int64_t{1})}), tensors({EValue()})}) {
    expect_refusal(kernel_tensor_lists, {bad, good, good}, "argument 0 is a list with an item");
  }
  expect_refusal(kernel_tensor_lists, {good, good, tensors({constant()})},
                 "argument 2 is a list with an item");
  expect_refusal(kernel_tensor_lists, {tensors({tensor()}, true), good, good}, "argument 0");
  expect_refusal(kernel_tensor_lists, {tensor(), good, good}, "argument 0 is of kind Tensor");
}

TEST_F(BoxingTest, KernelReceivesNumbers) {
  const EValue one(int64_t{1});
  const EValue half(0.5);
  const EValue yes(true);
  const EValue f32(int64_t{6});
  EXPECT_TRUE(call(kernel_numbers, {one, half, yes, half, f32}).ok());
  EXPECT_EQ(called, "1 2 t 2 f32");
  EXPECT_TRUE(call(kernel_numbers, {one, one, yes, one, f32}).ok())
      << "float parameters accept Int";
  EXPECT_EQ(called, "1 4 t 4 f32");
  EXPECT_TRUE(call(kernel_numbers, {one, half, yes, yes, f32}).ok())
      << "Scalar parameters accept Bool";
  EXPECT_EQ(called, "1 2 t 4 f32");
}

TEST_F(BoxingTest, RejectsNumbersOfTheWrongKind) {
  const EValue one(int64_t{1});
  const EValue half(0.5);
  const EValue yes(true);
  expect_refusal(kernel_numbers, {half, half, yes, one, one}, "argument 0 is of kind Double");
  expect_refusal(kernel_numbers, {yes, half, yes, one, one}, "argument 0 is of kind Bool");
  expect_refusal(kernel_numbers, {one, yes, yes, one, one}, "argument 1");
  expect_refusal(kernel_numbers, {one, half, one, one, one}, "argument 2 is the Int 1");
  expect_refusal(kernel_numbers, {one, half, yes, EValue(), one}, "argument 3 is of kind None");
  expect_refusal(kernel_numbers, {constant(), half, yes, one, one}, "argument 0 is of kind Tensor");
  for (const int64_t dtype : {int64_t{-1}, int64_t{30}, int64_t{1} << 40}) {
    expect_refusal(kernel_numbers, {one, half, yes, one, EValue(dtype)},
                   "argument 4 is the Int " + std::to_string(dtype));
  }
}

TEST_F(BoxingTest, KernelReceivesOptionalArguments) {
  const EValue list = ints({EValue(int64_t{1})});
  constexpr std::array<double, 1> kDoubles{1.0};
  const EValue doubles{std::span<const double>(kDoubles)};
  const EValue three(int64_t{3});
  const EValue text(std::string_view("mean"));
  EXPECT_TRUE(
      call(kernel_optionals, {three, EValue(0.5), EValue(true), three, three, text, list, doubles})
          .ok());
  EXPECT_EQ(called, "11111111 3");
  EXPECT_TRUE(call(kernel_optionals, std::vector<EValue>(8)).ok());
  EXPECT_EQ(called, "00000000");
  called = "not called";
  expect_refusal(kernel_optionals,
                 {text, EValue(), EValue(), EValue(), EValue(), EValue(), EValue(), EValue()},
                 "argument 0 is of kind String");
}

TEST_F(BoxingTest, KernelReceivesLists) {
  constexpr std::array<double, 3> kDoubles{};
  constexpr std::array<bool, 1> kBools{};
  const EValue doubles{std::span<const double>(kDoubles)};
  const EValue bools{std::span<const bool>(kBools)};
  const EValue text(std::string_view("tanh"));
  EXPECT_TRUE(
      call(kernel_lists, {ints({EValue(int64_t{1}), EValue(int64_t{9})}), doubles, bools, text})
          .ok());
  EXPECT_EQ(called, "231 tanh 9");
  called = "not called";
  expect_refusal(kernel_lists, {ints({EValue(int64_t{1}), EValue(2.0)}), doubles, bools, text},
                 "argument 0 is of kind IntList");
  expect_refusal(kernel_lists, {doubles, doubles, bools, text}, "argument 0");
  expect_refusal(kernel_lists, {ints({}), bools, bools, text}, "argument 1");
  expect_refusal(kernel_lists, {ints({}), doubles, doubles, text}, "argument 2");
  expect_refusal(kernel_lists, {ints({}), doubles, bools, EValue()}, "argument 3");
}

TEST_F(BoxingTest, ReturnValuesMayReplaceOnlyNumbers) {
  const EValue text(std::string_view("text"));
  for (const EValue& there :
       {EValue(), EValue(int64_t{1}), EValue(2.0), EValue(true), tensor(), text, ints({})}) {
    std::array<EValue, 2> arguments{tensor(), there};
    std::array<EValue*, 2> pointers{&arguments[0], &arguments[1]};
    called = "not called";
    kernel_value.function(context_, pointers.data());
    const bool is_number =
        !there.is_tensor() && !there.is_string() && there.tag() != EValue::Tag::kListInt;
    EXPECT_EQ(context_.failed(), !is_number) << tag_name(there.tag());
    EXPECT_EQ(called, is_number ? "Tensor" : "not called");
    EXPECT_EQ(arguments[1].tag(), is_number ? EValue::Tag::kInt : there.tag());
    if (is_number) {
      EXPECT_EQ(arguments[1].unchecked_int(), 42);
    } else {
      EXPECT_THAT(context_.take_error().message(), HasSubstr("argument 1 is of kind"));
    }
  }
}

TEST(KernelContext, KeepsTheFirstFailure) {
  HeapArena temp;
  KernelContext context(&temp);
  EXPECT_FALSE(context.failed());
  context.fail(ErrorCode::kInvalidArgument, "first %d", 1);
  context.fail(ErrorCode::kInternal, "second");
  EXPECT_TRUE(context.failed());
  EXPECT_THAT(context.take_error(), test::FailsWith(ErrorCode::kInvalidArgument, "first 1"));
  EXPECT_FALSE(context.failed());
  EXPECT_TRUE(context.take_error().ok());
}

TEST(KernelContext, FailsWhenAnOutputCannotBeResized) {
  test::TensorFactory factory;
  HeapArena temp;
  KernelContext context(&temp);
  Tensor& out = factory.make(ScalarType::kFloat, {2});
  EXPECT_TRUE(context.resize(out, std::array{2}));
  EXPECT_FALSE(context.resize(out, std::array{3}));
  EXPECT_EQ(context.take_error().code(), ErrorCode::kNotSupported);
}

TEST(KernelContext, ReturnsAlignedTemporaryMemoryOrFails) {
  Budget budget(4096);
  HeapArena temp(16, &budget);
  KernelContext context(&temp);
  const void* memory = context.allocate_temp(100);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  EXPECT_EQ(context.allocate_temp_array<float>(4).size(), 4u);
  EXPECT_FALSE(context.failed());
  EXPECT_EQ(context.allocate_temp(8000), nullptr);
  EXPECT_THAT(context.take_error(),
              test::FailsWith(ErrorCode::kMemoryAllocationFailed, HasSubstr("8000 bytes")));
  EXPECT_TRUE(context.allocate_temp_array<float>(SIZE_MAX / 4).empty());
  EXPECT_TRUE(context.failed());
}

TEST(KernelContext, RejectsOverflowingSizesOfTemporaryMemory) {
  Budget budget(4096);
  HeapArena temp(16, &budget);
  KernelContext context(&temp);
  EXPECT_NE(context.allocate_temp({10, 10, 4}), nullptr);
  EXPECT_NE(context.allocate_temp({10, 0, 4}), nullptr);
  EXPECT_FALSE(context.failed());
  constexpr int64_t kFactor = int64_t{1} << 31;  // kFactor * kFactor * 4 is 2^64
  for (const std::initializer_list<int64_t> factors :
       {std::initializer_list<int64_t>{kFactor, kFactor, 4},
        {-1, 4},
        {INT64_MAX, 2},
        {INT64_MAX},
        {static_cast<int64_t>(kMaxBytes) + 1}}) {
    EXPECT_EQ(context.allocate_temp(factors), nullptr);
    EXPECT_THAT(context.take_error(),
                test::FailsWith(ErrorCode::kMemoryAllocationFailed,
                                HasSubstr("the size of temporary memory overflows")));
  }
  // 2^32 bytes wrap around to 0 in a 32-bit size_t.
  EXPECT_EQ(context.allocate_temp({65536, 16384, 4}), nullptr);
}

}  // namespace
}  // namespace vitrine
