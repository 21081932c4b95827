#include <gmock/gmock.h>

#include <map>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

// Constants and scales that are derived from a weight have the file tag of the weight.
TEST(XnnpackPreprocess, DerivedConstantsStayInTheFileOfTheWeight) {
  TestProgram t;
  Node* x = t.dynamically_quantized(t.input("x", {2, 4}));
  Node* deq = t.quantized_parameter("w", {1, 4}, {1, 2, 3, 4}, {0.5f});
  Node* b = t.parameter("b", {1}, {3});
  deq->args()[0].node()->meta.external_tag = "weights";
  b->meta.external_tag = "biases";
  t.output({t.call("aten.linear.default", {x, deq, b}, {2, 1})});
  std::map<size_t, std::string> files;  // the key is the size in bytes, plus 100 for scales
  const auto quantized = lowered(t);
  for (const NamedData& data : quantized->named_data) {
    files[data.bytes->size() + (data.key.starts_with("scale_") ? 100 : 0)] +=
        data.external_tag + (data.bytes->size() == 4 && data.key.starts_with("scale_") ? "!" : "");
  }
  // The four int8 weights take four bytes. The single f32 bias also takes four bytes.
  EXPECT_THAT(files[4], testing::AnyOf("weightsbiases", "biasesweights"));
  EXPECT_EQ(files[104], "weights!");

  TestProgram folded;
  Node* kernel = folded.parameter("k", {2, 3, 1, 1}, ramp(6));
  kernel->meta.external_tag = "weights";
  Node* call = convolution(folded, folded.input("x", {1, 3, 2, 2}), kernel, nullptr, {1, 2, 2, 2});
  folded.output({batch_norm(folded, call, {1, 2})});
  const auto module = lowered(folded);
  EXPECT_THAT(module->named_data, testing::SizeIs(2));
  for (const NamedData& data : module->named_data) EXPECT_EQ(data.external_tag, "weights");
}

TEST(XnnpackPreprocess, IsDeterministic) {
  const auto lower_once = [] {
    Convolved c;
    c.t.output({batch_norm(c.t, c.call, {1, 2})});
    return lowered(c.t);
  };
  const auto first = lower_once();
  const auto second = lower_once();
  EXPECT_EQ(*first->payload, *second->payload);
  EXPECT_EQ(first->delegate_map, second->delegate_map);
}

}  // namespace
}  // namespace vitrine::aot::test
