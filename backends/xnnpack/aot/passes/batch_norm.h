#pragma once

#include <vector>

#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {

// The parameters of a batch norm with fixed statistics, one per channel. The result is
// (x - mean) / sqrt(variance + eps) * weight + bias.
struct ChannelStatistics {
  std::vector<float> means;
  std::vector<float> variances;
  std::vector<float> weights;
  std::vector<float> biases;
  double eps = 1e-5;
};
ChannelStatistics channel_statistics(const Preprocessing& p, const Node& norm);

bool is_batch_norm(const Node& node);
// Replaces the first result of `norm`, the normalized tensor, with the result of `by`. `by`
// inherits the debug handle of `norm`.
void replace_batch_norm(Preprocessing& p, Node& norm, Node& by);

}  // namespace vitrine::aot::xnnpack
