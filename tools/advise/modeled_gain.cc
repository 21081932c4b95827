#include "tools/advise/modeled_gain.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace vitrine::tools {
namespace {

// Minimum time in ns to hand work to another thread.
constexpr double kDispatchNs = 1000;

// Minimum time in ns to quantize the activations of a layer.
constexpr double kConversionNs = 200;

// Delegates and matrix products run on several threads. Other kernels often run on one thread.
bool can_be_divided(const inspector::ProfileRow& row) {
  return row.where == inspector::Where::kDelegate || (row.cost && row.cost->flops > 0);
}

}  // namespace

Interval saved_by_threads(const Context& context, size_t threads) {
  if (threads <= context.threads) return {};
  const double share = 1 - static_cast<double>(context.threads) / static_cast<double>(threads);
  Interval saved;
  for (const inspector::ProfileRow& row : context.profile.rows) {
    if (!can_be_divided(row)) continue;
    saved.low -= row.calls * kDispatchNs;
    saved.high += std::max(time_of(context, row) * share - row.calls * kDispatchNs, 0.0);
  }
  return saved;
}

Interval saved_by_smaller_weights(const RowSum& rows, double ratio) {
  const double conversions = rows.calls * kConversionNs;
  const double best = rows.ns * (1 - ratio);
  return {-0.1 * rows.ns - conversions, best > conversions ? best : 0};
}

Interval saved_by_fewer_calls(const Context& context, size_t calls) {
  std::vector<std::pair<double, double>> kernels;  // time of a call, calls per run
  for (const inspector::ProfileRow& row : context.profile.rows) {
    if (row.where != inspector::Where::kKernel || row.calls <= 0) continue;
    kernels.emplace_back(time_of(context, row) / row.calls, row.calls);
  }
  std::ranges::sort(kernels, std::greater());
  const auto sum_of = [&](const auto& sorted) {
    double left = static_cast<double>(calls);
    double sum = 0;
    for (const auto& [ns, count] : sorted) {
      sum += ns * std::min(count, left);
      left -= std::min(count, left);
    }
    return sum;
  };
  const double between = context.profile.unattributed_share() * context.wall_ns();
  Interval saved{0, sum_of(kernels) + between};
  std::ranges::reverse(kernels);
  if (!context.is_delegated()) saved.low = sum_of(kernels);
  return saved;
}

void set_modeled_ratio(const Context& context, Advice& advice) {
  const double wall = context.wall_ns();
  if (advice.gain != Gain::kTime || !advice.change || !advice.saved || wall <= 0) return;
  const double spread = std::exp(kBetweenMeasurements);
  advice.ratio = Interval{std::max(1 - advice.saved->high / wall, 0.0) / spread,
                          (1 - advice.saved->low / wall) * spread};
}

}  // namespace vitrine::tools
