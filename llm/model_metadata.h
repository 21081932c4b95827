// Reads the metadata of an exported language model from its methods without inputs.
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
  std::optional<TokenId> start_id;  // first id of a decoder that follows an encoder
};

// Runs the metadata methods. Throws GenerationError if a metadata method has inputs, fails, or
// returns a value of the wrong kind.
ModelMetadata read_metadata(const std::shared_ptr<const Program>& program,
                            const MethodLimits& limits);

}  // namespace vitrine
