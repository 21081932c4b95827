#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/payload_text.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SplitConcatenations, TurnsManyInputsIntoAChainOfConcatenations) {
  TestProgram t;
  ArgumentList items;
  std::vector<std::vector<float>> inputs;
  std::vector<float> expected;
  for (int i = 0; i < 12; ++i) {
    items.emplace_back(t.input("x" + std::to_string(i), {1, 2}));
    inputs.push_back({static_cast<float>(i), static_cast<float>(-i)});
    expected.insert(expected.end(), inputs.back().begin(), inputs.back().end());
  }
  t.output({t.call("aten.cat.default", {Argument::list(items), 1}, {1, 24})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Concatenate5", "Concatenate5", "Concatenate4"));
  EXPECT_EQ(run(*module, inputs)[0], expected);
}

TEST(SplitConcatenations, KeepsTheQuantization) {
  TestProgram t;
  ArgumentList items;
  std::vector<std::vector<float>> inputs;
  for (int i = 0; i < 6; ++i) {
    Node* x = t.input("x" + std::to_string(i), {1, 2});
    items.emplace_back(t.fake_quantize(x, 0.5, 1));
    inputs.push_back({static_cast<float>(i), -0.5f});
  }
  Node* cat = t.call("aten.cat.default", {Argument::list(items), 0}, {6, 2});
  t.output({t.fake_quantize(cat, 0.5, 1)});
  const auto module = lowered(t);
  for (const std::string& line : describe_payload(*module->payload).nodes) {
    if (line.starts_with("Concatenate")) {
      EXPECT_THAT(line, testing::Not(HasSubstr("fp32")));
    }
  }
  EXPECT_THAT(run(*module, inputs)[0],
              ElementsAre(0, -0.5f, 1, -0.5f, 2, -0.5f, 3, -0.5f, 4, -0.5f, 5, -0.5f));
}

}  // namespace
}  // namespace vitrine::aot::test
