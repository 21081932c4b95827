// Measures how a language model differs from a reference, by position and by layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspector/compare/value_comparison.h"
#include "tools/llm_runner/numerics/cache_errors.h"

namespace vitrine::llm {

// Errors of one layer, such as "layers.0", relative to the reference's values.
struct LayerErrors {
  std::string name;
  // Errors over all recorded positions, as if all values formed one tensor.
  std::optional<inspector::TensorDifference> attention, output;
  std::string attention_op, output_op;           // "custom_sdpa layers.0.attention.SDPA"
  std::vector<std::optional<double>> output_db;  // SQNR at each recorded position
  std::vector<CacheError> caches;                // caches in the order of the program's writes
};

struct PositionBlock {
  PositionRange range;
  double mean_kl = 0, max_kl = 0;
  size_t max_kl_at = 0;  // position
  size_t same_top = 0;   // positions with the same most probable token
  inspector::TensorDifference logits = {};
};

struct LanguageNumerics {
  std::string program, reference;  // names
  size_t tokens = 0;
  std::vector<size_t> recorded;  // positions with recorded values: the last position of each block
  std::vector<PositionBlock> blocks;
  std::vector<LayerErrors> layers;
  inspector::Alignment alignment = inspector::Alignment::kHandles;
  std::string why_no_layers, why_no_caches;  // empty if there are figures
  uint64_t dropped_values = 0;
  std::vector<std::string> notes;
};

// Adds the differences at the position all.recorded[index].
//
// A layer's attention is the last value of its attention operators or, without such operators, of a
// module such as attention, attn or self_attn. A layer's output is the last value of its own module
// or, without such a value, of the layer.
void add_layers(LanguageNumerics& all, const inspector::ValueComparison& comparison,
                const inspector::Profile& reference, size_t index);

// Sets each cache's layer from the module of the instruction that writes the cache. Sets the role
// if an attention operator of the record reads the cache as keys or values.
void name_caches(std::vector<FoundCache>& caches, const inspector::ValueRun& run);

void add_caches(LanguageNumerics& all, std::vector<CacheError> caches);

// Splits [0, tokens) into at most `count` ranges, whose lengths differ by at most 1.
std::vector<PositionRange> split_positions(size_t tokens, size_t count);

// Returns true if any layer's attention, cache or output has an SQNR below `limit` dB.
bool is_below(const LanguageNumerics& numerics, double limit);

}  // namespace vitrine::llm
