#include "tools/executor_runner/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <map>

#include "devtools/etdump/trace_buffer.h"
#include "tools/session.h"
#include "tools/tool_error.h"

namespace vitrine::tools {
namespace {

// "2x16" -> {2, 16}; empty if `text` is not of that form.
std::optional<std::vector<int32_t>> parse_sizes(std::string_view text) {
  std::vector<int32_t> sizes;
  const char* at = text.data();
  const char* end = text.data() + text.size();
  while (at != end) {
    int32_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0) return std::nullopt;
    sizes.push_back(size);
    if (next != end && (*next != 'x' || next + 1 == end)) return std::nullopt;
    at = next == end ? end : next + 1;
  }
  if (sizes.empty()) return std::nullopt;
  return sizes;
}

}  // namespace

InputSpec parse_input_spec(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, std::nullopt};
  auto sizes = parse_sizes(std::string_view(text).substr(colon + 1));
  if (!sizes) {
    throw ToolError(fmt::format("--inputs {}: after ':' comes a shape such as 2x16", text));
  }
  return {text.substr(0, colon), std::move(sizes)};
}

BackendOption parse_backend_option(std::string_view text) {
  const size_t equals = text.find('=');
  const size_t colon = text.substr(0, equals).find(':');
  const size_t key = colon == std::string_view::npos ? 0 : colon + 1;
  if (equals == std::string_view::npos || equals == key) {
    throw ToolError(fmt::format("--backend_option {}: KEY=VALUE is wanted", text));
  }
  BackendOption option;
  option.backend = key == 0 ? kDefaultBackend : text.substr(0, colon);
  option.key = text.substr(key, equals - key);
  const std::string_view value = text.substr(equals + 1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value == "true" || value == "false") {
    option.value = value == "true";
  } else if (error == std::errc() && end == value.data() + value.size()) {
    option.value = number;
  } else {
    option.value = value;
  }
  return option;
}

namespace {

void check_format(const RunnerOptions& options) {
  const ReportFormat format = options.report.format;
  if (format == ReportFormat::kTable || format == ReportFormat::kJson) return;
  if (options.verify || !options.compare.empty()) {
    throw CLI::ValidationError("--format", "with --verify or --compare: table or json");
  }
}

void check_comparing(const RunnerOptions& options, bool has_weights_cache) {
  if (options.compare.empty()) {
    if (!options.compare_etrecord.empty() || !options.compare_data.empty() || options.fail_above) {
      throw CLI::ValidationError("--compare_etrecord, --compare_data and --fail_above",
                                 "need --compare");
    }
    return;
  }
  if (!options.profile) throw CLI::ValidationError("--compare", "needs --profile");
  if (!options.etdump.empty() || !options.output_base.empty() || has_weights_cache) {
    throw CLI::ValidationError("--etdump_path, --output_file and --weights_cache",
                               "are of one program: not with --compare");
  }
}

}  // namespace

std::optional<RunnerOptions> parse_options(int argc, char** argv, int* exit_code) {
  CLI::App app(
      "Runs a method of an ExecuTorch program (.pte) and tells where the time went.\n"
      "  executor_runner mv2.pte --inputs image.bin --output_file logits\n"
      "  executor_runner --profile mv2.pte --etrecord mv2.etrecord\n"
      "  executor_runner --profile old.pte --compare new.pte",
      "executor_runner");
  app.get_formatter()->column_width(36);
  RunnerOptions options;
  options.trace_records = TraceBuffer::kDefaultRecords;
  options.debug_buffer_bytes = ValueBuffer::kDefaultBytes;
  std::string model;
  std::vector<std::string> inputs;
  size_t executions = 0;
  size_t warmup = 0;
  PrintOutput print = PrintOutput::kSummary;
  const std::map<std::string, PrintOutput> prints = {
      {"none", PrintOutput::kNone}, {"summary", PrintOutput::kSummary}, {"all", PrintOutput::kAll}};
  const std::map<std::string, ReportFormat> formats = {{"table", ReportFormat::kTable},
                                                       {"json", ReportFormat::kJson},
                                                       {"csv", ReportFormat::kCsv},
                                                       {"timeline", ReportFormat::kTimeline},
                                                       {"html", ReportFormat::kHtml}};
  using inspector::GroupBy;
  const std::map<std::string, GroupBy> groupings = {{"none", GroupBy::kNone},
                                                    {"op", GroupBy::kOp},
                                                    {"delegate", GroupBy::kDelegate},
                                                    {"module", GroupBy::kModule},
                                                    {"line", GroupBy::kLine}};

  app.add_option("model,--model_path", model, "program (.pte), or one with test sets (.bpte)")
      ->required()
      ->type_name("FILE");
  auto* method_option =
      app.add_option("--method_name", options.method, "method")->capture_default_str();
  app.add_option("--inputs", inputs,
                 "raw bytes of the input tensors, row-major: a.bin,b.bin; a.bin:2x16 gives the "
                 "shape of a dynamic input")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("FILES");
  app.add_option("--seed", options.seed, "for inputs that are not given: they are random")
      ->capture_default_str();
  size_t test_set = 0;
  auto* test_set_option =
      app.add_option("--test_set", test_set, "of a .bpte: the inputs to run with (default: 0)")
          ->type_name("N");
  app.add_option("--data_path", options.data, "external weights (.ptd)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("FILES");
  app.add_option("--output_file", options.output_base, "writes outputs to BASE-0.bin, ...")
      ->type_name("BASE");
  auto* print_option =
      app.add_option("--print_output", print,
                     "none, summary or all (default: summary; none with --profile)")
          ->transform(CLI::CheckedTransformer(prints).description(""))
          ->type_name("WHAT");
  auto* executions_option =
      app.add_option("--num_executions", executions,
                     "runs (default: 1; with --profile 5 to 50, as fit in 2 s)")
          ->check(CLI::PositiveNumber)
          ->type_name("N");
  auto* warmup_option =
      app.add_option("--warmup", warmup, "untimed runs before (default: 0; with --profile 1 to 5)")
          ->type_name("N");
  app.add_option("--cpu_threads", options.threads, "default: the performing cores")->type_name("N");
  app.add_flag("--portable", options.portable,
               "leave the optimised kernels out: results and speed of the reference");
  app.add_option("--backend_option", options.backend_options,
                 "setting of a delegate's backend, e.g. workspace_sharing_mode=2 (docs/xnnpack.md)")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  std::string weights_cache;
  app.add_option("--weights_cache", weights_cache,
                 "file that keeps packed weights, so that the next load packs nothing")
      ->type_name("FILE");
  app.add_flag("--profile", options.profile, "per-op profile, joined with the source model");
  app.add_option("--etrecord", options.etrecord, "names of source ops and modules")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  app.add_option("--etdump_path", options.etdump, "writes the trace (ETDump)")->type_name("FILE");
  app.add_option("--format", options.report.format,
                 "of the report: table or json; of a profile also csv, html (one page for a "
                 "browser) or timeline (for ui.perfetto.dev and chrome://tracing)")
      ->transform(CLI::CheckedTransformer(formats).description(""))
      ->type_name("FORMAT");
  app.add_option("--output", options.report.file,
                 "where the report goes (default: standard output)")
      ->type_name("FILE");
  app.add_option("--width", options.report.width,
                 "columns of the table (default: the terminal's, or 100)")
      ->type_name("N");
  app.add_option("--group_by", options.report.view.by,
                 "sums rows of the table or CSV by module, op, delegate or line; or none")
      ->transform(CLI::CheckedTransformer(groupings).description(""))
      ->type_name("WHAT");
  app.add_option("--top", options.report.view.top, "only the N rows or groups that took longest")
      ->type_name("N");
  app.add_option("--filter", options.report.view.filter,
                 "only rows with TEXT in an op, module, kernel, delegate or source line")
      ->type_name("TEXT");
  app.add_flag("--costs", options.report.costs,
               "FLOPs, GFLOP/s and GB/s in the table; needs --etrecord");
  app.add_flag("--roofline", options.roofline,
               "as --costs, with the share of what this machine can do (measured once, then kept "
               "in the user's cache folder)");
  app.add_flag("--ids", options.report.ids, "instruction and debug identifiers in the table");
  app.add_option("--compare", options.compare,
                 "with --profile: another program, run in turn on the same inputs")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  app.add_option("--compare_etrecord", options.compare_etrecord, "its record")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  app.add_option("--compare_data", options.compare_data, "its external weights (.ptd)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("FILES");
  app.add_option("--fail_above,--fail-above", options.fail_above,
                 "exit code 2 if the other takes more than RATIO times as long")
      ->check(CLI::PositiveNumber)
      ->type_name("RATIO");
  app.add_option("--trace_records", options.trace_records,
                 "bound of the trace, 64 bytes each; what does not fit is counted")
      ->capture_default_str()
      ->type_name("N");
  auto* verify_flag = app.add_flag("--verify", options.verify,
                                   "compares the outputs of every test set; exit code 2");
  app.add_option("--expected_output", options.expected,
                 "with --verify of a .pte: raw bytes of the outputs, as of --inputs")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(verify_flag)
      ->type_name("FILES");
  double rtol = 0;
  double atol = 0;
  double min_sqnr = 0;
  auto* rtol_option = app.add_option("--rtol", rtol, "relative tolerance (default: by dtype)")
                          ->check(CLI::NonNegativeNumber)
                          ->needs(verify_flag)
                          ->type_name("X");
  auto* atol_option = app.add_option("--atol", atol, "absolute tolerance (default: by dtype)")
                          ->check(CLI::NonNegativeNumber)
                          ->needs(verify_flag)
                          ->type_name("X");
  auto* sqnr_option =
      app.add_option("--min_sqnr", min_sqnr, "the least SQNR, in place of tolerances not given")
          ->needs(verify_flag)
          ->type_name("DB");
  auto* etdump_option = app.get_option("--etdump_path");
  auto* debug_flag = app.add_flag("--debug_outputs", options.debug_outputs,
                                  "keeps each op's outputs in the trace (not with --profile)")
                         ->needs(etdump_option)
                         ->excludes(app.get_option("--profile"));
  app.add_option("--debug_buffer_path", options.debug_buffer,
                 "where their data go (default: the trace's name and .data)")
      ->needs(debug_flag)
      ->type_name("FILE");
  app.add_option("--debug_buffer_size", options.debug_buffer_bytes,
                 "bound of their data in bytes; what does not fit is counted")
      ->needs(debug_flag)
      ->capture_default_str()
      ->type_name("N");
  verify_flag->excludes(app.get_option("--profile"))->excludes(etdump_option);
  try {
    app.parse(argc, argv);
    options.model = model;
    if (!weights_cache.empty()) {
      options.backend_options.push_back("packed_cache_path=" + weights_cache);
    }
    for (const std::string& option : options.backend_options) parse_backend_option(option);
    check_comparing(options, !weights_cache.empty());
    check_format(options);
    options.report.costs |= options.roofline;
    for (const std::string& input : inputs) options.inputs.push_back(parse_input_spec(input));
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error);
    return std::nullopt;
  }
  options.method_is_given = static_cast<bool>(*method_option);
  if (*test_set_option) options.test_set = test_set;
  if (*rtol_option) options.rtol = rtol;
  if (*atol_option) options.atol = atol;
  if (*sqnr_option) options.min_sqnr = min_sqnr;
  if (*print_option) options.print_output = print;
  if (*executions_option) options.executions = executions;
  if (*warmup_option) options.warmup = warmup;
  return options;
}

}  // namespace vitrine::tools
