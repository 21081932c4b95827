// Compares the caches of keys and values of two programs after the same tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "inspector/compare/tensor_difference.h"
#include "vitrine/event_tracer.h"
#include "vitrine/tensor.h"

namespace vitrine::llm {

enum class CacheRole : uint8_t { kUnknown, kKeys, kValues };

struct FoundCache {
  int32_t instruction = 0;  // the first instruction that writes the cache
  const Tensor* tensor = nullptr;
  std::string layer = {};  // "layers.0"; empty if unknown
  CacheRole role = CacheRole::kUnknown;
};

// Finds the caches that a method writes. Set this object as the tracer of one execution. The
// tensors are valid while the method is loaded.
class CacheFinder final : public EventTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord&) override {}
  bool record_results(const TraceRecord& step, std::span<EValue* const> arguments,
                      const Delegate* delegate) override;

  const std::vector<FoundCache>& caches() const { return caches_; }

 private:
  std::vector<FoundCache> caches_;
};

// A cache of real numbers, or an int8 cache with a scale and zero point for each row.
struct DataCache {
  FoundCache values;
  const Tensor* scales = nullptr;
  const Tensor* zero_points = nullptr;
};

// Joins each int8 cache, in order, with a cache of scales and a cache of zero points. Caches of
// scales and zero points have rows of one element. Joins nothing unless each int8 cache has a cache
// of scales, and all or none have a cache of zero points.
std::vector<DataCache> data_caches(std::span<const FoundCache> caches);

// A half-open range [begin, end).
using PositionRange = std::pair<size_t, size_t>;

struct CacheError {
  std::string layer;  // "attention 0" if no program has its name
  CacheRole role = CacheRole::kUnknown;
  bool is_paired_by_noise = false;
  std::string type_a, type_b;  // "i8[1,256,2,16]"
  std::vector<inspector::TensorDifference> ranges;
  std::string why_not;  // reason for missing figures; else empty
};

// Compares the caches of program B with the reference A, as real numbers. `context` is the number
// of positions. Pairs the caches of a layer by role or, if the roles are unknown, so that the noise
// is smallest. Without layer names, each pair of successive caches forms a layer. Without caches,
// or for different numbers of caches, returns an empty list and sets `why_not`.
std::vector<CacheError> compare_caches(std::span<const FoundCache> a, std::span<const FoundCache> b,
                                       size_t context, std::span<const PositionRange> ranges,
                                       std::string& why_not);

}  // namespace vitrine::llm
