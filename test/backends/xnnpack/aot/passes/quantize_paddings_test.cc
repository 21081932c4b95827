#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/payload_text.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::HasSubstr;

TEST(Quantized, PaddingAfterADequantizeCallIsQuantized) {
  TestProgram t;
  Node* x = t.dequantize(t.quantize(t.input("x", {1, 1, 2, 2}), 0.5, 4), 0.5, 4);
  Node* padded = t.call("aten.constant_pad_nd.default", {x, Ints{1, 1, 1, 1}, 0.0}, {1, 1, 4, 4});
  Node* w = t.dequantize_channels(t.int8_parameter("w", {2, 1, 3, 3}, std::vector<int8_t>(18, 2)),
                                  t.parameter("s", {2}, {0.5f, 0.25f}),
                                  t.int8_parameter("z", {2}, {0, 0}), 0);
  Node* call = convolution(t, padded, w, t.parameter("b", {2}, {1, 0}), {1, 2, 2, 2});
  t.output({t.dequantize(t.quantize(call, 0.5, 0), 0.5, 0)});
  const auto module = lowered(t);
  const std::vector<std::string> lines = describe_payload(*module->payload).nodes;
  for (const std::string& line : lines) {
    if (line.starts_with("StaticConstantPad")) {
      EXPECT_THAT(line, testing::Not(HasSubstr("fp32")));
    }
  }
  // Each window contains all four inputs.
  expect_near(run(*module, {{1, 2, 3, 4}})[0], {11, 11, 11, 11, 5, 5, 5, 5}, 0.01f);
}

}  // namespace
}  // namespace vitrine::aot::test
