// What an exported language model says about itself: methods that only return constants.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vitrine/method.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

struct ModelMetadata {
  std::optional<int64_t> max_seq_len;
  std::optional<int64_t> max_context_len;
  std::optional<int64_t> vocabulary;
  std::optional<bool> use_kv_cache;
  std::optional<bool> enable_dynamic_shape;
  std::vector<TokenId> eos_ids;
  std::optional<TokenId> start_id;  // of a decoder behind an encoder
};

// Runs the methods of these names that the program has. Throws GenerationError if one takes inputs
// or gives what it should not.
ModelMetadata read_metadata(const std::shared_ptr<const Program>& program,
                            const MethodLimits& limits);

}  // namespace vitrine
