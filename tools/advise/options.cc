#include "tools/advise/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/extension/trace_buffer.h"
#include "runtime/extension/value_buffer.h"
#include "tools/common/command_line.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

// The parsed command line. parse_advise_values() converts texts of options.
struct AdviseLine {
  AdviseOptions options;
  std::string model;
  std::string source;
  std::string profile;
  std::string baseline;
  std::string output;
  std::vector<std::string> inputs;
  int threads = kDefaultThreads;
};

void add_subject_options(CLI::App& app, AdviseLine& line) {
  RunnerOptions& run = line.options.run;
  const OptionGroup group(app, "The model and how it runs");
  app.add_option("model", line.model, "exported model (.pt2, .ptn) or program (.pte)")
      ->required()
      ->type_name("FILE");
  group
      .add_option("--source", line.source,
                  "exported model from which the .pte was lowered: also try changes that need a "
                  "new lowering")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  group
      .add_option("--baseline", line.baseline,
                  "options of 'vitrine lower' for the baseline (default: '--backend xnnpack')")
      ->type_name("OPTIONS");
  group
      .add_option("--profile", line.profile,
                  "profile that a device recorded (tools/device/profile_on_device.py): predict for "
                  "that device")
      ->check(CLI::ExistingPath.description(""))
      ->type_name("PATH");
  group.add_option("--method,--method_name", run.method, "method to run")
      ->capture_default_str()
      ->type_name("NAME");
  as_files(group.add_option("--inputs", line.inputs,
                            "raw row-major or .npy files: a.bin,b.npy; a.bin:2x16 for a dynamic "
                            "shape (default: random)"));
  group.add_option("--seed", run.seed, "seed of the random values for inputs that are not given")
      ->capture_default_str();
  as_files(group.add_option("--data,--data_path", run.data, "external weights of a .pte (.ptd)"));
  group
      .add_option("--calibrate", line.options.calibrate,
                  "calibration data for int8: files, folders or lists, as for 'vitrine lower'")
      ->allow_extra_args(false)
      ->type_name("PATH");
  add_threads(group, line.threads);
  group
      .add_option("--timeout", run.timeout,
                  "end an execution after this time, with exit code 1 (default: no limit)")
      ->check(positive())
      ->type_name("SECONDS");
}

void add_advice_options(CLI::App& app, AdviseLine& line) {
  AdviseOptions& options = line.options;
  const OptionGroup group(app, "Advice");
  group.add_option("--seconds", options.seconds, "time for all trials together")
      ->check(positive())
      ->capture_default_str()
      ->type_name("N");
  group.add_flag("--no_trials{false}", options.has_trials,
                 "only estimate gains from the profile, without running changed programs");
  group.add_flag("--force", options.is_forced, "advise even if the machine is busy");
  as_files(group.add_option(
               "--apply", options.apply,
               "apply these lines of advice and write the program: numbers or names, such as 1,3"))
      ->type_name("LINES");
  group.add_flag(
      "--verify", options.verify,
      "with --apply: run the new program alternately with the baseline and compare the gain with "
      "the prediction; exit code 2 if the gain is outside the predicted interval");
  group.add_flag(
      "--auto", options.is_auto,
      "apply advice that does not change outputs, best first, if its gain exceeds the noise");
  group.add_option("-o,--output", line.output, "program to write, with --apply or --auto (.pte)")
      ->type_name("FILE");
  const std::map<std::string, ReportFormat> formats = {{"table", ReportFormat::kTable},
                                                       {"json", ReportFormat::kJson},
                                                       {"html", ReportFormat::kHtml}};
  as_choice(
      group.add_option("--format", options.report.format,
                       "format of the advice (html: the page of the profile, with the advice)"),
      formats);
  group.add_option("--width", options.report.width, "width of the table (default: the terminal's)")
      ->check(at_least(40))
      ->type_name("N");
}

void parse_advise_values(AdviseLine& line) {
  AdviseOptions& options = line.options;
  options.run.model = line.model;
  options.run.threads = static_cast<size_t>(std::max(line.threads, 0));
  options.source = line.source;
  options.profile = line.profile;
  options.output = line.output;
  for (const std::string& input : line.inputs) {
    options.run.inputs.push_back(parse_input_spec(input, "--inputs"));
  }
  if (!line.baseline.empty()) options.baseline = parse_settings(line.baseline);
  if (options.is_auto && !options.apply.empty()) {
    throw CLI::ValidationError("--auto", "cannot be used with --apply");
  }
  if (options.is_auto && !options.has_trials) {
    throw CLI::ValidationError("--auto", "needs trials: leave out --no_trials");
  }
  if (options.verify && options.apply.empty()) {
    throw CLI::ValidationError("--verify", "needs --apply");
  }
  if (options.report.format == ReportFormat::kHtml && (options.is_auto || !options.apply.empty())) {
    throw CLI::ValidationError("--format", "html cannot be used with --apply or --auto");
  }
  if (!options.profile.empty() && !options.has_trials) {
    throw CLI::ValidationError("--profile", "needs trials: leave out --no_trials");
  }
  if (!options.profile.empty() && options.verify) {
    throw CLI::ValidationError(
        "--verify",
        "runs on this machine: verify on the device with tools/device/verify_advice.py");
  }
  if (!options.output.empty() && options.apply.empty() && !options.is_auto) {
    throw CLI::ValidationError(
        "--output", "needs --apply or --auto; the advice itself goes to standard output");
  }
  std::vector<std::filesystem::path> read = {options.run.model, options.source, options.profile};
  for (const InputSpec& input : options.run.inputs) read.push_back(input.file);
  const std::filesystem::path written[] = {options.output};
  check_outputs(written, read);
}

}  // namespace

std::optional<AdviseOptions> parse_advise_options(int argc, char** argv, int* exit_code) {
  CLI::App app(
      "Shows what to change in a model or its run, and what each change saves on this machine.\n"
      "  vitrine advise model.pt2\n"
      "  vitrine advise model.pt2 --apply 1,3 --verify -o faster.pte\n"
      "  vitrine advise model.pt2 --auto -o faster.pte\n"
      "  vitrine advise model.pte --source model.pt2 --inputs image.npy\n"
      "  vitrine advise model.pt2 --format html > advice.html\n"
      "  vitrine advise model.pt2 --profile phone/profile.json --format json > advice.json",
      "vitrine advise");
  app.get_formatter()->column_width(30);
  AdviseLine line;
  line.options.run.trace_records = TraceBuffer::kDefaultRecords;
  line.options.run.debug_buffer_bytes = 0;
  add_subject_options(app, line);
  add_advice_options(app, line);
  if (!parse_command_line(
          app, argc, argv, [&] { parse_advise_values(line); }, exit_code)) {
    return std::nullopt;
  }
  return std::move(line.options);
}

}  // namespace vitrine::tools
