#include "llm/decoder_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "llm/cache_operators.h"
#include "runtime/core/checked_math.h"
#include "vitrine/half.h"
#include "vitrine/text_generator.h"

namespace vitrine {
namespace {

constexpr std::array<uint8_t, 2> kDimOrder = {0, 1};

// Names for error messages, indexed by DecoderInput.
constexpr const char* kInputTexts[] = {"ids", "a position", "the output of an encoder"};

template <class T>
void to_float(const Tensor& from, size_t offset, std::span<float> to) {
  const T* source = from.data<T>() + offset;
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(source[i]);
}

// True if `feeder` has exactly one output, and `input` accepts this output with some dynamic sizes.
bool accepts_output_of(const TensorInfo& input, const Method& feeder) {
  if (feeder.num_outputs() != 1 || feeder.meta().output_tag(0) != EValue::Tag::kTensor) {
    return false;
  }
  const TensorInfo given = feeder.meta().output_tensor(0);
  if (given.dtype != input.dtype || given.sizes.size() != input.sizes.size()) return false;
  if (given.sizes.empty() || given.sizes.back() != input.sizes.back()) return false;
  const bool are_static =
      given.dynamism == ShapeDynamism::kStatic && input.dynamism == ShapeDynamism::kStatic;
  return !are_static || std::ranges::equal(given.sizes, input.sizes);
}

// True if `feeder` has exactly one output and its rows can replace rows of the input.
bool has_rows_like(const Method& feeder, const TensorInfo& input) {
  if (feeder.num_outputs() != 1 || feeder.meta().output_tag(0) != EValue::Tag::kTensor) {
    return false;
  }
  const TensorInfo given = feeder.meta().output_tensor(0);
  return given.dtype == input.dtype && given.sizes.size() >= 2 &&
         given.sizes.back() == input.sizes.back();
}

}  // namespace

void check_call(const Error& error, std::string_view what) {
  if (!error.ok()) throw GenerationError(fmt::format("{}: {}", what, error.message()));
}

std::string tensor_text(const TensorInfo& tensor) {
  return fmt::format("{}[{}]", scalar_type_name(tensor.dtype), fmt::join(tensor.sizes, ","));
}

const Tensor& output_tensor(const Method& method) {
  const Result<Tensor*> output = method.output(0).as_tensor();
  const TensorInfo declared = method.meta().output_tensor(0);
  if (!output.ok() || !(*output)->is_readable() || (*output)->dtype() != declared.dtype ||
      (*output)->rank() != declared.sizes.size()) {
    throw GenerationError(
        fmt::format("method {} declares the output {}, but returned another type or no data",
                    method.meta().name(), tensor_text(declared)));
  }
  return **output;
}

void set_ids_input(Method& method, size_t index, std::span<int64_t> ids) {
  std::array<int32_t, 2> sizes = {1, static_cast<int32_t>(ids.size())};
  std::array<int64_t, 2> strides{};
  Tensor tensor(ScalarType::kLong, sizes, kDimOrder, strides, ids.data());
  check_call(method.set_input(index, EValue(&tensor)), "ids");
}

DecoderCall::DecoderCall(Method& method, const DecoderFeeders& feeders,
                         std::span<const DecoderInput> inputs)
    : method_(method), feeders_(feeders) {
  const size_t count = method.num_inputs();
  if (!inputs.empty() && inputs.size() != count) {
    throw GenerationError(
        fmt::format("method {} has {} inputs, but the number of given input kinds is {}", name(),
                    count, inputs.size()));
  }
  for (size_t i = 0; i < count; ++i) {
    const std::optional<DecoderInput> input = inputs.empty() ? detect_input(i) : inputs[i];
    if (!input) {
      throw GenerationError(
          fmt::format("method {} is not a decoder: {} must be ids (int64 [1, n]), a position "
                      "(int64 [1] or [n]), or the output of an encoder or embedding",
                      name(), input_text(i)));
    }
    add_input(i, *input);
  }
  if (!ids_input_) {
    throw GenerationError(
        fmt::format("method {} is not a decoder: none of its inputs accepts ids", name()));
  }
  const bool is_fed = feeders_.encoder == nullptr || encoded_ ||
                      (feeders_.embedding != nullptr &&
                       has_rows_like(*feeders_.encoder, method.meta().input_tensor(*ids_input_)));
  if (!is_fed) {
    throw GenerationError(fmt::format("no input of method {} accepts the output of method {}",
                                      name(), feeders_.encoder->meta().name()));
  }
  read_output();
  keeps_other_state_ = vitrine::keeps_other_state(method.meta());
}

bool DecoderCall::can_be(size_t index, DecoderInput input) const {
  const MethodMeta& meta = method_.meta();
  if (meta.input_tag(index) != EValue::Tag::kTensor) return false;
  const TensorInfo tensor = meta.input_tensor(index);
  const bool is_long = tensor.dtype == ScalarType::kLong;
  switch (input) {
    case DecoderInput::kIds:
      return feeders_.embedding != nullptr
                 ? tensor.sizes.size() == 3 && accepts_output_of(tensor, *feeders_.embedding)
                 : is_long && tensor.sizes.size() == 2;
    case DecoderInput::kPosition:
      return is_long && tensor.sizes.size() == 1;
    case DecoderInput::kEncoded:
      return feeders_.encoder != nullptr && accepts_output_of(tensor, *feeders_.encoder);
  }
  return false;
}

std::optional<DecoderInput> DecoderCall::detect_input(size_t index) const {
  for (const DecoderInput input :
       {DecoderInput::kIds, DecoderInput::kPosition, DecoderInput::kEncoded}) {
    // Embedded ids and the encoder's output may have the same shape. The first input of this shape
    // is kIds, and the next input of this shape is kEncoded.
    const bool is_assigned = input == DecoderInput::kIds && ids_input_;
    if (!is_assigned && can_be(index, input)) return input;
  }
  return std::nullopt;
}

std::string DecoderCall::input_text(size_t index) const {
  const MethodMeta& meta = method_.meta();
  return fmt::format("input {} ({})", index,
                     meta.input_tag(index) == EValue::Tag::kTensor
                         ? tensor_text(meta.input_tensor(index))
                         : tag_name(meta.input_tag(index)));
}

void DecoderCall::add_input(size_t index, DecoderInput input) {
  const char* const text = kInputTexts[static_cast<size_t>(input)];
  if (!can_be(index, input)) {
    throw GenerationError(
        fmt::format("method {}: {} cannot be {}", name(), input_text(index), text));
  }
  std::optional<size_t>& slot = input == DecoderInput::kIds        ? ids_input_
                                : input == DecoderInput::kPosition ? position_
                                                                   : encoded_;
  if (slot) {
    throw GenerationError(
        fmt::format("method {}: inputs {} and {} are both {}", name(), *slot, index, text));
  }
  slot = index;
  if (input == DecoderInput::kIds) read_ids(index);
  if (input == DecoderInput::kIds && has_fixed_length_) check_memory_for_ids(index);
}

void DecoderCall::read_ids(size_t index) {
  const TensorInfo ids = method_.meta().input_tensor(index);
  if (ids.sizes[0] != 1) {
    throw GenerationError(
        fmt::format("method {} takes a batch of {} rows of ids; only one row is supported", name(),
                    ids.sizes[0]));
  }
  max_ids_ = ids.sizes[1];
  has_fixed_length_ = ids.dynamism == ShapeDynamism::kStatic && max_ids_ > 1;
  if (feeders_.embedding == nullptr) return;
  const MethodMeta& embedding = feeders_.embedding->meta();
  const bool takes_ids = embedding.num_inputs() == 1 &&
                         embedding.input_tag(0) == EValue::Tag::kTensor &&
                         embedding.input_tensor(0).dtype == ScalarType::kLong &&
                         embedding.input_tensor(0).sizes.size() == 2;
  if (!takes_ids) {
    throw GenerationError(
        fmt::format("method {} is not an embedding: its only input must be ids (int64 [1, n])",
                    embedding.name()));
  }
  max_ids_ = std::min<int64_t>(max_ids_, embedding.input_tensor(0).sizes[1]);
}

// Checks that max_ids_ ids fit in the memory limit. A malicious program can declare a huge number
// of ids, because its planned memory does not have to contain the ids.
void DecoderCall::check_memory_for_ids(size_t index) const {
  const MemoryUsage usage = method_.memory_usage();
  const uint64_t bytes = static_cast<uint64_t>(max_ids_) * sizeof(int64_t);
  const uint64_t left = usage.budget - std::min(usage.taken, usage.budget);
  if (bytes <= std::min(left, kMaxBytes)) return;
  throw GenerationError(
      fmt::format("method {}: the {} ids of input {} need {} bytes, more than max_memory_bytes "
                  "allows beyond the memory in use",
                  name(), max_ids_, index, bytes));
}

void DecoderCall::read_output() {
  const MethodMeta& meta = method_.meta();
  if (meta.num_outputs() == 1 && meta.output_tag(0) == EValue::Tag::kTensor) {
    const TensorInfo logits = meta.output_tensor(0);
    const bool is_float = logits.dtype == ScalarType::kFloat || logits.dtype == ScalarType::kHalf ||
                          logits.dtype == ScalarType::kBFloat16;
    const size_t rank = logits.sizes.size();
    if (is_float && (rank == 2 || rank == 3) && logits.sizes[0] == 1 &&
        logits.sizes[rank - 1] > 0) {
      vocabulary_ = static_cast<size_t>(logits.sizes[rank - 1]);
      returns_all_logits_ = rank == 3;
      return;
    }
  }
  throw GenerationError(fmt::format(
      "method {} is not a decoder: its only output must be logits (f32, f16 or bf16) of shape "
      "[1, vocabulary] or [1, n, vocabulary]",
      name()));
}

std::span<const float> DecoderCall::feed(std::span<const TokenId> tokens, int64_t position,
                                         std::span<const int64_t> rows) {
  set_ids(tokens, rows);
  if (position_) set_position(tokens.size(), position);
  if (encoded_) {
    check_call(method_.set_input(*encoded_, feeders_.encoder->output(0)), "output of the encoder");
  }
  check_call(method_.execute(), fmt::format("{} ids at position {}", tokens.size(), position));
  last_ = tokens.size() - 1;
  return logits_after(last_);
}

void DecoderCall::set_ids(std::span<const TokenId> tokens, std::span<const int64_t> rows) {
  ids_.assign(tokens.begin(), tokens.end());
  // A placeholder id may be outside of the embedding's vocabulary, so id 0 replaces it.
  for (size_t i = 0; i < rows.size(); ++i) ids_[i] = rows[i] < 0 ? ids_[i] : 0;
  if (has_fixed_length_) ids_.resize(static_cast<size_t>(max_ids_));
  if (feeders_.embedding == nullptr) {
    set_ids_input(method_, *ids_input_, ids_);
    return;
  }
  set_ids_input(*feeders_.embedding, 0, ids_);
  check_call(feeders_.embedding->execute(), "embedding");
  if (!rows.empty()) {
    set_rows(rows);
    return;
  }
  check_call(method_.set_input(*ids_input_, feeders_.embedding->output(0)), "embedding");
}

// Copies the embedding's output and replaces the rows of placeholder tokens with the encoder's
// rows. The copy becomes the method's input.
void DecoderCall::set_rows(std::span<const int64_t> rows) {
  const Tensor& embedded = output_tensor(*feeders_.embedding);
  const Tensor& encoded = output_tensor(*feeders_.encoder);
  const size_t row_bytes =
      static_cast<size_t>(embedded.size(embedded.rank() - 1)) * embedded.element_size();
  const auto bytes_of = [](const Tensor& tensor) {
    return std::span(static_cast<const std::byte*>(tensor.raw_data()), tensor.nbytes());
  };
  const auto from = bytes_of(encoded);
  const auto all = bytes_of(embedded);
  embedded_.assign(all.begin(), all.end());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0) continue;
    const size_t at = static_cast<size_t>(rows[i]) * row_bytes;
    if (at + row_bytes > from.size() || (i + 1) * row_bytes > embedded_.size()) {
      throw GenerationError(
          fmt::format("the prompt needs row {} of method {}, which returned fewer rows", rows[i],
                      feeders_.encoder->meta().name()));
    }
    std::memcpy(embedded_.data() + i * row_bytes, from.data() + at, row_bytes);
  }
  std::array<int32_t, 3> sizes{};
  std::array<uint8_t, 3> order = {0, 1, 2};
  std::array<int64_t, 3> strides{};
  std::ranges::copy(embedded.sizes(), sizes.begin());
  Tensor tensor(embedded.dtype(), sizes, order, strides, embedded_.data());
  check_call(method_.set_input(*ids_input_, EValue(&tensor)), "embedding");
}

void DecoderCall::set_position(size_t count, int64_t position) {
  const bool has_one_per_token = method_.meta().input_tensor(*position_).sizes[0] > 1;
  positions_.resize(has_one_per_token ? count : 1);
  std::iota(positions_.begin(), positions_.end(), position);
  std::array<int32_t, 1> sizes = {static_cast<int32_t>(positions_.size())};
  std::array<int64_t, 1> strides{};
  Tensor tensor(ScalarType::kLong, sizes, std::span(kDimOrder).first(1), strides,
                positions_.data());
  check_call(method_.set_input(*position_, EValue(&tensor)), "position");
}

std::span<const float> DecoderCall::logits_after(size_t index) {
  if (index > last_ || (!returns_all_logits_ && index != last_)) {
    throw GenerationError(fmt::format("method {} did not return the logits after token {} of {}",
                                      name(), index, last_ + 1));
  }
  const Tensor& output = output_tensor(method_);
  const size_t rows = static_cast<size_t>(output.numel()) / vocabulary_;
  const size_t row = returns_all_logits_ ? index : 0;
  if (row >= rows) {
    throw GenerationError(
        fmt::format("method {} returned logits for {} tokens, expected {}", name(), rows, row + 1));
  }
  logits_.resize(vocabulary_);
  const size_t offset = row * vocabulary_;
  switch (output.dtype()) {
    case ScalarType::kHalf:
      to_float<Half>(output, offset, logits_);
      break;
    case ScalarType::kBFloat16:
      to_float<BFloat16>(output, offset, logits_);
      break;
    default:
      to_float<float>(output, offset, logits_);
      break;
  }
  return logits_;
}

}  // namespace vitrine
