// Loads methods of programs that a test builds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"
#include "test/support/test_backend.h"
#include "test/support/test_kernels.h"
#include "vitrine/method.h"

namespace vitrine::test {

class MethodTest : public testing::Test {
 protected:
  MethodTest() { EXPECT_TRUE(backends_.add(&backend_).ok()); }

  std::shared_ptr<const Program> build() {
    files_.push_back(builder_.build());
    auto program = Program::load(*view_buffer(files_.back()));
    EXPECT_TRUE(program.ok()) << program.error().message();
    return program.ok() ? *program : nullptr;
  }
  // Loads the method with the test's kernels and backend, unless `options` specifies others.
  Result<std::unique_ptr<Method>> try_load(MethodOptions options = {}) {
    const std::shared_ptr<const Program> program = build();
    if (!program) return Error::make(ErrorCode::kInternal, "the program does not load");
    if (options.kernels == nullptr) options.kernels = &test_kernels();
    if (options.backends == nullptr) options.backends = &backends_;
    return Method::load(program, "forward", options);
  }
  std::unique_ptr<Method> load(const MethodOptions& options = {}) {
    auto method = try_load(options);
    EXPECT_TRUE(method.ok()) << method.error().message();
    return method.ok() ? std::move(*method) : nullptr;
  }

  // Resets the specification of the method to an empty one.
  void start_over() {
    forward_ = {};
    forward_.name = "forward";
  }

  // out = x * factor. Both tensors are f32[2,3] in planned memory.
  void build_scaling(int64_t factor = 2) {
    forward_.buffer_sizes = {0, 64};
    x_ = forward_.tensor({.sizes = {2, 3}, .planned = Planned{1, 0}});
    out_ = forward_.tensor({.sizes = {2, 3}, .planned = Planned{1, 32}});
    forward_.inputs = {x_};
    forward_.outputs = {out_};
    forward_.kernel_call(forward_.op("test::scale", "out"),
                         {x_, forward_.integer(factor), out_, out_});
  }

  EValue value(std::vector<int32_t> sizes, const std::vector<float>& elements) {
    return EValue(&factory_.make(std::move(sizes), elements));
  }
  static std::vector<float> output(const Method& method, size_t index = 0) {
    return values_of<float>(method.output(index).unchecked_tensor());
  }
  // Sets input 0 and executes the method. Returns the elements of the first output, or an empty
  // vector after an error.
  static std::vector<float> run(Method& method, const EValue& input) {
    Error error = method.set_input(0, input);
    if (error.ok()) error = method.execute();
    EXPECT_TRUE(error.ok()) << error.message();
    return error.ok() ? output(method) : std::vector<float>();
  }

  ProgramBuilder builder_;
  MethodSpec& forward_ = builder_.method("forward");
  int x_ = 0;
  int out_ = 0;
  TestBackend backend_;
  BackendRegistry backends_;
  TensorFactory factory_;

 private:
  std::deque<AlignedBytes> files_;
};

// Builds programs. The test chooses the offset of each value in planned memory.
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
