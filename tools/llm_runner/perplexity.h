// Scores a text file with one or two language models (--perplexity).
#pragma once

#include <string>
#include <vector>

#include "llm/block_interval.h"
#include "llm/text_evaluation.h"
#include "tools/llm_runner/evaluated_file.h"
#include "tools/llm_runner/options.h"

namespace vitrine::tools {

struct ModelFigures {
  std::string name;       // name of the model's file
  RatioEstimate nats;     // mean per token; e^nats is the perplexity
  RatioEstimate bits;     // mean per byte
  RatioEstimate top;      // share of tokens that were the most probable token
  size_t impossible = 0;  // tokens with probability 0
  uint64_t model_ns = 0;  // time inside of the model
};

// Mean differences between two models (B minus A), estimated from the difference at each token.
struct PairFigures {
  RatioEstimate nats, bits, top;
  RatioEstimate kl;                         // mean divergence of B from A
  RatioEstimate same_top;                   // share of positions with the same most probable token
  size_t max_kl_at = 0;                     // index of the scored token with the largest divergence
  std::string before, token, top_a, top_b;  // texts at that position
};

struct Perplexity {
  EvaluatedFile file;
  EvaluatedText scores;
  double scored_bytes = 0;
  size_t prefix = 0;                 // begin tokens of each window
  std::string tokenizer;             // form of the tokenizer
  std::vector<ModelFigures> models;  // one or two
  std::optional<PairFigures> pair;
};

// `models` are the names of the models.
Perplexity summarize(EvaluatedFile file, EvaluatedText scores, const Tokenizer& tokenizer,
                     const std::vector<std::string>& models);

// Runs and reports the evaluation. Returns the exit code. Throws ToolError, TokenizerError or
// GenerationError.
int run_perplexity(const LlmOptions& options);

std::string report_perplexity(const Perplexity& result, const inspector::TableOptions& options);
std::string report_perplexity_json(const Perplexity& result);
// Returns a CSV text with one line for each scored token.
std::string report_perplexity_csv(const Perplexity& result, const Tokenizer& tokenizer);

}  // namespace vitrine::tools
