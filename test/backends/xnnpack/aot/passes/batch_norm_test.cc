#include "backends/xnnpack/aot/passes/batch_norm.h"

#include <gmock/gmock.h>

#include "aot/graph/aot_error.h"
#include "test/backends/xnnpack/aot/sample_calls.h"
#include "test/support/expect_error.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

Node* norm_call(TestProgram& t, const Argument& weight, const Argument& bias, Node* mean) {
  return t.call(
      "aten._native_batch_norm_legit_no_training.default",
      {t.input("x", {1, 2, 2, 2}), weight, bias, mean, t.parameter("v", {2}, {3, 4}), 0.1, 0.5},
      {});
}

TEST(BatchNormStatistics, DefaultToWeightOneAndBiasZero) {
  TestProgram t;
  Node* norm = norm_call(t, {}, {}, t.parameter("m", {2}, {1, 2}));
  t.output({norm});
  EXPECT_TRUE(xnnpack::is_batch_norm(*norm));
  const xnnpack::Preprocessing p(t.program);
  const xnnpack::ChannelStatistics found = xnnpack::channel_statistics(p, *norm);
  EXPECT_THAT(found.means, ElementsAre(1, 2));
  EXPECT_THAT(found.variances, ElementsAre(3, 4));
  EXPECT_THAT(found.weights, ElementsAre(1, 1));
  EXPECT_THAT(found.biases, ElementsAre(0, 0));
  EXPECT_EQ(found.eps, 0.5);
}

TEST(BatchNormStatistics, RejectDifferentChannelCounts) {
  TestProgram t;
  Node* norm = norm_call(t, t.parameter("w", {3}), {}, t.parameter("m", {2}));
  t.output({norm});
  const xnnpack::Preprocessing p(t.program);
  EXPECT_ERROR(AotError, xnnpack::channel_statistics(p, *norm),
               "its parameters have different numbers of channels");
}

TEST(BatchNormReplacement, ReplacesAllUsesOfTheNorm) {
  TestProgram t;
  Node* x = t.input("x", {1, 2, 2, 2});
  Node* replacement = t.call("aten.abs.default", {x}, {1, 2, 2, 2});
  Node* item = batch_norm(t, replacement, {1, 2});
  Node& norm = *item->args()[0].node();
  Node* after = t.call("aten.neg.default", {item}, {1, 2, 2, 2});
  t.output({after, item});
  xnnpack::Preprocessing p(t.program);
  xnnpack::replace_batch_norm(p, norm, *replacement);
  EXPECT_EQ(after->args()[0].node(), replacement);
  EXPECT_EQ(t.program.signature.outputs[1].name, replacement->name());
  EXPECT_THAT(p.notes(*replacement).handles, testing::Each(norm.meta.debug_handle));
  p.remove_dead_code();
  EXPECT_THAT(replacement->users(),
              testing::UnorderedElementsAre(after, t.program.graph->output()));
}

}  // namespace
}  // namespace vitrine::aot::test
