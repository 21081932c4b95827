// Text from a decoder-only language model: prefill, sampling, stopping, statistics, chat.
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

// A request that a model cannot serve, or a model that contradicts itself: what() says which.
class GenerationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The context, or what the options allow of it, has no room for an answer to the prompt.
class NoRoomError : public GenerationError {
 public:
  using GenerationError::GenerationError;
};

// What a program says about itself, checked against its tensors.
struct DecoderInfo {
  int64_t max_context = 0;            // positions that the caches hold
  int64_t max_tokens_per_call = 1;    // what the program itself takes at once
  int64_t min_tokens_per_call = 1;    // or one; fewer are fed token by token
  bool parallel_prefill = false;      // else a prompt is fed token by token
  bool has_cache = true;              // else each call is given the whole text
  size_t vocabulary = 0;              // logits a token
  std::vector<TokenId> eos_ids = {};  // empty: the tokenizer's
  // An encoder takes the prompt; the decoder begins with start_id. Each prompt is a text of its
  // own.
  bool encodes_prompt = false;
  std::optional<TokenId> start_id = {};
  // Stands in prompts for the rows that an encoder gives (an image, sound): once for all of them,
  // or once for each.
  std::optional<TokenId> row_id = {};
};

// A model that continues a row of tokens. One thread at a time.
class DecoderModel {
 public:
  virtual ~DecoderModel() = default;
  virtual const DecoderInfo& info() const = 0;
  // Feeds tokens whose first one is at `position`: at most max_tokens_per_call, within max_context.
  // Gives info().vocabulary logits of what follows the last one, valid until the next call. Throws
  // GenerationError.
  virtual std::span<const float> feed(std::span<const TokenId> tokens, int64_t position) = 0;
  // Where info().encodes_prompt: what tokens fed from now on refer to. Throws GenerationError.
  virtual void encode(std::span<const TokenId> tokens);
  // A prompt as it will be fed: with info().row_id for each row of what an encoder gives. Throws
  // GenerationError.
  virtual std::vector<TokenId> with_rows(std::span<const TokenId> prompt);
};

struct SamplerOptions {
  float temperature = 0.8F;  // 0: always the most probable token
  float top_p = 0.9F;        // the most probable ones whose sum exceeds it; without top_k only
  size_t top_k = 0;          // 0: none
  // Begins a row of random numbers, in which later calls of a conversation with the same seed go
  // on. None: the time.
  std::optional<uint64_t> seed = {};
};

struct GenerateOptions {
  int64_t max_new_tokens = -1;  // -1: what the context has room for
  int64_t seq_len = -1;         // likewise, of prompt and new tokens
  SamplerOptions sampling = {};
  EncodeOptions encode = {};  // what add_template puts before a text: in front of the first prompt
  bool ignore_eos = false;
};

struct NewToken {
  TokenId id;
  std::string_view text;  // whole characters; those of the last bytes may still come
};
using TokenCallback = std::function<void(const NewToken&)>;

// In the units and with the definitions of ExecuTorch's runner.
struct GenerationStatistics {
  int64_t prompt_tokens = 0;
  int64_t generated_tokens = 0;  // without the one that the prefill gives
  int64_t model_load_start_ms = 0;
  int64_t model_load_end_ms = 0;
  int64_t inference_start_ms = 0;
  int64_t inference_end_ms = 0;
  int64_t prompt_eval_end_ms = 0;          // the first token is known, and not given yet
  int64_t first_token_ms = 0;              // likewise
  int64_t aggregate_sampling_time_ms = 0;  // of generated_tokens; without their texts

  // {"prefill_token_per_sec":...}
  std::string json() const;
};

// One call of the model, and what follows it. Times are ns of CLOCK_MONOTONIC, in this order.
struct GenerationStep {
  bool is_prefill = false;  // of the prompt; the last such step gives the first new token
  int64_t position = 0;     // of the first token fed
  size_t tokens = 0;        // fed
  uint64_t start_ns = 0;
  uint64_t fed_ns = 0;      // the logits are there
  uint64_t sampled_ns = 0;  // this and the next ones are fed_ns where no token is sampled
  uint64_t decoded_ns = 0;  // the token is text
  uint64_t end_ns = 0;      // the callback has returned
};

// Gets every step while it runs. Called by the thread that generates.
class GenerationObserver {
 public:
  virtual ~GenerationObserver() = default;
  // A prompt's ids are there; generate() began at `start_ns`.
  virtual void on_prompt(uint64_t start_ns, uint64_t encoded_ns) = 0;
  // Position, tokens and start are set.
  virtual void begin_step(const GenerationStep& step) = 0;
  virtual void end_step(const GenerationStep& step) = 0;
};

enum class StopReason { kEndToken, kLength, kStopped };

struct Generation {
  std::vector<TokenId> prompt;
  std::vector<TokenId> ids;  // an end token is the last one
  std::string text;          // of these, special tokens apart
  StopReason reason = StopReason::kLength;
  GenerationStatistics statistics;
};

// One conversation with one model. One thread at a time, but for stop().
class TextGenerator {
 public:
  // Both outlive it. Without a tokenizer there are ids only. Throws GenerationError if the
  // tokenizer is not the model's: it has many more ids than there are logits, or many fewer. Ids
  // without logits cannot be in prompts, and logits without ids (padding) are never sampled.
  TextGenerator(DecoderModel& model, const Tokenizer* tokenizer);

  // Continues where the last call ended: its last token and the prompt are fed, the caches stay.
  // Throws GenerationError or TokenizerError; the conversation is as before then, unless the model
  // itself failed: then it is reset. NoRoomError if the context is full.
  Generation generate(std::string_view prompt, const GenerateOptions& options,
                      const TokenCallback& on_token = {});
  Generation generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                      const TokenCallback& on_token = {});

  // Ends the call that runs, after its token, or, while a prompt is fed, between two chunks of it:
  // no token is given then, and what was fed stays in the conversation. From any thread, or a
  // signal's handler.
  void stop() { stop_ = true; }
  // Forgets the conversation. What a cache holds counts no more.
  void reset();
  // Not owned; null: none.
  void set_observer(GenerationObserver* observer) { observer_ = observer; }
  // Tokens that the model has seen.
  int64_t position() const { return static_cast<int64_t>(fed_.size()); }

 private:
  class Run;
  struct Randomness {
    uint64_t seed;
    uint64_t state;  // of the sampler that it began
  };

  std::span<const float> feed(std::span<const TokenId> tokens, bool is_prefill);
  void end_step();
  std::span<const float> prefill(std::span<const TokenId> tokens);
  std::vector<TokenId> encode(std::string_view prompt, EncodeOptions options) const;
  // What the decoder is fed for a prompt. Throws GenerationError.
  std::vector<TokenId> tokens_to_feed(std::span<const TokenId> prompt);
  void check_ids(std::span<const TokenId> ids) const;
  int64_t budget(size_t prompt_tokens, const GenerateOptions& options) const;
  bool is_end(TokenId id) const;

  DecoderModel& model_;
  const Tokenizer* tokenizer_;
  size_t sampled_;  // ids that may be sampled: those below it
  std::vector<TokenId> eos_ids_;
  std::vector<TokenId> fed_;
  std::optional<TokenId> pending_;        // sampled last, not fed yet
  std::optional<Randomness> randomness_;  // of the conversation; none without a seed
  std::atomic<bool> stop_ = false;
  GenerationObserver* observer_ = nullptr;
  std::optional<GenerationStep> step_;  // that runs; none without an observer
};

}  // namespace vitrine
