#include "test/corpus_check/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "runtime/extension/trace_buffer.h"

namespace vitrine::corpus {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;  // touched only as far as it is used
constexpr size_t kMaxValues = size_t{1} << 17;

using Place = std::pair<int32_t, int32_t>;  // chain and instruction

struct Capture {
  explicit Capture(ValueBuffer::Content content) : values(kMaxBytes, kMaxValues, content) {}

  CaseResult run(const Case& test_case, RunOptions options);

  ValueBuffer values;
  TraceBuffer trace{TraceBuffer::kDefaultRecords, TraceBuffer::kDefaultBlocks, &values};
  std::vector<std::vector<std::byte>> outputs;
  std::string missing;  // result of missing_value() for the first incomplete block
};

bool has_value(TraceRecord::Kind kind) {
  return kind == TraceRecord::Kind::kKernelCall || kind == TraceRecord::Kind::kDelegateOperator;
}

// Describes an instruction of the block that has fewer values than operators. Returns an empty
// string if no value is missing.
std::string missing_value(Capture& run, const TraceBuffer::Block& block) {
  std::map<Place, size_t> values;
  const auto entries = run.values.entries().subspan(block.first_value, block.value_count);
  for (const ValueBuffer::Entry& entry : entries) {
    const TracedValue& source = entry.source;
    const bool is_delegate_output = source.operator_index == TracedValue::kNoOperator &&
                                    source.delegate_debug_id != kUnsetDelegateDebugId;
    if (source.is_method_output || is_delegate_output || source.result != 0) continue;
    ++values[{source.chain_index, source.instruction_id}];
  }
  std::map<Place, size_t> operators;
  std::map<Place, std::string> names;
  for (const TraceRecord& record : run.trace.records(block)) {
    const std::string_view metadata(record.metadata == nullptr ? "" : record.metadata,
                                    record.metadata == nullptr ? 0 : record.metadata_size);
    const std::string_view name = record.name == nullptr ? metadata : record.name;
    if (!has_value(record.kind) || name == "xnnpack.plan") continue;
    const Place place{record.chain_index, record.instruction_id};
    ++operators[place];
    names[place] = name;
  }
  for (const auto& [place, count] : operators) {
    if (values[place] >= count) continue;
    return fmt::format("chain {}, instruction {} ({}): {} of {} operators have a value",
                       place.first, place.second, names[place], values[place], count);
  }
  return "";
}

CaseResult Capture::run(const Case& test_case, RunOptions options) {
  options.tracer = &trace;
  options.outputs = &outputs;
  options.finish = [&] {
    for (const TraceBuffer::Block& block : trace.blocks()) {
      if (missing.empty()) missing = missing_value(*this, block);
    }
  };
  return run_case(test_case, options);
}

}  // namespace

CaseResult check_capture(const Case& test_case, const RunOptions& options) {
  RunOptions plain = options;
  std::vector<std::vector<std::byte>> expected;
  plain.outputs = &expected;
  CaseResult result = run_case(test_case, plain);
  if (result.status != CaseResult::Status::kPassed) return result;
  const auto fail = [&](std::string reason) {
    result.status = CaseResult::Status::kFailed;
    result.reason = std::move(reason);
    return result;
  };
  size_t bytes[2] = {};
  size_t largest = 0;
  for (const auto content : {ValueBuffer::Content::kValues, ValueBuffer::Content::kSummaries}) {
    const bool is_full = content == ValueBuffer::Content::kValues;
    const char* name = is_full ? "full" : "reduced";
    Capture capture(content);
    const CaseResult captured = capture.run(test_case, options);
    if (captured.status != CaseResult::Status::kPassed) return captured;
    if (capture.outputs != expected) return fail(fmt::format("{} capture changes outputs", name));
    if (capture.values.dropped() != 0) {
      return fail(fmt::format("{} capture drops {} values", name, capture.values.dropped()));
    }
    if (!capture.missing.empty()) return fail(fmt::format("{} capture: {}", name, capture.missing));
    bytes[is_full ? 0 : 1] = capture.values.data().size();
    uint64_t last = capture.values.data().size();
    const auto entries = capture.values.entries();
    for (size_t i = entries.size(); is_full && i-- > 0;) {
      if (entries[i].offset == ValueBuffer::Entry::kNoData) continue;
      largest = std::max<size_t>(largest, last - entries[i].offset);
      last = entries[i].offset;
    }
  }
  result.reason =
      fmt::format("full {} B, largest value {} B, reduced {} B", bytes[0], largest, bytes[1]);
  return result;
}

}  // namespace vitrine::corpus
