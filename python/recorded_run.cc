#include "python/recorded_run.h"

#include <fmt/format.h>

#include <vector>

#include "formats/etdump/etdump_writer.h"
#include "inspector/join/make_profile.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/output_difference.h"
#include "tools/common/program_record.h"
#include "tools/common/provenance.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/outputs.h"

namespace vitrine::python {

using tools::check;

RecordedRun::RecordedRun(const tools::SessionOptions& session_options,
                         const tools::RunnerOptions& options, uint64_t max_bytes,
                         const bundled::TestSet* given)
    : values_(max_bytes),
      trace_(TraceBuffer::kDefaultRecords, TraceBuffer::kDefaultBlocks, &values_),
      session_(session_options),
      method_(session_.load_method(options.method, &trace_)) {
  tools::InputSet inputs = given == nullptr
                               ? tools::make_inputs(session_, *method_, options, trace_)
                               : tools::InputSet(*method_, *given, "record_values");
  inputs.apply(*method_);
  check(method_->execute());
  if (values_.dropped() != 0) {
    throw tools::ToolError(fmt::format("{} results do not fit into {} bytes: raise max_bytes",
                                       values_.dropped(), max_bytes));
  }
  const std::vector<uint8_t> bytes = check(write_etdump(trace_));
  dump_ = etdump::parse_etdump(std::as_bytes(std::span(bytes.data(), bytes.size())));
  etdump::attach_debug_data(dump_, values_.data());
  inspector::ProfileOptions facts;
  record_ = tools::record_for_program(*session_.program(), options.etrecord, facts.run.warnings);
  facts.delegates = tools::all_delegate_profiles();
  facts.method = options.method;
  facts.run.model = options.model.filename().string();
  facts.run.inputs = inputs.descriptions();
  facts.run.outputs = tools::describe_outputs(*method_);
  facts.run.record = options.etrecord.filename().string();
  if (record_ && facts.run.record.empty()) facts.run.record = facts.run.model;
  facts.run.threads = static_cast<uint32_t>(session_.pool()->threads());
  tools::add_provenance(facts.run, options.model, inputs.source());
  profile_ = inspector::make_profile(dump_, record_ ? &*record_ : nullptr, facts);
}

inspector::ValueRun RecordedRun::values() const {
  const etrecord::MethodRecord* record = nullptr;
  if (record_) {
    const auto found = record_->methods.find(profile_.method);
    if (found != record_->methods.end()) record = &found->second;
  }
  return {profile_, dump_, record};
}

inspector::ValueComparison RecordedRun::compare(const RecordedRun& b, double min_sqnr_db) const {
  inspector::ValueComparison comparison =
      inspector::compare_values(values(), b.values(), min_sqnr_db);
  comparison.outputs = tools::compare_outputs(*method_, *b.method_);
  return comparison;
}

}  // namespace vitrine::python
