#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "formats/etdump/etdump_writer.h"
#include "inspector/join/statistics.h"
#include "inspector/report/row_texts.h"
#include "llm/block_interval.h"
#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {
namespace {

using inspector::Profile;
using inspector::ProfileRow;

constexpr uint64_t kMinFittedSteps = 16;

// Figures of a phase for each trace record (see StepSums). joined_sums() writes each kind of figure
// as one run of an artificial trace, which the inspector joins with the ETRecord.
enum SumRun : uint8_t { kTotal, kUsual, kByPosition, kCalls, kSlopeError, kNumRuns };

constexpr double kMaxTimesMedian = 2;  // a longer token counts as disturbed
constexpr double kMaxCorrelation = 0.95;

// Factor for the sort keys of rows that ran only in prefill, so that these rows are last.
constexpr double kAfterDecode = 1e-9;

// The artificial trace stores CostLine::error times this factor. Errors are below 1 ns per
// position, but a trace stores whole ns.
constexpr double kErrorScale = 1e6;

std::vector<std::byte> bytes_of(const TraceBuffer& trace) {
  auto dump = write_etdump(trace);
  if (!dump.ok()) throw inspector::InspectorError(dump.error().message());
  const auto bytes = std::as_bytes(std::span(dump->data(), dump->size()));
  return {bytes.begin(), bytes.end()};
}

void add_loading(const StepTracer& tracer, TraceBuffer& trace) {
  trace.begin_block("Default");
  for (const TraceRecord& record : tracer.loading()) trace.record(record);
}

Profile join(const std::vector<std::byte>& dump, const std::string& method,
             const TokenProfileFacts& facts) {
  return inspector::make_profile(
      etdump::parse_etdump(dump), facts.record,
      {.method = method, .run = facts.run, .delegates = facts.delegates});
}

double sample(const inspector::RunSamples& samples, SumRun run) {
  for (const inspector::RunSample& sample : samples) {
    if (sample.run == run) return sample.ns;
  }
  return 0;
}

bool has_records(const KeptStep* step) { return !step->records.empty(); }

class TokenProfileMaker {
 public:
  TokenProfileMaker(const TokenProfiler& profiler, const TokenProfileFacts& facts)
      : profiler_(profiler), facts_(facts), decode_(profiler.tracer().phase(Phase::kDecode)) {
    result_.run = facts.run;
    result_.max_context = facts.max_context;
    result_.names.runs = 1;
  }

  TokenProfile make(const Program& program, std::span<const MethodMeta> methods) {
    add_tokens();
    noise_factor_ = noise_factor();
    std::vector<MethodBytes> bytes = read_method_bytes(program, methods);
    for (const MethodBytes& method : bytes) result_.weights_in_file += method.weights;
    result_.caches = bytes.front().caches;
    for (size_t i = 0; i < methods.size(); ++i) {
      result_.methods.push_back({std::string(methods[i].name()), std::move(bytes[i])});
    }
    for (method_ = 0; method_ < methods.size(); ++method_) {
      for (const Phase phase : {Phase::kDecode, Phase::kPrefill}) add_phase(phase);
    }
    if (result_.rows.empty()) throw inspector::InspectorError("no step of the model was traced");
    name_caches();
    add_outside();
    compare_attention();
    add_kept();
    write_notes();
    return std::move(result_);
  }

 private:
  using RowKey = std::tuple<size_t, int32_t, inspector::Where, std::string, size_t>;

  std::optional<CostLine> fit(double usual_ns, double position_ns, double error) const {
    const auto n = static_cast<double>(decode_.usual_steps);
    const auto x = static_cast<double>(decode_.positions);
    const auto xx = static_cast<double>(decode_.position_squares);
    const double spread = n * xx - x * x;
    if (decode_.usual_steps < kMinFittedSteps || spread <= 0) return std::nullopt;
    CostLine line{.error = error};
    line.per_position = (n * position_ns - x * usual_ns) / spread;
    line.at_start = (usual_ns - line.per_position * x) / n;
    return line;
  }

  std::optional<CostLine> fit(const StepSums& sums) const {
    auto line = fit(static_cast<double>(sums.usual_ns), static_cast<double>(sums.position_ns), 0);
    if (!line) return line;
    const auto n = static_cast<double>(decode_.usual_steps);
    const double mean = static_cast<double>(decode_.positions) / n;
    const double spread = static_cast<double>(decode_.position_squares) - n * mean * mean;
    const double usual = static_cast<double>(sums.usual_ns);
    const double residual =
        sums.squares_ns - usual * usual / n - line->per_position * line->per_position * spread;
    const double freedom = n - 2;
    line->error = noise_factor_ * student_quantile(freedom) *
                  std::sqrt(std::max(residual, 0.0) / freedom / spread);
    return line;
  }

  // Returns the factor by which the correlation of successive decode tokens raises the errors of
  // slopes. Assumes an autoregressive process of order 1.
  double noise_factor() const {
    const std::optional<CostLine> line = fit(profiler_.wall(Phase::kDecode));
    if (!line) return 1;
    double squares = 0, products = 0, last = 0;
    for (const StepWall& wall : result_.walls[kDecode]) {
      const auto ns = static_cast<double>(wall.ns);
      const bool is_disturbed = ns > kMaxTimesMedian * result_.token.p50;
      const double residual = is_disturbed ? 0 : ns - line->at(static_cast<double>(wall.position));
      squares += residual * residual;
      products += std::exchange(last, residual) * residual;
    }
    const double correlation =
        squares > 0 ? std::clamp(products / squares, 0.0, kMaxCorrelation) : 0;
    return std::sqrt((1 + correlation) / (1 - correlation));
  }

  Times times_of(const StepSums& prefill, const StepSums& decode) const {
    return {.ns = {static_cast<double>(prefill.total_ns), static_cast<double>(decode.total_ns)},
            .usual_ns = static_cast<double>(decode.usual_ns),
            .line = fit(decode)};
  }

  uint64_t value_of(const StepSums& sums, SumRun run) const {
    if (run != kSlopeError) {
      return std::array{sums.total_ns, sums.usual_ns, sums.position_ns, sums.calls}[run];
    }
    const std::optional<CostLine> line = fit(sums);
    return line ? static_cast<uint64_t>(std::min(line->error * kErrorScale, 1e18)) : 0;
  }

  Profile joined_sums(const StepTracer& tracer, Phase phase, const std::string& method) const {
    const PhaseSums& sums = tracer.phase(phase);
    const std::vector<TraceRecord>& records = sums.records;
    TraceBuffer trace(tracer.loading().size() + kNumRuns * records.size(), kNumRuns + 1);
    add_loading(tracer, trace);
    for (const SumRun run : {kTotal, kUsual, kByPosition, kCalls, kSlopeError}) {
      trace.begin_block("Execute");
      for (size_t i = 0; i < records.size(); ++i) {
        TraceRecord record = records[i];
        record.start_ns = 0;
        record.end_ns = value_of(sums.sums[i], run);
        trace.record(record);
      }
    }
    return join(bytes_of(trace), method, facts_);
  }

  void add_phase(Phase phase) {
    const auto which = static_cast<size_t>(phase);
    const StepTracer& tracer = profiler_.tracer(method_);
    const PhaseSums& sums = tracer.phase(phase);
    TokenMethod& method = result_.methods[method_];
    result_.steps[which] = sums.steps;
    result_.tokens[which] = sums.tokens;
    if (sums.records.empty()) return;
    const Profile joined = joined_sums(tracer, phase, method.name);
    joined_notes_.insert(joined_notes_.end(), joined.notes.begin(), joined.notes.end());
    std::map<RowKey, size_t> occurrences;
    std::vector<size_t> made_rows;  // index in result_.rows for each joined row
    const size_t first_new = result_.rows.size();
    double error = sample(joined.wall_samples, kSlopeError);
    for (const ProfileRow& row : joined.rows) {
      RowKey key = {method_, row.instruction, row.where, row.identifier, 0};
      std::get<4>(key) = occurrences[key]++;
      const auto [found, is_new] = row_of_.try_emplace(key, result_.rows.size());
      made_rows.push_back(found->second);
      if (is_new) add_row(row, phase);
      TokenRow& made = result_.rows[found->second];
      made.calls[which] = static_cast<uint64_t>(sample(row.samples, kCalls));
      made.times += times_of(row.samples, phase, sample(row.samples, kSlopeError));
      error += sample(row.samples, kSlopeError);
    }
    for (size_t i = first_new; i < result_.rows.size(); ++i) {
      std::optional<size_t>& served = result_.names.rows[i].inserted_for_row;  // 1-based
      if (served) served = made_rows[*served - 1] + 1;
    }
    if (phase == Phase::kDecode) add_bytes();
    result_.unattributed += times_of(joined.unattributed_samples, phase, error);
  }

  void add_row(const ProfileRow& row, Phase phase) {
    result_.rows.emplace_back().method = method_;
    ProfileRow& named = result_.names.rows.emplace_back(row);
    const double ns = sample(row.samples, kTotal) * (phase == Phase::kDecode ? 1 : kAfterDecode);
    named.samples = {{.run = 0, .ns = ns}};
    named.time = inspector::statistics_of({ns}, 1);
  }

  Times times_of(const inspector::RunSamples& samples, Phase phase, double error) const {
    Times times;
    times.ns[static_cast<size_t>(phase)] = sample(samples, kTotal);
    if (phase != Phase::kDecode) return times;
    times.usual_ns = sample(samples, kUsual);
    times.line = fit(times.usual_ns, sample(samples, kByPosition), error / kErrorScale);
    return times;
  }

  void add_bytes() {
    const MethodBytes& bytes = result_.methods[method_].bytes;
    const double positions = mean_position() + 1;
    std::map<std::pair<int32_t, uint32_t>, std::vector<TokenRow*>> operators;
    for (size_t i = 0; i < result_.rows.size(); ++i) {
      TokenRow& row = result_.rows[i];
      if (row.method != method_) continue;
      const ProfileRow& named = result_.names.rows[i];
      if (named.where == inspector::Where::kKernel) {
        const auto found = bytes.kernels.find(named.instruction);
        if (found == bytes.kernels.end()) continue;
        row.weight_bytes = found->second.weights;
        row.cache_bytes = found->second.cache + found->second.cache_per_position * positions;
        row.is_attention = found->second.is_attention;
        row.is_lookup = found->second.is_lookup;
      } else if (!named.identifier.empty()) {
        const auto handle =
            static_cast<uint32_t>(std::strtoul(named.identifier.c_str(), nullptr, 10));
        operators[{named.instruction, handle}].push_back(&row);
      }
    }
    for (const auto& [node, weights] : bytes.nodes) {
      const auto found = operators.find(node);
      if (found != operators.end()) assign_weights(weights, found->second);
    }
  }

  // Assigns each weight to the operator at the same index. If nodes were fused, the sizes differ,
  // and the slowest operator gets the sum.
  static void assign_weights(const std::vector<double>& weights,
                             const std::vector<TokenRow*>& operators) {
    if (weights.size() == operators.size()) {
      for (size_t i = 0; i < weights.size(); ++i) operators[i]->weight_bytes = weights[i];
      return;
    }
    TokenRow* const longest = *std::ranges::max_element(
        operators, {}, [](const TokenRow* row) { return row->times.ns[kDecode]; });
    longest->weight_bytes = std::accumulate(weights.begin(), weights.end(), 0.0);
  }

  double mean_position() const {
    double sum = 0;
    const std::vector<StepWall>& walls = profiler_.walls(Phase::kDecode);
    for (const StepWall& wall : walls) sum += static_cast<double>(wall.position);
    const size_t count = walls.size();
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }

  // Returns the module of a decode kernel, or an empty text if the module is unknown.
  std::string module_at(int32_t instruction) const {
    for (size_t i = 0; i < result_.rows.size(); ++i) {
      const ProfileRow& named = result_.names.rows[i];
      if (result_.rows[i].method == 0 && named.where == inspector::Where::kKernel &&
          named.instruction == instruction) {
        return inspector::row_texts(named).module;
      }
    }
    return {};
  }

  // Sets unknown layers of caches from the module that writes or reads the cache. Without such a
  // layer, the n-th attention call names its caches "attention n", from 0.
  void name_caches() {
    std::map<int32_t, size_t> attentions;
    for (const CacheBuffer& cache : result_.caches) attentions.emplace(cache.reader, 0);
    size_t count = 0;
    for (auto& [reader, index] : attentions) index = reader < 0 ? 0 : count++;
    for (CacheBuffer& cache : result_.caches) {
      for (const int32_t instruction : {cache.instruction, cache.reader}) {
        if (cache.layer.empty()) cache.layer = layer_of(module_at(instruction));
      }
      if (cache.layer.empty() && cache.reader >= 0) {
        cache.layer = fmt::format("attention {}", attentions[cache.reader]);
      }
    }
  }

  void add_outside() {
    const auto both = [](const auto& get) {
      return std::pair{get(Phase::kPrefill), get(Phase::kDecode)};
    };
    for (size_t i = 0; i < kStepParts; ++i) {
      const auto [prefill, decode] =
          both([&](Phase phase) { return profiler_.part(phase, static_cast<StepPart>(i)); });
      result_.parts[i] = times_of(prefill, decode);
    }
    const auto [prefill, decode] = both([&](Phase phase) { return profiler_.wall(phase); });
    result_.wall = times_of(prefill, decode);
  }

  void add_tokens() {
    result_.first_token_ns = profiler_.first_token_ns();
    for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
      result_.walls[static_cast<size_t>(phase)] = profiler_.walls(phase);
    }
    result_.usual_steps = decode_.usual_steps;
    result_.fitted_positions = {decode_.first_position, decode_.last_position};
    std::vector<double> ns;
    for (const StepWall& wall : result_.walls[kDecode]) ns.push_back(static_cast<double>(wall.ns));
    const size_t count = ns.size();
    result_.token = inspector::statistics_of(std::move(ns), count);
  }

  // Compares attention, whose time grows with the position, to the matrix products with weights.
  void compare_attention() {
    Times attention;
    AttentionGrowth found;
    for (const TokenRow& row : result_.rows) {
      if (row.is_attention) {
        attention += row.times;
      } else if (row.weight_bytes > 0 && !row.is_lookup) {
        found.weights += row.times.usual_ns / static_cast<double>(decode_.usual_steps);
      }
    }
    if (!attention.growth()) return;
    found.attention = *attention.line;
    const double crossing =
        (found.weights - found.attention.at_start) / found.attention.per_position;
    const auto [first, last] = result_.fitted_positions;
    if (found.attention.per_position > 0 && crossing >= static_cast<double>(first) &&
        crossing <= static_cast<double>(last)) {
      found.passes_weights = crossing;
    }
    result_.attention = found;
  }

  void add_kept() {
    for (const KeptStep* kept : profiler_.tracer().kept()) {
      const Phase phase = kept->step.is_prefill ? Phase::kPrefill : Phase::kDecode;
      result_.kept_times.push_back({.phase = phase,
                                    .index = kept->index,
                                    .wall = profiler_.walls(phase)[kept->index],
                                    .parts = kept->parts});
    }
    for (size_t i = 0; i < result_.methods.size(); ++i) add_kept_runs(i);
    for (KeptTimes& times : result_.kept_times) {
      const uint64_t outside = std::accumulate(times.parts.begin(), times.parts.end(), uint64_t{0});
      times.unattributed = static_cast<double>(times.wall.ns - outside) - times.rows;
    }
  }

  // Joins the trace of one method's kept steps with the record.
  void add_kept_runs(size_t method) {
    const std::vector<const KeptStep*> kept = profiler_.tracer(method).kept();
    if (!std::ranges::any_of(kept, has_records)) return;
    KeptRuns runs = {join(kept_etdump(profiler_, method), result_.methods[method].name, facts_),
                     {}};
    for (size_t i = 0; i < kept.size(); ++i) {
      if (!has_records(kept[i])) continue;
      const KeptTimes& times = result_.kept_times[i];
      runs.profile.run_names.push_back(step_name(times.phase, times.wall));
      runs.steps.push_back(i);
    }
    for (const ProfileRow& row : runs.profile.rows) {
      for (const inspector::RunSample& run_sample : row.samples) {
        result_.kept_times[runs.steps[run_sample.run]].rows += run_sample.ns;
      }
    }
    result_.kept.push_back(std::move(runs));
  }

  void note_disturbed() {
    size_t count = 0;
    double more = 0;
    for (const StepWall& wall : result_.walls[kDecode]) {
      const auto ns = static_cast<double>(wall.ns);
      if (ns <= kMaxTimesMedian * result_.token.p50) continue;
      ++count;
      more += ns - result_.token.p50;
    }
    if (count == 0) return;
    result_.notes.push_back(fmt::format(
        "{} of {} tokens took more than twice the median, {:.3g} ms longer in total; the rows "
        "include them",
        count, result_.walls[kDecode].size(), more / 1e6));
  }

  void write_notes() {
    note_disturbed();
    add_notes(joined_notes_);
    uint64_t dropped = 0;
    for (size_t i = 0; i < result_.methods.size(); ++i) dropped += profiler_.tracer(i).dropped();
    if (dropped != 0) {
      result_.notes.push_back(
          fmt::format("{} records exceeded the limit of {} per step: their time is unattributed",
                      dropped, StepTracer::kMaxRecordsPerStep));
    }
  }

  void add_notes(const std::vector<std::string>& notes) {
    // Each run of the artificial trace consists of sums, so notes about runs are wrong.
    const auto is_about_runs = [](const std::string& note) {
      return note.find("runs took more than twice the median") != std::string::npos ||
             note.starts_with("not all runs executed") || note.starts_with("rows add up to more");
    };
    for (const std::string& note : notes) {
      const bool is_known = std::ranges::count(result_.notes, note) != 0;
      if (!is_known && !is_about_runs(note)) result_.notes.push_back(note);
    }
  }

  const TokenProfiler& profiler_;
  const TokenProfileFacts& facts_;
  const PhaseSums& decode_;
  std::map<RowKey, size_t> row_of_;
  double noise_factor_ = 1;
  size_t method_ = 0;  // method whose rows are being added
  std::vector<std::string> joined_notes_;
  TokenProfile result_;
};

}  // namespace

TokenProfile make_token_profile(const TokenProfiler& profiler, const Program& program,
                                std::span<const MethodMeta> methods,
                                const TokenProfileFacts& facts) {
  return TokenProfileMaker(profiler, facts).make(program, methods);
}

std::vector<std::byte> kept_etdump(const TokenProfiler& profiler, size_t method) {
  const StepTracer& tracer = profiler.tracer(method);
  const std::vector<const KeptStep*> kept = tracer.kept();
  size_t records = tracer.loading().size();
  for (const KeptStep* step : kept) records += step->records.size();
  TraceBuffer trace(records, kept.size() + 1);
  add_loading(tracer, trace);
  for (const KeptStep* step : kept) {
    if (!has_records(step)) continue;
    trace.begin_block("Execute");
    for (const TraceRecord& record : step->records) trace.record(record);
  }
  return bytes_of(trace);
}

}  // namespace vitrine::llm
