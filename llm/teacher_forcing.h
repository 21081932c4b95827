// Feeds a given text to a model and returns the logits after each token of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vitrine/text_generator.h"

namespace vitrine {

// A model that returns the logits of each token gets chunks of max_tokens_per_call tokens. Other
// models get single tokens. Not thread-safe. The model must outlive the object.
class TeacherForcing {
 public:
  explicit TeacherForcing(DecoderModel& model);

  // Begins at position 0. The text must fit into the context.
  void begin(std::vector<TokenId> text);
  // Returns the logits after the next token, valid until the next call. Throws GenerationError if
  // the text has no more tokens or the model fails.
  std::span<const float> next();
  // The model's running time in ns since construction.
  uint64_t model_ns() const { return model_ns_; }

 private:
  size_t chunk_size() const;

  DecoderModel& model_;
  std::vector<TokenId> text_;
  size_t done_ = 0;   // tokens whose logits were returned
  size_t fed_ = 0;    // tokens that the model has seen
  size_t begin_ = 0;  // first token of the last call
  uint64_t model_ns_ = 0;
};

}  // namespace vitrine
