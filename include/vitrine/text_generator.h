// TextGenerator generates text from a language model: prefill, sampling, stopping, statistics and
// multi-turn conversations.
//
//   TextGenerator generator(model, tokenizer.get());
//   generator.generate("In the beginning", {.max_new_tokens = 64},
//                      [](const NewToken& token) { std::cout << token.text; });
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vitrine/tokenizer.h"

namespace vitrine {

// Thrown for a request that a model cannot serve, or for a model with contradictory parts.
class GenerationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown if the prompt leaves no room for an answer in the context or within the limits of the
// options.
class NoRoomError : public GenerationError {
 public:
  using GenerationError::GenerationError;
};

// Properties of a model: the program's metadata, checked against its tensors.
struct DecoderInfo {
  int64_t max_context = 0;          // positions in the caches
  int64_t max_tokens_per_call = 1;  // most tokens that one call of the program accepts
  // Minimum number of tokens in a call with more than one token. If fewer tokens of a prompt
  // remain, each call feeds one token.
  int64_t min_tokens_per_call = 1;
  bool parallel_prefill = false;  // if false, prompts are fed one token at a time
  bool has_cache = true;          // if false, each call needs the entire text
  // If true, a call with several tokens returns the logits after each token (logits_after()).
  bool returns_all_logits = false;
  size_t vocabulary = 0;              // logits per token
  std::vector<TokenId> eos_ids = {};  // end tokens; if empty, the tokenizer's end token
  // If true, an encoder reads the prompt and the decoder begins with start_id. Each prompt then
  // starts a new text.
  bool encodes_prompt = false;
  std::optional<TokenId> start_id = {};
  // The placeholder token in prompts for the output of an encoder (of an image or audio). A prompt
  // contains the token either once, or once per row of the output.
  std::optional<TokenId> row_id = {};
};

// A language model that continues a sequence of tokens. One thread at a time may use a model.
class DecoderModel {
 public:
  virtual ~DecoderModel() = default;
  virtual const DecoderInfo& info() const = 0;
  // Feeds at most max_tokens_per_call tokens, from `position` on. All positions must be below
  // max_context. Returns info().vocabulary logits for the next token, valid until the next call.
  // Throws GenerationError.
  virtual std::span<const float> feed(std::span<const TokenId> tokens, int64_t position) = 0;
  // Returns the logits after token `index` of the last feed(), valid until the next call to feed()
  // or logits_after(). Models without info().returns_all_logits have only the logits after the last
  // token. Throws GenerationError.
  virtual std::span<const float> logits_after(size_t index);
  // Sets the prompt for the encoder, for models with info().encodes_prompt. Later calls to feed()
  // use the encoder's output. Throws GenerationError.
  virtual void encode(std::span<const TokenId> tokens);
  // Returns the tokens to feed for a prompt. A single info().row_id is repeated for each row of the
  // encoder's output. Throws GenerationError.
  virtual std::vector<TokenId> with_rows(std::span<const TokenId> prompt);
};

struct SamplerOptions {
  float temperature = 0.8F;  // 0: always the most probable token
  // Samples from the smallest set of most probable tokens whose probabilities add up to more than
  // top_p. Ignored if top_k is set.
  float top_p = 0.9F;
  size_t top_k = 0;  // samples from the top_k most probable tokens; 0: no such limit
  // Seed of the random numbers. If the seed equals the last seed that a call of this conversation
  // set, the sequence of random numbers continues. If unset, the seed comes from the clock.
  std::optional<uint64_t> seed = {};
};

struct GenerateOptions {
  int64_t max_new_tokens = -1;  // -1: only the context and seq_len are limits
  int64_t seq_len = -1;         // maximum length of prompt and new tokens together; -1: the context
  SamplerOptions sampling = {};
  EncodeOptions encode = {};  // a template's prefix is added to the first prompt only
  bool ignore_eos = false;
};

struct NewToken {
  TokenId id;
  // The complete characters that this token adds. The bytes of an incomplete character are returned
  // with a later token.
  std::string_view text;
};
using TokenCallback = std::function<void(const NewToken&)>;

// Statistics with the units and definitions of ExecuTorch's runner.
struct GenerationStatistics {
  int64_t prompt_tokens = 0;
  int64_t generated_tokens = 0;  // without the first new token, which the prefill returns
  int64_t model_load_start_ms = 0;
  int64_t model_load_end_ms = 0;
  int64_t inference_start_ms = 0;
  int64_t inference_end_ms = 0;
  int64_t prompt_eval_end_ms = 0;  // when the first new token was sampled, before its callback
  int64_t first_token_ms = 0;      // the same time as prompt_eval_end_ms
  int64_t aggregate_sampling_time_ms = 0;  // time for generated_tokens, without decoding to text

  // A JSON object such as {"prefill_token_per_sec":...}.
  std::string json() const;
};

// One call to the model, and the sampling and decoding of the next token. Times are nanoseconds of
// CLOCK_MONOTONIC, in chronological order.
struct GenerationStep {
  bool is_prefill = false;  // the step feeds the prompt; the last such step yields the first token
  int64_t position = 0;     // position of the first token that the step feeds
  size_t tokens = 0;        // number of tokens that the step feeds
  int64_t prompt_end = 0;   // for a prefill: the position after the prompt's last token
  uint64_t start_ns = 0;
  uint64_t fed_ns = 0;      // the model has returned its logits
  uint64_t sampled_ns = 0;  // this time and the next two equal fed_ns if no token is sampled
  uint64_t decoded_ns = 0;  // the token has been decoded to text
  uint64_t end_ns = 0;      // the callback has returned
};

// Observes every step of a generation, on the generating thread.
class GenerationObserver {
 public:
  virtual ~GenerationObserver() = default;
  // Called when the prompt has been tokenized, at `encoded_ns`. `start_ns` is when generate() was
  // called.
  virtual void on_prompt(uint64_t start_ns, uint64_t encoded_ns) = 0;
  // Called before a step. `start_ns` is the only time that is set already.
  virtual void begin_step(const GenerationStep& step) = 0;
  virtual void end_step(const GenerationStep& step) = 0;
};

enum class StopReason { kEndToken, kLength, kStopped };

struct Generation {
  std::vector<TokenId> prompt;
  std::vector<TokenId> ids;  // the new tokens, including the end token
  std::string text;          // text of `ids` without special tokens
  StopReason reason = StopReason::kLength;
  GenerationStatistics statistics;
};

// A conversation with a model. One thread at a time may use the conversation, except for stop().
class TextGenerator {
 public:
  // `model` and `tokenizer` must outlive the generator. Without a tokenizer, only token ids are
  // available. The numbers of logits and of the tokenizer's ids may differ by at most 1/32 of the
  // ids. A larger difference means that the tokenizer belongs to another model, and the constructor
  // throws GenerationError. Prompts must not contain ids without a logit, except info().row_id.
  // Logits without an id (padding) are never sampled.
  TextGenerator(DecoderModel& model, const Tokenizer* tokenizer);

  // Generates text after a prompt. Each call continues the conversation: caches keep their content,
  // and the call feeds the last token of the previous call and then the prompt. Throws
  // GenerationError, TokenizerError, or NoRoomError if an answer does not fit.
  //
  // If a call throws before it feeds a token, the conversation is unchanged. However, if
  // info().encodes_prompt is true, the conversation may have been reset already. Any later
  // exception, including exceptions from `on_token`, resets the conversation.
  Generation generate(std::string_view prompt, const GenerateOptions& options,
                      const TokenCallback& on_token = {});
  Generation generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                      const TokenCallback& on_token = {});

  // Stops the current call to generate() after the current token. If parts of the prompt remain,
  // generate() does not feed them and returns no new token. The part of the prompt that was fed
  // stays in the conversation. May be called from any thread and from a signal handler.
  void stop() { stop_ = true; }
  // Starts a new conversation, which ignores cached keys and values.
  void reset();
  // The observer must outlive the generator. Null removes the observer.
  void set_observer(GenerationObserver* observer) { observer_ = observer; }
  // Number of tokens that the model has seen.
  int64_t position() const { return static_cast<int64_t>(fed_.size()); }

 private:
  class Run;
  struct Randomness {
    uint64_t seed;
    uint64_t state;  // the sampler's state after the last call
  };

  std::span<const float> feed(std::span<const TokenId> tokens, bool is_prefill);
  void end_step();
  std::span<const float> prefill(std::span<const TokenId> tokens);
  std::vector<TokenId> encode(std::string_view prompt, EncodeOptions options) const;
  // Throws GenerationError.
  std::vector<TokenId> tokens_to_feed(std::span<const TokenId> prompt);
  void check_ids(std::span<const TokenId> ids) const;
  int64_t budget(size_t prompt_tokens, const GenerateOptions& options) const;
  bool is_end(TokenId id) const;

  DecoderModel& model_;
  const Tokenizer* tokenizer_;
  size_t sampled_;  // ids below this id may be sampled
  std::vector<TokenId> eos_ids_;
  std::vector<TokenId> fed_;
  std::optional<TokenId> pending_;        // the last sampled token, not fed yet
  std::optional<Randomness> randomness_;  // unset unless a call had a seed
  std::atomic<bool> stop_ = false;
  GenerationObserver* observer_ = nullptr;
  int64_t prompt_end_ = 0;              // prompt_end of the prompt that is being fed
  std::optional<GenerationStep> step_;  // the current step; unset without an observer
};

}  // namespace vitrine
