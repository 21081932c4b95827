// Runs a language model, and can record all values of a single step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/compare/value_comparison.h"
#include "inspector/join/profile.h"
#include "runtime/extension/trace_buffer.h"
#include "runtime/extension/value_buffer.h"
#include "tools/llm_runner/loaded_decoder.h"
#include "tools/llm_runner/numerics/cache_errors.h"

namespace vitrine::tools {

// The trace of one step with all values, joined with the program's record.
struct RecordedStep {
  etdump::EtDump trace;
  inspector::Profile profile;
  const etrecord::MethodRecord* record = nullptr;  // belongs to the TracedDecoder

  inspector::ValueRun values() const { return {profile, trace, record}; }
};

class TracedDecoder {
 public:
  // Loads the model and the ETRecord. If `etrecord` is empty, uses the program's own record, if
  // present.
  TracedDecoder(const SessionOptions& session, const LlmOptions& options,
                const Tokenizer* tokenizer, std::string name,
                const std::filesystem::path& etrecord);

  MethodDecoder& decoder() { return loaded_.decoder(); }
  const std::string& name() const { return name_; }
  const std::vector<llm::FoundCache>& caches() const { return finder_.caches(); }
  // Feeds text[position] and returns the logits after this token.
  std::span<const float> feed(std::span<const TokenId> text, size_t position);
  // Feeds text[position], and records all values.
  std::span<const float> feed_recorded(std::span<const TokenId> text, size_t position);
  // Feeds text[position], and finds the caches.
  std::span<const float> feed_finding_caches(std::span<const TokenId> text, size_t position);
  RecordedStep recorded();
  // Number of values of recorded steps that did not fit into memory.
  uint64_t dropped_values() const { return dropped_values_; }
  std::shared_ptr<ThreadPool> pool() { return loaded_.session().pool(); }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::span<const float> feed_traced(std::span<const TokenId> text, size_t position,
                                     EventTracer* tracer);
  Method& decode() { return *loaded_.methods().front(); }

  std::string name_;
  ValueBuffer values_;
  TraceBuffer trace_;
  LoadedDecoder loaded_;
  std::vector<TraceRecord> loading_;  // trace records of backends while decode was loaded
  llm::CacheFinder finder_;
  uint64_t dropped_values_ = 0;
  std::vector<std::string> warnings_;
  std::optional<etrecord::EtRecord> record_;
};

}  // namespace vitrine::tools
