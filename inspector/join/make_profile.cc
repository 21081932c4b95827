#include "inspector/join/make_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "inspector/join/cost.h"
#include "inspector/join/device_queues.h"
#include "inspector/join/op_names.h"
#include "inspector/join/source_join.h"
#include "inspector/join/statistics.h"
#include "inspector/join/trace_rows.h"

namespace vitrine::inspector {
namespace {

using etrecord::EdgeGraph;
using etrecord::EtRecord;
using etrecord::MethodRecord;

const MethodRecord* method_record(const EtRecord* record, const std::string& method,
                                  std::vector<std::string>& notes) {
  if (record == nullptr) return nullptr;
  const auto found = record->methods.find(method);
  if (found != record->methods.end()) return &found->second;
  std::string known;
  for (const auto& [name, unused] : record->methods) {
    known += known.empty() ? "" : ", ";
    known += name;
  }
  notes.push_back(fmt::format(
      "the record has no method \"{}\" (it has {}): rows are not joined with source ops", method,
      known));
  return nullptr;
}

// Gives each delegate instruction of the record and the trace a partition number, from 0.
std::map<InstructionId, int> number_partitions(const MergedTrace& trace,
                                               const MethodRecord* method) {
  std::set<InstructionId> instructions;
  for (const auto& [instruction, call] : trace.calls) instructions.insert(instruction);
  if (method != nullptr) {
    for (const auto& [index, entry] : method->delegates) instructions.insert({0, index});
  }
  std::map<InstructionId, int> partitions;
  int next = 0;
  for (const InstructionId instruction : instructions) partitions[instruction] = next++;
  return partitions;
}

// Adds the backends that the record names.
ProgramDelegates with_backends(ProgramDelegates program, const MethodRecord* method) {
  if (method == nullptr) return program;
  for (const auto& [instruction, entry] : method->delegates) {
    program.try_emplace(instruction, ProgramDelegate{entry.backend, {}});
  }
  return program;
}

class ProfileMaker {
 public:
  ProfileMaker(const etdump::EtDump& dump, const EtRecord* record, const ProfileOptions& options)
      : delegates_(options.delegates),
        method_(method_record(record, options.method, profile_.notes)),
        program_(with_backends(options.program, method_)),
        trace_(merge_runs(dump, delegates_, program_)),
        join_(join_sources(trace_, method_, delegates_, program_)),
        partitions_(number_partitions(trace_, method_)) {
    profile_.method = options.method;
    profile_.run = options.run;
    if (record != nullptr && profile_.run.record.empty()) profile_.run.record = "an ETRecord";
  }

  Profile make() {
    // If all runs of the trace are warm-up runs, all of them count.
    window_ = {.cold = trace_.cold_runs < trace_.wall_ns.size() ? trace_.cold_runs : 0,
               .all = trace_.wall_ns.size()};
    profile_.runs = window_.counted();
    profile_.cold_runs = window_.cold;
    profile_.incomplete_runs = trace_.incomplete_runs;
    profile_.dropped_records = trace_.dropped_records;
    profile_.dropped_blocks = trace_.dropped_blocks;
    profile_.runs_differ = trace_.runs_differ;
    if (profile_.runs == 0) {
      throw InspectorError(
          "the trace has no complete run (an event Method::execute in a block without dropped "
          "records): trace at least one run, or use a larger trace buffer");
    }
    for (const auto& [name, ns] : {std::pair("Method::init", &RunInfo::init_ns),
                                   std::pair("Method::init_delegates", &RunInfo::pack_ns),
                                   std::pair("Method::plan_delegates", &RunInfo::plan_ns)}) {
      if ((profile_.run.*ns).has_value()) continue;
      for (const Scope& scope : trace_.scopes) {
        if (scope.name == name) profile_.run.*ns = static_cast<uint64_t>(scope.ns);
      }
    }
    profile_.wall_samples = dense(trace_.wall_ns);
    profile_.wall = statistics_of(profile_.wall_samples, window_);
    std::vector<std::optional<Cost>> costs;
    if (method_ != nullptr) costs = row_costs(join_.rows, graph());
    for (size_t i = 0; i < trace_.rows.size(); ++i) {
      add_row(trace_.rows[i], join_.rows[i]);
      add_cost(i < costs.size() ? costs[i] : std::nullopt);
    }
    name_served_rows();
    find_instructions();
    for (const auto& [instruction, call] : trace_.calls) add_call(instruction, call);
    add_unattributed();
    add_timeline();
    write_notes();
    std::vector<const DeviceQueue*> queues;
    for (const TraceRow& row : trace_.rows) queues.push_back(row.queue);
    split_queues(profile_, queues, window_);
    add_shares(profile_);
    for (Profile& queue : profile_.queues) add_shares(queue);
    return std::move(profile_);
  }

 private:
  const EdgeGraph& graph() const { return method_->graph; }

  void write_place(const TraceRow& trace_row, ProfileRow& row) const {
    row.instruction = trace_row.instruction.index;
    row.kernel = trace_row.kernel;
    row.library = trace_row.library;
    switch (trace_row.kind) {
      case TraceRow::Kind::kKernel:
        row.where = Where::kKernel;
        break;
      case TraceRow::Kind::kControl:
        row.where = Where::kControl;
        break;
      case TraceRow::Kind::kDelegateOperator:
        row.identifier = std::string(!trace_row.identifier.empty() ? trace_row.identifier
                                                                   : trace_row.delegate_name);
        if (trace_row.delegate_id != etdump::kUnset) {
          row.identifier = std::to_string(trace_row.delegate_id);
        }
        row.phase = trace_row.phase;
        // Some backends log the kernel name as the identifier.
        if (row.kernel.empty()) row.kernel = trace_row.delegate_name;
        [[fallthrough]];
      case TraceRow::Kind::kDelegateCall:
        if (trace_row.kind == TraceRow::Kind::kDelegateCall &&
            trace_.calls.at(trace_row.instruction).rows.size() > 1) {
          row.phase = "call";
        }
        row.where = Where::kDelegate;
        row.delegate = join_.calls.at(trace_row.instruction).delegate;
        if (const DelegateProfile* profile = find_profile(delegates_, row.delegate)) {
          row.delegate_name = profile->name();
          row.delegate_short_name = profile->short_name();
          row.short_kernel = profile->short_kernel_name(row.kernel);
        }
        row.partition = partitions_.at(trace_row.instruction);
        break;
    }
  }

  void write_source(const RowSource& source, ProfileRow& row) const {
    row.join = source.join;
    row.source_ops = source.inferred_ops;
    row.folded_ops = source.inferred_folds;
    row.modules.resize(row.source_ops.size());
    row.source_lines.resize(row.source_ops.size());
    row.model_lines.resize(row.source_ops.size());
    row.has_all_ops_of_call = source.has_all_ops_of_call;
    row.payload_operator = source.payload_operator;
    row.folded_modules.resize(row.folded_ops.size());
    for (const size_t node : source.nodes) {
      row.source_ops.push_back(graph().nodes[node].target);
      row.modules.push_back(graph().nodes[node].module_path);
      row.source_lines.push_back(graph().nodes[node].source_line);
      row.model_lines.push_back(graph().nodes[node].model_line);
    }
    for (const size_t node : source.folded_nodes) {
      row.folded_ops.push_back(graph().nodes[node].target);
      row.folded_modules.push_back(graph().nodes[node].module_path);
    }
    row.main_op = source.main_node;
    row.debug_handles = source.handles;
    row.is_inserted = source.is_inserted;
    if (source.serves.has_value()) row.inserted_for_row = *source.serves + 1;
  }

  void add_row(const TraceRow& trace_row, const RowSource& source) {
    ProfileRow row;
    write_place(trace_row, row);
    write_source(source, row);
    row.calls = calls_per_run(trace_row.times);
    row.samples = trace_row.times.samples();
    row.inner_time = trace_row.inner_times.samples();
    row.time = statistics_of(row.samples, window_);
    profile_.rows.push_back(std::move(row));
  }

  void add_cost(const std::optional<Cost>& cost_per_call) {
    if (!cost_per_call.has_value()) return;
    ProfileRow& row = profile_.rows.back();
    row.cost = cost_per_call;
    row.cost->flops *= row.calls;
    row.cost->bytes *= row.calls;
  }

  double calls_per_run(const RunTimes& times) const {
    return static_cast<double>(times.calls_from(window_.cold)) / static_cast<double>(profile_.runs);
  }

  static RunSamples dense(const std::vector<double>& ns) {
    RunSamples samples;
    samples.reserve(ns.size());
    for (size_t run = 0; run < ns.size(); ++run) {
      samples.push_back({static_cast<uint32_t>(run), ns[run]});
    }
    return samples;
  }

  void name_served_rows() {
    for (ProfileRow& row : profile_.rows) {
      if (row.inserted_for_row.has_value()) {
        row.inserted_for = profile_.rows[*row.inserted_for_row - 1].source_ops;
      }
    }
  }

  // Assigns each node to one instruction. Nodes that share a debug handle may belong to rows of
  // several instructions.
  void find_instructions() {
    if (method_ == nullptr) return;
    for (size_t i = 0; i < trace_.rows.size(); ++i) {
      const TraceRow& row = trace_.rows[i];
      if (row.kind != TraceRow::Kind::kKernel) continue;
      for (const size_t node : join_.rows[i].nodes) {
        if (base_name(graph().nodes[node].target) != base_name(row.kernel)) continue;
        if (instruction_of_node_.try_emplace(node, row.instruction).second) break;
      }
    }
    for (size_t i = 0; i < trace_.rows.size(); ++i) {
      const RowSource& source = join_.rows[i];
      const InstructionId instruction = trace_.rows[i].instruction;
      if (!join_.calls.contains(instruction) || source.has_all_ops_of_call) continue;
      if (source.main_node < source.nodes.size()) {
        instruction_of_node_.try_emplace(source.nodes[source.main_node], instruction);
      }
      for (const size_t node : source.folded_nodes) {
        instruction_of_node_.try_emplace(node, instruction);
      }
    }
    for (const auto& [instruction, call] : join_.calls) {
      for (const size_t node : call.nodes) instruction_of_node_.try_emplace(node, instruction);
    }
  }

  void add_call(InstructionId instruction, const TraceCall& call) {
    const CallSource& source = join_.calls.at(instruction);
    DelegateCall out;
    out.delegate = source.delegate;
    out.partition = partitions_.at(instruction);
    out.instruction = instruction.index;
    out.operators = static_cast<size_t>(std::ranges::count_if(call.rows, [&](size_t row) {
      const bool is_call = trace_.rows[row].kind == TraceRow::Kind::kDelegateCall;
      return trace_.rows[row].phase.empty() && (!is_call || call.rows.size() == 1);
    }));
    out.derived_times = !source.derived_times.empty();
    for (const size_t node : source.nodes) {
      if (instruction_of_node_.at(node) != instruction) continue;
      out.source_ops.push_back(graph().nodes[node].target);
    }
    out.calls = calls_per_run(call.times);
    out.samples = call.times.samples();
    out.time = statistics_of(out.samples, window_);
    profile_.delegate_calls.push_back(std::move(out));
  }

  void add_unattributed() {
    std::vector<double> rest = trace_.wall_ns;
    for (const TraceRow& row : trace_.rows) {
      if (row.queue == nullptr) row.times.subtract_from(rest);
    }
    profile_.unattributed_samples = dense(rest);
    profile_.unattributed = statistics_of(profile_.unattributed_samples, window_);
  }

  static void add_shares(Profile& profile) {
    double sum = std::max(profile.typical(profile.unattributed), 0.0);
    for (const ProfileRow& row : profile.rows) sum += profile.typical(row.time);
    if (sum <= 0) return;
    for (ProfileRow& row : profile.rows) row.share = profile.typical(row.time) / sum;
  }

  void add_timeline() {
    profile_.scopes = std::move(trace_.scopes);
    profile_.timeline = std::move(trace_.events);
  }

  void write_notes() {
    std::vector<std::string>& notes = profile_.notes;
    notes.insert(notes.end(), join_.notes.begin(), join_.notes.end());
    std::vector<std::string>& warnings = profile_.run.warnings;
    warnings.insert(warnings.end(), join_.warnings.begin(), join_.warnings.end());
    if (profile_.runs_differ) {
      notes.emplace_back(
          "not all runs executed the same instructions: times are averages, and a row that a run "
          "did not execute counts as 0 in that run");
    }
    note_outliers();
    if (profile_.incomplete_runs != 0 || profile_.dropped_records != 0 ||
        profile_.dropped_blocks != 0) {
      notes.push_back(fmt::format(
          "{} records and {} blocks did not fit into the trace; {} incomplete runs are left out of "
          "all figures",
          profile_.dropped_records, profile_.dropped_blocks, profile_.incomplete_runs));
    }
    std::set<std::string_view> reasons;
    for (const auto& [instruction, call] : join_.calls) {
      if (!call.derived_times.empty() && reasons.insert(call.derived_times).second) {
        notes.emplace_back(call.derived_times);
      }
    }
    note_figures();
    if (trace_.reversed_events != 0) {
      notes.push_back(
          fmt::format("{} events of device queues end before they start; their times count as 0",
                      trace_.reversed_events));
    }
    if (profile_.typical(profile_.unattributed) < 0) {
      notes.emplace_back("rows add up to more than the wall time: events of this trace overlap");
    }
  }

  // Adds a note with the figures that delegates logged (EventMeaning::Kind::kFigure).
  void note_figures() {
    constexpr size_t kMaxNotes = 12;
    std::string text;
    size_t count = 0;
    for (const auto& [key, value] : trace_.figures) {
      if (count++ >= kMaxNotes) continue;
      text += fmt::format("{}instruction {}: {} {:.0f}", text.empty() ? "" : "; ", key.first.index,
                          key.second, value);
    }
    if (count == 0) return;
    if (count > kMaxNotes) text += fmt::format("; {} more", count - kMaxNotes);
    profile_.notes.push_back("figures that delegates logged in the last run: " + text);
  }

  // Adds a note about the runs that took more than twice the median. Adds no note if the runs
  // executed different instructions, because different times are then normal.
  void note_outliers() {
    if (profile_.runs_differ) return;
    const std::vector<uint32_t> outliers = outliers_of(profile_.wall_samples, window_);
    profile_.outlier_runs = outliers.size();
    if (outliers.empty()) return;
    double ns = 0;
    for (const uint32_t run : outliers) ns += profile_.wall_samples[run].ns - profile_.wall.p50;
    const bool is_short = ns < 999'500;  // otherwise the text would be "1e+03 us"
    profile_.notes.push_back(fmt::format(
        "{} of {} runs took more than twice the median, {:.3g} {} longer in total", outliers.size(),
        profile_.runs, ns / (is_short ? 1e3 : 1e6), is_short ? "us" : "ms"));
  }

  // `profile_` comes first, because the initialization of later members adds notes to it.
  Profile profile_;
  DelegateProfiles delegates_;
  const MethodRecord* method_;
  ProgramDelegates program_;
  MergedTrace trace_;
  SourceJoin join_;
  std::map<InstructionId, int> partitions_;
  RunWindow window_;
  std::map<size_t, InstructionId> instruction_of_node_;
};

}  // namespace

Profile make_profile(const etdump::EtDump& trace, const EtRecord* record,
                     const ProfileOptions& options) {
  return ProfileMaker(trace, record, options).make();
}

}  // namespace vitrine::inspector
