// Compares annotations of small models with the rules of XNNPACKQuantizer (docs/quantization.md).
#include "aot/quantize/annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "examples/models/model_builder.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Int8Scheme kStatic = {.is_dynamic = false, .is_per_channel = true};
constexpr Int8Scheme kDynamicScheme = {.is_dynamic = true, .is_per_channel = true};

// For each observer of activations, returns the names of the tensors that it observes.
std::vector<std::vector<std::string>> activations(const Annotations& annotations) {
  std::vector<std::vector<std::string>> all;
  for (const ObserverGroup& group : annotations.groups) {
    if (group.spec.is_weight()) continue;
    std::vector<std::string> names;
    for (const Node* tensor : group.tensors) names.push_back(tensor->name());
    all.push_back(std::move(names));
  }
  return all;
}

size_t count_weights(const Annotations& annotations) {
  return static_cast<size_t>(std::ranges::count_if(
      annotations.groups, [](const ObserverGroup& group) { return group.spec.is_weight(); }));
}

std::string reason_of(const Annotations& annotations, const Node* node) {
  const auto found = annotations.reasons.find(node);
  return found == annotations.reasons.end() ? "" : found->second;
}

class AnnotateTest : public testing::Test {
 protected:
  Node* linear(const std::string& name, Node* x, int64_t rows = 4) {
    const auto module = build.module(name, "torch.nn.modules.linear.Linear");
    const int64_t columns = x->tensor()->sizes.back().value();
    return build.call("aten.linear.default", {x, build.parameter("weight", {rows, columns}),
                                              build.parameter("bias", {rows})});
  }
  Node* convolution(const std::string& name, Node* x, int64_t groups = 1) {
    const auto module = build.module(name, "torch.nn.modules.conv.Conv2d");
    const std::vector<int64_t> one = {1, 1};
    return build.call("aten.conv2d.default",
                      {x, build.parameter("weight", {4, 4 / groups, 1, 1}), Argument(), one,
                       std::vector<int64_t>{0, 0}, one, groups});
  }
  Node* relu(Node* x) { return build.call("aten.relu.default", {x}); }
  Node* add(Node* x, Argument y) { return build.call("aten.add.Tensor", {x, std::move(y)}); }
  Node* cat(std::initializer_list<Node*> nodes) {
    return build.call("aten.cat.default",
                      {Argument::list(ArgumentList(nodes.begin(), nodes.end())), 1});
  }
  Node* matrix() { return build.input("x", ScalarType::kFloat, {2, 8}); }
  Node* image() { return build.input("x", ScalarType::kFloat, {1, 4, 6, 6}); }

  Annotations annotated(const std::vector<Node*>& outputs, Int8Options options = {}) {
    program = build.finish(outputs);
    return annotate(program, options);
  }

  ModelBuilder build{"Net"};
  ExportedProgram program;
};

TEST_F(AnnotateTest, FusesReluWithThePrecedingLayer) {
  const Annotations made = annotated({relu(linear("fc", matrix()))});
  EXPECT_THAT(activations(made), ElementsAre(ElementsAre("x"), ElementsAre("relu")));
  EXPECT_EQ(count_weights(made), 1U);
}

TEST_F(AnnotateTest, DoesNotFuseReluIfAnotherCallReadsTheLayer) {
  Node* layer = linear("fc", matrix());
  const Annotations made = annotated({relu(layer), layer});
  EXPECT_THAT(activations(made), ElementsAre(ElementsAre("x"), ElementsAre("linear", "relu")))
      << "relu shares the scale of its input";
}

TEST_F(AnnotateTest, QuantizesOnlyTheFirstUseOfAConvolution) {
  Node* x = image();
  Node* first = convolution("c", x);
  Node* second = convolution("c", first);
  const Annotations made = annotated({second});
  EXPECT_THAT(activations(made), ElementsAre(ElementsAre("x"), ElementsAre("conv2d")));
  EXPECT_THAT(reason_of(made, second), HasSubstr("only the first call becomes int8"));
}

TEST_F(AnnotateTest, QuantizesEachUseOfALinearLayer) {
  Node* first = linear("fc", build.input("x", ScalarType::kFloat, {2, 4}));
  const Annotations made = annotated({linear("fc", first)});
  EXPECT_THAT(activations(made),
              ElementsAre(ElementsAre("x"), ElementsAre("linear"), ElementsAre("linear_1")));
  EXPECT_EQ(count_weights(made), 1U);
}

TEST_F(AnnotateTest, SharesTheScaleOfConcatenatedTensors) {
  Node* x = image();
  Node* left = convolution("a", x);
  Node* right = convolution("b", x);
  const Annotations made = annotated({cat({left, right})});
  EXPECT_THAT(activations(made),
              ElementsAre(ElementsAre("x"), ElementsAre("conv2d", "conv2d_1", "cat")));
}

TEST_F(AnnotateTest, DoesNotQuantizeCallsWithIntegerTensors) {
  Node* ids = build.input("ids", ScalarType::kLong, {1, 4});
  Node* joined = cat({ids, build.input("x", ScalarType::kFloat, {1, 4})});
  Node* sum = add(ids, ids);
  const Annotations made = annotated({joined, sum});
  EXPECT_THAT(made.groups, IsEmpty());
  EXPECT_THAT(reason_of(made, joined), HasSubstr("not f32"));
  EXPECT_THAT(reason_of(made, sum), HasSubstr("must be an f32 tensor"));
}

TEST_F(AnnotateTest, PropagatesScaleThroughViewsAndPooling) {
  Node* x = convolution("c", image());
  x = build.call("aten.max_pool2d.default", {x, std::vector<int64_t>{2, 2}});
  x = build.call("aten.flatten.using_ints", {x, 1});
  const Annotations made = annotated({build.call("aten.tanh.default", {x})});
  EXPECT_THAT(activations(made),
              ElementsAre(ElementsAre("x"), ElementsAre("conv2d", "max_pool2d", "flatten")));
}

TEST_F(AnnotateTest, DynamicSchemeQuantizesOnlyInputsAndWeights) {
  Node* layer = linear("fc", matrix());
  const Annotations made =
      annotated({add(relu(layer), layer)}, {.scheme = kDynamicScheme, .rules = {}});
  ASSERT_EQ(made.groups.size(), 2U);
  EXPECT_EQ(made.groups[0].spec.kind, Int8Spec::Kind::kDynamicActivation);
  EXPECT_EQ(made.groups[1].spec.kind, Int8Spec::Kind::kChannelWeight);
}

TEST_F(AnnotateTest, ExplainsWhyConvolutionsCannotBeDynamic) {
  Node* depthwise = convolution("dw", image(), 4);
  Node* before_relu = convolution("c", depthwise);
  const Annotations made = annotated({relu(before_relu)}, {.scheme = kDynamicScheme, .rules = {}});
  EXPECT_THAT(made.groups, IsEmpty());
  EXPECT_THAT(reason_of(made, depthwise), HasSubstr("one input channel"));
  EXPECT_THAT(reason_of(made, before_relu), HasSubstr("with relu"));
}

TEST_F(AnnotateTest, RulesKeepModulesAndOperatorsInFloat) {
  Node* x = relu(linear("body", matrix()));
  Node* head = linear("head", x);
  Node* sum = add(head, head);
  const Annotations made = annotated(
      {sum}, {.scheme = kStatic, .rules = {{.pattern = "he*"}, {.pattern = "add.Tensor"}}});
  EXPECT_THAT(activations(made), ElementsAre(ElementsAre("x"), ElementsAre("relu")));
  EXPECT_EQ(reason_of(made, head), "--keep he*=float");
  EXPECT_EQ(reason_of(made, sum), "--keep add.Tensor=float");
}

TEST_F(AnnotateTest, RuleSetsTheSchemeOfAModule) {
  Node* x = relu(linear("body", matrix()));
  const Annotations made =
      annotated({linear("head", x)},
                {.scheme = kStatic, .rules = {{.pattern = "head", .scheme = kDynamicScheme}}});
  std::vector<Int8Spec::Kind> kinds;
  for (const ObserverGroup& group : made.groups) kinds.push_back(group.spec.kind);
  using Kind = Int8Spec::Kind;
  EXPECT_THAT(kinds,
              UnorderedElementsAre(Kind::kActivation, Kind::kChannelWeight, Kind::kActivation,
                                   Kind::kDynamicActivation, Kind::kChannelWeight));
}

TEST_F(AnnotateTest, ConvolutionsInAModuleWithItsOwnSchemeStayFloat) {
  Node* call = convolution("head", image());
  const Annotations made =
      annotated({call}, {.scheme = kStatic, .rules = {{.pattern = "head", .scheme = kStatic}}});
  EXPECT_THAT(made.groups, IsEmpty());
  EXPECT_THAT(reason_of(made, call), HasSubstr("--keep"));
}

TEST_F(AnnotateTest, RejectsRulesThatMatchNothing) {
  program = build.finish({linear("fc", matrix())});
  const Int8Options options = {.scheme = kStatic, .rules = {{.pattern = "clasifier"}}};
  EXPECT_ERROR(AotError, annotate(program, options),
               "\"clasifier\" matches no module, module type or operator of the model; its modules "
               "are fc");
}

TEST_F(AnnotateTest, UsesOneScalePerTensorOnRequest) {
  const Annotations made =
      annotated({linear("fc", matrix())}, {.scheme = {.is_per_channel = false}, .rules = {}});
  EXPECT_EQ(made.groups[1].spec.kind, Int8Spec::Kind::kWeight);
}

}  // namespace
}  // namespace vitrine::aot
