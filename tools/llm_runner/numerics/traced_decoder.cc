#include "tools/llm_runner/numerics/traced_decoder.h"

#include <utility>

#include "formats/etdump/etdump_writer.h"
#include "inspector/join/make_profile.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/program_record.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {

TracedDecoder::TracedDecoder(const SessionOptions& session, const LlmOptions& options,
                             const Tokenizer* tokenizer, std::string name,
                             const std::filesystem::path& etrecord)
    : name_(std::move(name)),
      trace_(TraceBuffer::kDefaultRecords, TraceBuffer::kDefaultBlocks, &values_),
      loaded_(session),
      record_(record_for_program(*loaded_.session().program(), etrecord, warnings_)) {
  loaded_.load(options, tokenizer,
               [this](size_t method) { return method == 0 ? &trace_ : nullptr; });
  for (const TraceBuffer::Block& block : trace_.blocks()) {
    const auto records = trace_.records(block);
    loading_.insert(loading_.end(), records.begin(), records.end());
  }
}

std::span<const float> TracedDecoder::feed_traced(std::span<const TokenId> text, size_t position,
                                                  EventTracer* tracer) {
  // A model without a cache needs all previous tokens in each call.
  const size_t begin = decoder().info().has_cache ? position : 0;
  decode().set_tracer(tracer);
  const std::span<const float> logits =
      decoder().feed(text.subspan(begin, position + 1 - begin), static_cast<int64_t>(begin));
  decode().set_tracer(nullptr);
  return logits;
}

std::span<const float> TracedDecoder::feed(std::span<const TokenId> text, size_t position) {
  return feed_traced(text, position, nullptr);
}

std::span<const float> TracedDecoder::feed_recorded(std::span<const TokenId> text,
                                                    size_t position) {
  values_.clear();
  trace_.clear();
  trace_.begin_block("Default");
  for (const TraceRecord& record : loading_) trace_.record(record);
  return feed_traced(text, position, &trace_);
}

std::span<const float> TracedDecoder::feed_finding_caches(std::span<const TokenId> text,
                                                          size_t position) {
  return feed_traced(text, position, &finder_);
}

RecordedStep TracedDecoder::recorded() {
  RecordedStep step;
  dropped_values_ += values_.dropped();
  const std::vector<uint8_t> dump = check(write_etdump(trace_));
  step.trace = etdump::parse_etdump(std::as_bytes(std::span(dump.data(), dump.size())));
  etdump::attach_debug_data(step.trace, values_.data());
  inspector::ProfileOptions facts;
  facts.method = std::string(decode().meta().name());
  facts.delegates = all_delegate_profiles();
  facts.run.model = name_;
  step.profile = inspector::make_profile(step.trace, record_ ? &*record_ : nullptr, facts);
  if (record_) {
    const auto found = record_->methods.find(facts.method);
    if (found != record_->methods.end()) step.record = &found->second;
  }
  return step;
}

}  // namespace vitrine::tools
