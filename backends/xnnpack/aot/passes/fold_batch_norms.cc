#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/passes/batch_norm.h"
#include "backends/xnnpack/aot/products.h"

namespace vitrine::aot::xnnpack {
namespace {

// Maps the elements of a weight to output channels.
struct Channels {
  size_t count = 0;
  size_t run = 0;    // consecutive elements of a channel
  size_t inner = 0;  // consecutive channels of a transposed weight
  bool transposed = false;
  size_t inputs_per_group = 0;

  size_t channel_of(size_t element) const {
    const size_t at = element / run;
    if (!transposed) return at;
    const size_t group = at / inner / inputs_per_group;
    return group * inner + at % inner;
  }
};

Channels channels_of(const Node& call, const TensorData& weight) {
  Channels channels;
  const auto size = [&](size_t dim) { return static_cast<size_t>(weight.sizes.at(dim)); };
  channels.run = 1;
  for (size_t dim = 2; dim < weight.sizes.size(); ++dim) channels.run *= size(dim);
  channels.transposed = calls_op(call, "convolution.default") && Call(call).boolean("transposed");
  if (channels.transposed) {
    const auto groups = static_cast<size_t>(Call(call).integer("groups"));
    if (groups == 0 || size(0) % groups != 0) {
      throw AotError(fmt::format(
          "node {}: dim 0 of its weight is not divisible by the number of groups", call.name()));
    }
    channels.inner = size(1);
    channels.inputs_per_group = size(0) / groups;
    channels.count = channels.inner * groups;
  } else {
    channels.run *= size(1);
    channels.count = size(0);
  }
  return channels;
}

}  // namespace

void fold_batch_norms(Preprocessing& p) {
  const Parameters parameters(p.program());
  each_call(p.graph(), [&](Node& norm) {
    if (!is_batch_norm(norm) || !can_fold_batch_norm(parameters, norm)) return;
    Node& call = required(norm, 0);
    const Product product = *product_of(call);
    const TensorData& weight = *static_data(p.program(), product.weight);
    const Channels channels = channels_of(call, weight);
    const ChannelStatistics norms = channel_statistics(p, norm);
    if (norms.means.size() != channels.count) {
      throw AotError(fmt::format("node {}: its input has {} channels, but its parameters have {}",
                                 norm.name(), channels.count, norms.means.size()));
    }
    // The operations have the order of torch.nn.utils.fusion, so results are bit-identical.
    std::vector<float> inverse(channels.count);
    const auto eps = static_cast<float>(norms.eps);
    for (size_t i = 0; i < inverse.size(); ++i) {
      inverse[i] = 1.0f / std::sqrt(norms.variances[i] + eps);
    }
    std::vector<float> weights = p.floats(*product.weight);
    for (size_t i = 0; i < weights.size(); ++i) {
      const size_t channel = channels.channel_of(i);
      weights[i] *= norms.weights[channel] * inverse[channel];
    }
    std::vector<float> biases = product.bias == nullptr ? std::vector<float>(channels.count, 0.0f)
                                                        : p.floats(*product.bias);
    if (biases.size() != channels.count) {
      throw AotError(fmt::format("node {}: it has {} channels and {} biases", call.name(),
                                 channels.count, biases.size()));
    }
    for (size_t i = 0; i < biases.size(); ++i) {
      biases[i] = (biases[i] - norms.means.at(i)) * inverse.at(i) * norms.weights.at(i) +
                  norms.biases.at(i);
    }
    const ScalarType dtype = weight.dtype;
    const std::string name = product.weight->name();
    const std::string bias_name = product.bias == nullptr ? name + "_bias" : product.bias->name();
    Node* new_weight =
        p.add_constant(name + "_fused_bn", weight.sizes, dtype, weights, *product.weight);
    Node* new_bias = p.add_constant(bias_name + "_fused_bn", {static_cast<int64_t>(biases.size())},
                                    dtype, biases, *product.weight);
    ArgumentList args = call.args();
    args.resize(std::max<size_t>(args.size(), 3));
    args[1] = new_weight;
    args[2] = new_bias;
    call.set_args(std::move(args));
    replace_batch_norm(p, norm, call);
  });
}

}  // namespace vitrine::aot::xnnpack
