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

// Whether calls of these shapes can continue texts of any length.
void MethodDecoder::read_calls() const {
  const DecoderCall& decode = *decode_;
  if (decode.is_exact() && decode.has_position()) {
    throw GenerationError(fmt::format(
        "method {} takes exactly {} ids: with a cache, one at a time or any number are supported",
        decode.name(), decode.most_ids()));
  }
  if (decode.is_exact() && !decode.gives_all_logits()) {
    throw GenerationError(fmt::format(
        "method {} takes exactly {} ids and gives the logits of the last one alone: shorter texts "
        "cannot be continued",
        decode.name(), decode.most_ids()));
  }
  if (!prefill_) return;
  if (!decode.has_position() || !prefill_->has_position()) {
    throw GenerationError(
        fmt::format("methods {} and {} have no position: they are not over a cache",
                    prefill_->name(), decode.name()));
  }
  if (prefill_->vocabulary() != decode.vocabulary()) {
    contradiction(fmt::format("method {} gives {} logits, method {} {}", prefill_->name(),
                              prefill_->vocabulary(), decode.name(), decode.vocabulary()));
  }
  for (const DecoderCall* call : {prefill_.get(), decode_.get()}) {
    if (call->method().memory_usage().shared != 0) continue;
    throw GenerationError(
        fmt::format("method {} has a cache of its own: methods {} and {} can be used together if "
                    "the program was exported with share_mutable_buffers",
                    call->name(), prefill_->name(), decode.name()));
  }
}

void MethodDecoder::read_encoder() {
  const MethodMeta& meta = encoder_->meta();
  if (meta.num_inputs() != 1 || meta.input_tag(0) != EValue::Tag::kTensor) {
    throw GenerationError(
        fmt::format("method {} is not an encoder: it takes {} inputs, not one tensor", meta.name(),
                    meta.num_inputs()));
  }
  const TensorInfo input = meta.input_tensor(0);
  info_.encodes_prompt = input.dtype == ScalarType::kLong && !decode_->inserts_rows();
  if (!info_.encodes_prompt) return;
  if (input.sizes.size() != 2 || input.sizes[0] != 1) {
    throw GenerationError(fmt::format("method {} takes {}, which is not ids, int64 [1, n]",
                                      meta.name(), tensor_text(input)));
  }
  if (!info_.start_id) {
    throw GenerationError(fmt::format(
        "the program has no decoder_start_token_id: the id that begins what follows method {} is "
        "to be given",
        meta.name()));
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
    contradiction(fmt::format("get_vocab_size gives {}, the method {} logits", *metadata.vocabulary,
                              info_.vocabulary));
  }
  if (metadata.use_kv_cache && *metadata.use_kv_cache != info_.has_cache) {
    contradiction(fmt::format("use_kv_cache is {}, the method has {} position input",
                              *metadata.use_kv_cache, info_.has_cache ? "a" : "no"));
  }
  read_context(metadata, options);
  const DecoderCall& longest = longest_call();
  const bool takes_several = longest.most_ids() > 1;
  const bool wants_parallel =
      prefill_ || metadata.enable_dynamic_shape.value_or(takes_several && !longest.is_exact());
  if (wants_parallel && !takes_several) {
    notes_.push_back(
        "enable_dynamic_shape is true, but the input has room for one id: prompts are "
        "fed token by token");
  }
  info_.parallel_prefill = !info_.has_cache || (wants_parallel && takes_several);
  if (prefill_ && longest.is_exact()) info_.min_tokens_per_call = longest.most_ids();
  info_.eos_ids = metadata.eos_ids;
  info_.start_id = options.start_id ? options.start_id : metadata.start_id;
  if (decode_->inserts_rows()) info_.row_id = options.row_id;
  for (const TokenId id : metadata.eos_ids) {
    if (static_cast<size_t>(id) >= info_.vocabulary) {
      contradiction(fmt::format("the end id {} is beyond the {} logits", id, info_.vocabulary));
    }
  }
  if (info_.start_id &&
      (*info_.start_id < 0 || static_cast<size_t>(*info_.start_id) >= info_.vocabulary)) {
    throw GenerationError(fmt::format("the start id {} is not one of the vocabulary of {}",
                                      *info_.start_id, info_.vocabulary));
  }
}

void MethodDecoder::read_context(const ModelMetadata& metadata,
                                 const MethodDecoderOptions& options) {
  const int64_t id_bound = longest_call().most_ids();
  std::optional<int64_t> positions;
  if (info_.has_cache) positions = cache_length(decode_->method().meta());
  const int64_t guess = positions.value_or(id_bound);
  if (!metadata.max_seq_len && !metadata.max_context_len && options.max_context == 0) {
    notes_.push_back(fmt::format(
        "the program has no get_max_seq_len: {} are taken for the context, unless one is given "
        "(--context)",
        positions ? fmt::format("the {} positions of its cache", guess)
                  : fmt::format("the {} ids that its input may have", guess)));
  }
  const int64_t max_seq_len = metadata.max_seq_len.value_or(id_bound);
  info_.max_context = metadata.max_context_len.value_or(metadata.max_seq_len.value_or(guess));
  if (positions && info_.max_context > *positions) {
    contradiction(fmt::format("{} gives {}, the cache has {} positions",
                              metadata.max_context_len ? "get_max_context_len" : "get_max_seq_len",
                              info_.max_context, *positions));
  }
  if (metadata.max_seq_len && info_.max_context < max_seq_len) {
    contradiction(fmt::format("get_max_context_len gives {}, get_max_seq_len {}", info_.max_context,
                              max_seq_len));
  }
  if (options.max_context > 0) {
    const bool is_known = metadata.max_seq_len || metadata.max_context_len || positions;
    if (is_known && options.max_context > info_.max_context) {
      throw GenerationError(fmt::format("a context of {} is asked for; the program has one of {}",
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
  const bool is_exact = input.dynamism == ShapeDynamism::kStatic;
  if (count < 1 || count > input.sizes[1] || (is_exact && count != input.sizes[1])) {
    throw GenerationError(fmt::format("{} ids for method {}, which takes {} {}", count,
                                      encoder_->meta().name(), is_exact ? "exactly" : "1 to",
                                      input.sizes[1]));
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
        fmt::format("which token of prompts stands for the rows of method {} is to be given",
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
        fmt::format("method {} needs the result of method {}, which was given no input",
                    decode_->name(), encoder_->meta().name()));
  }
  encoding_ = Encoding::kMissing;
  rows_are_the_texts_ = false;
  check_call(encoder_->execute(), fmt::format("method {}", encoder_->meta().name()));
  encoding_ = Encoding::kDone;
}

// As many as it gives, or gave: an encoder of any shape has to run first.
size_t MethodDecoder::count_rows() {
  const TensorInfo given = encoder_->meta().output_tensor(0);
  if (encoding_ == Encoding::kMissing || given.dynamism != ShapeDynamism::kStatic) run_encoder();
  return static_cast<size_t>(output_tensor(*encoder_).numel() / std::max(given.sizes.back(), 1));
}

std::vector<TokenId> MethodDecoder::with_rows(std::span<const TokenId> prompt) {
  next_row_ = 0;
  new_rows_.reset();
  const auto places = info_.row_id ? std::ranges::count(prompt, *info_.row_id) : 0;
  if (places == 0) {
    if (info_.row_id && encoding_ == Encoding::kWaiting) {
      throw GenerationError(
          fmt::format("the prompt has no token {}, which stands for the rows of method {}",
                      *info_.row_id, encoder_->meta().name()));
    }
    if (info_.has_cache) new_rows_ = 0;
    return {prompt.begin(), prompt.end()};
  }
  const size_t rows = count_rows();
  const auto given = static_cast<size_t>(places);
  if (given != 1 && given != rows) {
    throw GenerationError(fmt::format(
        "the prompt has {} tokens {} for the {} rows that method {} gives: one, or one for each "
        "row, is wanted",
        given, *info_.row_id, rows, encoder_->meta().name()));
  }
  std::vector<TokenId> fed;
  for (const TokenId id : prompt) {
    fed.insert(fed.end(), id == *info_.row_id && given == 1 ? rows : 1, id);
  }
  new_rows_ = rows;
  return fed;
}

// A text begins: of one before nothing is left, where positions do not tell.
void MethodDecoder::reset_state() {
  for (DecoderCall* call : {prefill_.get(), decode_.get()}) {  // as loaded, decode decides last
    if (call == nullptr || !call->keeps_other_state()) continue;
    check_call(call->method().reset_state(), fmt::format("method {}", call->name()));
  }
}

// Without a cache, a text is fed from its beginning again, with its rows.
void MethodDecoder::restart_rows(std::span<const TokenId> text) {
  next_row_ = 0;
  if (!info_.row_id) return;
  const auto given = static_cast<size_t>(std::ranges::count(text, *info_.row_id));
  if (new_rows_ && given != *new_rows_) {
    throw GenerationError(fmt::format(
        "the text has {} tokens {}, method {} gives {} rows: without a cache, a text has one image",
        given, *info_.row_id, encoder_->meta().name(), *new_rows_));
  }
  if (!new_rows_ && given != 0 && !rows_are_the_texts_) {
    throw GenerationError(fmt::format(
        "method {} gives the rows of another image, which a prompt that was refused had",
        encoder_->meta().name()));
  }
}

std::span<const float> MethodDecoder::feed(std::span<const TokenId> tokens, int64_t position) {
  const auto count = static_cast<int64_t>(tokens.size());
  DecoderCall& call = prefill_ && count > 1 ? *prefill_ : *decode_;
  const bool is_too_few = count > 1 && count < info_.min_tokens_per_call;
  if (count < 1 || count > info_.max_tokens_per_call || is_too_few) {
    throw GenerationError(fmt::format("{} ids at once; the program takes {} to {}", count,
                                      info_.min_tokens_per_call, info_.max_tokens_per_call));
  }
  if (position < 0 || position > info_.max_context - count) {
    throw GenerationError(fmt::format("{} ids at position {} do not fit into a context of {}",
                                      count, position, info_.max_context));
  }
  if (position == 0) reset_state();
  if (!call.inserts_rows()) {
    run_encoder();
    return call.feed(tokens, position);
  }
  if (!info_.has_cache) restart_rows(tokens);
  rows_ = std::exchange(new_rows_, std::nullopt).value_or(rows_);
  std::vector<int64_t> rows;  // of the encoder's, by token
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
