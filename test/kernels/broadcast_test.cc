#include "kernels/util/broadcast.h"

#include <gtest/gtest.h>

#include "test/support/tensor_factory.h"

namespace vitrine {
namespace {

class RepeatPeriod : public testing::Test {
 protected:
  using Sizes = std::vector<int32_t>;
  using Order = std::vector<uint8_t>;

  int64_t period(Sizes sizes, Sizes out_sizes, Order order = {}, Order out_order = {}) {
    return repeat_period(
        factory_.make(ScalarType::kFloat, std::move(sizes), std::move(order)),
        factory_.make(ScalarType::kFloat, std::move(out_sizes), std::move(out_order)));
  }

  test::TensorFactory factory_;
};

TEST_F(RepeatPeriod, IsTheElementCountForEqualLayouts) {
  EXPECT_EQ(period({}, {}), 1);
  EXPECT_EQ(period({2, 3}, {2, 3}), 6);
  EXPECT_EQ(period({3}, {1, 3}), 3);
  EXPECT_EQ(period({2, 3, 4, 5}, {2, 3, 4, 5}, {0, 2, 3, 1}, {0, 2, 3, 1}), 120);
  EXPECT_EQ(period({2, 1, 4}, {2, 1, 4}, {0, 2, 1}, {0, 1, 2}), 8) << "size 1 has no order";
}

TEST_F(RepeatPeriod, IsTheLengthOfARowThatRepeats) {
  EXPECT_EQ(period({3}, {2, 3}), 3);
  EXPECT_EQ(period({1, 3}, {2, 3}), 3);
  EXPECT_EQ(period({3, 4}, {5, 2, 3, 4}), 12);
  EXPECT_EQ(period({1, 1, 4}, {2, 1, 4}), 4);
  EXPECT_EQ(period({2, 1}, {5, 2, 1}), 2);
  EXPECT_EQ(period({1, 3, 1, 1}, {2, 3, 4, 5}, {}, {0, 2, 3, 1}), 3) << "channels are innermost";
}

TEST_F(RepeatPeriod, IsOneForASingleElement) {
  EXPECT_EQ(period({}, {2, 3}), 1);
  EXPECT_EQ(period({1, 1}, {2, 3}), 1);
  EXPECT_EQ(period({1}, {1, 1}), 1);
}

TEST_F(RepeatPeriod, IsZeroUnlessTheWholeOperandRepeatsInMemoryOrder) {
  EXPECT_EQ(period({2, 1}, {2, 3}), 0) << "each element repeats";
  EXPECT_EQ(period({2, 1, 4}, {2, 3, 4}), 0);
  EXPECT_EQ(period({2, 3}, {2, 3}, {1, 0}), 0) << "transposed";
  EXPECT_EQ(period({3, 4}, {2, 3, 4}, {1, 0}), 0) << "transposed rows";
  EXPECT_EQ(period({1, 3, 1, 1}, {2, 3, 4, 5}), 0) << "channels are not innermost";
}

TEST_F(RepeatPeriod, IsZeroForShapesThatDoNotBroadcast) {
  EXPECT_EQ(period({3}, {2, 4}), 0);
  EXPECT_EQ(period({3}, {2, 1}), 0);
  EXPECT_EQ(period({1, 3}, {3}), 0) << "a higher rank";
  EXPECT_EQ(period({1, 1}, {1}), 0) << "a higher rank";
}

TEST_F(RepeatPeriod, IsZeroForEmptyTensors) {
  EXPECT_EQ(period({0}, {0}), 0);
  EXPECT_EQ(period({3}, {0, 3}), 0);
  EXPECT_EQ(period({1}, {3, 0}), 0);
}

}  // namespace
}  // namespace vitrine
