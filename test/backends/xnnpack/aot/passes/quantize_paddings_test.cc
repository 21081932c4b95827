#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/payload_text.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::HasSubstr;

TEST(Quantized, PaddingAfterADequantizeCallIsQuantized) {
  TestProgram t;
  Node* x = t.fake_quantize(t.input("x", {1, 1, 2, 2}), 0.5, 4);
  Node* padded = t.call("aten.constant_pad_nd.default", {x, Ints{1, 1, 1, 1}, 0.0}, {1, 1, 4, 4});
  Node* w = t.quantized_parameter("w", {2, 1, 3, 3}, std::vector<int8_t>(18, 2), {0.5f, 0.25f});
  Node* call = convolution(t, padded, w, t.parameter("b", {2}, {1, 0}), {1, 2, 2, 2});
  t.output({t.fake_quantize(call, 0.5, 0)});
  const auto module = lowered(t);
  for (const std::string& line : describe_payload(*module->payload).nodes) {
    if (line.starts_with("StaticConstantPad")) {
      EXPECT_THAT(line, testing::Not(HasSubstr("fp32")));
    }
  }
  // Each window contains all four inputs.
  expect_near(run(*module, {{1, 2, 3, 4}})[0], {11, 11, 11, 11, 5, 5, 5, 5}, 0.01f);
}

}  // namespace
}  // namespace vitrine::aot::test
