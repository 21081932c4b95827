#include "test/llm/fake_decoder.h"

#include <algorithm>

namespace vitrine::test {

std::span<const float> FakeDecoder::feed(std::span<const TokenId> tokens, int64_t position) {
  calls.push_back({{tokens.begin(), tokens.end()}, position});
  on_feed();
  if (position == fails_at) throw GenerationError("fails as asked");
  std::ranges::fill(logits_, 0.0F);
  logits_[static_cast<size_t>(tokens.back() + 1) % logits_.size()] = 100;
  return logits_;
}

}  // namespace vitrine::test
