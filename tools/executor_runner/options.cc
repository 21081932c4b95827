#include "tools/executor_runner/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/extension/trace_buffer.h"
#include "tools/common/command_line.h"
#include "tools/common/files.h"
#include "tools/common/report_options.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

struct OptionRequirement {
  const char* option;
  std::vector<const char*> any_of;
};
const std::vector<OptionRequirement>& requirements() {
  static const std::vector<OptionRequirement> kRequirements = {
      {"--expected_output", {"--verify"}},
      {"--rtol", {"--verify"}},
      {"--atol", {"--verify"}},
      {"--min_sqnr", {"--verify", "--debug_outputs"}},
      {"--compare", {"--profile", "--debug_outputs", "--numerics"}},
      {"--label", {"--profile"}},
      {"--format", {"--profile", "--verify", "--compare", "--numerics", "--value_summaries"}},
      {"--output", {"--profile", "--verify", "--compare", "--numerics", "--value_summaries"}},
      {"--width", {"--profile", "--verify", "--compare", "--numerics", "--value_summaries"}},
      {"--top", {"--profile", "--compare", "--numerics"}},
      {"--etrecord", {"--profile", "--compare", "--numerics", "--value_summaries"}},
      {"--group_by", {"--profile"}},
      {"--filter", {"--profile"}},
      {"--costs", {"--profile"}},
      {"--ids", {"--profile"}},
      {"--roofline", {"--profile"}},
      {"--compare_etrecord", {"--compare"}},
      {"--compare_data", {"--compare"}},
      {"--fail_above", {"--compare"}},
      {"--debug_outputs", {"--etdump_path", "--compare"}},
      {"--debug_buffer_path", {"--debug_outputs"}},
      {"--debug_buffer_size", {"--debug_outputs", "--numerics"}},
      {"--numerics", {"--reference"}},
      {"--reference", {"--numerics"}},
      {"--reference_etrecord", {"--numerics"}},
      {"--reference_data", {"--numerics"}},
      {"--fail_below", {"--numerics"}},
  };
  return kRequirements;
}
constexpr std::pair<const char*, const char*> kExclusions[] = {
    {"--verify", "--profile"},
    {"--verify", "--etdump_path"},
    {"--verify", "--compare"},
    {"--verify", "--debug_outputs"},
    {"--debug_outputs", "--profile"},
    {"--debug_outputs", "--fail_above"},
    {"--compare", "--etdump_path"},
    {"--compare", "--output_file"},
    {"--compare", "--weights_cache"},
    {"--compare", "--debug_buffer_path"},
    {"--numerics", "--profile"},
    {"--numerics", "--verify"},
    {"--numerics", "--fail_above"},
    {"--numerics", "--min_sqnr"},
    {"--numerics", "--debug_outputs"},
    {"--numerics", "--etdump_path"},
    {"--numerics", "--output_file"},
    {"--value_summaries", "--profile"},
    {"--value_summaries", "--verify"},
    {"--value_summaries", "--compare"},
    {"--value_summaries", "--debug_outputs"},
    {"--value_summaries", "--etdump_path"},
    {"--value_summaries", "--output_file"},
    {"--value_summaries", "--numerics"},
};

void check_combination(const CLI::App& app) {
  const auto given = [&app](const char* option) { return app.get_option(option)->count() != 0; };
  for (const OptionRequirement& requirement : requirements()) {
    if (!given(requirement.option) || std::ranges::any_of(requirement.any_of, given)) continue;
    throw CLI::ValidationError(requirement.option,
                               fmt::format("needs {}", fmt::join(requirement.any_of, " or ")));
  }
  for (const auto& [one, other] : kExclusions) {
    if (given(one) && given(other)) {
      throw CLI::ValidationError(one, fmt::format("cannot be used with {}", other));
    }
  }
}

// The values of the command line. parse_values() converts the values that are not yet in `options`.
struct CommandLine {
  RunnerOptions options;
  std::string model;
  std::vector<int> threads;
  std::vector<std::string> inputs;
  std::vector<std::string> labels;
  std::filesystem::path replacement;
  std::string fail_below;
};

void add_run_options(CLI::App& app, CommandLine& line) {
  const std::map<std::string, PrintOutput> prints = {
      {"none", PrintOutput::kNone}, {"summary", PrintOutput::kSummary}, {"all", PrintOutput::kAll}};
  RunnerOptions& options = line.options;
  app.add_option("model,--model_path", line.model,
                 "program (.pte), or program with test sets (.bpte)")
      ->required()
      ->type_name("FILE");
  const OptionGroup run(app, "Running");
  run.add_option("--method,--method_name", options.method, "method to run")
      ->capture_default_str()
      ->type_name("NAME");
  as_files(
      run.add_option("--inputs", line.inputs,
                     "raw row-major or .npy files: a.bin,b.npy; a.bin:2x16 for a dynamic shape; "
                     "folders of samples are allowed with --numerics"));
  run.add_option("--seed", options.seed, "seed of the random values for inputs that are not given")
      ->capture_default_str();
  run.add_option("--test_set", options.test_set,
                 "take the inputs from this test set of a .bpte (default: 0)")
      ->type_name("N");
  as_files(run.add_option("--data,--data_path", options.data, "external weights (.ptd)"));
  run.add_option("--output_file", options.output_base, "write outputs to BASE-0.bin, ...")
      ->type_name("BASE");
  as_choice(run.add_option("--print_output", options.print_output,
                           "print the outputs (default: summary; none with --profile)"),
            prints);
  run.add_option("--executions,--num_executions", options.executions,
                 "number of runs (default: 1; --profile: 5 to 50, as many as fit into 2 s)")
      ->check(between(1, kMaxRuns))
      ->type_name("N");
  run.add_option("--warmup", options.warmup,
                 "number of untimed runs before the timed runs (default: 0; --profile: 1 to 5)")
      ->check(between(0, kMaxRuns))
      ->type_name("N");
  run.add_option("--timeout", options.timeout,
                 "end an execution after this time, with exit code 1 (default: no limit)")
      ->check(positive())
      ->type_name("SECONDS");
  run.add_option("--threads,--cpu_threads", line.threads,
                 "number of threads (default: performance cores); with --profile, several: 1,2,4")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(between(kDefaultThreads, kMaxThreads))
      ->type_name("N");
  run.add_flag("--fixed_threads", options.fixed_threads,
               "use the same threads in each run, even if other programs need the processors");
  run.add_flag("--portable", options.portable, "run without the optimized kernels");
  run.add_flag("--accept_unwritten_outputs", options.accept_unwritten_outputs,
               "run a method even if nothing writes one of its outputs");
  run.add_option("--replace_delegates", line.replacement,
                 "if backends are missing, run this model instead (.pte; with vitrine also .pt2)")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("MODEL");
  add_backend_flags(run, options.backend);
}

void add_profile_options(CLI::App& app, CommandLine& line) {
  RunnerOptions& options = line.options;
  const OptionGroup profile(app, "Profiling");
  profile.add_flag("--profile", options.profile,
                   "print the time of each op, joined with the source model");
  profile
      .add_option("--etrecord", options.etrecord,
                  "ETRecord with source ops and modules, if the program does not contain one")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  profile.add_option("--etdump_path", options.etdump, "write the trace (ETDump)")
      ->type_name("FILE");
  add_report_options(profile, options.report);
  profile
      .add_option("--label", line.labels,
                  "label for --format jsonl: device, device_class, commit, run or any other key")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  profile.add_flag(
      "--roofline", options.roofline,
      "like --costs, plus each row's share of this machine's limits (measured once, saved)");
  profile
      .add_option("--trace_records", options.trace_records,
                  "trace size in records of 64 bytes; records that do not fit are only counted")
      ->capture_default_str()
      ->type_name("N");
}

void add_check_options(CLI::App& app, RunnerOptions& options) {
  const OptionGroup compare(app, "Comparing");
  compare
      .add_option(
          "--compare", options.compare,
          "compare with this program (--debug_outputs: values, --numerics: errors), or a stored "
          "profile")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  compare
      .add_option("--compare_etrecord", options.compare_etrecord, "ETRecord of the second program")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  as_files(compare.add_option("--compare_data", options.compare_data,
                              "external weights of the second program (.ptd)"));
  add_fail_above(compare, options.fail_above);
  const OptionGroup verify(app, "Checking");
  verify.add_flag("--verify", options.verify,
                  "compare the outputs of every test set; exit code 2 if they differ");
  as_files(verify.add_option("--expected_output", options.expected,
                             "files of expected outputs, for a .pte, raw or .npy: y0.bin,y1.npy"));
  verify.add_option("--rtol", options.rtol, "relative tolerance (default: by dtype)")
      ->check(at_least(0))
      ->type_name("X");
  verify.add_option("--atol", options.atol, "absolute tolerance (default: by dtype)")
      ->check(at_least(0))
      ->type_name("X");
  verify
      .add_option("--min_sqnr", options.min_sqnr,
                  "minimum SQNR of outputs, or of each op's outputs; exit code 2 if lower")
      ->type_name("DB");
  verify.add_flag("--debug_outputs", options.debug_outputs,
                  "record each op's outputs, for --compare or in the trace");
  verify
      .add_option("--debug_buffer_path", options.debug_buffer,
                  "file for the ops' outputs (default: the trace's name plus .data)")
      ->type_name("FILE");
  verify
      .add_option("--debug_buffer_size", options.debug_buffer_bytes,
                  "limit of the ops' outputs in bytes; outputs that do not fit are only counted")
      ->capture_default_str()
      ->type_name("N");
}

void add_numerics_options(CLI::App& app, CommandLine& line) {
  RunnerOptions& options = line.options;
  const OptionGroup numerics(app, "Numerics");
  numerics.add_flag("--numerics", options.numerics,
                    "print the error that each operator makes, and the error that it inherits");
  numerics
      .add_option("--reference", options.reference,
                  "reference model (.pte; with vitrine also .pt2, without delegates)")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  numerics
      .add_option("--reference_etrecord", options.reference_etrecord, "ETRecord of the reference")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  as_files(numerics.add_option("--reference_data", options.reference_data,
                               "external weights of the reference (.ptd)"));
  numerics
      .add_option("--fail_below,--fail-below", line.fail_below,
                  "exit code 2 if an operator's own SQNR is below DB, such as 30dB")
      ->type_name("DB");
  numerics.add_flag("--value_summaries", options.value_summaries,
                    "print range, mean, NaN count and histogram of each operator's values");
}

std::pair<std::string, std::string> parse_label(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError("--label", fmt::format("{}: expected KEY=VALUE", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void check_files(const RunnerOptions& options) {
  std::vector<std::filesystem::path> read = {
      options.model,    options.etrecord,  options.compare,           options.compare_etrecord,
      options.replaced, options.reference, options.reference_etrecord};
  for (const auto* files :
       {&options.data, &options.compare_data, &options.reference_data, &options.expected}) {
    read.insert(read.end(), files->begin(), files->end());
  }
  for (const InputSpec& input : options.inputs) read.push_back(input.file);
  std::vector<std::filesystem::path> written = {options.report.file, options.etdump,
                                                options.debug_buffer};
  // The files BASE-<number>.bin of --output_file BASE must not overwrite input files.
  for (const std::filesystem::path& file : read) {
    const std::string name = file.string();
    if (options.output_base.empty() || !name.starts_with(options.output_base + "-")) continue;
    if (name.ends_with(".bin")) written.push_back(file);
  }
  check_outputs(written, read);
}

void check_sweep(const RunnerOptions& options) {
  if (!options.profile || !options.compare.empty() || !options.etdump.empty() ||
      !options.output_base.empty()) {
    throw CLI::ValidationError("--threads",
                               "several thread counts require --profile and exclude --compare, "
                               "--etdump_path and --output_file");
  }
  check_is_table_or_json(options.report, "with several --threads, expected");
}

bool has_samples(const std::filesystem::path& path) {
  std::error_code ignored;
  return path.extension() == ".txt" || path.extension() == ".npz" ||
         std::filesystem::is_directory(path, ignored);
}

void parse_values(CommandLine& line) {
  RunnerOptions& options = line.options;
  options.model = line.model;
  if (!line.replacement.empty()) {
    options.replaced = line.model;
    options.model = line.replacement;
  }
  for (const int threads : line.threads) {
    options.sweep.push_back(static_cast<size_t>(std::max(threads, 0)));
  }
  if (options.sweep.size() == 1) options.threads = options.sweep[0];
  if (options.sweep.size() < 2) options.sweep.clear();
  if (!options.sweep.empty()) check_sweep(options);
  options.report.costs |= options.roofline;
  if (!line.fail_below.empty()) options.fail_below = parse_db(line.fail_below);
  for (const std::string& label : line.labels) options.report.labels.insert(parse_label(label));
  (void)options.backend.parsed();  // reports invalid options before the program runs
  for (const std::string& input : line.inputs) {
    options.inputs.push_back(parse_input_spec(input, "--inputs"));
    options.has_samples |= has_samples(options.inputs.back().file);
    if (options.has_samples && !options.numerics) {
      throw CLI::ValidationError(
          "--inputs", fmt::format("{}: folders, lists (.txt) and .npz files of samples need "
                                  "--numerics; give a file for each input",
                                  input));
    }
  }
  check_files(options);
}

}  // namespace

std::optional<RunnerOptions> parse_options(int argc, char** argv, int* exit_code) {
  CLI::App app(
      "Runs a method of an ExecuTorch program and shows where the time went.\n"
      "  executor_runner mv2.pte --inputs image.bin --output_file logits\n"
      "  executor_runner --profile mv2.pte\n"
      "  executor_runner --profile old.pte --compare new.pte\n"
      "  executor_runner --debug_outputs f32.pte --compare int8.pte\n"
      "  executor_runner --numerics int8.pte --reference f32.pte --fail_below 30dB\n"
      "  executor_runner --verify model.bpte",
      "executor_runner");
  app.get_formatter()->column_width(30);
  CommandLine line;
  line.options.trace_records = TraceBuffer::kDefaultRecords;
  line.options.debug_buffer_bytes = ValueBuffer::kDefaultBytes;
  add_run_options(app, line);
  add_profile_options(app, line);
  add_check_options(app, line.options);
  add_numerics_options(app, line);
  const auto check = [&] {
    choose_format(app, line.options.report);
    check_combination(app);
    const RunnerOptions& options = line.options;
    if (options.verify) check_is_table_or_json(options.report, "with --verify, expected");
    if (!options.compare.empty()) check_fits_comparison(options.report);
    const ReportFormat format = options.report.format;
    if (options.numerics && format != ReportFormat::kCsv && format != ReportFormat::kHtml) {
      check_is_table_or_json(options.report, "with --numerics, expected csv, html,");
    }
    if (options.value_summaries && format != ReportFormat::kCsv) {
      check_is_table_or_json(options.report, "with --value_summaries, expected csv,");
    }
    parse_values(line);
    line.options.method_is_given = app.get_option("--method")->count() != 0;
  };
  if (!parse_command_line(app, argc, argv, check, exit_code)) return std::nullopt;
  return std::move(line.options);
}

}  // namespace vitrine::tools
