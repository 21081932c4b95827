// pte_lower: lowers exported models to programs.
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "aot/pipeline/lower.h"
#include "demo_backend/lowering.h"
#include "demo_backend/profile.h"
#include "demo_backend/runtime.h"
#include "tools/common/command_line.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/file_kind.h"
#include "tools/common/files.h"
#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/tool_error.h"
#include "tools/pte_lower/auto/accuracy.h"
#include "tools/pte_lower/auto/report.h"
#include "tools/pte_lower/auto/search.h"
#include "tools/pte_lower/backends.h"
#include "tools/pte_lower/calibration_files.h"
#include "tools/pte_lower/load_check.h"
#include "tools/pte_lower/options.h"
#include "tools/pte_lower/report.h"
#include "tools/vitrine/commands.h"

namespace vitrine::tools {
namespace {

// Shows the current step in a line on stderr, if that is a terminal. The next step overwrites the
// line.
class ProgressLine {
 public:
  ProgressLine() : is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view step, std::string_view method) const {
    if (!is_terminal_) return;
    clear();
    print_text(stderr, fmt::format("{}{}{} ...", method, method.empty() ? "" : ": ", step));
    std::fflush(stderr);
  }
  void clear() const {
    if (is_terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool is_terminal_;
};

// Writes the .ptd files to the program's folder. Returns the temporary paths of the files.
std::vector<std::filesystem::path> add_external_files(const aot::LoweredModel& model,
                                                      const std::filesystem::path& program,
                                                      NewFiles& files) {
  std::vector<std::filesystem::path> paths;
  for (const auto& [tag, bytes] : model.emitted.ptd) {
    NewFile& file = files.add(program.parent_path() / (tag + ".ptd"));
    file.append(bytes);
    paths.push_back(file.temporary_path());
  }
  return paths;
}

// Stores the precisions of --quantize auto in `lowering`. Returns the exit code.
int choose_precisions(const aot::Methods& methods, const LoweringOptions& options, NewFiles& files,
                      aot::LowerOptions& lowering) {
  AutoOptions search = *options.search;
  if (!search.accuracy.empty()) {
    search.score = [&](std::span<const std::byte> program) {
      return run_accuracy(search.accuracy, program, options.output);
    };
  }
  stop_then_remove_files_on_interrupt();
  search.is_stopped = [] { return stop_flag().load(); };
  const AutoResult result = search_precisions(methods, lowering, search);
  remove_files_on_interrupt();
  if (!result.quantize.empty()) lowering.quantize = aot::parse_quantization(result.quantize);
  for (const std::string& rule : result.keep) aot::add_rule(rule, lowering.quantize);
  print_text(stdout, auto_text(result, search));
  const bool is_complete = result.is_met && !result.is_interrupted;
  if (!search.report.empty()) {
    const std::string report = auto_report(result, search);
    if (is_complete) {
      files.add(search.report).append(report);
    } else {
      write_file(search.report, report);
    }
  }
  if (is_complete) {
    const std::string doubt = auto_doubt(result, search);
    if (!doubt.empty()) print_warning("--quantize auto: " + doubt);
    return 0;
  }
  print_error(
      fmt::format("--quantize auto: {}; no program was written", auto_failure(result, search)));
  return result.is_interrupted ? kExitInterrupted : kExitBeyondLimit;
}

int run(const LoweringOptions& options) {
  aot::LowerOptions lowering = to_lower_options(options);
  const ProgressLine progress;
  lowering.progress = [&](auto step, auto method) { progress.show(step, method); };

  std::vector<std::filesystem::path> inputs;
  for (const auto& model : options.models) inputs.push_back(model.second);
  inputs.insert(inputs.end(), options.calibrate.begin(), options.calibrate.end());
  const std::filesystem::path written[] = {
      options.output, options.record, options.graphviz,
      options.search ? options.search->report : std::filesystem::path()};
  check_outputs(written, inputs);
  NewFiles files;
  NewFile* const program = options.output.empty() ? nullptr : &files.add(options.output);
  lowering.sink = [&](std::span<const std::byte> bytes) {
    if (program != nullptr) program->append(bytes);
  };

  progress.show("reading", "");
  for (const auto& [name, model] : options.models) {
    const std::unique_ptr<DataSource> file = check(map_file(model.c_str()));
    check_kind(model, check(file->read(0, file->size())).bytes(),
               "an exported model (.pt2 or .ptn)",
               {FileKind::kExportedModel, FileKind::kNativeModel, FileKind::kForeignPayload,
                FileKind::kArchive});
  }
  aot::Methods methods = aot::import_methods(options.models);
  if (!options.calibrate.empty()) {
    lowering.calibration = find_calibration_data(options.calibrate, methods.begin()->second);
  }
  if (options.search) {
    const int exit_code = choose_precisions(methods, options, files, lowering);
    if (exit_code != 0) return exit_code;
  }
  aot::LoweredModel model = aot::lower(std::move(methods), lowering);
  if (program != nullptr) {
    const auto data = add_external_files(model, options.output, files);
    const std::filesystem::path written_program = program->temporary_path();
    if (options.check_loading && !options.backends.empty() && !written_program.empty()) {
      progress.show("loading the program", "");
      files.finish();
      if (auto note = check_loading(written_program, data)) {
        model.notes.push_back(std::move(*note));
      }
    }
  }
  if (!options.record.empty()) files.add(options.record).append(model.record);
  if (!options.graphviz.empty()) files.add(options.graphviz).append(graphviz_text(model));
  files.commit();
  progress.clear();
  for (const std::string& note : model.notes) print_note(note);

  std::string text;
  const auto add = [&](bool is_requested, auto report) {
    if (!is_requested) return;
    if (!text.empty()) text += '\n';
    text += report(model);
  };
  add(options.summary, summary_text);
  add(options.explain,
      [&](const auto& lowered) { return explain_text(lowered, options.explain_places); });
  add(options.graph, graph_text);
  print_text(stdout, std::move(text));
  const bool has_rejections = std::ranges::any_of(
      model.rejections, [](const auto& method) { return !method.second.empty(); });
  if (options.explain && !options.optimize && has_rejections) {
    print_note("--optimize rewrites the graph, so that backends may accept more calls");
  }
  return 0;
}

}  // namespace

int pte_lower(int argc, char** argv) {
  return run_tool("pte_lower", [&] {
    add_backend(demo::backend(), demo::profile());
    add_lowering_backend({"demo", "for backend authors: an example with convolution+relu and tan",
                          [](BackendOptions) -> std::shared_ptr<const aot::Partitioner> {
                            return std::make_shared<demo::DemoPartitioner>();
                          }});
    int exit_code = 0;
    const auto options = parse_lowering_options(argc, argv, &exit_code);
    remove_files_on_interrupt();
    return options ? run(*options) : exit_code;
  });
}

}  // namespace vitrine::tools
