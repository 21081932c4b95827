// Defines Context, the facts from which rules derive advice.
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
  int64_t cache_length = 0;    // tokens that a written buffer of four dims can hold; 0: none
  bool is_quantized = false;
  bool has_bf16 = false;  // a call computes a bf16 tensor
  uint64_t weight_bytes = 0;
  // The next three members describe the caches of keys and values, which are the buffers with four
  // dims that the program writes.
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

// The times that a decoder takes for a token at the first and at the last position of its context.
struct PositionTimes {
  double first_ns = 0;
  double last_ns = 0;
  int64_t last = 0;  // the last position

  // The position from which attention takes more than half of the time. Assumes that the time is
  // first_ns plus a constant times the position. 0 if the time does not grow with the position.
  double dominating_position() const {
    const double growth = last_ns - first_ns;
    return growth > 0 ? first_ns / growth * static_cast<double>(last) : 0;
  }
};

struct Context {
  std::filesystem::path model;
  std::filesystem::path source;  // the exported model; empty if there is none
  Variant baseline;              // of a .pte: the options that make a similar program
  bool is_file = false;          // the baseline is a .pte as it is
  inspector::Profile profile;    // of the baseline
  ModelFacts facts;              // of `source`
  // The result of lowering `source` with the options of `baseline`; null if `source` is empty.
  const aot::LoweredModel* lowered = nullptr;
  const aot::ExportedProgram* exported = nullptr;  // `source` before lowering; null without it
  SizeTimes batch_times;                           // by batch; empty unless the batch is dynamic
  SizeTimes chunk_times;                   // of a decoder, by tokens in a run; empty if fixed
  std::optional<PositionTimes> positions;  // of a decoder
  ProcessorFeatures processor_features;
  std::string method = "forward";
  std::string device;  // where `profile` was recorded; empty: this machine
  // The next three members describe the machine that recorded `profile`.
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

// Returns the time in nanoseconds that a row of the profile takes. The times of all rows add up to
// at most the wall time.
inline double time_of(const Context& context, const inspector::ProfileRow& row) {
  return row.share * context.wall_ns();
}

}  // namespace vitrine::tools
