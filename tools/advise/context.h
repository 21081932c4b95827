// The facts from which rules derive advice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "aot/pipeline/lower.h"
#include "inspector/join/profile.h"
#include "tools/advise/variant.h"

namespace vitrine::tools {

// Facts about the exported model.
struct ModelFacts {
  size_t linears = 0;
  size_t convolutions = 0;
  size_t attentions = 0;  // calls of scaled_dot_product_attention
  size_t embeddings = 0;
  size_t written_buffers = 0;  // state, such as caches of keys and values
  int64_t cache_length = 0;    // tokens that a written buffer of four dims can hold; 0: none
  bool is_quantized = false;
  uint64_t weight_bytes = 0;

  // A size that is dynamic in an input.
  struct DynamicSize {
    std::string name;  // "x.0"
    size_t input = 0;  // index among the user's inputs
    size_t dim = 0;
    int64_t min = 0;
    int64_t max = 0;
    int64_t used = 0;  // size in this run; 0 if unknown
  };
  std::vector<DynamicSize> dynamic_sizes;
};

struct Context {
  std::filesystem::path model;
  std::filesystem::path source;  // the exported model; empty if there is none
  Variant baseline;              // of a .pte: the options that make a similar program
  bool is_file = false;          // the baseline is a .pte as it is
  inspector::Profile profile;    // of the baseline
  ModelFacts facts;              // of `source`
  // `source` lowered as `baseline` says; without `source`, empty.
  const aot::LoweredModel* lowered = nullptr;
  std::string method = "forward";
  size_t processors = 1;
  size_t threads = 1;
  uint64_t cache_bytes = 0;  // last-level cache; 0 if unknown
  std::vector<std::string> calibrate;
  bool has_inputs = false;  // the user gave inputs
  uint64_t program_bytes = 0;
  uint64_t record_bytes = 0;

  bool can_lower() const { return !source.empty(); }
  double wall_ns() const { return profile.typical(profile.wall); }
  bool is_delegated() const { return !profile.delegate_calls.empty(); }
};

// Returns the part of the wall time that a row has. The sum over all rows is at most the wall time,
// which is not true of medians of rows if runs were disturbed.
inline double time_of(const Context& context, const inspector::ProfileRow& row) {
  return row.share * context.wall_ns();
}

}  // namespace vitrine::tools
