// Makes a decoder's inputs: token ids and a position.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tools/advise/context.h"
#include "vitrine/array.h"
#include "vitrine/method.h"

namespace vitrine::tools {

struct DecoderShape {
  int64_t context = 0;             // tokens that the caches hold
  std::vector<int32_t> tokens;     // sizes of the input of token ids, for one token if possible
  std::vector<int32_t> positions;  // sizes of the input of positions
};

// Returns nullopt unless the method is a decoder with caches: two integer inputs (token ids and a
// position), and a context length in the program or in `facts`.
std::optional<DecoderShape> decoder_shape(const std::shared_ptr<const Program>& program,
                                          const Method& method, const ModelFacts& facts);

std::vector<Array> decoder_inputs(const Method& method, const DecoderShape& shape,
                                  int64_t position);

}  // namespace vitrine::tools
