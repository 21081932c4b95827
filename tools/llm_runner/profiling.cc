#include "tools/llm_runner/profiling.h"

#include "runtime/platform/memory.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/files.h"
#include "tools/common/machine_limits.h"
#include "tools/common/messages.h"
#include "tools/common/program_record.h"
#include "tools/common/provenance.h"
#include "tools/llm_runner/profile/report_tokens.h"
#include "tools/llm_runner/profile/token_comparison.h"
#include "tools/llm_runner/profile/token_groups.h"

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
    case ReportFormat::kJsonl:  // check_profiling_flags() rejects it
    case ReportFormat::kSvg:
    case ReportFormat::kTable:
      break;
  }
  return llm::report_token_table(profile, table_options(options));
}

std::string text_of(const llm::TokenComparison& comparison, const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kJson:
      return llm::report_token_comparison_json(comparison);
    case ReportFormat::kCsv:
      return llm::report_token_comparison_csv(comparison);
    case ReportFormat::kHtml:
      return llm::report_token_comparison_html(comparison);
    default:  // check_profiling_flags() rejects other formats
      return llm::report_token_comparison(comparison, table_options(options));
  }
}

std::string saved_text(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = read_file(file);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int write_comparison(const llm::SavedTokens& a, const llm::SavedTokens& b,
                     const LlmOptions& options) {
  const ReportOptions& report = options.report;
  const llm::TokenComparison comparison = llm::compare_tokens(a, b, report.view.by);
  write_report(text_of(comparison, report), report);
  return exceeds(comparison.tokens, options.fail_above) ? kExitBeyondLimit : 0;
}

// Adds up the memory of the methods. Shared packed weights, workspaces and state count once.
inspector::MemoryInfo memory_of(const std::vector<std::unique_ptr<Method>>& methods) {
  MemoryUsage sum;
  for (const auto& method : methods) method->add_memory_usage(sum);
  return memory_info(sum);
}

}  // namespace

int compare_saved(const LlmOptions& options) {
  const auto [a, b] = short_names(options.compare[0], options.compare[1]);
  return write_comparison(llm::read_saved_tokens(saved_text(options.compare[0]), a),
                          llm::read_saved_tokens(saved_text(options.compare[1]), b), options);
}

std::unique_ptr<RunnerProfile> RunnerProfile::make(const LlmOptions& options) {
  if (!options.profile && options.etdump.empty()) return nullptr;
  return std::make_unique<RunnerProfile>(options);
}

RunnerProfile::RunnerProfile(const LlmOptions& options) : options_(options) {
  if (options.compare.empty()) return;
  const std::filesystem::path& file = options.compare[0];
  baseline_ = llm::read_saved_tokens(saved_text(file), file.filename().string());
}

int RunnerProfile::report(const Session& session,
                          const std::vector<std::unique_ptr<Method>>& methods,
                          const DecoderInfo& info, uint64_t init_ns) {
  if (!options_.etdump.empty()) write_file(options_.etdump, llm::kept_etdump(profiler_));
  if (!options_.profile) return 0;
  llm::TokenProfileFacts facts;
  const std::optional<etrecord::EtRecord> record =
      record_for_program(*session.program(), options_.etrecord, facts.run.warnings);
  facts.record = record ? &*record : nullptr;
  facts.delegates = all_delegate_profiles();
  facts.max_context = info.max_context;
  inspector::RunInfo& run = facts.run;
  run.model = options_.model.filename().string();
  run.record = options_.etrecord.filename().string();
  if (record && run.record.empty()) run.record = run.model;
  add_provenance(run, options_.model, {});
  run.load_ns = session.load_ns();
  run.init_ns = init_ns;
  run.threads = static_cast<uint32_t>(session.pool()->threads());
  run.peak_rss_bytes = platform::resident_memory().peak;
  run.memory = memory_of(methods);
  if (options_.roofline) run.limits = limits_for_profile(*run.threads, run.warnings);
  std::vector<MethodMeta> metas;
  metas.reserve(methods.size());
  for (const auto& method : methods) metas.push_back(method->meta());
  const llm::TokenProfile profile =
      llm::make_token_profile(profiler_, *session.program(), metas, facts);
  const inspector::View& view = options_.report.view;
  if (!view.filter.empty() && llm::group_tokens(profile, view).groups.empty()) {
    print_warning("--filter " + view.filter + " matches no row");
  }
  if (options_.compare.empty()) {
    write_report(text_of(profile, options_.report), options_.report);
    return 0;
  }
  return write_comparison(
      *baseline_, llm::read_saved_tokens(llm::report_token_json(profile), "this run"), options_);
}

}  // namespace vitrine::tools
