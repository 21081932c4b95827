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

// The number of logits may differ from the number of ids by at most 1/32 of the ids. A model may
// pad its logits, and ids such as image ids may lack logits. A larger difference is an error.
constexpr size_t kMaxMismatchDivisor = 32;

size_t sampled_ids(size_t logits, const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) return logits;
  const size_t ids = tokenizer->vocabulary_size();
  const size_t mismatch = std::max(ids, logits) - std::min(ids, logits);
  if (mismatch > ids / kMaxMismatchDivisor) {
    throw GenerationError(
        fmt::format("the tokenizer has {} ids, but the model returns {} logits: the tokenizer "
                    "belongs to another model",
                    ids, logits));
  }
  return std::min(ids, logits);
}

}  // namespace

std::span<const float> DecoderModel::logits_after(size_t) {
  throw GenerationError("the model returns the logits after the last token only");
}

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

class TextGenerator::Run {
 public:
  Run(TextGenerator& generator, const GenerateOptions& options, const TokenCallback& on_token)
      : generator_(generator), options_(options), on_token_(on_token), sampler_(options.sampling) {
    result_.statistics.inference_start_ms = now_ms();
    start_ns_ = platform::now_ns();
    const std::optional<Randomness>& before = generator.randomness_;
    if (before && options.sampling.seed == before->seed) sampler_.set_state(before->state);
  }

  Generation run(std::span<const TokenId> prompt) {
    result_.prompt.assign(prompt.begin(), prompt.end());
    const std::vector<TokenId> tokens = generator_.tokens_to_feed(prompt);
    const int64_t count = generator_.budget(tokens.size(), options_);
    if (generator_.observer_ != nullptr) {
      generator_.observer_->on_prompt(start_ns_, platform::now_ns());
    }
    const bool encodes_prompt = generator_.model_.info().encodes_prompt;
    // If no encoder reads the prompt, the answer continues the prompt, so the answer's first space
    // is kept.
    if (generator_.tokenizer_ != nullptr) {
      stream_ = generator_.tokenizer_->stream({.continues = !encodes_prompt});
    }
    GenerationStatistics& statistics = result_.statistics;
    statistics.prompt_tokens = static_cast<int64_t>(encodes_prompt ? prompt.size() : tokens.size());
    try {
      generate(tokens, count);
    } catch (...) {
      generator_.step_.reset();
      generator_.reset();  // the content of the caches is unknown
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
    uint64_t sampling_ns = 0;  // excludes the first token, like ExecuTorch's runner
    bool should_continue = accept(first);
    for (int64_t i = 1; i < count && should_continue; ++i) {
      const std::span<const float> next = generator_.feed({&*generator_.pending_, 1}, false);
      const uint64_t start_ns = platform::now_ns();
      const TokenId id = sample(next);
      sampling_ns += platform::now_ns() - start_ns;
      should_continue = accept(id);
      ++result_.statistics.generated_tokens;
    }
    result_.statistics.aggregate_sampling_time_ms = static_cast<int64_t>(sampling_ns / 1'000'000);
    if (stream_ != nullptr) emit(result_.ids.back(), stream_->finish(), false);
  }

  TokenId sample(std::span<const float> logits) {
    const TokenId id = sampler_.sample(logits.first(generator_.sampled_));
    stamp(&GenerationStep::sampled_ns);
    return id;
  }

  // Appends a new token and passes it to the callback. Returns true if generation should continue.
  bool accept(TokenId id) {
    generator_.pending_ = id;
    result_.ids.push_back(id);
    const std::string text = stream_ == nullptr ? std::string() : stream_->push(id);
    stamp(&GenerationStep::decoded_ns);
    emit(id, text, true);
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

  void emit(TokenId id, const std::string& text, bool is_new) {
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
  return run.run(encode(prompt, options.encode));
}

// A prompt that continues a conversation gets no template tokens before it. If such a prompt is
// empty, it gets no template tokens at all, so that the model continues its last answer.
std::vector<TokenId> TextGenerator::encode(std::string_view prompt, EncodeOptions options) const {
  options.continues = position() != 0 && !model_.info().encodes_prompt;
  if (options.continues && prompt.empty()) options.add_template = false;
  return tokenizer_->encode(prompt, options);
}

Generation TextGenerator::generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                   const TokenCallback& on_token) {
  stop_ = false;
  return Run(*this, options, on_token).run(prompt);
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
  if (prompt.empty() && !pending_) {
    throw GenerationError(
        "the prompt is empty: give at least one token (--prompt, --prompt_file or --prompt_ids)");
  }
  check_ids(prompt);
  std::vector<TokenId> tokens = model_.with_rows(prompt);
  if (!pending_) return tokens;
  const std::optional<TokenId> row_id = model_.info().row_id;
  if (pending_ == row_id && std::ranges::count(prompt, *row_id) != 0) {
    throw GenerationError(
        fmt::format("the previous answer ended with the placeholder token (id {}), so the "
                    "next prompt must not contain this token",
                    *row_id));
  }
  tokens.insert(tokens.begin(), *pending_);
  return tokens;
}

void TextGenerator::check_ids(std::span<const TokenId> ids) const {
  const size_t vocabulary = model_.info().vocabulary;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == model_.info().row_id) continue;
    if (ids[i] < 0 || static_cast<size_t>(ids[i]) >= vocabulary) {
      throw GenerationError(
          fmt::format("token {} of the prompt has id {}, but the vocabulary has {} ids", i, ids[i],
                      vocabulary));
    }
  }
}

int64_t TextGenerator::budget(size_t prompt_tokens, const GenerateOptions& options) const {
  const int64_t context = model_.info().max_context;
  const int64_t occupied = position() + static_cast<int64_t>(prompt_tokens);
  if (occupied >= context) {
    const std::string conversation =
        position() == 0 ? "" : fmt::format(" and the conversation before it has {}", position());
    throw NoRoomError(fmt::format(
        "the prompt has {} tokens{}: the model's context of {} has no room for an answer",
        prompt_tokens, conversation, context));
  }
  int64_t count = context - occupied;
  if (options.seq_len >= 0) count = std::min(count, options.seq_len - occupied);
  if (options.max_new_tokens >= 0) count = std::min(count, options.max_new_tokens);
  if (count <= 0) {
    throw NoRoomError(
        fmt::format("the limits allow no new token: {} tokens are in the context, seq_len is {}, "
                    "max_new_tokens is {}",
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
             .prompt_end = is_prefill ? prompt_end_ : 0,
             .start_ns = platform::now_ns()};
    observer_->begin_step(*step_);
  }
  const std::span<const float> logits = model_.feed(fed, position);
  if (step_) {
    step_->fed_ns = platform::now_ns();
    step_->sampled_ns = step_->decoded_ns = step_->end_ns = step_->fed_ns;
  }
  if (logits.size() != model_.info().vocabulary) {
    throw GenerationError(fmt::format("the model returned {} logits, expected {}", logits.size(),
                                      model_.info().vocabulary));
  }
  return logits;
}

void TextGenerator::end_step() {
  if (!step_) return;
  observer_->end_step(*step_);
  step_.reset();
}

// Feeds the tokens in chunks and returns the last token's logits, or an empty span if stop() was
// called before the last chunk.
std::span<const float> TextGenerator::prefill(std::span<const TokenId> tokens) {
  const DecoderInfo& info = model_.info();
  prompt_end_ = position() + static_cast<int64_t>(tokens.size());
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
    pending_.reset();  // the first chunk began with the pending token
    tokens = tokens.subspan(size);
  }
  return logits;
}

}  // namespace vitrine
