#include "python/numerics.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/text/number_texts.h"
#include "inspector/report/report_numerics.h"
#include "inspector/report/report_numerics_html.h"
#include "tools/common/tool_error.h"

namespace vitrine::python {
namespace {

std::vector<tools::NumericsSample> samples_of(const tools::SessionOptions& session,
                                              const tools::RunnerOptions& options,
                                              const NumericsSettings& settings,
                                              const std::vector<bundled::TestSet>& inputs) {
  if (inputs.empty()) return tools::find_numerics_samples(options, session, "samples");
  std::vector<tools::NumericsSample> samples;
  for (const bundled::TestSet& set : inputs) {
    const std::string label = settings.has_one_input ? "arguments of numerics()"
                                                     : fmt::format("sample {}", samples.size());
    samples.push_back({settings.has_one_input ? "" : label, [&set, label](auto& program) {
                         return tools::InputSet(*program.method, set, label);
                       }});
  }
  return samples;
}

}  // namespace

PythonNumerics::PythonNumerics(const tools::SessionOptions& session,
                               const tools::RunnerOptions& given, const NumericsSettings& settings,
                               const std::vector<bundled::TestSet>& inputs) {
  tools::RunnerOptions options = given;
  options.debug_outputs = true;
  options.trace_records = TraceBuffer::kDefaultRecords;
  options.debug_buffer_bytes = settings.max_bytes;
  options.fail_below = settings.limit;
  options.reference = settings.reference;
  options.reference_etrecord = settings.reference_record;
  options.has_samples = !settings.samples.empty();
  for (const std::string& path : settings.samples) options.inputs.push_back({path, {}});
  std::vector<std::byte> lowered;
  if (settings.reference_bytes.empty()) {
    lowered = tools::lower_reference(options);
  } else {
    const auto bytes = std::as_bytes(std::span(settings.reference_bytes));
    lowered.assign(bytes.begin(), bytes.end());
    options.reference = "reference in memory";
  }
  const std::vector<tools::NumericsSample> samples = samples_of(session, options, settings, inputs);
  const tools::NumericsRun run(options, session, lowered);
  result_ = std::move(tools::measure_numerics({&run, 1}, samples, settings.times)[0]);
  if (result_.dropped_values != 0) {
    throw tools::ToolError(fmt::format("{} results do not fit into {} bytes: raise max_bytes",
                                       result_.dropped_values, settings.max_bytes));
  }
  if (samples.size() > 1) {
    result_.program.run.input_values = inspector::counted(samples.size(), "sample");
  }
}

std::string PythonNumerics::json() const {
  return inspector::report_numerics_json(result_.numerics, result_.program, result_.reference,
                                         result_.timed ? &*result_.timed : nullptr);
}

std::string PythonNumerics::table(size_t width) const {
  return inspector::report_numerics(result_.numerics, result_.program, result_.reference,
                                    {.width = width});
}

std::string PythonNumerics::html() const {
  return inspector::report_numerics_html(result_.numerics, result_.program, result_.reference,
                                         result_.timed ? &*result_.timed : nullptr);
}

}  // namespace vitrine::python
