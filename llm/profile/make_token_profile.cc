#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

#include "formats/etdump/etdump_writer.h"
#include "inspector/join/statistics.h"
#include "inspector/text/row_texts.h"
#include "llm/profile/token_groups.h"
#include "llm/profile/token_profile.h"

namespace vitrine::llm {
namespace {

using inspector::Profile;
using inspector::ProfileRow;

constexpr uint64_t kLeastFitted = 16;

// Sums go through the join as if they were times: one run of the trace for each.
enum Run : uint8_t { kTotal, kUsual, kByPosition, kCalls, kRuns };

uint64_t value_of(const StepSums& sums, Run run) {
  return std::array{sums.total_ns, sums.usual_ns, sums.position_ns, sums.calls}[run];
}

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

Profile joined_sums(const StepTracer& tracer, Phase phase, const std::string& method,
                    const TokenProfileFacts& facts) {
  const PhaseSums& sums = tracer.phase(phase);
  const std::vector<TraceRecord>& records = sums.records;
  TraceBuffer trace(tracer.loading().size() + kRuns * records.size(), kRuns + 1);
  add_loading(tracer, trace);
  for (const Run run : {kTotal, kUsual, kByPosition, kCalls}) {
    trace.begin_block("Execute");
    for (size_t i = 0; i < records.size(); ++i) {
      TraceRecord record = records[i];
      record.start_ns = 0;
      record.end_ns = value_of(sums.sums[i], run);
      trace.record(record);
    }
  }
  return join(bytes_of(trace), method, facts);
}

double sample(const inspector::RunSamples& samples, Run run) {
  for (const inspector::RunSample& each : samples) {
    if (each.run == run) return each.ns;
  }
  return 0;
}

bool has_records(const KeptStep* step) { return !step->records.empty(); }

class Maker {
 public:
  Maker(const TokenProfiler& profiler, const TokenProfileFacts& facts)
      : profiler_(profiler), facts_(facts), decode_(profiler.tracer().phase(Phase::kDecode)) {
    result_.run = facts.run;
    result_.max_context = facts.max_context;
  }

  TokenProfile make(const Program& program, std::span<const MethodMeta> methods) {
    std::vector<MethodBytes> bytes = read_method_bytes(program, methods);
    for (const MethodBytes& each : bytes) result_.weights_in_file += each.weights;
    result_.caches = bytes.front().caches;
    for (size_t i = 0; i < methods.size(); ++i) {
      result_.methods.push_back({std::string(methods[i].name()), {}, std::move(bytes[i])});
    }
    for (method_ = 0; method_ < methods.size(); ++method_) {
      for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) add_phase(phase);
    }
    if (result_.rows.empty()) throw inspector::InspectorError("no step of the model was traced");
    std::ranges::stable_sort(result_.rows, [](const TokenRow& a, const TokenRow& b) {
      if (a.method != b.method) return a.method < b.method;
      return a.index[kDecode] >= 0 && b.index[kDecode] >= 0 ? a.index[kDecode] < b.index[kDecode]
                                                            : a.index[kDecode] > b.index[kDecode];
    });
    name_caches();
    add_outside();
    add_tokens();
    compare_attention();
    add_kept();
    write_notes();
    return std::move(result_);
  }

 private:
  using RowKey = std::tuple<size_t, int32_t, inspector::Where, std::string, size_t>;

  std::optional<CostLine> fit(double usual_ns, double position_ns) const {
    const auto n = static_cast<double>(decode_.usual_steps);
    const auto x = static_cast<double>(decode_.positions);
    const auto xx = static_cast<double>(decode_.position_squares);
    const double spread = n * xx - x * x;
    if (decode_.usual_steps < kLeastFitted || spread <= 0) return std::nullopt;
    CostLine line;
    line.a_position = (n * position_ns - x * usual_ns) / spread;
    line.at_start = (usual_ns - line.a_position * x) / n;
    return line;
  }

  Times times_of(const StepSums& prefill, const StepSums& decode) const {
    return {.ns = {static_cast<double>(prefill.total_ns), static_cast<double>(decode.total_ns)},
            .usual_ns = static_cast<double>(decode.usual_ns),
            .growth =
                fit(static_cast<double>(decode.usual_ns), static_cast<double>(decode.position_ns))};
  }

  void add_phase(Phase phase) {
    const auto which = static_cast<size_t>(phase);
    const StepTracer& tracer = profiler_.tracer(method_);
    const PhaseSums& sums = tracer.phase(phase);
    TokenMethod& method = result_.methods[method_];
    result_.steps[which] = sums.steps;
    result_.tokens[which] = sums.tokens;
    if (sums.records.empty()) return;
    method.names[which] = joined_sums(tracer, phase, method.name, facts_);
    const Profile& joined = *method.names[which];
    std::map<RowKey, size_t> occurrences;
    for (size_t i = 0; i < joined.rows.size(); ++i) {
      const ProfileRow& row = joined.rows[i];
      RowKey key = {method_, row.instruction, row.where, row.identifier, 0};
      std::get<4>(key) = occurrences[key]++;
      const auto [found, is_new] = row_of_.try_emplace(key, result_.rows.size());
      if (is_new) result_.rows.emplace_back();
      TokenRow& made = result_.rows[found->second];
      made.method = method_;
      made.index[which] = static_cast<int>(i);
      made.times.ns[which] = sample(row.samples, kTotal);
      made.calls[which] = static_cast<uint64_t>(sample(row.samples, kCalls));
      if (phase == Phase::kDecode) {
        made.times.usual_ns = sample(row.samples, kUsual);
        made.times.growth = fit(made.times.usual_ns, sample(row.samples, kByPosition));
      }
    }
    if (phase == Phase::kDecode) add_bytes(joined);
    add_unattributed(joined.unattributed_samples, which);
  }

  void add_unattributed(const inspector::RunSamples& samples, size_t phase) {
    Times& all = result_.unattributed;
    all.ns[phase] += sample(samples, kTotal);
    if (phase != kDecode) return;
    const double usual = sample(samples, kUsual);
    all.usual_ns += usual;
    const auto line = fit(usual, sample(samples, kByPosition));
    if (!line) return;
    if (!all.growth) all.growth.emplace();
    all.growth->at_start += line->at_start;
    all.growth->a_position += line->a_position;
  }

  void add_bytes(const Profile& joined) {
    const MethodBytes& bytes = result_.methods[method_].bytes;
    const double positions = mean_position() + 1;
    std::map<std::pair<int32_t, uint32_t>, std::vector<TokenRow*>> operators;
    for (TokenRow& row : result_.rows) {
      if (row.method != method_ || row.index[kDecode] < 0) continue;
      const ProfileRow& named = joined.rows[static_cast<size_t>(row.index[kDecode])];
      if (named.where == inspector::Where::kKernel) {
        const auto found = bytes.kernels.find(named.instruction);
        if (found == bytes.kernels.end()) continue;
        row.weight_bytes = found->second.weights;
        row.cache_bytes = found->second.cache + found->second.cache_a_position * positions;
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
      if (found != operators.end()) give_weights(weights, found->second);
    }
  }

  // Nodes run in their order. If some do not run by themselves, the longest operator has it all.
  static void give_weights(const std::vector<double>& weights,
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

  // The module of a kernel of the method that decodes, by the record; empty if it is not known.
  std::string module_at(int32_t instruction) const {
    for (const TokenRow& row : result_.rows) {
      const ProfileRow& named = named_row(result_, row);
      if (row.method == 0 && named.where == inspector::Where::kKernel &&
          named.instruction == instruction) {
        return inspector::row_texts(named).module;
      }
    }
    return {};
  }

  // A cache without a name is of the layer that writes or reads it; where that is not known either,
  // of the how manieth attention.
  void name_caches() {
    std::map<int32_t, size_t> attentions;
    for (const CacheBuffer& cache : result_.caches) attentions.emplace(cache.reader, 0);
    size_t count = 0;
    for (auto& [reader, number] : attentions) number = reader < 0 ? 0 : count++;
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
    for (size_t i = 0; i < kParts; ++i) {
      const auto [prefill, decode] =
          both([&](Phase phase) { return profiler_.part(phase, static_cast<Part>(i)); });
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
    std::vector<double> ns;
    for (const StepWall& wall : result_.walls[kDecode]) ns.push_back(static_cast<double>(wall.ns));
    const size_t count = ns.size();
    result_.token = inspector::statistics_of(std::move(ns), count);
  }

  // Products with weights cost the same at every position: their mean counts, without a slope that
  // is noise.
  void compare_attention() {
    AttentionGrowth found;
    bool has_attention = false;
    const double mean =
        static_cast<double>(decode_.positions) / static_cast<double>(decode_.usual_steps);
    for (const TokenRow& row : result_.rows) {
      if (!row.times.growth) continue;
      const CostLine& line = *row.times.growth;
      if (row.is_attention) {
        has_attention = true;
        found.attention.at_start += line.at_start;
        found.attention.a_position += line.a_position;
      } else if (row.weight_bytes > 0 && !row.is_lookup) {
        found.weights += line.at_start + line.a_position * mean;
      }
    }
    if (!has_attention) return;
    const double crossing = (found.weights - found.attention.at_start) / found.attention.a_position;
    if (found.attention.a_position > 0 && crossing >= 0) found.passes_weights = crossing;
    result_.attention = found;
  }

  void add_kept() {
    for (const KeptStep* each : profiler_.tracer().kept()) {
      const Phase phase = each->step.is_prefill ? Phase::kPrefill : Phase::kDecode;
      result_.kept_times.push_back({.phase = phase,
                                    .number = each->number,
                                    .wall = profiler_.walls(phase)[each->number],
                                    .parts = each->parts});
    }
    for (size_t i = 0; i < result_.methods.size(); ++i) add_kept_runs(i);
    for (KeptTimes& times : result_.kept_times) {
      const uint64_t outside = std::accumulate(times.parts.begin(), times.parts.end(), uint64_t{0});
      times.unattributed = static_cast<double>(times.wall.ns - outside) - times.rows;
    }
  }

  // Only steps in which a method ran are runs of its trace.
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
      for (const inspector::RunSample& each : row.samples) {
        result_.kept_times[runs.steps[each.run]].rows += each.ns;
      }
    }
    result_.kept.push_back(std::move(runs));
  }

  // As in the inspector's profiles: over twice the median.
  void note_disturbed() {
    size_t count = 0;
    double more = 0;
    for (const StepWall& wall : result_.walls[kDecode]) {
      const auto ns = static_cast<double>(wall.ns);
      if (ns <= 2 * result_.token.p50) continue;
      ++count;
      more += ns - result_.token.p50;
    }
    if (count == 0) return;
    result_.notes.push_back(fmt::format(
        "{} of {} tokens took over twice the median, together {:.3g} ms more: they count "
        "in the rows",
        count, result_.walls[kDecode].size(), more / 1e6));
  }

  void write_notes() {
    note_disturbed();
    for (const TokenMethod& method : result_.methods) {
      for (const auto& names : method.names) {
        if (names) add_notes(names->notes);
      }
    }
    uint64_t dropped = 0;
    for (size_t i = 0; i < result_.methods.size(); ++i) dropped += profiler_.tracer(i).dropped();
    if (dropped != 0) {
      result_.notes.push_back(fmt::format(
          "{} records were over {} a step and are in no row: their time is unattributed", dropped,
          StepTracer::kRecordsAStep));
    }
  }

  void add_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
      const bool is_known = std::ranges::count(result_.notes, note) != 0;
      if (!is_known && note.find("not all runs executed") == std::string::npos) {
        result_.notes.push_back(note);
      }
    }
  }

  const TokenProfiler& profiler_;
  const TokenProfileFacts& facts_;
  const PhaseSums& decode_;
  std::map<RowKey, size_t> row_of_;
  size_t method_ = 0;  // whose rows are added
  TokenProfile result_;
};

}  // namespace

const char* part_name(Part part) {
  constexpr const char* kNames[] = {"tokenizer: prompt", "between steps",   "inputs and logits",
                                    "sampling",          "tokenizer: text", "output"};
  return kNames[static_cast<size_t>(part)];
}

const char* phase_name(Phase phase) { return phase == Phase::kPrefill ? "prefill" : "decode"; }

std::string step_name(Phase phase, const StepWall& step) {
  return fmt::format("{} at {}", phase_name(phase), step.position);
}

std::string method_names(const TokenProfile& profile) {
  std::string names;
  for (const TokenMethod& method : profile.methods) {
    names += (names.empty() ? "" : " + ") + method.name;
  }
  return names;
}

double tokens_per_second(const TokenProfile& profile, Phase phase) {
  const auto which = static_cast<size_t>(phase);
  const double ns = profile.wall.ns[which];
  return ns > 0 ? static_cast<double>(profile.tokens[which]) * 1e9 / ns : 0;
}

TokenProfile make_token_profile(const TokenProfiler& profiler, const Program& program,
                                std::span<const MethodMeta> methods,
                                const TokenProfileFacts& facts) {
  return Maker(profiler, facts).make(program, methods);
}

std::vector<std::byte> kept_etdump(const TokenProfiler& profiler, size_t method) {
  const StepTracer& tracer = profiler.tracer(method);
  const std::vector<const KeptStep*> kept = tracer.kept();
  size_t records = tracer.loading().size();
  for (const KeptStep* each : kept) records += each->records.size();
  TraceBuffer trace(records, kept.size() + 1);
  add_loading(tracer, trace);
  for (const KeptStep* each : kept) {
    if (!has_records(each)) continue;
    trace.begin_block("Execute");
    for (const TraceRecord& record : each->records) trace.record(record);
  }
  return bytes_of(trace);
}

}  // namespace vitrine::llm
