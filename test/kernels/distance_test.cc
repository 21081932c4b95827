// Tests p-norm distances.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

TEST(Cdist, ComputesEveryNormAndBroadcastsBatches) {
  KernelCall call;
  Tensor& x1 = call.make<double>({2, 1, 2}, {0, 0, 3, 4});
  Tensor& x2 = call.make<double>({1, 2, 2}, {3, 4, 3, 0});
  Tensor& out = call.make(ScalarType::kDouble, {2, 1, 2});
  const auto distances = [&](double p) {
    EXPECT_TRUE(succeeds(call.run("aten::_cdist_forward.out", x1, x2, p, call.none(), out)));
    return values_of<double>(out);
  };
  EXPECT_THAT(distances(0), ElementsAre(2, 1, 0, 1));
  EXPECT_THAT(distances(1), ElementsAre(7, 3, 0, 4));
  EXPECT_THAT(distances(2), ElementsAre(5, 3, 0, 4));
  EXPECT_THAT(distances(INFINITY), ElementsAre(4, 3, 0, 4));
  EXPECT_NEAR(distances(3)[0], std::cbrt(27.0 + 64.0), 1e-12);
  EXPECT_FALSE(call.run("aten::_cdist_forward.out", x1, x2, -1.0, call.none(), out).ok());
  EXPECT_FALSE(call.run("aten::_cdist_forward.out", x1, x2, double(NAN), call.none(), out).ok());
  Tensor& longer = call.make<double>({1, 1, 3}, {0, 0, 0});
  EXPECT_FALSE(call.run("aten::_cdist_forward.out", x1, longer, 2.0, call.none(), out).ok());
}

TEST(Pdist, ReturnsPairsInOrder) {
  KernelCall call;
  Tensor& self = call.make<float>({3, 1}, {0, 1, 5});
  Tensor& out = call.make(ScalarType::kFloat, {3});
  ASSERT_TRUE(succeeds(call.run("aten::_pdist_forward.out", self, 2.0, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 5, 4));
  Tensor& one = call.make<float>({1, 1}, {0});
  Tensor& none = call.make(ScalarType::kFloat, {0});
  EXPECT_TRUE(succeeds(call.run("aten::_pdist_forward.out", one, 2.0, none)));
}

}  // namespace
}  // namespace vitrine::test
