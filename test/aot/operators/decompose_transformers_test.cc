#include <gtest/gtest.h>

#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeTransformers, FusedEncoderLayerMatchesSeparateCalls) {
  const auto weights = [](const char* name, std::vector<int64_t> sizes) {
    return seeded_weights(name, 4, std::move(sizes), 1);
  };
  const std::vector<TensorData> inputs = {
      weights("x", {2, 3, 4}),
      weights("qkv", {12, 4}),
      weights("qkv_bias", {12}),
      weights("proj", {4, 4}),
      weights("proj_bias", {4}),
      weights("n1", {4}),
      weights("b1", {4}),
      weights("n2", {4}),
      weights("b2", {4}),
      weights("f1", {8, 4}),
      weights("c1", {8}),
      weights("f2", {4, 8}),
      weights("c2", {4}),
      make_tensor_data(
          ScalarType::kBool, {2, 3},
          {std::byte{0}, std::byte{0}, std::byte{1}, std::byte{0}, std::byte{1}, std::byte{0}})};
  for (const bool norm_first : {false, true}) {
    SCOPED_TRACE(norm_first);
    const TensorData found =
        lowered("aten._transformer_encoder_layer_fwd.default", inputs,
                [&](const Nodes& in) {
                  return ArgumentList{in[0], 4,          2,      in[1],  in[2],  in[3], in[4],
                                      true,  norm_first, 1e-5,   in[5],  in[6],  in[7], in[8],
                                      in[9], in[10],     in[11], in[12], in[13], 1};
                },
                {2, 3, 4});
    const auto expected = run(inputs, [&](ModelBuilder& build, const Nodes& in) {
      const std::vector<int64_t> shape = {4};
      const auto attend = [&](Node* x) {
        Node* all = build.call("aten.linear.default", {x, in[1], in[2]});
        std::vector<Node*> qkv;
        for (int64_t i = 0; i < 3; ++i) {
          Node* slice = build.call("aten.slice.Tensor", {all, 2, 4 * i, 4 * i + 4});
          slice = build.call("aten.view.default", {build.call("aten.contiguous.default", {slice}),
                                                   std::vector<int64_t>{2, 3, 2, 2}});
          qkv.push_back(build.call("aten.transpose.int", {slice, 1, 2}));
        }
        Node* visible = build.call("aten.logical_not.default", {in[13]});
        visible = build.call("aten.unsqueeze.default",
                             {build.call("aten.unsqueeze.default", {visible, 1}), 1});
        Node* heads = build.call("aten.scaled_dot_product_attention.default",
                                 {qkv[0], qkv[1], qkv[2], visible});
        heads = build.call("aten.transpose.int", {heads, 1, 2});
        heads = build.call("aten.reshape.default", {heads, std::vector<int64_t>{2, 3, 4}});
        return build.call("aten.linear.default", {heads, in[3], in[4]});
      };
      const auto norm = [&](Node* x, size_t at) {
        return build.call("aten.layer_norm.default", {x, shape, in[at], in[at + 1], 1e-5});
      };
      const auto feed = [&](Node* x) {
        Node* inner = build.call("aten.linear.default", {x, in[9], in[10]});
        return build.call("aten.linear.default",
                          {build.call("aten.gelu.default", {inner}), in[11], in[12]});
      };
      const auto add = [&](Node* a, Node* b) { return build.call("aten.add.Tensor", {a, b}); };
      if (norm_first) {
        Node* x = add(in[0], attend(norm(in[0], 5)));
        return add(x, feed(norm(x, 7)));
      }
      Node* x = norm(add(in[0], attend(in[0])), 5);
      return norm(add(x, feed(x)), 7);
    });
    expect_near(found, values_of(expected[0]), 1e-5);
  }
}

}  // namespace
}  // namespace vitrine::aot
