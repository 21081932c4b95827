#include "backends/xnnpack/aot/passes/batch_norm.h"

#include <fmt/format.h>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/arguments.h"

namespace vitrine::aot::xnnpack {

bool is_batch_norm(const Node& node) {
  return calls_op(node, "_native_batch_norm_legit_no_training.default");
}

ChannelStatistics channel_statistics(const Preprocessing& p, const Node& norm) {
  ChannelStatistics channels;
  channels.means = p.floats(required(norm, "running_mean"));
  channels.variances = p.floats(required(norm, "running_var"));
  const size_t count = channels.variances.size();
  const Node* weight = operand(norm, "weight");
  const Node* bias = operand(norm, "bias");
  channels.weights = weight == nullptr ? std::vector<float>(count, 1.0f) : p.floats(*weight);
  channels.biases = bias == nullptr ? std::vector<float>(count, 0.0f) : p.floats(*bias);
  if (channels.means.size() != count || channels.weights.size() != count ||
      channels.biases.size() != count) {
    throw AotError(
        fmt::format("node {}: its parameters have different numbers of channels", norm.name()));
  }
  channels.eps = Call(norm).real("eps");
  return channels;
}

void replace_batch_norm(Preprocessing& p, Node& norm, Node& by) {
  p.absorb(by, norm);
  for (Node* user : norm.users()) {
    p.absorb(by, *user);
    // The unused `user` remains in the graph, because the pass may visit it next.
    for (OutputSpec& output : p.program().signature.outputs) {
      if (output.name == user->name()) output.name = by.name();
    }
    user->replace_all_uses_with(&by);
  }
}

}  // namespace vitrine::aot::xnnpack
