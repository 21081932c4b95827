#include "vitrine/evalue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

#include "test/support/tensor_factory.h"

namespace vitrine {
namespace {

using test::TensorFactory;
using testing::ElementsAre;
using Tag = EValue::Tag;

TEST(EValue, HoldsEachKind) {
  TensorFactory factory;
  Tensor& tensor = factory.make(ScalarType::kFloat, {2});
  EXPECT_TRUE(EValue().is_none());
  EXPECT_EQ(&EValue(&tensor).unchecked_tensor(), &tensor);
  EXPECT_EQ(EValue(int64_t{-7}).unchecked_int(), -7);
  EXPECT_EQ(EValue(0.5).unchecked_double(), 0.5);
  EXPECT_TRUE(EValue(true).unchecked_bool());
  EXPECT_EQ(EValue(std::string_view("a\0b", 3)).unchecked_string(), std::string_view("a\0b", 3));
  constexpr std::array<double, 2> kDoubles{1.5, 2.5};
  EXPECT_THAT(EValue(std::span<const double>(kDoubles)).unchecked_double_list(),
              ElementsAre(1.5, 2.5));
  constexpr std::array<bool, 2> kBools{true, false};
  EXPECT_THAT(EValue(std::span<const bool>(kBools)).unchecked_bool_list(),
              ElementsAre(true, false));
}

TEST(EValue, TagsMatchTheNumbersInProgramFiles) {
  EXPECT_EQ(static_cast<uint32_t>(EValue(int64_t{1}).tag()), 4u);
  EXPECT_EQ(static_cast<uint32_t>(Tag::kListTensor), 9u);
  EXPECT_STREQ(tag_name(Tag::kListOptionalTensor), "OptionalTensorList");
  EXPECT_STREQ(tag_name(Tag::kNone), "None");
  EXPECT_STREQ(tag_name(static_cast<Tag>(99)), "?");
}

// If EValue accepted these pointers, they would silently convert to bool.
TEST(EValue, CannotBeConstructedFromPointersToOtherTypes) {
  static_assert(!std::is_constructible_v<EValue, const Tensor*>);
  static_assert(!std::is_constructible_v<EValue, const char*>);
  static_assert(!std::is_constructible_v<EValue, const char(&)[4]>);
  static_assert(std::is_constructible_v<EValue, Tensor*>);
}

TEST(EValue, IntListsAreReadAgainAtEachUse) {
  EValue first(int64_t{1});
  EValue second(int64_t{2});
  std::array<EValue*, 2> items{&first, &second};
  std::array<int64_t, 2> scratch{};
  IntListBody body{items, scratch.data()};
  const EValue list(&body);
  std::span<const int64_t> read;
  ASSERT_TRUE(list.read_int_list(&read));
  EXPECT_THAT(read, ElementsAre(1, 2));
  second = EValue(int64_t{5});
  ASSERT_TRUE(list.read_int_list(&read));
  EXPECT_THAT(read, ElementsAre(1, 5));
  first = EValue(1.0);
  EXPECT_FALSE(list.read_int_list(&read));
}

TEST(EValue, TensorListsAreReadAgainAtEachUse) {
  TensorFactory factory;
  Tensor& tensor = factory.make(ScalarType::kFloat, {1});
  EValue item(&tensor);
  EValue none;
  std::array<EValue*, 3> items{&item, &none, nullptr};
  std::array<Tensor*, 3> scratch{};
  TensorListBody body{items, scratch.data()};
  std::span<Tensor* const> read;
  ASSERT_TRUE(EValue(&body, true).read_tensor_list(&read));
  EXPECT_THAT(read, ElementsAre(&tensor, nullptr, nullptr));
  EXPECT_FALSE(EValue(&body, false).read_tensor_list(&read));
  Tensor& other = factory.make(ScalarType::kFloat, {1});
  TensorListBody first{std::span(items).first(1), scratch.data()};
  ASSERT_TRUE(EValue(&first, false).read_tensor_list(&read));
  EXPECT_THAT(read, ElementsAre(&tensor));
  item = EValue(&other);
  ASSERT_TRUE(EValue(&first, false).read_tensor_list(&read));
  EXPECT_THAT(read, ElementsAre(&other));
  item = EValue(&tensor);
  none = EValue(&other);
  ASSERT_TRUE(EValue(&body, true).read_tensor_list(&read));
  EXPECT_THAT(read, ElementsAre(&tensor, &other, nullptr));
  none = EValue(int64_t{3});
  EXPECT_FALSE(EValue(&body, true).read_tensor_list(&read));
}

TEST(EValue, ReadingOtherKindsOfValuesAsListsFails) {
  Tensor tensor;
  EValue value(&tensor);
  std::array<EValue*, 1> items{&value};
  std::array<Tensor*, 1> scratch{};
  TensorListBody tensors{items, scratch.data()};
  std::array<int64_t, 1> numbers{};
  EValue seven(int64_t{7});
  std::array<EValue*, 1> sevens{&seven};
  IntListBody ints{sevens, numbers.data()};
  std::span<const int64_t> int_list;
  std::span<Tensor* const> tensor_list;
  for (const EValue& other : {EValue(), seven, value, EValue(&tensors, false)}) {
    EXPECT_FALSE(other.read_int_list(&int_list)) << tag_name(other.tag());
  }
  for (const EValue& other : {EValue(), seven, value, EValue(&ints)}) {
    EXPECT_FALSE(other.read_tensor_list(&tensor_list)) << tag_name(other.tag());
  }
}

TEST(EValue, CheckedAccessorsReturnTheValueOrReportBothKinds) {
  Tensor tensor;
  EValue seven(int64_t{7});
  EValue of_tensor(&tensor);
  EValue* items[] = {&seven, &seven};
  int64_t numbers[2];
  IntListBody ints{items, numbers};
  EValue* tensor_items[] = {&of_tensor};
  Tensor* tensors[1];
  TensorListBody tensor_list{tensor_items, tensors};
  const double reals[] = {1.5, 2.5};
  const bool flags[] = {true, false};
  const EValue values[] = {of_tensor,
                           seven,
                           EValue(1.5),
                           EValue(true),
                           EValue(std::string_view("text")),
                           EValue(std::span<const double>(reals)),
                           EValue(std::span<const bool>(flags)),
                           EValue(&ints),
                           EValue(&tensor_list, /*optional=*/false),
                           EValue()};
  // Expects that `accessor` accepts only values[index].
  const auto expect_only = [&](size_t index, auto accessor, const char* kind) {
    for (size_t i = 0; i < std::size(values); ++i) {
      const EValue& value = values[i];
      auto result = (value.*accessor)();
      EXPECT_EQ(result.ok(), i == index) << i;
      if (result.ok()) continue;
      EXPECT_EQ(result.error().code(), ErrorCode::kInvalidType);
      EXPECT_EQ(std::string(result.error().message()), std::string("the value must be of kind ") +
                                                           kind + ", but it is " +
                                                           tag_name(value.tag()));
    }
  };
  expect_only(0, &EValue::as_tensor, "Tensor");
  expect_only(1, &EValue::as_int, "Int");
  expect_only(2, &EValue::as_double, "Double");
  expect_only(3, &EValue::as_bool, "Bool");
  expect_only(4, &EValue::as_string, "String");
  expect_only(5, &EValue::as_double_list, "DoubleList");
  expect_only(6, &EValue::as_bool_list, "BoolList");
  expect_only(7, &EValue::as_int_list, "IntList");
  expect_only(8, &EValue::as_tensor_list, "TensorList");
  EXPECT_EQ(*values[0].as_tensor(), &tensor);
  EXPECT_EQ(*values[1].as_int(), 7);
  EXPECT_EQ((*values[7].as_int_list())[1], 7);
  EXPECT_EQ((*values[8].as_tensor_list())[0], &tensor);
  items[1] = &of_tensor;  // instructions can replace items
  EXPECT_STREQ(values[7].as_int_list().error().message(), "an item of the IntList is not an Int");
  tensor_items[0] = &seven;
  EXPECT_STREQ(values[8].as_tensor_list().error().message(),
               "an item of the TensorList is not a Tensor");
}

}  // namespace
}  // namespace vitrine
