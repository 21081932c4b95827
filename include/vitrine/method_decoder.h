// MethodDecoder is a DecoderModel that runs a language model by calling the methods of an exported
// program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vitrine/decoder_methods.h"
#include "vitrine/method.h"
#include "vitrine/text_generator.h"

namespace vitrine {

class DecoderCall;
struct ModelMetadata;

// The loaded methods, named as in DecoderMethodNames. A null pointer means that the model lacks the
// method. The methods must outlive the decoder, and the memory of their outputs must be set. Load
// prefill and decode with the same SharedState.
struct DecoderMethods {
  Method* decode = nullptr;
  Method* prefill = nullptr;
  Method* encoder = nullptr;
  Method* embedding = nullptr;
  std::vector<DecoderInput> inputs = {};
};

// Values that complete or replace the program's metadata.
struct MethodDecoderOptions {
  int64_t max_context = 0;               // in positions; 0: as the program says
  std::optional<TokenId> start_id = {};  // first token of a decoder that has an encoder
  std::optional<TokenId> row_id = {};    // placeholder in prompts for the rows of an encoder
  // Limits for the methods that return metadata. 0 selects the default. The default of
  // max_memory_bytes is MemoryUsage::budget of the decode method.
  MethodLimits limits = {};
};

// The methods decode and prefill have up to three inputs:
// - ids, int64 [1, n], or the rows of these ids from the embedding method;
// - if there is a cache: the position of the first id, int64 [1], or one position per id;
// - if there is an encoder: the encoder's output, unless the encoder's rows are inserted into the
//   rows of the embedding.
// They return logits of f32, f16 or bf16, with shape [1, vocabulary] for the last id or [1, n,
// vocabulary] for all ids. The input of an encoder is ids, int64 [1, n], or one tensor of features.
//
// Tokens at position 0 begin a new text, which ignores caches and other state of earlier texts.
class MethodDecoder final : public DecoderModel {
 public:
  // The methods must belong to `program`. Throws GenerationError if the program's metadata methods
  // contradict the methods' tensors.
  MethodDecoder(const std::shared_ptr<const Program>& program, const DecoderMethods& methods,
                const MethodDecoderOptions& options = {});
  MethodDecoder(const std::shared_ptr<const Program>& program, Method& method)
      : MethodDecoder(program, DecoderMethods{.decode = &method}) {}
  ~MethodDecoder() override;

  const DecoderInfo& info() const override { return info_; }
  std::span<const float> feed(std::span<const TokenId> tokens, int64_t position) override;
  std::span<const float> logits_after(size_t index) override;
  void encode(std::span<const TokenId> tokens) override;
  std::vector<TokenId> with_rows(std::span<const TokenId> prompt) override;
  // Sets the features (speech, images) for the encoder. The encoder runs in a later call to
  // with_rows() or feed(), and `features` must exist until then. Tokens fed later use these
  // features. Throws GenerationError if the program has no encoder for features, or if the encoder
  // does not accept `features`.
  void encode(Tensor& features);

  // True if rows of the encoder's output replace the placeholder tokens (info().row_id) in prompts.
  // Prompts without placeholder tokens need no features.
  bool inserts_rows() const;
  // Notes about missing or contradictory metadata, and about the values that are used instead.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void read_calls() const;
  void read_encoder();
  void read_limits(const std::shared_ptr<const Program>& program,
                   const MethodDecoderOptions& options);
  void read_context(const ModelMetadata& metadata, const MethodDecoderOptions& options);
  const DecoderCall& longest_call() const { return prefill_ ? *prefill_ : *decode_; }
  void run_encoder();
  size_t count_rows();
  void reset_state();
  void restart_rows(std::span<const TokenId> text);

  std::unique_ptr<DecoderCall> decode_;
  std::unique_ptr<DecoderCall> prefill_;  // null: decode is called for prompts as well
  DecoderCall* last_call_ = nullptr;      // the call of the last feed()
  Method* encoder_;
  enum class Encoding { kMissing, kWaiting, kDone } encoding_ = Encoding::kMissing;
  std::vector<int64_t> encoder_ids_;
  size_t next_row_ = 0;              // row of the encoder for the next placeholder token
  size_t rows_ = 0;                  // rows of the fed prompt; without a cache, of the fed text
  std::optional<size_t> new_rows_;   // rows of a new prompt, which may still be rejected
  bool rows_are_the_texts_ = false;  // the encoder's output belongs to the fed text
  DecoderInfo info_;
  std::vector<std::string> notes_;
};

}  // namespace vitrine
