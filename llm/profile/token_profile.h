// The profile of a language model by the token: its phases side by side, inside the model and out.
//
// In each phase, exactly,
//   sum of rows + unattributed + sum of parts == wall
// where rows are what the model's executions logged, unattributed what these leave of
// Method::execute, and parts what happens outside of it. So do the times of each kept step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/make_profile.h"
#include "llm/profile/method_bytes.h"
#include "llm/profile/token_profiler.h"

namespace vitrine::llm {

// ns of a token at a position: at_start + a_position * position, by least squares over usual steps.
struct CostLine {
  double at_start = 0;
  double a_position = 0;
};

// Totals of a phase, ns; and the fit of decode steps, if there are enough.
struct Times {
  std::array<double, kPhases> ns{};
  double usual_ns = 0;  // of decode: of usual steps alone
  std::optional<CostLine> growth;
};

struct TokenRow {
  size_t method = 0;  // of TokenProfile::methods
  // Where its names are: a row of the method's names[phase]; -1: it did not run in that phase.
  std::array<int, kPhases> index = {-1, -1};
  std::array<uint64_t, kPhases> calls{};  // over all steps
  Times times;
  // Bytes that a decode token reads, and for caches also writes; the mean over positions.
  double weight_bytes = 0;
  double cache_bytes = 0;
  bool is_attention = false;  // over caches
  bool is_lookup = false;
};

// What a token's attention over a cache costs beside its products with weights.
struct AttentionGrowth {
  CostLine attention;
  double weights = 0;                    // ns, the mean: they cost the same at every position
  std::optional<double> passes_weights;  // the position where the line reaches it; unset: nowhere
};

// What the library cannot know.
struct TokenProfileFacts {
  inspector::RunInfo run = {};
  const etrecord::EtRecord* record = nullptr;
  inspector::DelegateProfiles delegates = {};
  int64_t max_context = 0;
};

struct TokenMethod {
  std::string name;
  // The joined rows of each phase, of which only names are meant: their times are sums.
  std::array<std::optional<inspector::Profile>, kPhases> names;
  MethodBytes bytes;
};

// The times of a step that was kept, ns. Rows are those of all methods.
struct KeptTimes {
  Phase phase = Phase::kDecode;
  uint64_t number = 0;  // of its phase: TokenProfile::walls[phase][number]
  StepWall wall;
  double rows = 0;
  double unattributed = 0;
  PartTimes parts{};
};

// The kept steps in which a method ran, as the runs of a profile, named "decode at 12".
struct KeptRuns {
  inspector::Profile profile;
  std::vector<size_t> steps;  // of each run: its place in TokenProfile::kept_times
};

struct TokenProfile {
  inspector::RunInfo run;
  std::vector<TokenMethod> methods;  // the first one decodes
  int64_t max_context = 0;
  std::array<uint64_t, kPhases> steps{};
  std::array<uint64_t, kPhases> tokens{};  // fed
  uint64_t usual_steps = 0;                // of decode, that the fits are over
  std::vector<TokenRow> rows;              // by method; in run order, those of decode first
  Times unattributed;
  std::array<Times, kParts> parts;  // by Part
  Times wall;
  std::vector<uint64_t> first_token_ns;              // of each prompt
  inspector::TimeStatistics token;                   // of a decode step, ns
  std::array<std::vector<StepWall>, kPhases> walls;  // all steps in order
  double weights_in_file = 0;                        // bytes, each constant once
  std::vector<CacheBuffer> caches;                   // of the method that decodes
  std::optional<AttentionGrowth> attention;  // unset without a fit or without such attention
  std::vector<KeptTimes> kept_times;         // in the order of time
  std::vector<KeptRuns> kept;  // of each method that ran in one, the one that decodes first
  std::vector<std::string> notes;
};

// "decode + prefill"
std::string method_names(const TokenProfile& profile);
double tokens_per_second(const TokenProfile& profile, Phase phase);
// For a row or a part: "tokenizer (prompt)", ...
const char* part_name(Part part);
const char* phase_name(Phase phase);
// "decode at 12"
std::string step_name(Phase phase, const StepWall& step);

// `methods` are those of the profiler's tracers. Throws InspectorError if no step ran.
TokenProfile make_token_profile(const TokenProfiler& profiler, const Program& program,
                                std::span<const MethodMeta> methods,
                                const TokenProfileFacts& facts);

// The trace of a method's loading and of the kept steps in which it ran, as ETDump, in the order of
// time.
std::vector<std::byte> kept_etdump(const TokenProfiler& profiler, size_t method = 0);

}  // namespace vitrine::llm
