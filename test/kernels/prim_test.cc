// Tests operators on numbers: results equal Python's, and invalid operations fail instead of
// trapping.
#include <limits>

#include "test/kernels/kernel_call.h"

namespace vitrine {
namespace {

using test::fails;
using test::KernelCall;
using test::succeeds;

constexpr int64_t kMinInt = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxInt = std::numeric_limits<int64_t>::max();

class Prim : public testing::Test {
 protected:
  KernelCall call;

  template <class... Args>
  int64_t int_of(std::string_view name, Args... args) {
    EXPECT_TRUE(succeeds(call.run(name, args...))) << name;
    EXPECT_TRUE(call.result.is_int()) << name;
    return call.result.unchecked_int();
  }
  template <class... Args>
  double double_of(std::string_view name, Args... args) {
    EXPECT_TRUE(succeeds(call.run(name, args...))) << name;
    EXPECT_TRUE(call.result.is_double()) << name;
    return call.result.unchecked_double();
  }
  template <class... Args>
  bool bool_of(std::string_view name, Args... args) {
    EXPECT_TRUE(succeeds(call.run(name, args...))) << name;
    EXPECT_TRUE(call.result.is_bool()) << name;
    return call.result.unchecked_bool();
  }
};

TEST_F(Prim, ComputesArithmetic) {
  EXPECT_EQ(int_of("executorch_prim::add.Scalar", 2, 3), 5);
  EXPECT_EQ(double_of("executorch_prim::add.Scalar", 2, 0.5), 2.5);
  EXPECT_EQ(int_of("executorch_prim::sub.Scalar", 2, 3), -1);
  EXPECT_EQ(int_of("executorch_prim::mul.Scalar", 4, 3), 12);
  EXPECT_EQ(int_of("executorch_prim::neg.Scalar", 4), -4);
  EXPECT_EQ(double_of("executorch_prim::truediv.Scalar", 1, 4), 0.25);
  EXPECT_EQ(int_of("executorch_prim::sym_max.Scalar", 1, 4), 4);
  EXPECT_EQ(int_of("executorch_prim::sym_min.Scalar", 1, 4), 1);
}

TEST_F(Prim, WrapsIntegersAround) {
  EXPECT_EQ(int_of("executorch_prim::add.Scalar", kMaxInt, 1), kMinInt);
  EXPECT_EQ(int_of("executorch_prim::mul.Scalar", kMinInt, -1), kMinInt);
  EXPECT_EQ(int_of("executorch_prim::neg.Scalar", kMinInt), kMinInt);
  EXPECT_EQ(int_of("executorch_prim::floordiv.Scalar", kMinInt, -1), kMinInt);
  EXPECT_EQ(int_of("executorch_prim::mod.Scalar", kMinInt, -1), 0);
}

TEST_F(Prim, DividesLikePython) {
  for (const char* name : {"executorch_prim::floordiv.Scalar", "executorch_prim::floordiv.int"}) {
    EXPECT_EQ(int_of(name, 7, 2), 3);
    EXPECT_EQ(int_of(name, -7, 2), -4);
    EXPECT_TRUE(fails(call.run(name, 1, 0), ErrorCode::kInvalidArgument, "by zero"));
  }
  for (const char* name : {"executorch_prim::mod.Scalar", "executorch_prim::mod.int"}) {
    EXPECT_EQ(int_of(name, -7, 3), 2);
    EXPECT_EQ(int_of(name, 7, -3), -2);
    EXPECT_TRUE(fails(call.run(name, 1, 0), ErrorCode::kInvalidArgument, "by zero"));
  }
  EXPECT_EQ(double_of("executorch_prim::floordiv.Scalar", -7.0, 2), -4.0);
  EXPECT_EQ(double_of("executorch_prim::floordiv.Scalar", -1.0, 0),
            -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(call.run("executorch_prim::truediv.Scalar", 1, 0).ok());
}

TEST_F(Prim, ComparesNumbers) {
  EXPECT_TRUE(bool_of("executorch_prim::eq.Scalar", 2, 2.0));
  EXPECT_FALSE(bool_of("executorch_prim::gt.Scalar", 2, 2));
  EXPECT_TRUE(bool_of("executorch_prim::ge.Scalar", 2, 2));
  EXPECT_TRUE(bool_of("executorch_prim::lt.Scalar", false, true));
  EXPECT_TRUE(bool_of("executorch_prim::le.Scalar", kMaxInt - 1, kMaxInt));
  EXPECT_FALSE(bool_of("executorch_prim::le.Scalar", kMaxInt, kMaxInt - 1));
  EXPECT_TRUE(fails(call.run("executorch_prim::eq.Scalar", 1, true), ErrorCode::kInvalidType, ""));
  EXPECT_TRUE(
      fails(call.run("executorch_prim::eq.Scalar", 1, "a"), ErrorCode::kInvalidType, "String"));
}

TEST_F(Prim, ConvertsNumbers) {
  EXPECT_EQ(double_of("executorch_prim::sym_float.Scalar", 3), 3.0);
  EXPECT_EQ(int_of("executorch_prim::sym_int.Scalar", -3.9), -3);
  EXPECT_EQ(int_of("executorch_prim::ceil.Scalar", 2.1), 3);
  EXPECT_EQ(int_of("executorch_prim::trunc.Scalar", -2.9), -2);
  EXPECT_EQ(int_of("executorch_prim::round.Scalar", 2.5), 2);
  EXPECT_EQ(int_of("executorch_prim::round.Scalar", 3.5), 4);
  EXPECT_FALSE(bool_of("executorch_prim::sym_not.Scalar", true));
  EXPECT_EQ(int_of("executorch_prim::sym_ite.Scalar", true, 1, 2.5), 1);
  EXPECT_EQ(double_of("executorch_prim::sym_ite.Scalar", false, 1, 2.5), 2.5);
}

TEST_F(Prim, RejectsDoublesOutsideInt64) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* name : {"executorch_prim::ceil.Scalar", "executorch_prim::round.Scalar",
                           "executorch_prim::trunc.Scalar", "executorch_prim::sym_int.Scalar"}) {
    for (const double value : {nan, 1e19, -1e19}) EXPECT_FALSE(call.run(name, value).ok()) << name;
  }
}

TEST_F(Prim, ReadsNumbersFromTensors) {
  Tensor& a = call.make<int32_t>({2, 3}, {5, 0, 0, 0, 0, 0});
  EXPECT_EQ(int_of("aten::sym_size.int", EValue(&a), 1), 3);
  EXPECT_EQ(int_of("aten::sym_size.int", EValue(&a), -2), 2);
  EXPECT_EQ(int_of("aten::sym_numel", EValue(&a)), 6);
  EXPECT_EQ(int_of("aten::_local_scalar_dense", EValue(&a)), 5);
  EXPECT_TRUE(fails(call.run("aten::sym_size.int", a, 2), ErrorCode::kInvalidArgument, "range"));
  Tensor& half = call.make<Half>({}, {Half(0.5f)});
  EXPECT_EQ(double_of("aten::_local_scalar_dense", EValue(&half)), 0.5);
  Tensor& scalar = call.make<bool>({}, {true});
  EXPECT_TRUE(bool_of("aten::_local_scalar_dense", EValue(&scalar)));
  EXPECT_FALSE(call.run("aten::sym_size.int", scalar, 0).ok());
  Tensor& empty = call.make(ScalarType::kFloat, {0});
  EXPECT_FALSE(call.run("aten::_local_scalar_dense", empty).ok());
}

}  // namespace
}  // namespace vitrine
