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
    return require(Program::load(*view_buffer(files_.back())));
  }
  // Loads the method with the test's kernels and backend, unless `options` specifies others.
  Result<std::unique_ptr<Method>> try_load(MethodOptions options = {}) {
    if (options.kernels == nullptr) options.kernels = &test_kernels();
    if (options.backends == nullptr) options.backends = &backends_;
    return Method::load(build(), "forward", options);
  }
  std::unique_ptr<Method> load(const MethodOptions& options = {}) {
    return require(try_load(options));
  }

  // Resets the specification of the method to an empty one.
  void start_over() {
    forward_ = {};
    forward_.name = "forward";
  }

  // Adds an input x_ and an output out_ of these sizes. They are at bytes 0 and `out_offset` of
  // memory 1, which has `memory_bytes` bytes.
  void add_x_and_out(const std::vector<int32_t>& sizes, int64_t memory_bytes = 64,
                     uint64_t out_offset = 32) {
    forward_.buffer_sizes = {0, memory_bytes};
    x_ = forward_.tensor({.sizes = sizes, .planned = Planned{1, 0}});
    out_ = forward_.tensor({.sizes = sizes, .planned = Planned{1, out_offset}});
    forward_.inputs = {x_};
    forward_.outputs = {out_};
  }
  // out = x * factor. Both tensors are f32[2,3] in planned memory.
  void build_scaling(int64_t factor = 2) {
    add_x_and_out({2, 3});
    scale(x_, out_, factor);
  }

  void call(const std::string& op, std::vector<int32_t> args) {
    const size_t dot = std::min(op.find('.'), op.size());
    const std::string overload = dot < op.size() ? op.substr(dot + 1) : "";
    forward_.kernel_call(forward_.op(op.substr(0, dot), overload), std::move(args));
  }
  void scale(int32_t from, int32_t to, int64_t factor = 2) {
    call("test::scale.out", {from, forward_.integer(factor), to, to});
  }
  void add(int32_t a, int32_t b, int32_t to) { call("test::add.out", {a, b, to, to}); }
  int delegate(uint8_t factor, std::vector<CompileSpecSpec> specs = {}) {
    return forward_.delegate(
        {.id = "TestBackend", .payload = multiply_by(factor), .compile_specs = std::move(specs)});
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
  MethodOptions options() const { return {.kernels = kernels_, .check_plan = &refuse_overlaps}; }

  const KernelRegistry* kernels_ = &test_kernels();
};

}  // namespace vitrine::test
