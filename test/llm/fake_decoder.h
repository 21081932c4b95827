// Defines a decoder with predictable answers, for tests of code that uses decoders.
#pragma once

#include <functional>
#include <vector>

#include "vitrine/text_generator.h"

namespace vitrine::test {

// Predicts id n + 1 after id n and records its calls.
class FakeDecoder final : public DecoderModel {
 public:
  struct Call {
    std::vector<TokenId> tokens;
    int64_t position;
    bool operator==(const Call&) const = default;
  };

  explicit FakeDecoder(DecoderInfo info) : info_(std::move(info)), logits_(info_.vocabulary) {}

  const DecoderInfo& info() const override { return info_; }
  std::span<const float> feed(std::span<const TokenId> tokens, int64_t position) override;
  void encode(std::span<const TokenId> tokens) override {
    encoded = {tokens.begin(), tokens.end()};
  }

  std::vector<Call> calls;
  std::vector<TokenId> encoded;
  int64_t fails_at = -1;  // feed() throws at this position
  std::function<void()> on_feed = [] {};

 private:
  DecoderInfo info_;
  std::vector<float> logits_;
};

}  // namespace vitrine::test
