#include "test/backends/xnnpack/aot/sample_calls.h"

#include <gtest/gtest.h>

#include "aot/lowering/lowered_modules.h"

namespace vitrine::aot::test {

std::vector<uint32_t> handles_of(const LoweredBackendModule& module, uint32_t identifier) {
  for (const auto& [key, handles] : module.delegate_map) {
    if (key == DelegateIdentifier(identifier)) return handles;
  }
  return {};
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected,
                 float tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance) << i;
}

Image convolve(const Image& in, const std::vector<float>& weight, const std::vector<float>& bias,
               size_t outputs, size_t groups, int64_t kernel, int64_t padding) {
  const auto size = [&](size_t n) {
    return n + static_cast<size_t>(2 * padding) - static_cast<size_t>(kernel) + 1;
  };
  Image out{outputs, size(in.height), size(in.width), {}};
  const size_t inputs = in.channels / groups;
  const auto k = static_cast<size_t>(kernel);
  for (size_t o = 0; o < outputs; ++o) {
    const size_t group = o / (outputs / groups);
    for (size_t y = 0; y < out.height; ++y) {
      for (size_t x = 0; x < out.width; ++x) {
        float sum = bias.empty() ? 0.0f : bias[o];
        for (size_t i = 0; i < inputs; ++i) {
          for (size_t ky = 0; ky < k; ++ky) {
            for (size_t kx = 0; kx < k; ++kx) {
              sum += weight[((o * inputs + i) * k + ky) * k + kx] *
                     in.at(group * inputs + i, static_cast<int64_t>(y + ky) - padding,
                           static_cast<int64_t>(x + kx) - padding);
            }
          }
        }
        out.data.push_back(sum);
      }
    }
  }
  return out;
}

Node* convolution(TestProgram& t, Node* input, Node* weight, Node* bias, Ints sizes,
                  int64_t padding, int64_t groups, bool transposed) {
  const size_t rank = sizes.size() - 2;
  const Ints ones(rank, 1);
  return t.call("aten.convolution.default",
                {input, weight, bias == nullptr ? Argument() : Argument(bias), ones,
                 Ints(rank, padding), ones, transposed, Ints(rank, 0), groups},
                std::move(sizes));
}

Node* batch_norm(TestProgram& t, Node* input, const std::vector<float>& weight) {
  const auto count = static_cast<int64_t>(weight.size());
  const auto parameter = [&](const char* name, float number) {
    return t.parameter(name, {count}, std::vector<float>(weight.size(), number));
  };
  return t.item(
      t.tuple_call("aten._native_batch_norm_legit_no_training.default",
                   {input, t.parameter("norm_w", {count}, weight), parameter("norm_b", 0.5f),
                    parameter("norm_m", 0.25f), parameter("norm_v", 3.0f), 0.1, 1.0},
                   std::vector(3, *input->tensor())),
      0);
}

float normalized(float x, float weight) { return (x - 0.25f) / 2.0f * weight + 0.5f; }

}  // namespace vitrine::aot::test
