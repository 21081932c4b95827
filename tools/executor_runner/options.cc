#include "tools/executor_runner/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "formats/etdump/trace_buffer.h"
#include "host/command_line.h"
#include "host/files.h"
#include "host/report_options.h"
#include "host/session.h"
#include "host/tool_error.h"

namespace vitrine::tools {
namespace {

// Options that need or exclude another option.
struct Need {
  const char* option;
  std::vector<const char*> any_of;
};
const std::vector<Need>& needs() {
  static const std::vector<Need> kNeeds = {
      {"--expected_output", {"--verify"}},
      {"--rtol", {"--verify"}},
      {"--atol", {"--verify"}},
      {"--min_sqnr", {"--verify", "--debug_outputs"}},
      {"--compare", {"--profile", "--debug_outputs"}},
      {"--label", {"--profile"}},
      {"--format", {"--profile", "--verify", "--compare"}},
      {"--output", {"--profile", "--verify", "--compare"}},
      {"--width", {"--profile", "--verify", "--compare"}},
      {"--top", {"--profile", "--compare"}},
      {"--etrecord", {"--profile", "--compare"}},
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
      {"--debug_buffer_size", {"--debug_outputs"}},
  };
  return kNeeds;
}
constexpr std::pair<const char*, const char*> kExcludes[] = {
    {"--verify", "--profile"},        {"--verify", "--etdump_path"},
    {"--verify", "--compare"},        {"--verify", "--debug_outputs"},
    {"--debug_outputs", "--profile"}, {"--debug_outputs", "--fail_above"},
    {"--compare", "--etdump_path"},   {"--compare", "--output_file"},
    {"--compare", "--weights_cache"}, {"--compare", "--debug_buffer_path"},
};

void check_together(const CLI::App& app) {
  const auto given = [&app](const char* option) { return app.get_option(option)->count() != 0; };
  for (const Need& need : needs()) {
    if (!given(need.option) || std::ranges::any_of(need.any_of, given)) continue;
    throw CLI::ValidationError(need.option,
                               fmt::format("needs {}", fmt::join(need.any_of, " or ")));
  }
  for (const auto& [one, other] : kExcludes) {
    if (given(one) && given(other)) {
      throw CLI::ValidationError(one, fmt::format("excludes {}", other));
    }
  }
}

// The command line before its texts are parsed.
struct CommandLine {
  RunnerOptions options;
  std::string model;
  std::vector<std::string> inputs;
  std::vector<std::string> labels;
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
  run.add_option("--method_name", options.method, "method")->capture_default_str();
  as_files(run.add_option("--inputs", line.inputs,
                          "raw row-major tensors: a.bin,b.bin; a.bin:2x16 for a dynamic shape"));
  run.add_option("--seed", options.seed, "seed of the random inputs, which replace missing ones")
      ->capture_default_str();
  run.add_option("--test_set", options.test_set, "test set of a .bpte to run with (default: 0)")
      ->type_name("N");
  as_files(run.add_option("--data_path", options.data, "external weights (.ptd)"));
  run.add_option("--output_file", options.output_base, "write outputs to BASE-0.bin, ...")
      ->type_name("BASE");
  as_choice(run.add_option("--print_output", options.print_output,
                           "none, summary or all (default: summary; none with --profile)"),
            prints)
      ->type_name("WHAT");
  run.add_option("--num_executions", options.executions,
                 "number of runs (default: 1; with --profile 5 to 50, as many as fit in 2 s)")
      ->check(at_least(1))
      ->type_name("N");
  run.add_option("--warmup", options.warmup,
                 "number of untimed runs before (default: 0; with --profile 1 to 32)")
      ->type_name("N");
  run.add_option("--cpu_threads", options.threads,
                 "number of threads (default: the performance cores)")
      ->type_name("N");
  run.add_flag("--portable", options.portable, "run without the optimised kernels");
  add_backend_flags(run, options.backend);
}

void add_profile_options(CLI::App& app, CommandLine& line) {
  RunnerOptions& options = line.options;
  const OptionGroup profile(app, "Profiling");
  profile.add_flag("--profile", options.profile,
                   "print the time of each op, joined with the source model");
  profile
      .add_option("--etrecord", options.etrecord,
                  "record of a program that carries none: source ops and modules")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  profile.add_option("--etdump_path", options.etdump, "write the trace (ETDump)")
      ->type_name("FILE");
  add_report_options(profile, options.report);
  profile
      .add_option("--label", line.labels,
                  "of --format jsonl: device, device_class, commit, run, or any other")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  profile.add_flag("--roofline", options.roofline,
                   "as --costs, and the share of this machine's limits (measured once, then kept)");
  profile
      .add_option("--trace_records", options.trace_records,
                  "size of the trace, 64 bytes a record; records that do not fit are counted")
      ->capture_default_str()
      ->type_name("N");
}

void add_check_options(CLI::App& app, RunnerOptions& options) {
  const OptionGroup compare(app, "Comparing");
  compare
      .add_option("--compare", options.compare,
                  "compare with this program, same inputs: times, or values with --debug_outputs")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  compare
      .add_option("--compare_etrecord", options.compare_etrecord, "record of the second program")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  as_files(compare.add_option("--compare_data", options.compare_data,
                              "external weights of the second program (.ptd)"));
  add_fail_above(compare, options.fail_above);
  const OptionGroup verify(app, "Checking");
  verify.add_flag("--verify", options.verify,
                  "compare the outputs of every test set; exit code 2 if they differ");
  as_files(verify.add_option("--expected_output", options.expected,
                             "expected outputs of a .pte, in the form of --inputs"));
  verify.add_option("--rtol", options.rtol, "relative tolerance (default: by dtype)")
      ->check(at_least(0))
      ->type_name("X");
  verify.add_option("--atol", options.atol, "absolute tolerance (default: by dtype)")
      ->check(at_least(0))
      ->type_name("X");
  verify
      .add_option("--min_sqnr", options.min_sqnr,
                  "minimum SQNR of outputs, or of each op's results; exit code 2 if below")
      ->type_name("DB");
  verify.add_flag("--debug_outputs", options.debug_outputs,
                  "keep each op's outputs, for --compare or in the trace");
  verify
      .add_option("--debug_buffer_path", options.debug_buffer,
                  "file for their data (default: the trace's name plus .data)")
      ->type_name("FILE");
  verify
      .add_option("--debug_buffer_size", options.debug_buffer_bytes,
                  "limit of their data in bytes; values that do not fit are counted")
      ->capture_default_str()
      ->type_name("N");
}

std::pair<std::string, std::string> parse_label(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError("--label", fmt::format("{}: expected KEY=VALUE", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void check_files(const RunnerOptions& options) {
  std::vector<std::filesystem::path> read = {options.model, options.etrecord, options.compare,
                                             options.compare_etrecord};
  for (const auto* files : {&options.data, &options.compare_data, &options.expected}) {
    read.insert(read.end(), files->begin(), files->end());
  }
  for (const InputSpec& input : options.inputs) read.push_back(input.file);
  std::vector<std::filesystem::path> written = {options.report.file, options.etdump,
                                                options.debug_buffer};
  for (const std::filesystem::path& file : read) {  // those that --output_file BASE may mean
    const std::string name = file.string();
    if (options.output_base.empty() || !name.starts_with(options.output_base + "-")) continue;
    if (name.ends_with(".bin")) written.push_back(file);
  }
  check_outputs(written, read);
}

void take_apart(CommandLine& line) {
  RunnerOptions& options = line.options;
  options.model = line.model;
  options.report.costs |= options.roofline;
  for (const std::string& label : line.labels) options.report.labels.insert(parse_label(label));
  (void)options.backend.parsed();  // so that a wrong one ends the program before it runs
  for (const std::string& input : line.inputs)
    options.inputs.push_back(parse_input_spec(input, "--inputs"));
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
      "  executor_runner --verify model.bpte",
      "executor_runner");
  app.get_formatter()->column_width(30);
  CommandLine line;
  line.options.trace_records = TraceBuffer::kDefaultRecords;
  line.options.debug_buffer_bytes = ValueBuffer::kDefaultBytes;
  add_run_options(app, line);
  add_profile_options(app, line);
  add_check_options(app, line.options);
  const auto check = [&] {
    check_together(app);
    const RunnerOptions& options = line.options;
    if (options.verify) check_is_table_or_json(options.report, "with --verify");
    if (!options.compare.empty()) check_fits_comparison(options.report);
    take_apart(line);
    line.options.method_is_given = app.get_option("--method_name")->count() != 0;
  };
  if (!parse_command_line(app, argc, argv, check, exit_code)) return std::nullopt;
  return std::move(line.options);
}

}  // namespace vitrine::tools
