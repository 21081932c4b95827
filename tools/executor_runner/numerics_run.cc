#include "tools/executor_runner/numerics_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/text/number_texts.h"
#include "formats/etdump/etdump_writer.h"
#include "tools/common/file_kind.h"
#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/output_difference.h"
#include "tools/common/profile_report.h"
#include "tools/common/progress.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/profile_run.h"
#include "tools/executor_runner/value_replacer.h"

namespace vitrine::tools {
namespace {

SampleQuery sample_query(const RunnerOptions& options, const SessionOptions& session_options,
                         const char* option) {
  SampleQuery query{.option = option, .prefix = "input_", .inputs = {}};
  const Session session(session_options);
  const MethodMeta meta = check(session.program()->method_meta(options.method.c_str()));
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    if (meta.input_tag(i) != EValue::Tag::kTensor) continue;
    query.inputs.push_back(std::to_string(query.inputs.size()));
  }
  if (query.inputs.empty())
    throw ToolError(fmt::format("{}: the method has no tensor inputs", option));
  return query;
}

}  // namespace

std::vector<std::byte> lower_reference(const RunnerOptions& options) {
  const std::unique_ptr<DataSource> file = check(map_file(options.reference.c_str()));
  const DataBuffer bytes = check(file->read(0, file->size()));
  check_kind(options.reference, bytes.bytes(), "an exported model (.pt2) or a program (.pte)",
             {FileKind::kExportedModel, FileKind::kNativeModel, FileKind::kArchive,
              FileKind::kProgram, FileKind::kBundledProgram});
  const std::optional<FileKind> kind = find_file_kind(bytes.bytes());
  if (kind == FileKind::kProgram || kind == FileKind::kBundledProgram) return {};
  if (model_lowering() == nullptr) {
    throw ToolError(fmt::format(
        "--reference {}: this tool cannot lower models: use 'vitrine run --numerics', or give "
        "a program lowered without a backend",
        options.reference.string()));
  }
  Progress progress("lowering the reference");
  return model_lowering()(options.reference, options.method, nullptr);
}

std::vector<NumericsSample> find_numerics_samples(const RunnerOptions& options,
                                                  const SessionOptions& session,
                                                  const char* option) {
  if (!options.has_samples) {
    return {{"", [&options](TracedProgram& program) {
               return make_inputs(program.session, *program.method, options, program.trace);
             }}};
  }
  const SampleQuery query = sample_query(options, session, option);
  std::vector<std::string> paths;
  for (const InputSpec& input : options.inputs) paths.push_back(input.file.string());
  std::vector<NumericsSample> samples;
  for (const SampleFiles& sample : find_samples(paths, query)) {
    samples.push_back({sample.name, [sample, query](TracedProgram& program) {
                         return InputSet(*program.method, sample, query);
                       }});
  }
  return samples;
}

SessionOptions NumericsRun::reference_session(std::shared_ptr<ThreadPool> pool) const {
  SessionOptions options = session_;
  options.model = options_.reference;
  options.data = options_.reference_data;
  options.program = lowered_;
  options.pool = std::move(pool);
  options.optimized_kernels = false;
  return options;
}

NumericsResult NumericsRun::measure(const NumericsSample& sample,
                                    std::unique_ptr<InputSet>& inputs) const {
  TracedProgram program(session_, options_);
  if (inputs == nullptr) {
    program.inputs.emplace(sample.make_inputs(program));
  } else {
    program.inputs.emplace(*program.method, *inputs);
  }
  program.run(&program.trace);

  const SessionOptions sessions = reference_session(program.session.pool());
  TracedProgram reference(sessions, options_);
  try {
    reference.inputs.emplace(*reference.method, *program.inputs);
    reference.run(&reference.trace);
  } catch (const ToolError& error) {
    throw ToolError(fmt::format("--reference {}: {} (A is the program, B the reference)",
                                options_.reference.string(), error.what()),
                    error.code());
  }

  const uint64_t dropped = program.values.dropped() + reference.values.dropped();
  if (dropped != 0 && (program.values.entries().empty() || reference.values.entries().empty())) {
    throw ToolError(fmt::format(
        "no value fits into {} bytes: raise the limit (--debug_buffer_size; max_bytes in Python)",
        options_.debug_buffer_bytes));
  }

  const auto [name, reference_name] = short_names(options_.model, options_.reference);
  const TracedRun run = read_run(program, name, options_.model, options_.etrecord, 0, options_);
  const TracedRun reference_run = read_run(reference, reference_name, options_.reference,
                                           options_.reference_etrecord, 0, options_);
  const double limit = options_.fail_below.value_or(inspector::kDefaultNumericsLimitDb);
  inspector::ValueComparison comparison = inspector::compare_values(
      reference_run.values(options_.method), run.values(options_.method), limit);
  comparison.outputs = compare_outputs(*reference.method, *program.method);
  if (!comparison.has_figures()) throw ToolError(inspector::kNothingCompared);

  // The first run may have changed the program's state.
  TracedProgram again(sessions, options_);
  again.inputs.emplace(*again.method, *program.inputs);
  ValueReplacer replacer(inspector::replacements(comparison, reference_run.profile));
  again.run(&replacer);
  if (inputs == nullptr) inputs = std::make_unique<InputSet>(std::move(*program.inputs));
  return {.numerics = inspector::measure_numerics(comparison, reference_run.values(options_.method),
                                                  run.values(options_.method),
                                                  replacer.take_results(), limit),
          .program = run.profile,
          .reference = reference_run.profile,
          .timed = std::nullopt,
          .dropped_values = dropped};
}

inspector::Profile NumericsRun::measure_times(const InputSet& inputs) const {
  RunnerOptions options = options_;
  options.debug_outputs = false;
  TracedProgram program(session_, options);
  program.inputs.emplace(*program.method, inputs);
  inspector::RunInfo runs =
      profiled_runs(program.session, *program.method, *program.inputs, program.trace, options);
  const std::vector<uint8_t> dump = check(write_etdump(program.trace));
  return profile_of_trace(std::as_bytes(std::span(dump.data(), dump.size())), std::move(runs),
                          *program.session.program(), options);
}

std::vector<NumericsResult> measure_numerics(std::span<const NumericsRun> runs,
                                             std::span<const NumericsSample> samples, bool times) {
  std::vector<NumericsResult> all(runs.size());
  Progress progress("measuring samples");
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i > 0 && stop_flag()) {
      print_note(
          fmt::format("interrupted: the figures cover only {} of {} samples", i, samples.size()));
      break;
    }
    if (samples.size() > 1) progress.update(i, samples.size());
    const bool is_last = i + 1 == samples.size();
    std::unique_ptr<InputSet> inputs;
    for (size_t run = 0; run < runs.size(); ++run) {
      NumericsResult result = runs[run].measure(samples[i], inputs);
      if (samples[i].name.empty()) {
        all[run] = std::move(result);
      } else {
        result.dropped_values += all[run].dropped_values;
        inspector::Numerics numerics = std::move(all[run].numerics);
        inspector::add_sample(numerics, std::move(result.numerics), samples[i].name);
        all[run] = std::move(result);
        all[run].numerics = std::move(numerics);
      }
      if (times && is_last) all[run].timed = runs[run].measure_times(*inputs);
    }
  }
  return all;
}

}  // namespace vitrine::tools
