// A decoder that is made of methods of a program, as ExecuTorch exports language models.
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

// Loaded methods in the parts of DecoderMethodNames; not owned, they outlive the decoder. Memory
// for their outputs is set. Prefill and decode are loaded over one SharedState. Null: there is
// none.
struct DecoderMethods {
  Method* decode = nullptr;
  Method* prefill = nullptr;
  Method* encoder = nullptr;
  Method* embedding = nullptr;
  std::vector<DecoderInput> inputs = {};
};

// What programs leave out.
struct MethodDecoderOptions {
  int64_t max_context = 0;               // positions; 0: as the program says
  std::optional<TokenId> start_id = {};  // of a decoder behind an encoder
  std::optional<TokenId> row_id = {};    // stands in prompts for an encoder's rows
  // Of the methods that give metadata. 0 stands for the default; of memory, for that of decode.
  MethodLimits limits = {};
};

// Inputs of decode and prefill: ids, int64 [1, n]; with a cache also the position, int64 [1], or
// one for each id; behind an encoder also what it gives, unless its rows stand among those of an
// embedding. Output: logits of f32, f16 or bf16, [1,
// vocabulary] of the last token or [1, n, vocabulary] of all. An encoder takes ids, int64 [1, n],
// or one tensor of features.
//
// What is fed at position 0 begins a text: of earlier ones neither the caches nor other state (of
// convolutions, of recurrent layers) count.
class MethodDecoder final : public DecoderModel {
 public:
  // The methods are of `program`. Reads the program's metadata methods. Throws GenerationError
  // where these and the methods' tensors contradict each other.
  MethodDecoder(const std::shared_ptr<const Program>& program, const DecoderMethods& methods,
                const MethodDecoderOptions& options = {});
  MethodDecoder(const std::shared_ptr<const Program>& program, Method& method)
      : MethodDecoder(program, DecoderMethods{.decode = &method}) {}
  ~MethodDecoder() override;

  const DecoderInfo& info() const override { return info_; }
  std::span<const float> feed(std::span<const TokenId> tokens, int64_t position) override;
  void encode(std::span<const TokenId> tokens) override;
  std::vector<TokenId> with_rows(std::span<const TokenId> prompt) override;
  // Features (speech, images) for the encoder, which runs when tokens are fed next: `features`
  // lives until then. Later tokens go with them. Throws GenerationError if the program has no
  // encoder or it does not take them.
  void encode(Tensor& features);

  // Whether the encoder's rows stand among the prompt's, in place of info().row_id: prompts without
  // it need no features.
  bool inserts_rows() const;
  // What the metadata leave out or overstate, and what is done instead.
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
  std::unique_ptr<DecoderCall> prefill_;  // null: decode takes all
  Method* encoder_;
  enum class Encoding { kMissing, kWaiting, kDone } encoding_ = Encoding::kMissing;
  std::vector<int64_t> encoder_ids_;
  size_t next_row_ = 0;              // of the encoder's, for the next token that stands for one
  size_t rows_ = 0;                  // of the prompt that is fed; without a cache of the text
  std::optional<size_t> new_rows_;   // of a prompt that was not fed yet: it may be refused
  bool rows_are_the_texts_ = false;  // the encoder has run for what was fed, not for such a prompt
  DecoderInfo info_;
  std::vector<std::string> notes_;
};

}  // namespace vitrine
