#include "vitrine/text_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "llm/sampler.h"
#include "runtime/platform/clock.h"

namespace vitrine {
namespace {

int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Logits are padded for the hardware, and tokenizers have a few ids that only prompts of images
// use, by less than this part of the vocabulary; more is another model's.
constexpr size_t kOddPart = 32;

size_t sampled_ids(size_t logits, const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) return logits;
  const size_t ids = tokenizer->vocabulary_size();
  const size_t odd = std::max(ids, logits) - std::min(ids, logits);
  if (odd > ids / kOddPart) {
    throw GenerationError(fmt::format(
        "the tokenizer has {} ids, the model {} logits: they do not belong together", ids, logits));
  }
  return std::min(ids, logits);
}

}  // namespace

void DecoderModel::encode(std::span<const TokenId>) {
  throw GenerationError("the model has no encoder that takes ids");
}

std::vector<TokenId> DecoderModel::with_rows(std::span<const TokenId> prompt) {
  return {prompt.begin(), prompt.end()};
}

TextGenerator::TextGenerator(DecoderModel& model, const Tokenizer* tokenizer)
    : model_(model),
      tokenizer_(tokenizer),
      sampled_(sampled_ids(model.info().vocabulary, tokenizer)),
      eos_ids_(model.info().eos_ids) {
  if (eos_ids_.empty() && tokenizer != nullptr && tokenizer->eos()) {
    eos_ids_.push_back(*tokenizer->eos());
  }
}

// One call of generate().
class TextGenerator::Run {
 public:
  Run(TextGenerator& generator, const GenerateOptions& options, const TokenCallback& on_token)
      : generator_(generator), options_(options), on_token_(on_token), sampler_(options.sampling) {
    result_.statistics.inference_start_ms = now_ms();
    start_ns_ = platform::now_ns();
    const std::optional<Randomness>& before = generator.randomness_;
    if (before && options.sampling.seed == before->seed) sampler_.set_state(before->state);
  }

  Generation over(std::span<const TokenId> prompt) {
    result_.prompt.assign(prompt.begin(), prompt.end());
    const std::vector<TokenId> tokens = generator_.tokens_to_feed(prompt);
    const int64_t count = generator_.budget(tokens.size(), options_);
    if (generator_.observer_ != nullptr) {
      generator_.observer_->on_prompt(start_ns_, platform::now_ns());
    }
    const bool is_apart = generator_.model_.info().encodes_prompt;
    // Other text continues the prompt, whose last word may have no space after it.
    if (generator_.tokenizer_ != nullptr) {
      stream_ = generator_.tokenizer_->stream({.continues = !is_apart});
    }
    GenerationStatistics& statistics = result_.statistics;
    statistics.prompt_tokens = static_cast<int64_t>(is_apart ? prompt.size() : tokens.size());
    try {
      generate(tokens, count);
    } catch (...) {
      generator_.step_.reset();
      generator_.reset();  // what the caches hold is not known
      throw;
    }
    statistics.inference_end_ms = now_ms();
    if (options_.sampling.seed) {
      generator_.randomness_ = {*options_.sampling.seed, sampler_.state()};
    }
    return std::move(result_);
  }

 private:
  void generate(std::span<const TokenId> tokens, int64_t count) {
    const std::span<const float> logits = generator_.prefill(tokens);
    if (logits.empty()) {
      generator_.end_step();
      result_.reason = StopReason::kStopped;
      result_.statistics.prompt_eval_end_ms = result_.statistics.first_token_ms = now_ms();
      return;
    }
    const TokenId first = sample(logits);
    result_.statistics.prompt_eval_end_ms = result_.statistics.first_token_ms = now_ms();
    uint64_t sampling_ns = 0;  // without the first token, as the stock runner counts
    bool goes_on = take(first);
    for (int64_t i = 1; i < count && goes_on; ++i) {
      const std::span<const float> next = generator_.feed({&*generator_.pending_, 1}, false);
      const uint64_t start_ns = platform::now_ns();
      const TokenId id = sample(next);
      sampling_ns += platform::now_ns() - start_ns;
      goes_on = take(id);
      ++result_.statistics.generated_tokens;
    }
    result_.statistics.aggregate_sampling_time_ms = static_cast<int64_t>(sampling_ns / 1'000'000);
    if (stream_ != nullptr) give(result_.ids.back(), stream_->finish(), false);
  }

  TokenId sample(std::span<const float> logits) {
    const TokenId id = sampler_.sample(logits.first(generator_.sampled_));
    stamp(&GenerationStep::sampled_ns);
    return id;
  }

  // Gives a new token; whether another one is wanted.
  bool take(TokenId id) {
    generator_.pending_ = id;
    result_.ids.push_back(id);
    const std::string text = stream_ == nullptr ? std::string() : stream_->push(id);
    stamp(&GenerationStep::decoded_ns);
    give(id, text, true);
    stamp(&GenerationStep::end_ns);
    generator_.end_step();
    if (generator_.is_end(id) && !options_.ignore_eos) {
      result_.reason = StopReason::kEndToken;
      return false;
    }
    if (generator_.stop_) {
      result_.reason = StopReason::kStopped;
      return false;
    }
    return true;
  }

  void stamp(uint64_t GenerationStep::*time) {
    if (generator_.step_) *generator_.step_.*time = platform::now_ns();
  }

  void give(TokenId id, const std::string& text, bool is_new) {
    result_.text += text;
    if (on_token_ && (is_new || !text.empty())) on_token_({id, text});
  }

  TextGenerator& generator_;
  const GenerateOptions& options_;
  const TokenCallback& on_token_;
  Sampler sampler_;
  std::unique_ptr<DecodeStream> stream_;
  uint64_t start_ns_ = 0;
  Generation result_;
};

Generation TextGenerator::generate(std::string_view prompt, const GenerateOptions& options,
                                   const TokenCallback& on_token) {
  if (tokenizer_ == nullptr) throw GenerationError("a text prompt needs a tokenizer");
  stop_ = false;
  Run run(*this, options, on_token);
  return run.over(encode(prompt, options.encode));
}

// What a template puts before a text begins a conversation, not each of its prompts; without a text
// the answer goes on.
std::vector<TokenId> TextGenerator::encode(std::string_view prompt, EncodeOptions options) const {
  options.continues = position() != 0 && !model_.info().encodes_prompt;
  if (options.continues && prompt.empty()) options.add_template = false;
  return tokenizer_->encode(prompt, options);
}

Generation TextGenerator::generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                   const TokenCallback& on_token) {
  stop_ = false;
  return Run(*this, options, on_token).over(prompt);
}

void TextGenerator::reset() {
  fed_.clear();
  pending_.reset();
  randomness_.reset();
}

std::vector<TokenId> TextGenerator::tokens_to_feed(std::span<const TokenId> prompt) {
  if (model_.info().encodes_prompt) {
    check_ids(prompt);
    model_.encode(prompt);
    reset();
    return {model_.info().start_id.value()};
  }
  if (prompt.empty() && !pending_) throw GenerationError("the prompt is empty");
  check_ids(prompt);
  std::vector<TokenId> tokens = model_.with_rows(prompt);
  if (!pending_) return tokens;
  const std::optional<TokenId> row_id = model_.info().row_id;
  if (pending_ == row_id && std::ranges::count(prompt, *row_id) != 0) {
    throw GenerationError(
        fmt::format("the answer before ended with {}, which stands for an encoder's row", *row_id));
  }
  tokens.insert(tokens.begin(), *pending_);
  return tokens;
}

void TextGenerator::check_ids(std::span<const TokenId> ids) const {
  const size_t vocabulary = model_.info().vocabulary;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == model_.info().row_id) continue;
    if (ids[i] < 0 || static_cast<size_t>(ids[i]) >= vocabulary) {
      throw GenerationError(fmt::format("token {} of the prompt is {}, of a vocabulary of {}", i,
                                        ids[i], vocabulary));
    }
  }
}

int64_t TextGenerator::budget(size_t prompt_tokens, const GenerateOptions& options) const {
  const int64_t context = model_.info().max_context;
  const int64_t occupied = position() + static_cast<int64_t>(prompt_tokens);
  if (occupied >= context) {
    throw NoRoomError(fmt::format(
        "the prompt has {} tokens after {} before: the model's context of {} has no room for an "
        "answer",
        prompt_tokens, position(), context));
  }
  int64_t count = context - occupied;
  if (options.seq_len >= 0) count = std::min(count, options.seq_len - occupied);
  if (options.max_new_tokens >= 0) count = std::min(count, options.max_new_tokens);
  if (count <= 0) {
    throw NoRoomError(
        fmt::format("no token may be generated: {} of prompt, seq_len {}, "
                    "max_new_tokens {}",
                    occupied, options.seq_len, options.max_new_tokens));
  }
  return count;
}

bool TextGenerator::is_end(TokenId id) const { return std::ranges::count(eos_ids_, id) != 0; }

std::span<const float> TextGenerator::feed(std::span<const TokenId> tokens, bool is_prefill) {
  end_step();
  const bool has_cache = model_.info().has_cache;
  const int64_t position = has_cache ? this->position() : 0;
  fed_.insert(fed_.end(), tokens.begin(), tokens.end());
  const std::span<const TokenId> fed = has_cache ? tokens : std::span<const TokenId>(fed_);
  if (observer_ != nullptr) {
    step_ = {.is_prefill = is_prefill,
             .position = position,
             .tokens = fed.size(),
             .start_ns = platform::now_ns()};
    observer_->begin_step(*step_);
  }
  const std::span<const float> logits = model_.feed(fed, position);
  if (step_) {
    step_->fed_ns = platform::now_ns();
    step_->sampled_ns = step_->decoded_ns = step_->end_ns = step_->fed_ns;
  }
  if (logits.size() != model_.info().vocabulary) {
    throw GenerationError(
        fmt::format("the model gave {} logits, not {}", logits.size(), model_.info().vocabulary));
  }
  return logits;
}

void TextGenerator::end_step() {
  if (!step_) return;
  observer_->end_step(*step_);
  step_.reset();
}

// Empty if it was stopped before the last token.
std::span<const float> TextGenerator::prefill(std::span<const TokenId> tokens) {
  const DecoderInfo& info = model_.info();
  if (!info.has_cache) return feed(tokens, true);
  const size_t chunk = info.parallel_prefill
                           ? static_cast<size_t>(std::max<int64_t>(info.max_tokens_per_call, 1))
                           : 1;
  std::span<const float> logits;
  while (!tokens.empty()) {
    if (stop_) return {};
    const bool is_enough = tokens.size() >= static_cast<size_t>(info.min_tokens_per_call);
    const size_t size = is_enough ? std::min(chunk, tokens.size()) : 1;
    logits = feed(tokens.first(size), true);
    pending_.reset();  // it was the first
    tokens = tokens.subspan(size);
  }
  return logits;
}

}  // namespace vitrine
