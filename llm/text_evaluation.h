// Scores each token of a text with one or two models. A token's score is -ln of the probability
// that a model assigns to the token after the preceding tokens (teacher forcing).
//
// A text longer than the context is fed in windows. Each window begins with the options' prefix. If
// the prefix has P tokens and the context has C tokens, a window holds F = C - P tokens of the
// text. The first window scores its tokens of the text and the next token, but not the text's first
// token if P = 0. Each further window scores the next `stride` tokens. At least F - stride + 1
// tokens of the text precede each of these tokens in the window.
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
  double nats = 0;      // -ln of the token's probability
  TokenId top = 0;      // the most probable token
  double top_nats = 0;  // -ln of the probability of `top`
};

struct EvaluationOptions {
  std::vector<TokenId> prefix = {};  // begins each window; not scored
  size_t stride = 0;                 // 0: F, so that windows share one token
};

struct EvaluatedText {
  size_t first = 0;    // index of the first scored token of the text
  size_t context = 0;  // C; the shorter context of two models
  size_t stride = 0;   // tokens to score in each window after the first
  size_t windows = 0;
  std::vector<TokenScore> a;    // one element per scored token
  std::vector<TokenScore> b;    // empty without a second model
  std::vector<double> kl;       // divergence of B from A; empty without a second model
  bool is_stopped = false;      // the observer ended the evaluation early
  uint64_t a_ns = 0, b_ns = 0;  // time inside of the models
};

// Called after each token with the numbers of scored tokens and of all tokens to score. Returns
// false to end the evaluation.
using EvaluationObserver = std::function<bool(size_t scored, size_t all)>;

// Scores the text with model `a` and, unless `b` is null, with model `b`. Throws GenerationError if
// - the text has no token to score, or an id is outside of the vocabulary;
// - the stride or the prefix does not fit into the context;
// - the models have different vocabularies or end ids;
// - a model has an encoder that reads prompts;
// - a model fails;
// - a logit is NaN or plus infinity, or all logits of a token are minus infinity. The message names
//   the token's index.
EvaluatedText evaluate_text(DecoderModel& a, DecoderModel* b, std::span<const TokenId> text,
                            const EvaluationOptions& options,
                            const EvaluationObserver& observer = {});

}  // namespace vitrine
