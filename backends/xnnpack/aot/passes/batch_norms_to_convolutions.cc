#include <cmath>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/passes/batch_norm.h"

namespace vitrine::aot::xnnpack {

void batch_norms_to_convolutions(Preprocessing& p) {
  each_call(p.graph(), [&](Node& norm) {
    if (!is_batch_norm(norm)) return;
    Node& input = required(norm, 0);
    const ChannelStatistics norms = channel_statistics(p, norm);
    const size_t count = norms.means.size();
    std::vector<float> factors(count);
    std::vector<float> summands(count);
    for (size_t i = 0; i < count; ++i) {
      const double factor = norms.weights[i] / std::sqrt(norms.variances[i] + norms.eps);
      factors[i] = static_cast<float>(factor);
      summands[i] = static_cast<float>(norms.biases[i] - norms.means[i] * factor);
    }
    const auto channels = static_cast<int64_t>(count);
    const ScalarType dtype = spec_of(input).dtype;
    const Node& variances = required(norm, "running_var");
    Node* weight =
        p.add_constant(norm.name() + "_weight", {channels, 1, 1, 1}, dtype, factors, variances);
    Node* bias = p.add_constant(norm.name() + "_bias", {channels}, dtype, summands, variances);
    const Argument ones = std::vector<int64_t>{1, 1};
    const Argument zeros = std::vector<int64_t>{0, 0};
    Node* call =
        p.insert(norm, "aten.convolution.default",
                 {&input, weight, bias, ones, zeros, ones, false, zeros, channels}, spec_of(input));
    call->meta.debug_handle = norm.meta.debug_handle;
    replace_batch_norm(p, norm, *call);
  });
}

}  // namespace vitrine::aot::xnnpack
