#include "tools/advise/decoder_inputs.h"

#include <cstring>

#include "llm/model_metadata.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

bool is_integers(const Method& method, size_t input, size_t rank) {
  if (!method.input(input).is_tensor()) return false;
  const TensorInfo info = method.meta().input_tensor(input);
  return (info.dtype == ScalarType::kLong || info.dtype == ScalarType::kInt) &&
         info.sizes.size() == rank;
}

Array filled(const Method& method, size_t input, const std::vector<int32_t>& sizes, int64_t first,
             int64_t step) {
  const TensorInfo info = method.meta().input_tensor(input);
  Array array = check(Array::zeros(info.dtype, sizes));
  const std::span<std::byte> bytes = array.mutable_bytes();
  const size_t width = array.tensor().element_size();
  for (size_t i = 0; i < bytes.size() / width; ++i) {
    const int64_t value = first + step * static_cast<int64_t>(i);
    std::memcpy(bytes.data() + i * width, &value, width);  // little-endian
  }
  return array;
}

}  // namespace

std::optional<DecoderShape> decoder_shape(const std::shared_ptr<const Program>& program,
                                          const Method& method, const ModelFacts& facts) {
  if (method.num_inputs() != 2 || !is_integers(method, 0, 2) || !is_integers(method, 1, 1)) {
    return std::nullopt;
  }
  const ModelMetadata metadata = read_metadata(program, {});
  DecoderShape shape;
  shape.context =
      metadata.max_context_len.value_or(metadata.max_seq_len.value_or(facts.cache_length));
  if (shape.context < 2) return std::nullopt;
  for (const int32_t size : method.meta().input_tensor(0).sizes) shape.tokens.push_back(size);
  for (const int32_t size : method.meta().input_tensor(1).sizes) shape.positions.push_back(size);
  return shape;
}

std::vector<Array> decoder_inputs(const Method& method, const DecoderShape& shape,
                                  int64_t position) {
  std::vector<Array> inputs;
  inputs.push_back(filled(method, 0, shape.tokens, 1, 0));
  inputs.push_back(filled(method, 1, shape.positions, position, 1));
  return inputs;
}

}  // namespace vitrine::tools
