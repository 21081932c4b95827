// Compares optimized element-wise kernels with the portable kernels for many shapes and dim orders.
// Some operands are broadcast. Also tests calls that write to an input or resize the output.

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "test/kernels/kernel_comparison.h"
#include "vitrine/thread_pool.h"

namespace vitrine {
namespace {

using namespace test;

struct Shape {
  Sizes sizes;
  Order order = {};
};
struct Layouts {
  Shape a;
  Shape b;
  Shape out;
};

const Layouts kLayouts[] = {
    {{{}}, {{}}, {{}}},
    {{{1}}, {{}}, {{1}}},
    {{{3, 4}}, {{3, 4}}, {{3, 4}}},
    {{{3, 4}}, {{}}, {{3, 4}}},
    {{{1, 1}}, {{3, 4}}, {{3, 4}}},
    {{{200, 300}}, {{1}}, {{200, 300}}},   // threads
    {{{3, 4}}, {{4}}, {{3, 4}}},           // a row
    {{{4}}, {{1, 4}}, {{1, 4}}},           // a row that does not repeat
    {{{2, 3, 4}}, {{3, 4}}, {{2, 3, 4}}},  // a row of two dimensions
    {{{700, 5}}, {{5}}, {{700, 5}}},       // a row that fits a buffer many times
    {{{3, 512}}, {{512}}, {{3, 512}}},     // the longest such row
    {{{3, 513}}, {{513}}, {{3, 513}}},     // a row that is read in place
    {{{5, 1030}}, {{1, 1030}}, {{5, 1030}}},
    {{{4000, 7}}, {{7}}, {{4000, 7}}},       // threads
    {{{20, 3000}}, {{3000}}, {{20, 3000}}},  // threads
    {{{5, 1}}, {{1, 7}}, {{5, 7}}},          // the output has the shape of neither input
    {{{5, 6}}, {{5, 1}}, {{5, 6}}},
    {{{2, 3, 4, 5}, {0, 2, 3, 1}}, {{3, 1, 1}}, {{2, 3, 4, 5}, {0, 2, 3, 1}}},
    {{{2, 3, 4, 5}}, {{3, 1, 1}}, {{2, 3, 4, 5}}},
    {{{4, 5}, {1, 0}}, {{4, 5}}, {{4, 5}}},
    {{{4, 5}, {1, 0}}, {{4, 5}, {1, 0}}, {{4, 5}}},
    {{{6, 4, 5}}, {{4, 5}, {1, 0}}, {{6, 4, 5}}},
    {{{0, 3}}, {{3}}, {{0, 3}}},
    {{{3, 0}}, {{1}}, {{3, 0}}},
    {{{0}}, {{0}}, {{0}}},
    {{{3}}, {{4}}, {{4}}},        // fails
    {{{2, 3}}, {{2}}, {{2, 3}}},  // fails
};

class OptimizedElementwise : public testing::TestWithParam<ScalarType> {};

// Calls four kernels with each element of kLayouts, with and without threads.
TEST_P(OptimizedElementwise, MatchesPortableKernelsInEveryLayout) {
  const auto pool = require(ThreadPool::create(3, ThreadPool::Use::kAlways));
  uint32_t seed = 0;
  for (const auto& [a_layout, b_layout, out_layout] : kLayouts) {
    SCOPED_TRACE(testing::Message() << "layout " << seed / 2);
    for (ThreadPool* const threads : {pool.get(), static_cast<ThreadPool*>(nullptr)}) {
      Comparison c(++seed, threads);
      const auto a = c.tensor(GetParam(), a_layout.sizes, a_layout.order);
      const auto b = c.tensor(GetParam(), b_layout.sizes, b_layout.order);
      const auto condition = c.tensor(ScalarType::kBool, b_layout.sizes, b_layout.order);
      const auto one = c.tensor(GetParam(), {1});
      // Each kernel has its own output, so that none inherits the elements of another.
      const auto out = [&c, &layout = out_layout](ScalarType dtype) {
        return c.out(dtype, layout.sizes, layout.order);
      };
      c.run("aten::add.out", {}, a, b, EValue(int64_t{1}), out(GetParam()));
      c.run("aten::lt.Tensor_out", {}, b, a, out(ScalarType::kBool));
      c.run("aten::add.Scalar_out", {}, a, EValue(1.5), EValue(int64_t{2}), out(GetParam()));
      c.run("aten::where.self_out", {}, condition, a, one, out(GetParam()));
    }
  }
}

// Broadcasting repeats 3 elements of one operand and 12 elements of another.
TEST_P(OptimizedElementwise, AtenWhereWithRowsOfDifferentLengthsMatchesPortableKernel) {
  Comparison c(1, nullptr);
  const auto condition = c.tensor(ScalarType::kBool, {3});
  const auto a = c.tensor(GetParam(), {4, 3});
  const auto b = c.tensor(GetParam(), {5, 4, 3});
  c.run("aten::where.self_out", {}, condition, a, b, c.out(GetParam(), {5, 4, 3}));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, OptimizedElementwise,
                         testing::Values(ScalarType::kFloat, ScalarType::kHalf,
                                         ScalarType::kBFloat16),
                         [](const auto& tested) { return scalar_type_name(tested.param); });

class OptimizedCall : public testing::Test {
 protected:
  OptimizedCall() { call_.registry = &optimized_kernels(); }
  Error add(Tensor& a, Tensor& b, Tensor& out) { return call_.run("aten::add.out", a, b, 1, out); }

  KernelCall call_;
};

TEST_F(OptimizedCall, AcceptsAnInputAsOutput) {
  for (const int32_t rows : {1, 3, 200}) {
    constexpr int32_t kColumns = 6;
    const std::vector<float> values = count_up(static_cast<size_t>(rows * kColumns));
    Tensor& x = call_.make<float>({rows, kColumns}, values);
    Tensor& row = call_.make<float>({kColumns}, {1, 2, 3, 4, 5, 6});
    ASSERT_TRUE(succeeds(add(x, row, x)));
    ASSERT_TRUE(succeeds(add(x, x, x)));
    const std::vector<float> sums = values_of<float>(x);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(sums[i], 2 * (values[i] + static_cast<float>(i % kColumns + 1))) << i;
    }
  }
}

// The bound is 1.5 units in the last place. The formula 1 / sqrt(x) is within this bound, although
// it rounds twice.
TEST_F(OptimizedCall, ReciprocalRootIsCloseToExactValue) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.0F, -0.0F, kInf, -kInf, -1.0F, std::nanf("")};
  const size_t special = values.size();
  for (int exponent = -126; exponent < 128; ++exponent) {
    for (int i = 0; i < 37; ++i) {
      values.push_back(std::ldexp(1.0F + static_cast<float>(i) / 37.0F, exponent));
    }
  }
  Tensor& x = call_.make<float>({static_cast<int32_t>(values.size())}, values);
  ASSERT_TRUE(succeeds(call_.run("aten::rsqrt.out", x, x)));
  const std::vector<float> roots = values_of<float>(x);
  EXPECT_EQ(roots[0], kInf);
  EXPECT_EQ(roots[1], -kInf);
  EXPECT_EQ(roots[2], 0.0F);
  for (size_t i = 3; i < special; ++i) EXPECT_TRUE(std::isnan(roots[i])) << values[i];
  for (size_t i = special; i < values.size(); ++i) {
    const double exact = 1 / std::sqrt(static_cast<double>(values[i]));
    const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
    ASSERT_LE(std::fabs(static_cast<double>(roots[i]) - exact), 1.5 * unit) << values[i];
  }
}

// Tests all mantissas with an even and an odd exponent, and then the ends of the range.
TEST_F(OptimizedCall, RootsAreRoundedCorrectly) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr uint32_t kCount = 1U << 16;
  Tensor& x = call_.make<float>({kCount}, std::vector<float>(kCount));
  Tensor& out = call_.make(ScalarType::kFloat, {kCount});
  auto* const values = x.mutable_data<float>();
  const auto check = [&] {
    ASSERT_TRUE(succeeds(call_.run("aten::sqrt.out", x, out)));
    for (uint32_t i = 0; i < kCount; ++i) {
      const float root = std::sqrt(values[i]);
      ASSERT_TRUE(out.data<float>()[i] == root || std::isnan(root)) << values[i];
      ASSERT_EQ(std::isnan(out.data<float>()[i]), std::isnan(root)) << values[i];
    }
  };
  for (uint32_t first = std::bit_cast<uint32_t>(1.0F); first < std::bit_cast<uint32_t>(4.0F);
       first += kCount) {
    for (uint32_t i = 0; i < kCount; ++i) values[i] = std::bit_cast<float>(first + i);
    check();
  }
  for (uint32_t i = 0; i < kCount; ++i) values[i] = std::bit_cast<float>(i << 16 | i);
  check();
  std::fill_n(values, kCount, 2.0F);
  std::copy_n(std::initializer_list<float>{0.0F, -0.0F, kInf, -kInf, -1.0F}.begin(), 5, values);
  check();
  EXPECT_TRUE(std::signbit(out.data<float>()[1]));
}

TEST_F(OptimizedCall, AcceptsScalarsAndOneElementTensorsAsOperands) {
  for (const int32_t count : {2, 256, 5000}) {
    const std::vector<float> values = count_up(static_cast<size_t>(count));
    Tensor& x = call_.make<float>({1, count}, values);
    Tensor& number = call_.make<float>({1}, {3});
    Tensor& out = call_.make(ScalarType::kFloat, {1, count});
    const auto expect = [&](const char* op, float (*formula)(float)) {
      const std::vector<float> results = values_of<float>(out);
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(results[i], formula(values[i])) << op << i;
      }
    };
    ASSERT_TRUE(succeeds(call_.run("aten::sub.out", x, number, 2, out)));
    expect("sub", [](float a) { return a - 6; });
    ASSERT_TRUE(succeeds(call_.run("aten::maximum.out", x, number, out)));
    expect("maximum", [](float a) { return std::max(a, 3.0F); });
    ASSERT_TRUE(succeeds(call_.run("aten::div.Scalar_out", x, 4, out)));
    expect("div", [](float a) { return a / 4; });
    ASSERT_TRUE(succeeds(call_.run("aten::mul.out", number, x, out)));
    expect("mul", [](float a) { return 3 * a; });
  }
}

TEST_F(OptimizedCall, RejectsResizingAnInput) {
  Tensor& x = call_.make<float>({1, 3}, {1, 2, 3}, {}, kDynamic);
  Tensor& y = call_.make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(fails(add(x, y, x), ErrorCode::kInvalidProgram, "also an input"));
}

TEST_F(OptimizedCall, ResizesTheOutput) {
  Tensor& out = call_.make(ScalarType::kFloat, {4, 3}, {}, kDynamic);
  Tensor& x = call_.make<float>({3, 4}, count_up(12));
  Tensor& one = call_.make<float>({}, {1});
  ASSERT_TRUE(succeeds(add(x, one, out))) << "with as many elements";
  EXPECT_TRUE(out.same_sizes(x));
  EXPECT_EQ(values_of<float>(out)[11], 12);
  Tensor& y = call_.make<float>({1, 4}, count_up(4));
  ASSERT_TRUE(succeeds(add(y, one, out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{1, 2, 3, 4}));
}

// The operand and the output have the same number of elements, but the rank of the output differs
// from the rank of the result.
TEST_F(OptimizedCall, RejectsAnOutputOfADifferentRank) {
  Tensor& out = call_.make(ScalarType::kFloat, {1, 3}, {}, kDynamic);
  Tensor& row = call_.make<float>({3}, {1, 2, 3});
  EXPECT_TRUE(fails(add(row, row, out), kBad, "its rank is fixed"));
}

}  // namespace
}  // namespace vitrine
