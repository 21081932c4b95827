#include "llm/teacher_forcing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/platform/clock.h"

namespace vitrine {

TeacherForcing::TeacherForcing(DecoderModel& model) : model_(model) {}

void TeacherForcing::begin(std::vector<TokenId> text) {
  text_ = std::move(text);
  done_ = fed_ = begin_ = 0;
}

size_t TeacherForcing::chunk_size() const {
  const DecoderInfo& info = model_.info();
  if (!info.returns_all_logits || !info.parallel_prefill) return 1;
  const size_t left = text_.size() - fed_;
  if (left < static_cast<size_t>(info.min_tokens_per_call)) return 1;
  return std::min(left, static_cast<size_t>(std::max<int64_t>(info.max_tokens_per_call, 1)));
}

std::span<const float> TeacherForcing::next() {
  if (done_ == text_.size()) throw GenerationError("the text has no more tokens");
  const DecoderInfo& info = model_.info();
  const uint64_t start_ns = platform::now_ns();
  if (done_ == fed_) {
    const size_t count = chunk_size();
    // A model without a cache gets the text from its beginning in each call.
    begin_ = info.has_cache ? fed_ : 0;
    fed_ += count;
    model_.feed(std::span(text_).subspan(begin_, fed_ - begin_), static_cast<int64_t>(begin_));
  }
  const std::span<const float> logits = model_.logits_after(done_++ - begin_);
  model_ns_ += platform::now_ns() - start_ns;
  if (logits.size() != info.vocabulary) {
    throw GenerationError(
        fmt::format("the model returned {} logits, expected {}", logits.size(), info.vocabulary));
  }
  return logits;
}

}  // namespace vitrine
