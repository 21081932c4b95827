#include "tools/advise/size_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "runtime/platform/clock.h"
#include "tools/advise/rows.h"
#include "tools/common/interrupt.h"
#include "tools/common/median.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/execution.h"

namespace vitrine::tools {
namespace {

double run_ns(Method& method, const RunnerOptions& options, InputSet& inputs, size_t count = 1) {
  const uint64_t start = platform::now_ns();
  for (size_t i = 0; i < count; ++i) {
    inputs.apply(method);
    execute(method, options);
  }
  return static_cast<double>(platform::now_ns() - start) / static_cast<double>(count);
}

double item_ns(const SizeTime& time) {
  return median_of(time.rounds) / static_cast<double>(time.size);
}

}  // namespace

SizeTimes measure_sizes(Method& method, const RunnerOptions& options,
                        std::span<const int64_t> sizes,
                        const std::function<std::vector<Array>(int64_t size)>& inputs,
                        double seconds) {
  constexpr double kRounds = 6;
  constexpr double kSamples = 15;       // maximum per size and round
  constexpr double kMinSampleNs = 1e5;  // a sample of short runs is a mean of several
  struct Size {
    InputSet inputs;
    size_t samples;
    size_t runs;  // number of runs per sample
  };
  SizeTimes times;
  std::vector<Size> measured;
  constexpr double kMaxFactor = 5;  // limit for uncounted runs, in multiples of `seconds`
  const double start = static_cast<double>(platform::now_ns());
  const double share_ns = seconds * 1e9 / (kRounds * static_cast<double>(sizes.size()));
  for (const int64_t size : sizes) {
    if (static_cast<double>(platform::now_ns()) - start > kMaxFactor * seconds * 1e9) break;
    try {
      InputSet set(inputs(size), "");
      run_ns(method, options, set);
      const double ns = std::max(run_ns(method, options, set), 1.0);
      const double runs = std::clamp(kMinSampleNs / ns, 1.0, 1000.0);
      measured.push_back(
          {.inputs = std::move(set),
           .samples = static_cast<size_t>(std::clamp(share_ns / (runs * ns), 1.0, kSamples)),
           .runs = static_cast<size_t>(runs)});
      times.push_back({.size = size, .rounds = {}});
    } catch (const ToolError&) {
      // The method refuses sizes that are out of bounds.
    }
  }
  for (int round = 0; round < kRounds; ++round) {
    if (stop_flag()) return {};
    for (size_t i = 0; i < times.size(); ++i) {
      std::vector<double> samples;
      for (size_t sample = 0; sample < measured[i].samples; ++sample) {
        samples.push_back(run_ns(method, options, measured[i].inputs, measured[i].runs));
      }
      times[i].rounds.push_back(median_of(std::move(samples)));
    }
  }
  return times;
}

std::vector<int64_t> batch_sizes(const ModelFacts& facts, size_t num_inputs) {
  std::vector<int64_t> sizes;
  std::vector<bool> is_dynamic(num_inputs);
  const ModelFacts::DynamicSize* batch = nullptr;
  for (const ModelFacts::DynamicSize& size : facts.dynamic_sizes) {
    if (size.dim != 0 || size.input >= num_inputs) continue;
    is_dynamic[size.input] = true;
    batch = &size;
  }
  if (batch == nullptr || std::ranges::count(is_dynamic, false) != 0) return sizes;
  for (const int64_t size : {int64_t{1}, int64_t{2}, int64_t{4}, int64_t{8}, batch->used}) {
    const bool is_valid =
        size >= std::max<int64_t>(batch->min, 1) && (batch->max == 0 || size <= batch->max);
    if (is_valid && std::ranges::count(sizes, size) == 0) sizes.push_back(size);
  }
  std::ranges::sort(sizes);
  return sizes;
}

std::vector<Array> batch_inputs(const std::vector<Array>& inputs, int64_t batch) {
  std::mt19937_64 generator(0);
  std::vector<Array> made;
  for (const Array& input : inputs) {
    const Tensor& tensor = input.tensor();
    std::vector<int32_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
    if (input.is_empty() || sizes.empty()) throw ToolError("the input has no batch dimension");
    sizes[0] = static_cast<int32_t>(batch);
    fill_random(made.emplace_back(check(Array::zeros(tensor.dtype(), sizes))), generator);
  }
  return made;
}

std::vector<int64_t> chunk_sizes(int64_t max) {
  std::vector<int64_t> sizes;
  for (const int64_t size : {int64_t{1}, int64_t{8}, int64_t{32}, int64_t{128}, int64_t{512}}) {
    if (size < max) sizes.push_back(size);
  }
  sizes.push_back(max);
  return sizes;
}

Interval item_ratio(const SizeTime& changed, const SizeTime& reference) {
  std::vector<double> ratios;
  const double items = static_cast<double>(changed.size) / static_cast<double>(reference.size);
  for (size_t i = 0; i < std::min(changed.rounds.size(), reference.rounds.size()); ++i) {
    ratios.push_back(changed.rounds[i] / reference.rounds[i] / items);
  }
  return ratios.empty() ? Interval{1, 1} : predict_ratio(ratios);
}

const SizeTime& best_size(const SizeTimes& times) {
  return *std::ranges::min_element(times, {}, item_ns);
}

std::string item_times_text(const SizeTimes& times) {
  std::string text;
  for (const SizeTime& time : times) {
    text +=
        fmt::format("{}{} at {}", text.empty() ? "" : ", ", time_text(item_ns(time)), time.size);
  }
  return text;
}

}  // namespace vitrine::tools
