// Scores each token of a text with one model, or with two models side by side. A token's score is
// -ln of the probability that a model assigns to the token, given the preceding tokens (teacher
// forcing).
//
// A text that is longer than the context is fed in windows. Each window begins with the options'
// prefix. If the prefix has P tokens and the context has C tokens, a window holds F = C - P tokens
// of the text. The first window scores all tokens of the text that it predicts. Each further window
// scores the next `stride` tokens. Before each of them, the window holds at least F - stride + 1
// tokens of the text. The first token of the text is scored only if there is a prefix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "llm/token_score.h"
#include "vitrine/text_generator.h"

namespace vitrine {

struct TokenScore {
  double nats = 0;      // -ln of the probability of the token
  TokenId top = 0;      // the most probable token
  double top_nats = 0;  // -ln of its probability
};

struct EvaluationOptions {
  std::vector<TokenId> prefix = {};  // fed at the beginning of each window; not scored
  size_t stride = 0;                 // 0: F, so that windows share one token
};

struct EvaluatedText {
  size_t first = 0;    // index of the first scored token of the text
  size_t context = 0;  // C: the shorter one of two models
  size_t stride = 0;   // tokens to score in each window after the first
  size_t windows = 0;
  std::vector<TokenScore> a;    // for each scored token
  std::vector<TokenScore> b;    // empty without a second model
  std::vector<double> kl;       // divergence of B from A; empty without a second model
  bool is_stopped = false;      // the observer ended the evaluation early
  uint64_t a_ns = 0, b_ns = 0;  // time inside of the models
};

// Called after each token with the number of tokens scored so far and the total number of tokens to
// score. Returns false to end the evaluation.
using EvaluationObserver = std::function<bool(size_t scored, size_t all)>;

// Scores the text with model `a` and, unless `b` is null, with model `b`. Throws GenerationError:
// - if the text has no token to score, or an id is outside of the vocabulary;
// - if the stride or the prefix does not fit into the context;
// - if the models have different vocabularies or end ids;
// - if a model has an encoder that reads prompts;
// - if a model fails;
// - if a logit is NaN or plus infinity, or if all logits of a token are minus infinity. The message
//   then has the index of the token.
EvaluatedText evaluate_text(DecoderModel& a, DecoderModel* b, std::span<const TokenId> text,
                            const EvaluationOptions& options,
                            const EvaluationObserver& observer = {});

}  // namespace vitrine
