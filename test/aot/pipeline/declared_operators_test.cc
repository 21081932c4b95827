// Tests of custom operators, which are lowered by their declared signatures and run by custom
// kernels.
#include "aot/pipeline/declared_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "aot/graph/aot_error.h"
#include "aot/passes/passes.h"
#include "aot/pipeline/lower.h"
#include "aot/quantize/stored_floats.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "kernels/portable/portable_kernels.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/expect_error.h"
#include "test/support/results.h"
#include "vitrine/method.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Floats = std::vector<float>;

constexpr const char* kRoots = "my::roots(Tensor x, float factor=1.5) -> (Tensor, Tensor)";
constexpr const char* kCollect =
    "my::collect.more(Tensor(a!) sum, Tensor x, *, float times=2.0) -> Tensor";
constexpr const char* kTake = "my::take_(Tensor(a0!) sum, int count) -> ()";

// The results are factor * sqrt(x) and a copy of x.
void roots(KernelContext& context, const Tensor& x, double factor, Tensor& out0, Tensor& out1) {
  if (!context.resize(out0, x.sizes()) || !context.resize(out1, x.sizes())) return;
  for (int64_t i = 0; i < x.numel(); ++i) {
    out0.mutable_data<float>()[i] = static_cast<float>(factor) * std::sqrt(x.data<float>()[i]);
    out1.mutable_data<float>()[i] = x.data<float>()[i];
  }
}
VITRINE_KERNEL(roots, "my::roots.out", roots);

// sum += times * x; the result is the old sum.
void collect(KernelContext& context, Tensor& sum, const Tensor& x, double times, Tensor& out) {
  if (!context.resize(out, x.sizes())) return;
  for (int64_t i = 0; i < x.numel(); ++i) {
    out.mutable_data<float>()[i] = sum.data<float>()[i];
    sum.mutable_data<float>()[i] += static_cast<float>(times) * x.data<float>()[i];
  }
}
VITRINE_KERNEL(collect, "my::collect.more_out", collect);

void take(KernelContext&, Tensor& sum, int64_t count) {
  for (int64_t i = 0; i < sum.numel(); ++i)
    sum.mutable_data<float>()[i] -= static_cast<float>(count);
}
VITRINE_KERNEL(take, "my::take_", take);

// Counts the calls of an operator that has no results and writes to no arguments.
int logged = 0;
void log_tensor(KernelContext&, const Tensor&) { ++logged; }
VITRINE_KERNEL(log_tensor, "my::log", log_tensor);

constexpr const Kernel* kKernels[] = {&kernel_roots, &kernel_collect, &kernel_take,
                                      &kernel_log_tensor};

TensorSpec spec() { return contiguous_spec(ScalarType::kFloat, {3}); }

TensorData state() { return tensor_of(ScalarType::kFloat, {3}, {1, 2, 3}); }

Methods methods_of(ModelBuilder& build, const std::vector<Node*>& outputs) {
  Methods methods;
  methods.emplace("forward", build.finish(outputs));
  return methods;
}

std::vector<std::byte> lowered(Methods methods, const std::vector<const char*>& signatures) {
  LowerOptions options;
  for (const char* signature : signatures) {
    options.operators.push_back(parse_operator(signature));
  }
  options.optimize = true;
  options.make_record = true;
  return lower(std::move(methods), options).emitted.pte;
}

std::string error_of(ModelBuilder& build, Node* output,
                     const std::vector<const char*>& signatures) {
  return vitrine::test::thrown<AotError>([&] { lowered(methods_of(build, {output}), signatures); });
}

// Runs a loaded program, which keeps its state between executions.
class Runner {
 public:
  explicit Runner(const std::vector<std::byte>& pte) : pte_(pte) {
    EXPECT_TRUE(kernels_.add("my", kKernels).ok());
    EXPECT_TRUE(kernels_.add("portable", portable::kernels()).ok());
    const auto program = Program::load(*view_buffer(pte_));
    EXPECT_TRUE(program.ok()) << program.error().message();
    auto method = Method::load(*program, "forward", {.kernels = &kernels_});
    EXPECT_TRUE(method.ok()) << method.error().message();
    method_ = std::move(*method);
  }

  Floats operator()(Floats numbers) {
    Tensor input = method_->input(0).unchecked_tensor();
    input.set_data(numbers.data());
    EXPECT_TRUE(method_->set_input(0, EValue(&input)).ok());
    const Error error = method_->execute();
    EXPECT_TRUE(error.ok()) << error.message();
    const Tensor& result = method_->output(method_->num_outputs() - 1).unchecked_tensor();
    return {result.data<float>(), result.data<float>() + result.numel()};
  }

 private:
  std::vector<std::byte> pte_;
  KernelRegistry kernels_;
  std::unique_ptr<Method> method_;
};

TEST(DeclaredOperators, RunIfTheyWriteNoArguments) {
  Net build({3});
  Node* both = build.call_as("my.roots.default", {build.x}, {}, Value::Items{spec(), spec()});
  Node* more = build.call_as("my.roots.default", {build.item(both, 1), 10.0}, {},
                             Value::Items{spec(), spec()});
  Node* sum = build.call("aten.add.Tensor", {build.item(both, 0), build.item(more, 0)});
  Runner run(lowered(methods_of(build, {sum}), {kRoots}));
  EXPECT_THAT(run({1, 4, 9}), ElementsAre(11.5f, 23, 34.5f));
}

TEST(DeclaredOperators, RunIfTheyReturnNoResults) {
  Net build({3});
  build.call_as("my.log.default", {build.x}, {}, Value());
  build.call_as("my.log.default", {build.x}, {}, Value());
  Runner run(lowered(methods_of(build, {build.call("aten.neg.default", {build.x})}),
                     {"my::log(Tensor x) -> ()"}));
  logged = 0;
  EXPECT_THAT(run({1, 4, 9}), ElementsAre(-1, -4, -9));
  EXPECT_EQ(logged, 2);
}

// "my::exp" must not be mistaken for aten::exp.
TEST(DeclaredOperators, AreNotDelegated) {
  Net build({3});
  Node* made = build.call_as("my.exp.default", {build.x}, {}, spec());
  LowerOptions options;
  options.operators.push_back(parse_operator("my::exp(Tensor x) -> Tensor"));
  options.partitioners.push_back(std::make_shared<XnnpackPartitioner>());
  const LoweredModel model = lower(methods_of(build, {made}), options);
  EXPECT_THAT(model.rejections.at("forward"), testing::SizeIs(1));
}

// sum' = sum + 0.5 x - 3; the result is the old sum + 10 sum'.
void expect_state(const std::vector<std::byte>& pte) {
  Runner run(pte);
  EXPECT_THAT(run({4, 6, 8}), ElementsAre(1 + 0.f, 2 + 20.f, 3 + 40.f));
  EXPECT_THAT(run({2, 2, 2}), ElementsAre(0 - 20.f, 2 + 0.f, 4 + 20.f));
}

TEST(DeclaredOperators, CanWriteToBuffers) {
  Net build({3});
  Node* sum = build.buffer("sum", state());
  Node* old = build.call_as("my.collect.more", {sum, build.x}, {{"times", 0.5}}, spec());
  build.call_as("my.take_.default", {sum, 3}, {}, Value());
  Node* now = build.call("aten.mul.Tensor", {sum, 10});
  Methods methods = methods_of(build, {build.call("aten.add.Tensor", {old, now})});
  expect_state(lowered(std::move(methods), {kCollect, kTake}));
}

// After run_decompositions(), a model that writes to buffers calls auto_functionalized_v2.
TEST(DeclaredOperators, CanWriteToBuffersInFunctionalExports) {
  const Target functional = Target::of("auto_functionalized_v2", Dialect::kHigherOrder);
  Net build({3});
  Node* sum = build.buffer("sum", state());
  const auto bases = [](Node* base) { return Argument::list({base}); };
  Node* first = build.call_as(
      functional.name(), {Target::of("my.collect.more")},
      {{"x", build.x}, {"times", 0.5}, {"_sum_base_index", 0}, {"_all_bases", bases(sum)}},
      Value::Items{spec(), spec()});
  first->set_target(functional);
  Node* second = build.call_as(
      functional.name(), {Target::of("my.take_.default")},
      {{"count", 3}, {"_sum_base_index", 0}, {"_all_bases", bases(build.item(first, 1))}},
      Value::Items{Value(), spec()});
  second->set_target(functional);
  Node* written = build.item(second, 1);
  Node* now = build.call("aten.mul.Tensor", {written, 10});
  Node* result = build.call("aten.add.Tensor", {build.item(first, 0), now});
  Methods methods = methods_of(build, {written, result});
  OutputSpec& mutation = methods.at("forward").signature.outputs[0];
  mutation.kind = OutputSpec::Kind::kBufferMutation;
  mutation.target = "sum";
  expect_state(lowered(std::move(methods), {kCollect, kTake}));
}

// Only the device has the kernel, so the lowering cannot compute a call ahead of time, even if all
// of its arguments are constants.
TEST(DeclaredOperators, AreNotComputedAheadOfTime) {
  Net build({3});
  Node* both = build.call_as("my.roots.default", {build.buffer("weight", state()), 2.0}, {},
                             Value::Items{spec(), spec()});
  Runner run(
      lowered(methods_of(build, {build.call("aten.add.Tensor", {build.x, build.item(both, 1)})}),
              {kRoots}));
  EXPECT_THAT(run({10, 20, 30}), ElementsAre(11, 22, 33));
}

TEST(DeclaredOperators, RejectsMissingUnusedAndRepeatedDeclarations) {
  const auto error_with = [](const std::vector<const char*>& signatures) {
    Net build({3});
    return error_of(build, build.call_as("my.one.default", {build.x}, {}, spec()), signatures);
  };
  constexpr const char* kOne = "my::one(Tensor x) -> Tensor";
  EXPECT_EQ(error_with({kOne}), "");
  EXPECT_THAT(error_with({}), HasSubstr("my.one.default is unknown"));
  EXPECT_THAT(error_with({kRoots}), HasSubstr("the model does not call my::roots"));
  EXPECT_THAT(error_with({kOne, "my::one(Tensor y) -> Tensor"}),
              HasSubstr("my::one is declared twice"));
}

TEST(DeclaredOperators, RejectsArgumentsThatDoNotMatchSignature) {
  const auto error_with = [](const char* signature) {
    Net build({3});
    return error_of(build, build.call_as("my.one.default", {build.x, 2}, {}, spec()), {signature});
  };
  EXPECT_EQ(error_with("my::one(Tensor x, int n) -> Tensor"), "");
  EXPECT_THAT(error_with("my::one(Tensor x) -> Tensor"), HasSubstr("has 2 positional arguments"));
  EXPECT_THAT(error_with("my::one(Tensor x, Tensor n) -> Tensor"), HasSubstr("not a tensor"));
  EXPECT_THAT(error_with("my::one(Tensor x, int n) -> (Tensor, Tensor)"), HasSubstr("results"));
}

TEST(DeclaredOperators, RejectsUnsupportedSignatures) {
  const std::pair<const char*, const char*> cases[] = {
      {"aten::relu(Tensor self) -> Tensor", "already in the operator table"},
      {"one(Tensor x) -> Tensor", "no namespace"},
      {"my::one(Tensor x)", "expected \" -> \" at character 17"},
      {"my::one(Tensor(a!) x) -> Tensor(a!)", "must be a new tensor"},
      {"my::one(Tensor(a) x) -> Tensor(a)", "must be a new tensor"},
      {"my::one(Tensor x) -> int", "must be a new tensor"},
      {"my::one(Tensor(a!)[] x) -> ()", "must be a single tensor"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.first);
    EXPECT_ERROR(AotError, parse_operator(row.first), row.second);
  }
}

// The lowering cannot compute the result shapes of a declared operator. It takes them from the
// export, so they are valid only for the exported argument shapes.
TEST(DeclaredOperators, RejectsArgumentsWhoseShapesDifferFromTheExport) {
  Net build({3});
  Node* y = build.call("aten.relu.default", {build.x});
  Node* one = build.call_as("my.one.default", {y}, {}, spec());
  Methods methods = methods_of(build, {one});
  declare({parse_operator("my::one(Tensor x) -> Tensor")}, methods);
  ExportedProgram& program = methods.at("forward");
  propagate_specs(program);
  program.graph->find(build.x->name())->meta.value = contiguous_spec(ScalarType::kFloat, {4});
  EXPECT_ERROR(AotError, propagate_specs(program), "a pass changed the shapes of its arguments");
}

}  // namespace
}  // namespace vitrine::aot
