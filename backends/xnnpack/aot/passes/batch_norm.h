// What the two passes that do away with batch norms share.
#pragma once

#include <vector>

#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {

// A batch norm of fixed statistics multiplies and adds, channel by channel.
struct ChannelScaling {
  std::vector<float> factors;  // weight / sqrt(variance + eps)
  std::vector<float> means;
  std::vector<float> summands;  // bias
};
ChannelScaling channel_scaling(const Preprocessing& p, const Node& norm);

bool is_batch_norm(const Node& node);
// The normalised tensor, the first of the call's results, becomes `by`, which stands for the norm
// too; the call goes.
void replace_batch_norm(Preprocessing& p, Node& norm, Node& by);

}  // namespace vitrine::aot::xnnpack
