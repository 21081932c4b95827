// Context has the facts from which rules derive advice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "aot/pipeline/lower.h"
#include "inspector/join/profile.h"
#include "tools/advise/processor_features.h"
#include "tools/advise/variant.h"
#include "vitrine/scalar_type.h"

namespace vitrine::tools {

struct ModelFacts {
  size_t linears = 0;
  size_t convolutions = 0;
  size_t attentions = 0;  // calls of scaled_dot_product_attention
  size_t embeddings = 0;
  size_t written_buffers = 0;  // state, such as caches of keys and values
  int64_t cache_length = 0;    // tokens in a written buffer of four dims; 0: none
  bool is_quantized = false;
  bool has_bf16 = false;  // a call computes a bf16 tensor
  uint64_t weight_bytes = 0;
  // Caches of keys and values are the buffers with four dims that the program writes.
  uint64_t cache_bytes = 0;
  ScalarType cache_dtype = ScalarType::kFloat;
  int64_t cache_values = 0;  // values of a head, the last size

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

// The times of runs with inputs of one size.
struct SizeTime {
  int64_t size = 0;
  std::vector<double> rounds;  // ns, in the order of the measurement
};
using SizeTimes = std::vector<SizeTime>;

// Times of a decoder for a token at the first and at the last position of its context.
struct PositionTimes {
  double first_ns = 0;
  double last_ns = 0;
  int64_t last = 0;  // the last position

  // The position from which attention takes more than half of the time. Assumes a linear growth of
  // the time with the position. 0 if the time does not grow.
  double dominating_position() const {
    const double growth = last_ns - first_ns;
    return growth > 0 ? first_ns / growth * static_cast<double>(last) : 0;
  }
};

struct Context {
  std::filesystem::path model;
  std::filesystem::path source;  // the exported model; empty if there is none
  Variant baseline;              // for a .pte: options that make a similar program
  bool is_file = false;          // the baseline is an unchanged .pte
  inspector::Profile profile;    // the baseline's profile
  ModelFacts facts;              // facts about `source`
  // The result of lowering `source` with the baseline's options; null without `source`.
  const aot::LoweredModel* lowered = nullptr;
  const aot::ExportedProgram* exported = nullptr;  // `source` before lowering; may be null
  SizeTimes batch_times;  // indexed by batch size; empty unless the batch is dynamic
  SizeTimes chunk_times;  // a decoder's times by tokens per run; empty if fixed
  std::optional<PositionTimes> positions;  // a decoder's times by position
  ProcessorFeatures processor_features;
  std::string method = "forward";
  std::string device;  // device that recorded `profile`; empty: this machine
  // Facts about the machine that recorded `profile`.
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

// Returns the time of a profile's row in ns. The sum of all rows is at most the wall time.
inline double time_of(const Context& context, const inspector::ProfileRow& row) {
  return row.share * context.wall_ns();
}

}  // namespace vitrine::tools
