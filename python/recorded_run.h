// Runs a program once and records the results of its instructions. Compares two such runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "formats/bundled_program/bundled_program.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/compare/value_comparison.h"
#include "inspector/join/profile.h"
#include "runtime/extension/trace_buffer.h"
#include "runtime/extension/value_buffer.h"
#include "tools/common/session.h"
#include "tools/executor_runner/options.h"

namespace vitrine::python {

class RecordedRun {
 public:
  // If `inputs` is null, tools::make_inputs() makes the inputs. Random inputs are equal for all
  // programs with the same input shapes and dtypes. Throws HostError, for example if the results
  // take more than `max_bytes`.
  RecordedRun(const tools::SessionOptions& session_options, const tools::RunnerOptions& options,
              uint64_t max_bytes, const bundled::TestSet* inputs);

  const inspector::Profile& profile() const { return profile_; }
  // Compares the results of `b` with this run, which is the reference. Throws HostError if a run
  // recorded no results.
  inspector::ValueComparison compare(const RecordedRun& b, double min_sqnr_db) const;

 private:
  inspector::ValueRun values() const;

  ValueBuffer values_;
  TraceBuffer trace_;
  tools::Session session_;
  std::unique_ptr<Method> method_;
  etdump::EtDump dump_;
  std::optional<etrecord::EtRecord> record_;
  inspector::Profile profile_;
};

}  // namespace vitrine::python
