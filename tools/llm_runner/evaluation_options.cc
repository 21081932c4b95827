#include "tools/llm_runner/evaluation_options.h"

#include <fmt/format.h>

#include "tools/common/report_options.h"

namespace vitrine::tools {
namespace {

constexpr const char* kHeading = "Evaluation";

// Options that have no effect on an evaluation.
constexpr const char* kForeign[] = {"--profile",  "--etdump_path", "--fail_above",
                                    "--group_by", "--top",         "--filter",
                                    "--roofline", "--costs",       "--ids"};

void add_perplexity_flags(CLI::App& app, LlmOptions& options) {
  const OptionGroup group(app, kHeading);
  CLI::Option* perplexity =
      group
          .add_option("--perplexity", options.perplexity,
                      "score the tokens of a text file: perplexity and bits per byte")
          ->type_name("FILE");
  for (const char* other :
       {"--prompt", "--prompt_file", "--prompt_ids", "--random_prompt", "--chat", "--print_ids",
        "--warmup", "--add_template", "--num_eos", "--encoder_input"}) {
    perplexity->excludes(other);
  }
  group
      .add_option(
          "--stride", options.stride,
          "tokens to score in each window after the first; a smaller number gives each token more "
          "context (default: as many as fit)")
      ->check(at_least(1))
      ->type_name("N")
      ->needs(perplexity);
  group
      .add_option("--max_tokens", options.max_tokens,
                  "score at most the first N tokens of the file")
      ->check(between(2, 1 << 24))
      ->capture_default_str()
      ->type_name("N")
      ->needs(perplexity);
}

void add_numerics_flags(CLI::App& app, LlmOptions& options) {
  const OptionGroup group(app, kHeading);
  CLI::Option* numerics =
      group.add_flag("--numerics", options.numerics,
                     "print the model's errors relative to --reference for the prompt, by layer "
                     "and position; --max_new_tokens adds tokens that the reference generates");
  for (const char* other : {"--perplexity", "--random_prompt", "--chat", "--print_ids", "--warmup",
                            "--encoder_input"}) {
    numerics->excludes(other);
  }
  CLI::Option* reference =
      group
          .add_option("--reference", options.reference,
                      "reference model (.pte; with vitrine also .pt2, without delegates)")
          ->check(CLI::ExistingFile.description(""))
          ->type_name("FILE")
          ->needs(numerics);
  numerics->needs(reference);
  group.add_option("--reference_etrecord", options.reference_etrecord, "ETRecord of the reference")
      ->type_name("FILE")
      ->needs(numerics);
  app.add_option_function<std::string>(
         "--fail_below,--fail-below",
         [&options](const std::string& text) { options.fail_below = parse_db(text); },
         "exit with code 2 if the SQNR of any layer's attention, cache or output is below this "
         "limit")
      ->type_name("dB")
      ->needs(numerics)
      ->group(kHeading);
}

}  // namespace

void add_evaluation_flags(CLI::App& app, LlmOptions& options) {
  add_perplexity_flags(app, options);
  add_numerics_flags(app, options);
}

bool check_evaluation_flags(const CLI::App& app, const LlmOptions& options) {
  if (!options.numerics && options.perplexity.empty()) return false;
  const std::string task = options.numerics ? "--numerics" : "--perplexity";
  for (const char* flag : kForeign) {
    if (app.count(flag) != 0) throw CLI::ValidationError(flag, "cannot be used with " + task);
  }
  if (options.numerics) {
    if (!options.compare.empty()) {
      throw CLI::ValidationError("--compare", "cannot be used with --numerics: use --reference");
    }
    const ReportFormat format = options.report.format;
    if (format != ReportFormat::kCsv && format != ReportFormat::kHtml) {
      check_is_table_or_json(options.report, "with --numerics, expected csv, html,");
    }
    return true;
  }
  if (app.count("--etrecord") != 0) {
    throw CLI::ValidationError("--etrecord", "cannot be used with --perplexity");
  }
  const ReportFormat format = options.report.format;
  if (format != ReportFormat::kTable && format != ReportFormat::kJson &&
      format != ReportFormat::kCsv) {
    throw CLI::ValidationError("--format", "must be table, json or csv with --perplexity");
  }
  if (options.compare.size() > 1) {
    throw CLI::ValidationError("--compare", "needs one program with --perplexity");
  }
  return true;
}

}  // namespace vitrine::tools
