#include "llm/text_evaluation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "llm/teacher_forcing.h"

namespace vitrine {
namespace {

void check_pair(const DecoderInfo& a, const DecoderInfo& b) {
  if (a.vocabulary != b.vocabulary) {
    throw GenerationError(fmt::format(
        "the models have different vocabularies: A returns {} logits, B returns {}; only "
        "models with the same token ids can be compared",
        a.vocabulary, b.vocabulary));
  }
  if (!a.eos_ids.empty() && !b.eos_ids.empty() && a.eos_ids != b.eos_ids) {
    throw GenerationError(
        fmt::format("the models have different end ids: A has {}, B has {}; only models with the "
                    "same token ids can be compared",
                    fmt::join(a.eos_ids, ","), fmt::join(b.eos_ids, ",")));
  }
}

void check_ids(std::span<const TokenId> ids, size_t vocabulary, std::string_view what) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && static_cast<size_t>(ids[i]) < vocabulary) continue;
    throw GenerationError(fmt::format("token {} of the {} has id {}, but the vocabulary has {} ids",
                                      i, what, ids[i], vocabulary));
  }
}

TokenScore token_score(const ScoredLogits& logits, TokenId next) {
  return {logits.nats(next), logits.top, logits.nats(logits.top)};
}

class Evaluation {
 public:
  Evaluation(DecoderModel& a, DecoderModel* b, std::span<const TokenId> text,
             const EvaluationOptions& options, const EvaluationObserver& observer)
      : text_(text),
        options_(options),
        observer_(observer),
        a_(a),
        vocabulary_(a.info().vocabulary) {
    int64_t context = a.info().max_context;
    for (const DecoderModel* model :
         {static_cast<const DecoderModel*>(&a), static_cast<const DecoderModel*>(b)}) {
      if (model == nullptr) continue;
      if (model->info().encodes_prompt) {
        throw GenerationError("a model with an encoder that reads prompts cannot score a text");
      }
      context = std::min(context, model->info().max_context);
    }
    if (b != nullptr) {
      check_pair(a.info(), b->info());
      b_.emplace(*b);
    }
    check_ids(options.prefix, vocabulary_, "prefix");
    check_ids(text, vocabulary_, "text");
    result_.context = static_cast<size_t>(std::max<int64_t>(context, 0));
    if (options.prefix.size() >= result_.context) {
      throw GenerationError(fmt::format("{} begin tokens do not fit into a context of {}",
                                        options.prefix.size(), result_.context));
    }
    window_ = result_.context - options.prefix.size();
    result_.stride = options.stride == 0 ? window_ : options.stride;
    if (result_.stride > window_) {
      throw GenerationError(fmt::format(
          "a stride of {} is longer than the {} tokens of the text that fit into a window",
          result_.stride, window_));
    }
    result_.first = options.prefix.empty() ? 1 : 0;
    if (text.size() <= result_.first) {
      throw GenerationError(
          text.empty() ? "the text is empty: it has no token to score"
                       : "the text has one token, and no begin tokens precede it: give at least "
                         "two tokens, or begin tokens (--num_bos 1)");
    }
  }

  EvaluatedText run() {
    size_t end = std::min(text_.size(), window_ + 1);
    score_window(0, result_.first, end);
    while (end < text_.size() && !result_.is_stopped) {
      const size_t begin = end;
      const size_t full_end = begin + result_.stride;
      end = std::min(full_end, text_.size());
      score_window(full_end - 1 - window_, begin, end);
    }
    result_.a_ns = a_.model_ns();
    if (b_) result_.b_ns = b_->model_ns();
    return std::move(result_);
  }

 private:
  // Scores the text's tokens [begin, end). Feeds the prefix and the text's tokens [from, end - 1).
  void score_window(size_t from, size_t begin, size_t end) {
    std::vector<TokenId> fed = options_.prefix;
    fed.insert(fed.end(), text_.begin() + static_cast<ptrdiff_t>(from),
               text_.begin() + static_cast<ptrdiff_t>(end) - 1);
    if (b_) b_->begin(fed);
    const size_t count = fed.size();
    a_.begin(std::move(fed));
    ++result_.windows;
    // Let the prefix have P tokens. If i >= P - 1, the logits after token i of `fed` predict token
    // from + i + 1 - P of the text.
    for (size_t i = 0; i < count; ++i) {
      const size_t next = from + i + 1;  // plus the length of the prefix
      const std::span<const float> a = a_.next();
      const std::span<const float> b = b_ ? b_->next() : std::span<const float>();
      if (next < begin + options_.prefix.size()) continue;
      score(a, b, next - options_.prefix.size());
      if (observer_ && !observer_(result_.a.size(), text_.size() - result_.first)) {
        result_.is_stopped = result_.first + result_.a.size() < text_.size();
        if (result_.is_stopped) return;
      }
    }
  }

  void score(std::span<const float> a, std::span<const float> b, size_t token) {
    const char* model = b_ ? "A: " : "";
    try {
      const ScoredLogits scored_a(a);
      if (b_) {
        model = "B: ";
        const ScoredLogits scored_b(b);
        result_.b.push_back(token_score(scored_b, text_[token]));
        result_.kl.push_back(kl_divergence(scored_a, scored_b));
      }
      result_.a.push_back(token_score(scored_a, text_[token]));
    } catch (const GenerationError& error) {
      throw GenerationError(fmt::format("{}token {} of the text: {}", model, token, error.what()));
    }
  }

  std::span<const TokenId> text_;
  const EvaluationOptions& options_;
  const EvaluationObserver& observer_;
  TeacherForcing a_;
  std::optional<TeacherForcing> b_;
  size_t vocabulary_;
  size_t window_ = 0;  // tokens of the text that a window holds
  EvaluatedText result_;
};

}  // namespace

EvaluatedText evaluate_text(DecoderModel& a, DecoderModel* b, std::span<const TokenId> text,
                            const EvaluationOptions& options, const EvaluationObserver& observer) {
  return Evaluation(a, b, text, options, observer).run();
}

}  // namespace vitrine
