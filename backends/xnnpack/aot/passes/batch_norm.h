// Code of the two passes that remove batch norms.
#pragma once

#include <vector>

#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {

// A batch norm with fixed statistics, by channel: it computes
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
// The normalised tensor, the first of the call's results, becomes `by`, which stands for the norm
// too; the call goes.
void replace_batch_norm(Preprocessing& p, Node& norm, Node& by);

}  // namespace vitrine::aot::xnnpack
