// Measures runs with several batch sizes, or with several numbers of tokens for a decoder.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/advise/context.h"
#include "tools/common/interval.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// Runs the method with the inputs of each size in turn, for about `seconds` in total. Skips sizes
// that the method refuses, and the remaining sizes if warm-up runs take too long. Returns an empty
// result after Ctrl-C.
SizeTimes measure_sizes(Method& method, const RunnerOptions& options,
                        std::span<const int64_t> sizes,
                        const std::function<std::vector<Array>(int64_t size)>& inputs,
                        double seconds = 0.6);

// Returns 1, 2, 4, 8 and the batch size in use, within the bounds. The batch is dim 0. Returns an
// empty list unless dim 0 of all user inputs is dynamic.
std::vector<int64_t> batch_sizes(const ModelFacts& facts, size_t num_inputs);

// Returns random inputs like `inputs`, but with another size of dim 0. Throws ToolError.
std::vector<Array> batch_inputs(const std::vector<Array>& inputs, int64_t batch);

// Returns the sizes 1, 8, 32, 128 and 512 that are smaller than `max`, and `max` itself.
std::vector<int64_t> chunk_sizes(int64_t max);

// Returns the time per sample or token of `changed`, divided by the time for `reference`.
Interval item_ratio(const SizeTime& changed, const SizeTime& reference);

// Returns the size with the shortest time per sample or token. Precondition: `times` is not empty.
const SizeTime& best_size(const SizeTimes& times);

// Formats the time of each size: "4.1 us at 1, 3 us at 2".
std::string item_times_text(const SizeTimes& times);

}  // namespace vitrine::tools
