// The table of rules as a whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::test {
namespace {

// ExecuTorch 1.4's configurations, operator by operator: precisions, and what is kept whole.
struct Config {
  const char* ops;
  uint8_t precisions;
};
constexpr uint8_t kFloatAndStatic = xnnpack::kFloat | xnnpack::kStatic;
constexpr Config kConfigs[] = {
    {"abs.default ceil.default exp.default floor.default log.default neg.default sin.default "
     "cos.default tanh.default sigmoid.default rsqrt.default sqrt.default hardswish.default "
     "leaky_relu.default maximum.default minimum.default div.Tensor bmm.default gelu.default "
     "pow.Tensor_Scalar _softmax.default avg_pool2d.default max.dim upsample_bilinear2d.vec "
     "constant_pad_nd.default clone.default _clone_dim_order.default prelu.default "
     "_native_batch_norm_legit_no_training.default",
     xnnpack::kFloat},
    {"add.Tensor sub.Tensor mul.Tensor relu.default hardtanh.default clamp.default "
     "permute_copy.default max_pool2d.default mean.dim cat.default slice_copy.Tensor "
     "view_copy.default unsqueeze_copy.default _to_dim_order_copy.default",
     kFloatAndStatic},
    {"convolution.default linear.default addmm.default mm.default", xnnpack::kAnyPrecision},
    {"quantize_per_tensor.default dequantize_per_tensor.default", xnnpack::kStatic},
};
constexpr std::string_view kKept[] = {"hardswish.default", "linear.default", "max_pool2d.default",
                                      "prelu.default", "upsample_bilinear2d.vec"};

TEST(RulesTable, IsExecuTorchs) {
  std::map<std::string, uint8_t> expected;
  for (const Config& config : kConfigs) {
    std::istringstream ops(config.ops);
    for (std::string op; ops >> op;) expected[op] = config.precisions;
  }
  std::map<std::string, uint8_t> found;
  for (const xnnpack::Rule& rule : xnnpack::all_rules()) {
    found[std::string(rule.op)] = rule.precisions;
    EXPECT_EQ(rule.keep, std::ranges::count(kKept, rule.op) != 0) << rule.op;
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace vitrine::aot::test
