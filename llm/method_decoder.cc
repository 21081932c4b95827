#include "vitrine/method_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "llm/cache_operators.h"
#include "llm/decoder_call.h"
#include "llm/model_metadata.h"

namespace vitrine {
namespace {

[[noreturn]] void contradiction(const std::string& what) {
  throw GenerationError("the program contradicts itself: " + what);
}

}  // namespace

MethodDecoder::MethodDecoder(const std::shared_ptr<const Program>& program,
                             const DecoderMethods& methods, const MethodDecoderOptions& options)
    : encoder_(methods.encoder) {
  const DecoderFeeders feeders = {methods.encoder, methods.embedding};
  decode_ = std::make_unique<DecoderCall>(*methods.decode, feeders, methods.inputs);
  if (methods.prefill != nullptr) {
    prefill_ = std::make_unique<DecoderCall>(*methods.prefill, feeders, methods.inputs);
  }
  read_calls();
  read_limits(program, options);
  if (encoder_ != nullptr) read_encoder();
}

MethodDecoder::~MethodDecoder() = default;

bool MethodDecoder::inserts_rows() const { return decode_->inserts_rows(); }

// Checks that the decoding method can continue texts of any length and share the prefill method's
// cache.
void MethodDecoder::read_calls() const {
  const DecoderCall& decode = *decode_;
  if (decode.has_fixed_length() && decode.has_position()) {
    throw GenerationError(fmt::format(
        "method {} takes exactly {} ids, but a method with a cache must take one id or a variable "
        "number of ids",
        decode.name(), decode.max_ids()));
  }
  if (decode.has_fixed_length() && !decode.returns_all_logits()) {
    throw GenerationError(fmt::format(
        "method {} takes exactly {} ids and returns the logits of the last id only, so shorter "
        "texts cannot be continued",
        decode.name(), decode.max_ids()));
  }
  if (!prefill_) return;
  if (!decode.has_position() || !prefill_->has_position()) {
    throw GenerationError(
        fmt::format("methods {} and {} cannot share a cache: both need a position input",
                    prefill_->name(), decode.name()));
  }
  if (prefill_->vocabulary() != decode.vocabulary()) {
    contradiction(fmt::format("method {} returns {} logits, but method {} returns {}",
                              prefill_->name(), prefill_->vocabulary(), decode.name(),
                              decode.vocabulary()));
  }
  for (const DecoderCall* call : {prefill_.get(), decode_.get()}) {
    if (call->method().memory_usage().shared != 0) continue;
    throw GenerationError(
        fmt::format("method {} does not share its cache: to use methods {} and {} together, export "
                    "the program with share_mutable_buffers",
                    call->name(), prefill_->name(), decode.name()));
  }
}

void MethodDecoder::read_encoder() {
  const MethodMeta& meta = encoder_->meta();
  if (meta.num_inputs() != 1 || meta.input_tag(0) != EValue::Tag::kTensor) {
    throw GenerationError(
        fmt::format("method {} is not an encoder: its only input must be a tensor; found {} inputs",
                    meta.name(), meta.num_inputs()));
  }
  const TensorInfo input = meta.input_tensor(0);
  info_.encodes_prompt = input.dtype == ScalarType::kLong && !decode_->inserts_rows();
  if (!info_.encodes_prompt) return;
  if (input.sizes.size() != 2 || input.sizes[0] != 1) {
    throw GenerationError(fmt::format("method {} has the input {}, expected ids (int64 [1, n])",
                                      meta.name(), tensor_text(input)));
  }
  if (!info_.start_id) {
    throw GenerationError(
        "the program has no decoder_start_token_id: give the first id of the decoder's text with "
        "--start_id");
  }
}

void MethodDecoder::read_limits(const std::shared_ptr<const Program>& program,
                                const MethodDecoderOptions& options) {
  info_.has_cache = decode_->has_position();
  info_.vocabulary = decode_->vocabulary();
  MethodLimits limits = options.limits;
  if (limits.max_memory_bytes == 0) {
    limits.max_memory_bytes = decode_->method().memory_usage().budget;
  }
  const ModelMetadata metadata = read_metadata(program, limits);
  if (metadata.vocabulary && *metadata.vocabulary != static_cast<int64_t>(info_.vocabulary)) {
    contradiction(fmt::format("get_vocab_size returns {}, but the method returns {} logits",
                              *metadata.vocabulary, info_.vocabulary));
  }
  if (metadata.use_kv_cache && *metadata.use_kv_cache != info_.has_cache) {
    contradiction(fmt::format("use_kv_cache is {}, but the method has {} position input",
                              *metadata.use_kv_cache, info_.has_cache ? "a" : "no"));
  }
  read_context(metadata, options);
  const DecoderCall& longest = longest_call();
  const bool takes_several = longest.max_ids() > 1;
  const bool wants_parallel = prefill_ || metadata.enable_dynamic_shape.value_or(
                                              takes_several && !longest.has_fixed_length());
  if (wants_parallel && !takes_several) {
    notes_.push_back(
        "enable_dynamic_shape is true, but the input holds a single id: prompts are fed token by "
        "token");
  }
  info_.returns_all_logits = longest.returns_all_logits();
  info_.parallel_prefill = !info_.has_cache || (wants_parallel && takes_several);
  if (prefill_ && longest.has_fixed_length()) info_.min_tokens_per_call = longest.max_ids();
  info_.eos_ids = metadata.eos_ids;
  info_.start_id = options.start_id ? options.start_id : metadata.start_id;
  if (decode_->inserts_rows()) info_.row_id = options.row_id;
  for (const TokenId id : metadata.eos_ids) {
    if (static_cast<size_t>(id) >= info_.vocabulary) {
      contradiction(fmt::format("end id {} is not in the vocabulary of {}", id, info_.vocabulary));
    }
  }
  if (info_.start_id &&
      (*info_.start_id < 0 || static_cast<size_t>(*info_.start_id) >= info_.vocabulary)) {
    throw GenerationError(fmt::format("start id {} is not in the vocabulary of {}", *info_.start_id,
                                      info_.vocabulary));
  }
}

void MethodDecoder::read_context(const ModelMetadata& metadata,
                                 const MethodDecoderOptions& options) {
  const int64_t id_bound = longest_call().max_ids();
  std::optional<int64_t> positions;
  if (info_.has_cache) positions = cache_length(decode_->method().meta());
  const int64_t guess = positions.value_or(id_bound);
  if (!metadata.max_seq_len && !metadata.max_context_len && options.max_context == 0) {
    notes_.push_back(
        fmt::format("the program has no get_max_seq_len: the context is assumed to be {} (use "
                    "--context to change this)",
                    positions ? fmt::format("the {} positions of the cache", guess)
                              : fmt::format("the {} ids that the input can hold", guess)));
  }
  const int64_t max_seq_len = metadata.max_seq_len.value_or(id_bound);
  info_.max_context = metadata.max_context_len.value_or(metadata.max_seq_len.value_or(guess));
  if (positions && info_.max_context > *positions) {
    contradiction(fmt::format("{} returns {}, but the cache has {} positions",
                              metadata.max_context_len ? "get_max_context_len" : "get_max_seq_len",
                              info_.max_context, *positions));
  }
  if (metadata.max_seq_len && info_.max_context < max_seq_len) {
    contradiction(fmt::format("get_max_context_len returns {}, less than get_max_seq_len ({})",
                              info_.max_context, max_seq_len));
  }
  if (options.max_context > 0) {
    const bool is_known = metadata.max_seq_len || metadata.max_context_len || positions;
    if (is_known && options.max_context > info_.max_context) {
      throw GenerationError(
          fmt::format("a context of {} was requested, but the program supports at most {}",
                      options.max_context, info_.max_context));
    }
    info_.max_context = options.max_context;
  }
  if (!info_.has_cache) info_.max_context = std::min(info_.max_context, id_bound);
  info_.max_tokens_per_call = std::min({max_seq_len, id_bound, info_.max_context});
}

void MethodDecoder::encode(std::span<const TokenId> tokens) {
  if (!info_.encodes_prompt) throw GenerationError("the program has no encoder that takes ids");
  const TensorInfo input = encoder_->meta().input_tensor(0);
  const auto count = static_cast<int64_t>(tokens.size());
  const bool has_fixed_length = input.dynamism == ShapeDynamism::kStatic;
  if (count < 1 || count > input.sizes[1] || (has_fixed_length && count != input.sizes[1])) {
    throw GenerationError(fmt::format("method {} takes {} {} ids, got {}", encoder_->meta().name(),
                                      has_fixed_length ? "exactly" : "1 to", input.sizes[1],
                                      count));
  }
  encoding_ = Encoding::kMissing;
  encoder_ids_.assign(tokens.begin(), tokens.end());
  set_ids_input(*encoder_, 0, encoder_ids_);
  encoding_ = Encoding::kWaiting;
}

void MethodDecoder::encode(Tensor& features) {
  if (encoder_ == nullptr || info_.encodes_prompt) {
    throw GenerationError("the program has no encoder that takes features");
  }
  if (decode_->inserts_rows() && !info_.row_id) {
    throw GenerationError(
        fmt::format("give the placeholder token for the rows of method {} with --encoder_token",
                    encoder_->meta().name()));
  }
  encoding_ = Encoding::kMissing;
  check_call(encoder_->set_input(0, EValue(&features)),
             fmt::format("method {}", encoder_->meta().name()));
  encoding_ = Encoding::kWaiting;
}

void MethodDecoder::run_encoder() {
  if (encoder_ == nullptr || encoding_ == Encoding::kDone) return;
  if (encoding_ == Encoding::kMissing) {
    throw GenerationError(
        fmt::format("method {} needs the output of method {}, whose input is not set",
                    decode_->name(), encoder_->meta().name()));
  }
  encoding_ = Encoding::kMissing;
  rows_are_the_texts_ = false;
  check_call(encoder_->execute(), fmt::format("method {}", encoder_->meta().name()));
  encoding_ = Encoding::kDone;
}

// Returns the number of rows in the encoder's output. Runs the encoder first if necessary.
size_t MethodDecoder::count_rows() {
  const TensorInfo given = encoder_->meta().output_tensor(0);
  if (encoding_ == Encoding::kMissing || given.dynamism != ShapeDynamism::kStatic) run_encoder();
  return static_cast<size_t>(output_tensor(*encoder_).numel() / std::max(given.sizes.back(), 1));
}

std::vector<TokenId> MethodDecoder::with_rows(std::span<const TokenId> prompt) {
  next_row_ = 0;
  new_rows_.reset();
  const auto count = info_.row_id ? std::ranges::count(prompt, *info_.row_id) : 0;
  if (count == 0) {
    if (info_.row_id && encoding_ == Encoding::kWaiting) {
      throw GenerationError(
          fmt::format("the prompt has no placeholder token (id {}) for the rows of method {}",
                      *info_.row_id, encoder_->meta().name()));
    }
    if (info_.has_cache) new_rows_ = 0;
    return {prompt.begin(), prompt.end()};
  }
  const size_t rows = count_rows();
  const auto placeholders = static_cast<size_t>(count);
  if (placeholders != 1 && placeholders != rows) {
    throw GenerationError(fmt::format(
        "the prompt has {} placeholder tokens (id {}), but method {} returns {} rows: use one "
        "placeholder, or one for each row",
        placeholders, *info_.row_id, encoder_->meta().name(), rows));
  }
  std::vector<TokenId> fed;
  for (const TokenId id : prompt) {
    fed.insert(fed.end(), id == *info_.row_id && placeholders == 1 ? rows : 1, id);
  }
  new_rows_ = rows;
  return fed;
}

// Resets state that is not indexed by position.
void MethodDecoder::reset_state() {
  // Methods may share state but declare different initial values. The values of decode_ take
  // effect, because decode_ is reset last.
  for (DecoderCall* call : {prefill_.get(), decode_.get()}) {
    if (call == nullptr || !call->keeps_other_state()) continue;
    check_call(call->method().reset_state(), fmt::format("method {}", call->name()));
  }
}

// Begins again with the encoder's first row. Each call of a model without a cache gets the entire
// text. Throws GenerationError if the encoder's rows do not belong to this text.
void MethodDecoder::restart_rows(std::span<const TokenId> text) {
  next_row_ = 0;
  if (!info_.row_id) return;
  const auto placeholders = static_cast<size_t>(std::ranges::count(text, *info_.row_id));
  if (new_rows_ && placeholders != *new_rows_) {
    throw GenerationError(
        fmt::format("the text has {} placeholder tokens (id {}), but method {} returns {} rows: "
                    "without a cache, "
                    "a text can have only one encoder input",
                    placeholders, *info_.row_id, encoder_->meta().name(), *new_rows_));
  }
  if (!new_rows_ && placeholders != 0 && !rows_are_the_texts_) {
    throw GenerationError(
        fmt::format("the rows of method {} belong to a rejected prompt, not to this text: set the "
                    "encoder's input for this text again",
                    encoder_->meta().name()));
  }
}

std::span<const float> MethodDecoder::logits_after(size_t index) {
  if (last_call_ == nullptr) throw GenerationError("no token has been fed yet");
  return last_call_->logits_after(index);
}

std::span<const float> MethodDecoder::feed(std::span<const TokenId> tokens, int64_t position) {
  const auto count = static_cast<int64_t>(tokens.size());
  DecoderCall& call = prefill_ && count > 1 ? *prefill_ : *decode_;
  const bool is_too_few = count > 1 && count < info_.min_tokens_per_call;
  if (count < 1 || count > info_.max_tokens_per_call || is_too_few) {
    throw GenerationError(fmt::format("got {} ids in one call; the program takes {} to {}", count,
                                      info_.min_tokens_per_call, info_.max_tokens_per_call));
  }
  if (position < 0 || position > info_.max_context - count) {
    throw GenerationError(fmt::format("{} ids at position {} do not fit into a context of {}",
                                      count, position, info_.max_context));
  }
  if (position == 0) reset_state();
  last_call_ = &call;
  if (!call.inserts_rows()) {
    run_encoder();
    return call.feed(tokens, position);
  }
  if (!info_.has_cache) restart_rows(tokens);
  rows_ = std::exchange(new_rows_, std::nullopt).value_or(rows_);
  std::vector<int64_t> rows;  // the encoder's row for each token, or -1
  for (size_t i = 0; i < tokens.size() && next_row_ < rows_; ++i) {
    if (tokens[i] != info_.row_id) continue;
    rows.resize(tokens.size(), -1);
    rows[i] = static_cast<int64_t>(next_row_++);
  }
  if (!rows.empty()) {
    run_encoder();
    rows_are_the_texts_ = true;
  }
  return call.feed(tokens, position, rows);
}

}  // namespace vitrine
