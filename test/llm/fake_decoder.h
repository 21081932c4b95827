// A decoder whose answers are known.
#pragma once

#include <vector>

#include "vitrine/text_generator.h"

namespace vitrine::test {

// What follows id n is n + 1, whatever came before; keeps what it was fed.
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

  std::vector<Call> calls;
  int64_t fails_at = -1;  // a position

 private:
  DecoderInfo info_;
  std::vector<float> logits_;
};

}  // namespace vitrine::test
