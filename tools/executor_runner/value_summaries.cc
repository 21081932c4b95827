#include "tools/executor_runner/value_summaries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>
#include <vector>

#include "inspector/report/report_summaries.h"
#include "tools/common/messages.h"
#include "tools/common/profile_report.h"
#include "tools/executor_runner/traced_program.h"

namespace vitrine::tools {
namespace {

using etdump::DebugTensor;

// Returns the summaries that `run` recorded in `values`, in run order, with types and profile rows.
inspector::SummarizedValues summarized_values(const TracedRun& run, const ValueBuffer& values,
                                              const std::string& method) {
  // The trace and `values` have the same order.
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
  // With the program's record, recorded_values() may list a value once for each node that may have
  // computed it.
  const inspector::ValueRun of_run = run.values(method);
  inspector::SummarizedValues result;
  const inspector::RecordedValues recorded =
      inspector::recorded_values(of_run.profile, of_run.trace, nullptr);
  for (const inspector::RecordedValue& value : recorded.values) {
    const auto entry = entry_of.find(value.tensor);
    // Skips a delegate's output if an operator inside the delegate recorded a value for the same
    // row.
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

}  // namespace

void run_value_summaries(const RunnerOptions& given) {
  RunnerOptions options = given;
  options.debug_outputs = true;
  TracedProgram program(session_options(options), options, ValueBuffer::Content::kSummaries);
  program.inputs.emplace(make_inputs(program.session, *program.method, options, program.trace));
  program.run(&program.trace);
  options.debug_outputs = false;  // no data to attach
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
    print_note(fmt::format("{} values are left out: the report contains at most {}",
                           program.values.dropped(), TracedProgram::kMaxSummaries));
  }
}

}  // namespace vitrine::tools
