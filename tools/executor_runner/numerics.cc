#include "tools/executor_runner/numerics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/text/number_texts.h"
#include "inspector/compare/numerics.h"
#include "inspector/report/report_numerics.h"
#include "inspector/report/report_summaries.h"
#include "tools/common/file_kind.h"
#include "tools/common/messages.h"
#include "tools/common/output_difference.h"
#include "tools/common/profile_report.h"
#include "tools/common/progress.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/traced_program.h"
#include "vitrine/half.h"

namespace vitrine::tools {
namespace {

using etdump::DebugTensor;
using inspector::RecomputedResults;
using inspector::RecomputedTensor;
using inspector::ReferenceResult;

// Calls visit(offset) with the offset of each element in memory, in row-major order.
template <class Visit>
void for_each_offset(const Tensor& tensor, Visit visit) {
  std::vector<int64_t> index(tensor.rank(), 0);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < index.size(); ++dim) offset += index[dim] * tensor.strides()[dim];
    visit(static_cast<size_t>(offset));
    for (size_t dim = index.size(); dim-- > 0;) {
      if (++index[dim] < tensor.size(dim)) break;
      index[dim] = 0;
    }
  }
}

RecomputedTensor copy_of(const Tensor& tensor) {
  RecomputedTensor copy{tensor.dtype(), {}};
  copy.bytes.resize(tensor.nbytes());
  const size_t width = tensor.element_size();
  const auto* from = static_cast<const std::byte*>(tensor.raw_data());
  std::byte* to = copy.bytes.data();
  for_each_offset(tensor, [&](size_t offset) {
    std::memcpy(to, from + offset * width, width);
    to += width;
  });
  return copy;
}

template <class T>
void store(std::byte* to, double value) {
  const T converted(static_cast<float>(value));
  std::memcpy(to, &converted, sizeof converted);
}

// Writes floating-point elements of any width. Other elements must have the tensor's dtype.
bool replace(Tensor& tensor, const DebugTensor& value) {
  const bool converts = is_floating(tensor.dtype()) && is_floating(value.dtype);
  if (!converts && tensor.dtype() != value.dtype) return false;
  const std::vector<std::byte> bytes = etdump::row_major_bytes(value);
  if (bytes.size() / element_size(value.dtype) != static_cast<size_t>(tensor.numel())) return false;
  auto* const memory = static_cast<std::byte*>(tensor.mutable_raw_data());
  const size_t width = tensor.element_size();
  size_t i = 0;
  for_each_offset(tensor, [&](size_t offset) {
    std::byte* const to = memory + offset * width;
    if (tensor.dtype() == value.dtype) {
      std::memcpy(to, bytes.data() + i * width, width);
    } else {
      const double element = inspector::element_as_double(bytes, value.dtype, i);
      switch (tensor.dtype()) {
        case ScalarType::kDouble:
          std::memcpy(to, &element, sizeof element);
          break;
        case ScalarType::kHalf:
          store<Half>(to, element);
          break;
        case ScalarType::kBFloat16:
          store<BFloat16>(to, element);
          break;
        default:
          store<float>(to, element);
      }
    }
    ++i;
  });
  return true;
}

// Keeps each result of the reference that has a replacement, and then replaces it.
class Replacer final : public EventTracer {
 public:
  explicit Replacer(std::map<ReferenceResult, const DebugTensor*> values)
      : values_(std::move(values)) {}

  void begin_block(const char*) override {}
  void record(const TraceRecord&) override {}
  bool record_results(const TraceRecord& step, std::span<EValue* const> arguments,
                      const Delegate* delegate) override {
    if (delegate != nullptr || step.kind != TraceRecord::Kind::kKernelCall || arguments.empty() ||
        step.chain_index != 0) {
      return true;
    }
    EValue& result = *arguments.back();  // the last argument repeats the operator's result
    if (result.is_tensor()) {
      take(step.instruction_id, 0, result.unchecked_tensor());
    } else if (std::span<Tensor* const> list; result.read_tensor_list(&list)) {
      for (size_t i = 0; i < list.size(); ++i) {
        if (list[i] != nullptr) take(step.instruction_id, i, *list[i]);
      }
    }
    return true;
  }

  RecomputedResults take_results() { return std::move(results_); }

 private:
  void take(int32_t instruction, size_t index, Tensor& tensor) {
    const auto found = values_.find({instruction, index});
    if (found == values_.end() || !tensor.is_writable() || tensor.raw_data() == nullptr) return;
    RecomputedTensor computed = copy_of(tensor);
    if (replace(tensor, *found->second)) results_[found->first] = std::move(computed);
  }

  std::map<ReferenceResult, const DebugTensor*> values_;
  RecomputedResults results_;
};

// The bytes of the reference if it is an exported model; empty if it is a program.
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
        "--reference {}: this program cannot lower: use 'vitrine run --numerics', or give a "
        "program lowered without a backend",
        options.reference.string()));
  }
  Progress progress("lowering the reference");
  return model_lowering()(options.reference, options.method, nullptr);
}

// Returns the values of the run in order. `values` are those of `program`.
inspector::SummarizedValues summarized_values(const TracedRun& run, const ValueBuffer& values,
                                              const std::string& method) {
  // The tensors of the dump are those of the buffer, in the same order.
  std::vector<const DebugTensor*> tensors;
  for (const etdump::Block& block : run.trace.blocks) {
    for (const etdump::DebugEvent& event : block.debug_events) {
      if (const auto* tensor = std::get_if<DebugTensor>(&event.value)) tensors.push_back(tensor);
      if (const auto* list = std::get_if<std::vector<DebugTensor>>(&event.value)) {
        for (const DebugTensor& tensor : *list) tensors.push_back(&tensor);
      }
    }
  }
  std::map<const DebugTensor*, const ValueBuffer::Entry*> entry_of;
  size_t next = 0;
  for (const ValueBuffer::Entry& entry : values.entries()) {
    if (entry.kind == ValueBuffer::Entry::Kind::kTensor) entry_of[tensors.at(next++)] = &entry;
  }
  // The record is not given, because it would repeat a value for each node that it may be.
  const inspector::ValueRun of_run = run.values(method);
  inspector::SummarizedValues result;
  const inspector::RecordedValues recorded =
      inspector::recorded_values(of_run.profile, of_run.trace, nullptr);
  for (const inspector::RecordedValue& value : recorded.values) {
    const auto entry = entry_of.find(value.tensor);
    // An output of a delegate is also the value of an operator.
    const bool is_repeated = !value.origin && value.row && recorded.has_values_of(*value.row);
    if (is_repeated || !value.row || entry == entry_of.end() ||
        entry->second->summary_offset == ValueBuffer::Entry::kNoData) {
      continue;
    }
    inspector::SummarizedValue summarized{
        .row = *value.row,
        .result = value.result,
        .type = fmt::format("{}[{}]", scalar_type_name(value.tensor->dtype),
                            fmt::join(value.tensor->sizes, ",")),
        .stored_as = {},
        .summary = values.summary(*entry->second)};
    if (value.origin) summarized.stored_as = value.origin->stored_as;
    result.push_back(std::move(summarized));
  }
  return result;
}

struct NumericsResult {
  inspector::Numerics numerics;
  inspector::Profile program;
  inspector::Profile reference;
  uint64_t dropped_values = 0;
};

// Measures a program against a reference.
class NumericsRun {
 public:
  // `lowered` are the bytes of the reference if it is an exported model, else empty.
  NumericsRun(const RunnerOptions& options, std::span<const std::byte> lowered)
      : options_(options), lowered_(lowered) {}

  // Returns the inputs for a program.
  using MakeInputs = std::function<InputSet(TracedProgram& program)>;

  NumericsResult measure(const MakeInputs& make_inputs) const {
    TracedProgram program(session_options(options_), options_);
    program.inputs.emplace(make_inputs(program));
    program.run(&program.trace);

    const SessionOptions sessions = reference_session(program.session.pool());
    TracedProgram reference(sessions, options_);
    reference.inputs.emplace(*reference.method, *program.inputs);
    reference.run(&reference.trace);

    const auto [name, reference_name] = short_names(options_.model, options_.reference);
    const TracedRun run = read_run(program, name, options_.model, options_.etrecord, 0, options_);
    const TracedRun reference_run = read_run(reference, reference_name, options_.reference,
                                             options_.reference_etrecord, 0, options_);
    const double limit = options_.fail_below.value_or(inspector::kDefaultNumericsLimitDb);
    inspector::ValueComparison comparison = inspector::compare_values(
        reference_run.values(options_.method), run.values(options_.method), limit);
    comparison.outputs = compare_outputs(*reference.method, *program.method);
    if (!comparison.has_figures()) throw ToolError(inspector::kNothingCompared);

    // Uses a new session, because the first run may have changed the state of the program.
    TracedProgram again(sessions, options_);
    again.inputs.emplace(*again.method, *program.inputs);
    Replacer replacer(inspector::replacements(comparison, reference_run.profile));
    again.run(&replacer);
    return {.numerics = inspector::measure_numerics(
                comparison, reference_run.values(options_.method), run.values(options_.method),
                replacer.take_results(), limit),
            .program = run.profile,
            .reference = reference_run.profile,
            .dropped_values = program.values.dropped() + reference.values.dropped()};
  }

  // Measures each sample of --inputs.
  NumericsResult measure_samples() const {
    const SampleQuery query = sample_query();
    std::vector<std::string> paths;
    for (const InputSpec& input : options_.inputs) paths.push_back(input.file.string());
    const std::vector<SampleFiles> samples = find_samples(paths, query);
    Progress progress("measuring samples");
    inspector::Numerics all;
    NumericsResult result;
    uint64_t dropped = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      progress.update(i, samples.size());
      result = measure(
          [&](TracedProgram& program) { return InputSet(*program.method, samples[i], query); });
      inspector::add_sample(all, std::move(result.numerics), samples[i].name);
      dropped += result.dropped_values;
    }
    result.numerics = std::move(all);
    result.dropped_values = dropped;
    const std::string source = fmt::format("{} of {}", inspector::counted(samples.size(), "sample"),
                                           fmt::join(paths, ", "));
    result.program.run.input_values = result.reference.run.input_values = source;
    return result;
  }

 private:
  SessionOptions reference_session(std::shared_ptr<ThreadPool> pool) const {
    SessionOptions options = session_options(options_);
    options.model = options_.reference;
    options.data = options_.reference_data;
    options.program = lowered_;
    options.pool = std::move(pool);
    options.optimized_kernels = false;
    return options;
  }

  SampleQuery sample_query() const {
    SampleQuery query{.option = "--inputs", .prefix = "input_", .inputs = {}};
    const Session session(session_options(options_));
    const MethodMeta meta = check(session.program()->method_meta(options_.method.c_str()));
    for (size_t i = 0; i < meta.num_inputs(); ++i) {
      if (meta.input_tag(i) != EValue::Tag::kTensor) continue;
      query.inputs.push_back(std::to_string(query.inputs.size()));
    }
    if (query.inputs.empty()) throw ToolError("--inputs: the method has no tensor inputs");
    return query;
  }

  const RunnerOptions& options_;
  std::span<const std::byte> lowered_;
};

std::string numerics_report(const NumericsResult& result, const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kCsv:
      return inspector::report_numerics_csv(result.numerics, result.program);
    case ReportFormat::kJson:
      return inspector::report_numerics_json(result.numerics, result.program, result.reference);
    default:
      return inspector::report_numerics(result.numerics, result.program, result.reference,
                                        table_options(options));
  }
}

}  // namespace

void run_value_summaries(const RunnerOptions& given) {
  RunnerOptions options = given;
  options.debug_outputs = true;
  TracedProgram program(session_options(options), options, ValueBuffer::Content::kSummaries);
  program.inputs.emplace(make_inputs(program.session, *program.method, options, program.trace));
  program.run(&program.trace);
  options.debug_outputs = false;  // there are no data to attach
  const TracedRun run = read_run(program, options.model.filename().string(), options.model,
                                 options.etrecord, 0, options);
  const inspector::SummarizedValues values = summarized_values(run, program.values, options.method);
  const auto report = [&] {
    switch (options.report.format) {
      case ReportFormat::kCsv:
        return inspector::report_summaries_csv(values, run.profile);
      case ReportFormat::kJson:
        return inspector::report_summaries_json(values, run.profile);
      default:
        return inspector::report_summaries(values, run.profile, table_options(options.report));
    }
  };
  write_report(report(), options.report);
  if (program.values.dropped() != 0) {
    print_note(fmt::format("{} values are left out: the report has room for {}",
                           program.values.dropped(), TracedProgram::kMaxSummaries));
  }
}

int run_numerics(const RunnerOptions& given) {
  RunnerOptions options = given;
  options.debug_outputs = true;
  const std::vector<std::byte> lowered = lower_reference(options);
  const NumericsRun numerics_run(options, lowered);
  NumericsResult result;
  if (!options.has_samples) {
    result = numerics_run.measure([&](TracedProgram& program) {
      return make_inputs(program.session, *program.method, options, program.trace);
    });
  } else {
    result = numerics_run.measure_samples();
  }
  write_report(numerics_report(result, options.report), options.report);
  if (result.dropped_values != 0) {
    print_note(fmt::format(
        "{} values did not fit into memory and are not measured: raise --debug_buffer_size",
        result.dropped_values));
  }
  return options.fail_below && result.numerics.first_below ? kExitBeyondLimit : 0;
}

}  // namespace vitrine::tools
