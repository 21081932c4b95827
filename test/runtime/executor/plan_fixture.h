// Builds programs whose values have offsets in planned memory that the test chooses.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "test/runtime/executor/method_fixture.h"

namespace vitrine::test {

class PlanTest : public MethodTest {
 protected:
  PlanTest() { forward_.buffer_sizes = {0, 256}; }

  // f32[count] at byte `offset` of memory 1.
  int32_t at(uint64_t offset, int32_t count = 4) {
    return forward_.tensor({.sizes = {count}, .planned = Planned{1, offset}});
  }
  int32_t input(uint64_t offset, int32_t count = 4) {
    forward_.inputs.push_back(at(offset, count));
    return forward_.inputs.back();
  }
  void call(const std::string& op, std::vector<int32_t> args) {
    const size_t dot = std::min(op.find('.'), op.size());
    const std::string overload = dot < op.size() ? op.substr(dot + 1) : "";
    forward_.kernel_call(forward_.op(op.substr(0, dot), overload), std::move(args));
  }
  void scale(int32_t from, int32_t to) {
    call("test::scale.out", {from, forward_.integer(2), to, to});
  }
  void add(int32_t a, int32_t b, int32_t to) { call("test::add.out", {a, b, to, to}); }

  MethodOptions options() const { return {.kernels = kernels_, .check_plan = &refuse_overlaps}; }

  const KernelRegistry* kernels_ = &test_kernels();
};

}  // namespace vitrine::test
