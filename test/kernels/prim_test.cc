// Tests operators on numbers: results equal Python's, and invalid operations fail instead of
// trapping.
#include <gtest/gtest.h>

#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

void check_scalar(const std::string& op, std::initializer_list<KernelCase> cases) {
  check_kernel("executorch_prim::" + op, cases);
}

TEST(Prim, ComputesArithmetic) {
  check_scalar("add.Scalar", {{"2 3", "5"}, {"2 0.5", "2.5"}});
  check_scalar("sub.Scalar", {{"2 3", "-1"}});
  check_scalar("mul.Scalar", {{"4 3", "12"}});
  check_scalar("neg.Scalar", {{"4", "-4"}});
  check_scalar("truediv.Scalar", {{"1 4", "0.25"}, {"1 0", "error: "}});
  check_scalar("sym_max.Scalar", {{"1 4", "4"}});
  check_scalar("sym_min.Scalar", {{"1 4", "1"}});
}

TEST(Prim, WrapsIntegersAround) {
  check_scalar("add.Scalar", {{"max 1", "min"}});
  check_scalar("mul.Scalar", {{"min -1", "min"}});
  check_scalar("neg.Scalar", {{"min", "min"}});
  check_scalar("floordiv.Scalar", {{"min -1", "min"}});
  check_scalar("mod.Scalar", {{"min -1", "0"}});
}

TEST(Prim, DividesLikePython) {
  for (const char* op : {"floordiv.Scalar", "floordiv.int"}) {
    check_scalar(op, {{"7 2", "3"}, {"-7 2", "-4"}, {"1 0", "error: by zero"}});
  }
  for (const char* op : {"mod.Scalar", "mod.int"}) {
    check_scalar(op, {{"-7 3", "2"}, {"7 -3", "-2"}, {"1 0", "error: by zero"}});
  }
  check_scalar("floordiv.Scalar", {{"-7.0 2", "-4.0"}, {"-1.0 0", "-inf"}});
}

TEST(Prim, ComparesNumbers) {
  check_scalar("eq.Scalar", {{"2 2.0", "true"},
                             {"1 true", "error: ", ErrorCode::kInvalidType},
                             {"1 'a'", "error: String", ErrorCode::kInvalidType}});
  check_scalar("gt.Scalar", {{"2 2", "false"}});
  check_scalar("ge.Scalar", {{"2 2", "true"}});
  check_scalar("lt.Scalar", {{"false true", "true"}});
  check_scalar("le.Scalar",
               {{"9223372036854775806 max", "true"}, {"max 9223372036854775806", "false"}});
}

TEST(Prim, ConvertsNumbers) {
  check_scalar("sym_float.Scalar", {{"3", "3.0"}});
  check_scalar("sym_int.Scalar", {{"-3.9", "-3"}});
  check_scalar("ceil.Scalar", {{"2.1", "3"}});
  check_scalar("trunc.Scalar", {{"-2.9", "-2"}});
  check_scalar("round.Scalar", {{"2.5", "2"}, {"3.5", "4"}});
  check_scalar("sym_not.Scalar", {{"true", "false"}});
  check_scalar("sym_ite.Scalar", {{"true 1 2.5", "1"}, {"false 1 2.5", "2.5"}});
}

TEST(Prim, RejectsDoublesOutsideInt64) {
  for (const char* op : {"ceil.Scalar", "round.Scalar", "trunc.Scalar", "sym_int.Scalar"}) {
    check_scalar(op, {{"nan", "error: "}, {"1.0e19", "error: "}, {"-1.0e19", "error: "}});
  }
}

TEST(Prim, ReadsNumbersFromTensors) {
  check_kernel("aten::sym_size.int", {{"i32[2,3] 1", "3"},
                                      {"i32[2,3] -2", "2"},
                                      {"i32[2,3] 2", "error: range"},
                                      {"bool[] 0", "error: "}});
  check_kernel("aten::sym_numel", {{"i32[2,3]", "6"}});
  check_kernel("aten::_local_scalar_dense", {{"i32[2,3]{5,0,0,0,0,0}", "5"},
                                             {"f16[]{0.5}", "0.5"},
                                             {"bool[]{1}", "true"},
                                             {"f32[0]", "error: "}});
}

}  // namespace
}  // namespace vitrine::test
