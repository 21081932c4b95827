#include "vitrine/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "test/support/results.h"
#include "test/support/tensor_factory.h"

namespace vitrine {
namespace {

using test::TensorFactory;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int32_t kHuge = std::numeric_limits<int32_t>::max();

std::string text_of(const Tensor& tensor, size_t size = 128) {
  std::vector<char> text(size);
  describe(tensor, text.data(), size);
  return text.data();
}

class TensorTest : public testing::Test {
 protected:
  TensorFactory factory;
};
using TensorResize = TensorTest;
using TensorAlias = TensorTest;
using Describe = TensorTest;

Error resize(Tensor& tensor, std::vector<int32_t> sizes) { return tensor.resize(sizes); }

TEST(CheckedNumel, MultipliesSizesAndRejectsNegativeSizesAndOverflow) {
  EXPECT_EQ(*checked_numel({}), 1);
  EXPECT_EQ(*checked_numel(std::array{2, 3, 4}), 24);
  EXPECT_EQ(*checked_numel(std::array{2, 0, 4}), 0);
  EXPECT_EQ(checked_numel(std::array{2, -1}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(checked_numel(std::array{2, -1}).error().message(), HasSubstr("dimension 1"));
  EXPECT_FALSE(checked_numel(std::array{kHuge, kHuge, kHuge}).ok());
  // The number of elements fits into 64 bits, but the number of bytes does not.
  EXPECT_FALSE(checked_numel(std::array{kHuge, kHuge, 2}).ok());
  // These tensors have no elements. The product of the other sizes must still be in range, because
  // strides and loops use such products.
  EXPECT_EQ(*checked_numel(std::array{kHuge, 0, 2}), 0);
  EXPECT_FALSE(checked_numel(std::array{0, kHuge, kHuge, 2}).ok());
  EXPECT_FALSE(checked_numel(std::array{kHuge, kHuge, 0}).ok());
}

TEST(IsPermutation, RejectsDuplicatesAndOutOfRange) {
  EXPECT_TRUE(is_permutation({}));
  EXPECT_TRUE(is_permutation(std::array<uint8_t, 4>{0, 2, 3, 1}));
  EXPECT_FALSE(is_permutation(std::array<uint8_t, 2>{0, 0}));
  EXPECT_FALSE(is_permutation(std::array<uint8_t, 2>{1, 2}));
  std::vector<uint8_t> long_order(17);
  for (size_t i = 0; i < long_order.size(); ++i) long_order[i] = static_cast<uint8_t>(i);
  EXPECT_FALSE(is_permutation(long_order));  // above kMaxRank
}

TEST_F(TensorTest, StridesFollowSizesAndDimOrder) {
  EXPECT_THAT(factory.make(ScalarType::kFloat, {2, 3, 4}).strides(), ElementsAre(12, 4, 1));
  EXPECT_THAT(factory.make(ScalarType::kFloat, {2, 3, 4, 5}, {0, 2, 3, 1}).strides(),
              ElementsAre(60, 1, 15, 3));
  EXPECT_THAT(factory.make(ScalarType::kFloat, {2, 0, 4}).strides(), ElementsAre(4, 4, 1));
  EXPECT_THAT(factory.make(ScalarType::kFloat, {}).strides(), ElementsAre());
}

TEST_F(TensorTest, TypedAccessReturnsNullForOtherDtypesAndForWritesToConstants) {
  Tensor& tensor = factory.make<float>({2}, {1.5F, 2.5F});
  EXPECT_EQ(tensor.data<float>(), tensor.raw_data());
  EXPECT_EQ(tensor.mutable_data<float>(), tensor.raw_data());
  EXPECT_EQ(tensor.data<int32_t>(), nullptr)
      << "int32_t has the size of float but is another dtype";
  EXPECT_EQ(tensor.mutable_data<int32_t>(), nullptr);
  EXPECT_EQ(tensor.unchecked_data<int32_t>(), tensor.raw_data());
  EXPECT_EQ(tensor.unchecked_mutable_data<int32_t>(), tensor.raw_data());
  EXPECT_EQ(factory.make(ScalarType::kBool, {1}).data<uint8_t>(), nullptr);
  tensor.set_data(nullptr);
  EXPECT_EQ(tensor.data<float>(), nullptr);
  Tensor& constant = factory.make<float>({1}, {1});
  constant.set_read_only();
  EXPECT_EQ(constant.data<float>(), constant.raw_data());
  EXPECT_EQ(constant.mutable_data<float>(), nullptr);
}

TEST_F(TensorTest, CountsElementsAndBytesAndReturnsSizeZeroForMissingDimensions) {
  const Tensor& tensor = factory.make(ScalarType::kHalf, {2, 3});
  EXPECT_EQ(tensor.size(1), 3);
  EXPECT_EQ(tensor.size(2), 0);
  EXPECT_EQ(tensor.size(SIZE_MAX), 0);
  EXPECT_EQ(Tensor().size(0), 0);
  EXPECT_EQ(tensor.numel(), 6);
  EXPECT_EQ(tensor.nbytes(), 12u);
  EXPECT_EQ(tensor.rank(), 2u);
  EXPECT_EQ(factory.make(ScalarType::kFloat, {}).numel(), 1);
  EXPECT_EQ(factory.make(ScalarType::kFloat, {3, 0}).nbytes(), 0u);
}

TEST_F(TensorTest, ReportsItsLayout) {
  const Tensor& plain = factory.make(ScalarType::kFloat, {1, 2, 3, 4});
  const Tensor& last = factory.make(ScalarType::kFloat, {1, 2, 3, 4}, {0, 2, 3, 1});
  const Tensor& last5 = factory.make(ScalarType::kFloat, {1, 2, 3, 4, 5}, {0, 2, 3, 4, 1});
  EXPECT_TRUE(plain.is_contiguous());
  EXPECT_FALSE(plain.is_channels_last());
  EXPECT_FALSE(last.is_contiguous());
  EXPECT_TRUE(last.is_channels_last());
  EXPECT_TRUE(last5.is_channels_last());
  EXPECT_TRUE(plain.same_sizes(last));
  EXPECT_FALSE(plain.same_dim_order(last));
  EXPECT_FALSE(plain.same_dim_order(factory.make(ScalarType::kFloat, {1, 2, 3})));
  EXPECT_TRUE(last.same_dim_order(factory.make(ScalarType::kFloat, {9, 9, 9, 9}, {0, 2, 3, 1})));
}

TEST_F(TensorResize, RejectsChangesOfStaticShapes) {
  Tensor& tensor = factory.make(ScalarType::kFloat, {2, 3});
  EXPECT_TRUE(resize(tensor, {2, 3}).ok());
  EXPECT_THAT(resize(tensor, {3, 2}),
              test::FailsWith(ErrorCode::kNotSupported,
                              "f32[2,3] cannot become [3,2]: its shape is static"));
  EXPECT_THAT(tensor.sizes(), ElementsAre(2, 3));
}

TEST_F(TensorResize, BoundedShapesLimitTheNumberOfElements) {
  Tensor& tensor = factory.make(ScalarType::kFloat, {4, 6}, {}, ShapeDynamism::kDynamicBound);
  EXPECT_TRUE(resize(tensor, {2, 6}).ok());
  EXPECT_EQ(tensor.numel(), 12);
  EXPECT_THAT(tensor.strides(), ElementsAre(6, 1));
  // A size may exceed its bound if the number of elements does not.
  EXPECT_TRUE(resize(tensor, {8, 3}).ok());
  EXPECT_THAT(tensor.strides(), ElementsAre(3, 1));
  EXPECT_TRUE(resize(tensor, {0, 100}).ok());
  EXPECT_EQ(tensor.numel(), 0);
  EXPECT_EQ(tensor.max_nbytes(), 96u);
  EXPECT_THAT(resize(tensor, {5, 5}),
              test::FailsWith(ErrorCode::kInvalidArgument, HasSubstr("at most 24 elements")));
  EXPECT_THAT(tensor.sizes(), ElementsAre(0, 100)) << "a failed resize must keep the sizes";
}

TEST_F(TensorResize, RejectsRankChangesNegativeSizesAndOverflow) {
  Tensor& tensor = factory.make(ScalarType::kFloat, {4, 6}, {}, ShapeDynamism::kDynamicBound);
  EXPECT_STREQ(resize(tensor, {24}).message(), "f32[4,6] cannot become [24]: its rank is fixed");
  EXPECT_THAT(resize(tensor, {-1, 2}).message(), HasSubstr("negative"));
  EXPECT_THAT(resize(tensor, {1 << 12, 1 << 12}).message(), HasSubstr("at most 24"));
  Tensor& wide = factory.make(ScalarType::kFloat, {1, 1, 1}, {}, ShapeDynamism::kDynamicBound);
  EXPECT_THAT(resize(wide, {kHuge, kHuge, kHuge}).message(), HasSubstr("overflows"));
}

TEST_F(TensorResize, KeepsTheDimOrder) {
  Tensor& tensor =
      factory.make(ScalarType::kFloat, {1, 8, 4, 4}, {0, 2, 3, 1}, ShapeDynamism::kDynamicBound);
  ASSERT_TRUE(resize(tensor, {1, 8, 2, 3}).ok());
  EXPECT_TRUE(tensor.is_channels_last());
  EXPECT_THAT(tensor.strides(), ElementsAre(48, 1, 24, 8));
}

TEST_F(TensorAlias, SharesMemoryAndWritability) {
  Tensor& memory = factory.make<float>({6}, {1, 2, 3, 4, 5, 6});
  memory.set_read_only();
  Tensor& view = factory.make(ScalarType::kFloat, {2, 3});
  ASSERT_TRUE(view.alias(memory, std::array{2, 3}).ok());
  EXPECT_EQ(view.raw_data(), memory.raw_data());
  EXPECT_TRUE(view.is_readable());
  EXPECT_FALSE(view.is_writable());
}

TEST_F(TensorAlias, RejectsTooLittleMemoryAndLeavesTheTensorUnchanged) {
  Tensor& memory = factory.make(ScalarType::kFloat, {5});
  Tensor& view = factory.make(ScalarType::kFloat, {2, 3});
  const void* before = view.raw_data();
  EXPECT_EQ(view.alias(memory, std::array{2, 3}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(view.raw_data(), before);
  EXPECT_EQ(view.alias(memory, std::array{1, 3}).code(), ErrorCode::kNotSupported);
}

TEST_F(TensorAlias, CannotGrowBeyondItsMemoryUntilItAliasesMoreMemory) {
  Tensor& small = factory.make(ScalarType::kFloat, {4});
  Tensor& large = factory.make(ScalarType::kFloat, {100});
  Tensor& view = factory.make(ScalarType::kFloat, {10}, {}, ShapeDynamism::kDynamicBound);
  ASSERT_TRUE(view.alias(small, small.sizes()).ok());
  EXPECT_EQ(view.max_numel(), 4);
  EXPECT_FALSE(resize(view, {5}).ok());
  ASSERT_TRUE(view.alias(large, std::array{9}).ok());
  EXPECT_EQ(view.max_numel(), 10) << "the declared bound still applies";
  EXPECT_TRUE(resize(view, {10}).ok());
  EXPECT_FALSE(view.alias(large, std::array{11}).ok());
}

TEST_F(TensorAlias, ComparesCapacityInBytes) {
  Tensor& bytes = factory.make(ScalarType::kByte, {16});
  Tensor& view = factory.make(ScalarType::kFloat, {4});
  EXPECT_TRUE(view.alias(bytes, std::array{4}).ok());
  Tensor& wide = factory.make(ScalarType::kDouble, {4});
  EXPECT_FALSE(wide.alias(bytes, std::array{4}).ok());
}

TEST_F(TensorTest, IsReadableAndWritableOnlyWithMemory) {
  std::array sizes{2};
  std::array<uint8_t, 1> order{0};
  std::array<int64_t, 1> strides{};
  Tensor tensor(ScalarType::kFloat, sizes, order, strides, nullptr);
  EXPECT_FALSE(tensor.is_readable());
  EXPECT_FALSE(tensor.is_writable());
  std::array<float, 2> data{};
  tensor.set_data(data.data());
  EXPECT_TRUE(tensor.is_readable());
  EXPECT_TRUE(tensor.is_writable());
  std::array empty{0};
  const Tensor none(ScalarType::kFloat, empty, order, strides, nullptr);
  EXPECT_TRUE(none.is_readable());
  EXPECT_TRUE(none.is_writable());
  // An empty tensor that can grow is readable without memory but not writable.
  Tensor grows(ScalarType::kFloat, sizes, order, strides, nullptr, ShapeDynamism::kDynamicBound);
  ASSERT_TRUE(grows.resize(std::array{0}).ok());
  EXPECT_TRUE(grows.is_readable());
  EXPECT_FALSE(grows.is_writable());
}

TEST_F(Describe, WritesDtypeAndSizesAndCutsLongDescriptions) {
  EXPECT_EQ(text_of(factory.make(ScalarType::kBool, {})), "bool[]");
  const Tensor& tensor = factory.make(ScalarType::kFloat, {1, 3, 224, 224});
  EXPECT_EQ(text_of(tensor), "f32[1,3,224,224]");
  EXPECT_EQ(text_of(tensor, 17), "f32[1,3,224,224]");
  EXPECT_EQ(text_of(tensor, 16), "f32[1,3,224,...");
  EXPECT_EQ(text_of(tensor, 8), "f32[...");
}

}  // namespace
}  // namespace vitrine
