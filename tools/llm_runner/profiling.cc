#include "tools/llm_runner/profiling.h"

#include "host/delegate_profiles.h"
#include "host/embedded_record.h"
#include "host/files.h"
#include "host/machine_limits.h"
#include "llm/profile/report_tokens.h"
#include "llm/profile/token_comparison.h"
#include "runtime/platform/memory.h"

namespace vitrine::tools {
namespace {

std::string text_of(const llm::TokenProfile& profile, const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kJson:
      return llm::report_token_json(profile);
    case ReportFormat::kCsv:
      return llm::report_token_csv(profile, options.view);
    case ReportFormat::kTimeline:
      return llm::report_token_timeline(profile);
    case ReportFormat::kHtml:
      return llm::report_token_html(profile);
    case ReportFormat::kJsonl:  // refused before
    case ReportFormat::kTable:
      break;
  }
  return llm::report_token_table(profile, table_options(options));
}

std::string saved_text(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = read_file(file);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_comparison(const llm::SavedTokens& a, const llm::SavedTokens& b,
                      const ReportOptions& options) {
  const llm::TokenComparison comparison = llm::compare_tokens(a, b, options.view.by);
  write_report(options.format == ReportFormat::kJson
                   ? llm::report_token_comparison_json(comparison)
                   : llm::report_token_comparison(comparison, table_options(options)),
               options);
}

// Methods share packed weights, workspaces and perhaps their state.
inspector::MemoryInfo memory_of(const std::vector<std::unique_ptr<Method>>& methods) {
  MemoryUsage sum;
  for (const auto& method : methods) method->add_memory_usage(sum);
  return memory_info(sum);
}

}  // namespace

void compare_saved(const LlmOptions& options) {
  const auto [a, b] = short_names(options.compare[0], options.compare[1]);
  write_comparison(llm::read_saved_tokens(saved_text(options.compare[0]), a),
                   llm::read_saved_tokens(saved_text(options.compare[1]), b), options.report);
}

std::unique_ptr<RunnerProfile> RunnerProfile::make(const LlmOptions& options) {
  if (!options.profile && options.etdump.empty()) return nullptr;
  return std::make_unique<RunnerProfile>(options);
}

RunnerProfile::RunnerProfile(const LlmOptions& options) : options_(options) {
  if (options.compare.empty()) return;
  const std::filesystem::path& file = options.compare[0];
  before_ = llm::read_saved_tokens(saved_text(file), file.filename().string());
}

void RunnerProfile::report(const Session& session,
                           const std::vector<std::unique_ptr<Method>>& methods,
                           const DecoderInfo& info, uint64_t init_ns) {
  if (!options_.etdump.empty()) write_file(options_.etdump, llm::kept_etdump(profiler_));
  if (!options_.profile) return;
  const std::optional<etrecord::EtRecord> record = options_.etrecord.empty()
                                                       ? embedded_record(*session.program())
                                                       : etrecord::read_etrecord(options_.etrecord);
  llm::TokenProfileFacts facts;
  facts.record = record ? &*record : nullptr;
  facts.delegates = all_delegate_profiles();
  facts.max_context = info.max_context;
  inspector::RunInfo& run = facts.run;
  run.model = options_.model.filename().string();
  run.record = options_.etrecord.filename().string();
  if (record && run.record.empty()) run.record = run.model;
  run.machine = machine_name();
  run.load_ns = session.load_ns();
  run.init_ns = init_ns;
  run.threads = static_cast<uint32_t>(session.pool()->threads());
  run.peak_rss_bytes = platform::resident_memory().peak;
  run.memory = memory_of(methods);
  if (options_.roofline) run.limits = machine_limits(*run.threads, default_cache_file());
  std::vector<MethodMeta> metas;
  metas.reserve(methods.size());
  for (const auto& method : methods) metas.push_back(method->meta());
  const llm::TokenProfile profile =
      llm::make_token_profile(profiler_, *session.program(), metas, facts);
  if (options_.compare.empty()) {
    write_report(text_of(profile, options_.report), options_.report);
    return;
  }
  write_comparison(*before_, llm::read_saved_tokens(llm::report_token_json(profile), "this run"),
                   options_.report);
}

}  // namespace vitrine::tools
