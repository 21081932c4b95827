// pte_lower: exported models -> programs.
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>

#include "aot/pipeline/lower.h"
#include "host/command_line.h"
#include "host/files.h"
#include "tools/pte_lower/backends.h"
#include "tools/pte_lower/options.h"
#include "tools/pte_lower/report.h"

namespace vitrine::tools {
namespace {

// One line on a terminal that the next step overwrites; nothing elsewhere.
class ProgressLine {
 public:
  ProgressLine() : is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view step, std::string_view method) const {
    if (!is_terminal_) return;
    fmt::print(stderr, "\r\033[K{}{}{} ...", method, method.empty() ? "" : ": ", step);
    std::fflush(stderr);
  }
  void clear() const {
    if (is_terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool is_terminal_;
};

// Written beside the program; runtimes find it by --data_path.
void add_external_files(const aot::LoweredModel& model, const std::filesystem::path& program,
                        NewFiles& files) {
  for (const auto& [tag, bytes] : model.emitted.ptd) {
    files.add(program.parent_path() / (tag + ".ptd")).append(bytes);
  }
}

void run(const LoweringOptions& options) {
  aot::LowerOptions lowering;
  for (const std::string& name : options.backends) {
    lowering.partitioners.push_back(lowering_backend(name).make_partitioner());
  }
  lowering.filter = aot::OpFilter(options.only_ops, options.excluded_ops);
  lowering.bounds = options.bounds;
  lowering.operators = options.operators;
  lowering.attention = options.attention;
  lowering.quantise = options.quantise;
  lowering.emit = options.emit;
  lowering.fold_constants = options.fold_constants;
  lowering.optimise = options.optimise;
  lowering.make_record = !options.record.empty();
  const ProgressLine progress;
  lowering.progress = [&](auto step, auto method) { progress.show(step, method); };

  std::vector<std::filesystem::path> models;
  for (const auto& model : options.models) models.push_back(model.second);
  const std::filesystem::path written[] = {options.output, options.record, options.graphviz};
  check_outputs(written, models);
  NewFiles files;
  NewFile& program = files.add(options.output);
  lowering.sink = [&](std::span<const std::byte> bytes) { program.append(bytes); };

  progress.show("reading", "");
  const aot::LoweredModel model = aot::lower(aot::import_methods(options.models), lowering);
  add_external_files(model, options.output, files);
  if (!options.record.empty()) files.add(options.record).append(model.record);
  if (!options.graphviz.empty()) files.add(options.graphviz).append(graphviz_text(model));
  files.commit();
  progress.clear();
  for (const std::string& note : model.notes) fmt::print(stderr, "pte_lower: {}\n", note);

  std::string text;
  const auto add = [&](bool wanted, auto report) {
    if (!wanted) return;
    if (!text.empty()) text += '\n';
    text += report(model);
  };
  add(options.summary, summary_text);
  add(options.explain,
      [&](const auto& lowered) { return explain_text(lowered, options.explain_places); });
  add(options.graph, graph_text);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace
}  // namespace vitrine::tools

int main(int argc, char** argv) {
  using namespace vitrine::tools;
  return run_tool("pte_lower", [&] {
    int exit_code = 0;
    const auto options = parse_lowering_options(argc, argv, &exit_code);
    if (options) run(*options);
    return exit_code;
  });
}
