// Tests operators on numbers: results equal Python's, and invalid operations fail instead of
// trapping.
#include <gtest/gtest.h>

#include "test/kernels/kernel_cases.h"

namespace vitrine {
namespace {

using test::KernelCase;

void check(const std::string& op, std::initializer_list<KernelCase> cases) {
  test::check_kernel("executorch_prim::" + op, cases);
}

TEST(Prim, ComputesArithmetic) {
  check("add.Scalar", {{"2 3", "5"}, {"2 0.5", "2.5"}});
  check("sub.Scalar", {{"2 3", "-1"}});
  check("mul.Scalar", {{"4 3", "12"}});
  check("neg.Scalar", {{"4", "-4"}});
  check("truediv.Scalar", {{"1 4", "0.25"}, {"1 0", "error: "}});
  check("sym_max.Scalar", {{"1 4", "4"}});
  check("sym_min.Scalar", {{"1 4", "1"}});
}

TEST(Prim, WrapsIntegersAround) {
  check("add.Scalar", {{"max 1", "min"}});
  check("mul.Scalar", {{"min -1", "min"}});
  check("neg.Scalar", {{"min", "min"}});
  check("floordiv.Scalar", {{"min -1", "min"}});
  check("mod.Scalar", {{"min -1", "0"}});
}

TEST(Prim, DividesLikePython) {
  for (const char* op : {"floordiv.Scalar", "floordiv.int"}) {
    check(op, {{"7 2", "3"}, {"-7 2", "-4"}, {"1 0", "error: by zero"}});
  }
  for (const char* op : {"mod.Scalar", "mod.int"}) {
    check(op, {{"-7 3", "2"}, {"7 -3", "-2"}, {"1 0", "error: by zero"}});
  }
  check("floordiv.Scalar", {{"-7.0 2", "-4.0"}, {"-1.0 0", "-inf"}});
}

TEST(Prim, ComparesNumbers) {
  check("eq.Scalar", {{"2 2.0", "true"},
                      {"1 true", "error: ", ErrorCode::kInvalidType},
                      {"1 'a'", "error: String", ErrorCode::kInvalidType}});
  check("gt.Scalar", {{"2 2", "false"}});
  check("ge.Scalar", {{"2 2", "true"}});
  check("lt.Scalar", {{"false true", "true"}});
  check("le.Scalar", {{"9223372036854775806 max", "true"}, {"max 9223372036854775806", "false"}});
}

TEST(Prim, ConvertsNumbers) {
  check("sym_float.Scalar", {{"3", "3.0"}});
  check("sym_int.Scalar", {{"-3.9", "-3"}});
  check("ceil.Scalar", {{"2.1", "3"}});
  check("trunc.Scalar", {{"-2.9", "-2"}});
  check("round.Scalar", {{"2.5", "2"}, {"3.5", "4"}});
  check("sym_not.Scalar", {{"true", "false"}});
  check("sym_ite.Scalar", {{"true 1 2.5", "1"}, {"false 1 2.5", "2.5"}});
}

TEST(Prim, RejectsDoublesOutsideInt64) {
  for (const char* op : {"ceil.Scalar", "round.Scalar", "trunc.Scalar", "sym_int.Scalar"}) {
    check(op, {{"nan", "error: "}, {"1.0e19", "error: "}, {"-1.0e19", "error: "}});
  }
}

TEST(Prim, ReadsNumbersFromTensors) {
  test::check_kernel("aten::sym_size.int", {{"i32[2,3] 1", "3"},
                                            {"i32[2,3] -2", "2"},
                                            {"i32[2,3] 2", "error: range"},
                                            {"bool[] 0", "error: "}});
  test::check_kernel("aten::sym_numel", {{"i32[2,3]", "6"}});
  test::check_kernel("aten::_local_scalar_dense", {{"i32[2,3]{5,0,0,0,0,0}", "5"},
                                                   {"f16[]{0.5}", "0.5"},
                                                   {"bool[]{1}", "true"},
                                                   {"f32[0]", "error: "}});
}

}  // namespace
}  // namespace vitrine
