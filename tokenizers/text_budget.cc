#include "tokenizers/text_budget.h"

#include <fmt/format.h>

#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

constexpr size_t kFreeBytes = 64 << 10;
// Limits on the work per byte of text. Real tokenizer files need fewer than 100 steps and less than
// 500 ns per byte.
constexpr uint64_t kStepsPerByte = 400;
constexpr uint64_t kNsPerByte = 3000;

}  // namespace

void TextBudget::add_text(size_t bytes) {
  text_bytes_ += bytes;
  bytes_ += bytes;
  steps_left_ += kStepsPerByte * bytes;
  ns_left_ += kNsPerByte * bytes;
}

void TextBudget::resize(size_t before, size_t after) {
  check_resize(before, after);
  bytes_ = bytes_ - before + after;
}

void TextBudget::check_resize(size_t before, size_t after) const {
  const size_t bytes = bytes_ - before + after;
  const size_t limit = kFreeBytes + kMaxTextGrowth * text_bytes_;
  if (bytes <= limit) return;
  throw TokenizerError(fmt::format(
      "{}: the tokenizer turns a text of {} bytes into {} bytes; at most {} are accepted", place_,
      text_bytes_, bytes, limit));
}

void TextBudget::refuse_steps() const {
  throw TokenizerError(
      fmt::format("{}: the tokenizer takes too long for a text of {} bytes", place_, text_bytes_));
}

}  // namespace vitrine
