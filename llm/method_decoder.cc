#include "vitrine/method_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "llm/model_metadata.h"
#include "vitrine/half.h"

namespace vitrine {
namespace {

void check(const Error& error, std::string_view what) {
  if (!error.ok()) throw GenerationError(fmt::format("{}: {}", what, error.message()));
}

constexpr std::array<uint8_t, 2> kDimOrder = {0, 1};

template <class T>
void to_float(const Tensor& from, size_t offset, std::span<float> to) {
  const T* source = from.data<T>() + offset;
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(source[i]);
}

}  // namespace

MethodDecoder::MethodDecoder(const std::shared_ptr<const Program>& program, Method& method)
    : method_(method) {
  read_inputs();
  read_output();
  read_limits(program);
}

void MethodDecoder::read_inputs() {
  const MethodMeta& meta = method_.meta();
  const auto is_int64 = [&](size_t index, size_t rank) {
    return meta.input_tag(index) == EValue::Tag::kTensor &&
           meta.input_tensor(index).dtype == ScalarType::kLong &&
           meta.input_tensor(index).sizes.size() == rank;
  };
  const size_t count = meta.num_inputs();
  if (count < 1 || count > 2 || !is_int64(0, 2) || (count == 2 && !is_int64(1, 1))) {
    throw GenerationError(fmt::format(
        "method {} is not a decoder: its inputs are not ids, int64 [1, n], and perhaps a position, "
        "int64 [1] or [n]",
        meta.name()));
  }
  const TensorInfo ids = meta.input_tensor(0);
  if (ids.sizes[0] != 1) {
    throw GenerationError(
        fmt::format("method {} takes {} rows of ids; one is supported", meta.name(), ids.sizes[0]));
  }
  id_bound_ = ids.sizes[1];
  info_.has_cache = count == 2;
  pads_ = ids.dynamism == ShapeDynamism::kStatic && id_bound_ > 1;
  if (info_.has_cache) {
    const TensorInfo position = meta.input_tensor(1);
    position_a_token_ = position.sizes[0] > 1;
    if (pads_) {
      throw GenerationError(
          fmt::format("method {} takes exactly {} ids: with a cache, one at a "
                      "time or any number are supported",
                      meta.name(), id_bound_));
    }
  }
}

void MethodDecoder::read_output() {
  const MethodMeta& meta = method_.meta();
  const bool is_tensor = meta.num_outputs() == 1 && meta.output_tag(0) == EValue::Tag::kTensor;
  if (is_tensor) {
    const TensorInfo logits = meta.output_tensor(0);
    const bool is_float = logits.dtype == ScalarType::kFloat || logits.dtype == ScalarType::kHalf ||
                          logits.dtype == ScalarType::kBFloat16;
    const size_t rank = logits.sizes.size();
    if (is_float && (rank == 2 || rank == 3) && logits.sizes[0] == 1 &&
        logits.sizes[rank - 1] > 0) {
      info_.vocabulary = static_cast<size_t>(logits.sizes[rank - 1]);
      if (pads_ && rank == 2) {
        throw GenerationError(fmt::format(
            "method {} takes exactly {} ids and gives the logits of the last one alone: shorter "
            "texts cannot be continued",
            meta.name(), id_bound_));
      }
      return;
    }
  }
  throw GenerationError(fmt::format(
      "method {} is not a decoder: its output is not logits, [1, vocabulary] or [1, n, vocabulary]",
      meta.name()));
}

void MethodDecoder::read_limits(const std::shared_ptr<const Program>& program) {
  const ModelMetadata metadata = read_metadata(program);
  const auto contradiction = [](const std::string& what) {
    throw GenerationError("the program contradicts itself: " + what);
  };
  if (metadata.vocabulary && *metadata.vocabulary != static_cast<int64_t>(info_.vocabulary)) {
    contradiction(fmt::format("get_vocab_size gives {}, the method {} logits", *metadata.vocabulary,
                              info_.vocabulary));
  }
  if (metadata.use_kv_cache && *metadata.use_kv_cache != info_.has_cache) {
    contradiction(fmt::format("use_kv_cache is {}, the method has {} position input",
                              *metadata.use_kv_cache, info_.has_cache ? "a" : "no"));
  }
  if (!metadata.max_seq_len) {
    notes_.push_back(
        fmt::format("the program has no get_max_seq_len: the {} ids that its input "
                    "may have are taken for the context",
                    id_bound_));
  }
  const int64_t max_seq_len = metadata.max_seq_len.value_or(id_bound_);
  info_.max_context = metadata.max_context_len.value_or(max_seq_len);
  if (info_.max_context < max_seq_len) {
    contradiction(fmt::format("get_max_context_len gives {}, get_max_seq_len {}", info_.max_context,
                              max_seq_len));
  }
  if (!info_.has_cache) info_.max_context = std::min(info_.max_context, id_bound_);
  info_.max_tokens_per_call = std::min(max_seq_len, id_bound_);
  const bool wants_parallel = metadata.enable_dynamic_shape.value_or(false);
  if (wants_parallel && id_bound_ == 1) {
    notes_.push_back(
        "enable_dynamic_shape is true, but the input has room for one id: prompts are "
        "fed token by token");
  }
  info_.parallel_prefill = !info_.has_cache || (wants_parallel && id_bound_ > 1);
  for (const TokenId id : metadata.eos_ids) {
    if (static_cast<size_t>(id) >= info_.vocabulary) {
      contradiction(fmt::format("the end id {} is beyond the {} logits", id, info_.vocabulary));
    }
  }
  info_.eos_ids = metadata.eos_ids;
}

std::span<const float> MethodDecoder::feed(std::span<const TokenId> tokens, int64_t position) {
  const auto count = static_cast<int64_t>(tokens.size());
  if (count < 1 || count > info_.max_tokens_per_call) {
    throw GenerationError(
        fmt::format("{} ids at once; the program takes 1 to {}", count, info_.max_tokens_per_call));
  }
  if (position < 0 || position > info_.max_context - count) {
    throw GenerationError(fmt::format("{} ids at position {} do not fit into a context of {}",
                                      count, position, info_.max_context));
  }
  set_ids(tokens);
  if (info_.has_cache) set_position(tokens.size(), position);
  check(method_.execute(), fmt::format("{} ids at position {}", count, position));
  return logits_of(tokens.size() - 1);
}

void MethodDecoder::set_ids(std::span<const TokenId> tokens) {
  ids_.assign(tokens.begin(), tokens.end());
  if (pads_) ids_.resize(static_cast<size_t>(id_bound_));
  std::array<int32_t, 2> sizes = {1, static_cast<int32_t>(ids_.size())};
  std::array<int64_t, 2> strides{};
  Tensor tensor(ScalarType::kLong, sizes, kDimOrder, strides, ids_.data());
  check(method_.set_input(0, EValue(&tensor)), "ids");
}

void MethodDecoder::set_position(size_t count, int64_t position) {
  positions_.resize(position_a_token_ ? count : 1);
  std::iota(positions_.begin(), positions_.end(), position);
  std::array<int32_t, 1> sizes = {static_cast<int32_t>(positions_.size())};
  std::array<int64_t, 1> strides{};
  Tensor tensor(ScalarType::kLong, sizes, std::span(kDimOrder).first(1), strides,
                positions_.data());
  check(method_.set_input(1, EValue(&tensor)), "position");
}

std::span<const float> MethodDecoder::logits_of(size_t last) {
  const Tensor& output = method_.output(0).tensor();
  const size_t rows = static_cast<size_t>(output.numel()) / info_.vocabulary;
  const size_t row = output.rank() == 3 ? last : 0;
  if (row >= rows) {
    throw GenerationError(
        fmt::format("the program gave logits of {} tokens, not {}", rows, row + 1));
  }
  logits_.resize(info_.vocabulary);
  const size_t offset = row * info_.vocabulary;
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
