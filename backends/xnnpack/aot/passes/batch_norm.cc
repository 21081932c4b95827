#include "backends/xnnpack/aot/passes/batch_norm.h"

#include <cmath>

#include "backends/xnnpack/aot/arguments.h"

namespace vitrine::aot::xnnpack {

bool is_batch_norm(const Node& node) {
  return calls_op(node, "_native_batch_norm_legit_no_training.default");
}

ChannelScaling channel_scaling(const Preprocessing& p, const Node& norm) {
  ChannelScaling scaling;
  scaling.means = p.floats(*operand(norm, 3));
  const std::vector<float> variances = p.floats(*operand(norm, 4));
  const size_t channels = variances.size();
  const Node* weight = operand(norm, 1);
  const Node* bias = operand(norm, 2);
  const std::vector<float> weights =
      weight == nullptr ? std::vector<float>(channels, 1.0f) : p.floats(*weight);
  scaling.summands = bias == nullptr ? std::vector<float>(channels, 0.0f) : p.floats(*bias);
  const auto eps = static_cast<float>(real(norm, 6, "eps", 1e-5));
  scaling.factors.resize(channels);
  for (size_t i = 0; i < channels; ++i) {
    scaling.factors[i] = weights.at(i) * (1.0f / std::sqrt(variances[i] + eps));
  }
  return scaling;
}

void replace_batch_norm(Preprocessing& p, Node& norm, Node& by) {
  p.absorb(by, norm);
  const std::vector<Node*> users = norm.users();
  for (Node* user : users) {
    p.absorb(by, *user);
    // Where the pass goes on may be this very node: it is left without users, for dead code.
    for (OutputSpec& output : p.program().signature.outputs) {
      if (output.name == user->name()) output.name = by.name();
    }
    user->replace_all_uses_with(&by);
  }
}

}  // namespace vitrine::aot::xnnpack
