// The cost of a language model's tokens in prefill and in decode.
//
// In each phase, and in each kept step, exactly
//   sum of rows + unattributed + sum of parts == wall.
// `rows` are kernels and operators that a method logged. `unattributed` is the remaining time in
// Method::execute. `parts` are outside of Method::execute.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/make_profile.h"
#include "tools/llm_runner/profile/method_bytes.h"
#include "tools/llm_runner/profile/token_profiler.h"

namespace vitrine::llm {

// Time of a token in ns: at_start + per_position * position. The line is a least-squares fit to
// decode's usual steps (TokenProfiler::is_usual()), valid only within
// TokenProfile::fitted_positions.
struct CostLine {
  double at_start = 0;
  double per_position = 0;
  // The 95 % confidence interval is per_position +- error. operator+= adds errors, as an upper
  // bound.
  double error = 0;

  // False if the confidence interval of per_position contains 0.
  bool is_growth() const { return std::abs(per_position) > error; }
  double at(double position) const { return at_start + per_position * position; }
  CostLine& operator+=(const CostLine& other);
};

struct Times {
  std::array<double, kPhases> ns{};  // total of each phase
  double usual_ns = 0;               // total of decode's usual steps
  std::optional<CostLine> line;      // fit to decode; unset if usual steps are too few

  // Reports show only lines whose is_growth() is true.
  std::optional<CostLine> growth() const { return line && line->is_growth() ? line : std::nullopt; }
  Times& operator+=(const Times& other);
};

struct TokenCost {
  std::array<uint64_t, kPhases> calls{};  // over all steps
  Times times;
  // Mean bytes per decode token: of weights that are read, and of caches that are read or written.
  double weight_bytes = 0;
  double cache_bytes = 0;

  TokenCost& operator+=(const TokenCost& other);
};

struct TokenRow : TokenCost {
  size_t method = 0;          // index in TokenProfile::methods
  bool is_attention = false;  // reads caches
  bool is_lookup = false;
};

// Compares a token's attention with its matrix products with weights.
struct AttentionGrowth {
  CostLine attention;
  double weights = 0;  // mean time of the products in ns; independent of the position
  // The position at which attention takes as long as the matrix products with weights. Unset
  // outside the fitted range.
  std::optional<double> passes_weights;
};

// Facts about the run that the caller supplies.
struct TokenProfileFacts {
  inspector::RunInfo run = {};
  const etrecord::EtRecord* record = nullptr;
  inspector::DelegateProfiles delegates = {};
  int64_t max_context = 0;
};

struct TokenMethod {
  std::string name;
  MethodBytes bytes;
};

// The times of a kept step, in ns.
struct KeptTimes {
  Phase phase = Phase::kDecode;
  uint64_t index = 0;  // index in TokenProfile::walls[phase]
  StepWall wall;
  double rows = 0;  // time of the rows of all methods
  double unattributed = 0;
  StepPartTimes parts{};
};

// The kept steps in which a method ran, as runs of `profile` with names such as "decode at 12".
struct KeptRuns {
  inspector::Profile profile;
  std::vector<size_t> steps;  // index in TokenProfile::kept_times for each run
};

struct TokenProfile {
  inspector::RunInfo run;
  std::vector<TokenMethod> methods;  // the first method decodes
  int64_t max_context = 0;
  std::array<uint64_t, kPhases> steps{};
  std::array<uint64_t, kPhases> tokens{};          // number of tokens that the model read
  uint64_t usual_steps = 0;                        // decode steps that entered the fits
  std::pair<uint64_t, uint64_t> fitted_positions;  // first and last position of these steps
  std::vector<TokenRow> rows;  // sorted by method (decode first), then in run order
  // names.rows[i] has the names and the decode time of rows[i]. A row that ran only in prefill has
  // a tiny time instead, which sorts the row last.
  inspector::Profile names;
  Times unattributed;
  std::array<Times, kStepParts> parts;  // indexed by StepPart
  Times wall;
  std::vector<uint64_t> first_token_ns;              // one element per prompt
  inspector::TimeStatistics token;                   // times of decode steps in ns
  std::array<std::vector<StepWall>, kPhases> walls;  // all steps in order of time
  double weights_in_file = 0;                        // bytes, counting each constant once
  std::vector<CacheBuffer> caches;                   // caches of the method that decodes
  std::optional<AttentionGrowth> attention;          // unset if its growth is not known
  std::vector<KeptTimes> kept_times;                 // steps in order of time
  std::vector<KeptRuns> kept;                        // one element for each method with kept steps
  std::vector<std::string> notes;
};

// Joins the names of the methods: "decode + prefill".
std::string method_names(const TokenProfile& profile);
double tokens_per_second(const TokenProfile& profile, Phase phase);
// Names a part of a step: "tokenizer: prompt", "between steps", ...
const char* part_name(StepPart part);
const char* phase_name(Phase phase);
// Returns the unattributed time, then each part of a step.
std::vector<std::pair<const char*, const Times*>> times_outside(const TokenProfile& profile);
// Names a step: "decode at 12".
std::string step_name(Phase phase, const StepWall& step);

// Makes the profile of all steps so far. `methods[i]` is the method of `profiler.tracer(i)`. Throws
// InspectorError if no step ran.
TokenProfile make_token_profile(const TokenProfiler& profiler, const Program& program,
                                std::span<const MethodMeta> methods,
                                const TokenProfileFacts& facts);

// Returns an ETDump with the traces of loading the method and of its kept steps.
std::vector<std::byte> kept_etdump(const TokenProfiler& profiler, size_t method = 0);

}  // namespace vitrine::llm
