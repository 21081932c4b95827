#include "tools/pte_lower/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "host/tool_error.h"
#include "tools/pte_lower/backends.h"

namespace vitrine::tools {
namespace {

constexpr char kOnlyMethod[] = "forward";

std::string backends_help() {
  std::string text = "in order of preference; none: leave all to kernels (default)";
  for (const BackendRow& row : lowering_backends()) {
    text += fmt::format("\n{}: {}", row.name, row.what);
  }
  return text;
}

// "decode=decode.pt2".
void add_method(const std::string& text, LoweringOptions& options) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw ToolError(fmt::format("--method {}: NAME=FILE is wanted", text));
  }
  if (!options.models.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
    throw ToolError(fmt::format("--method {}: this method is given twice", text));
  }
}

std::vector<std::string> checked_backends(const std::vector<std::string>& names) {
  const bool none = std::ranges::count(names, "none") != 0;
  if (none && names.size() > 1) throw ToolError("--backend none goes with no other backend");
  if (none) return {};
  for (const std::string& name : names) lowering_backend(name);
  return names;
}

}  // namespace

std::optional<LoweringOptions> parse_lowering_options(int argc, char** argv, int* exit_code) {
  CLI::App app(
      "Makes an ExecuTorch program (.pte) of a model that torch.export.save wrote (.pt2).\n"
      "  pte_lower model.pt2 --backend xnnpack -o model.pte --summary\n"
      "  pte_lower --method encode=a.pt2 --method decode=b.pt2 -o model.pte",
      "pte_lower");
  app.get_formatter()->column_width(36);
  LoweringOptions options;
  std::string model;
  std::vector<std::string> methods;
  std::vector<std::string> bounds;
  std::vector<std::string> backends;
  bool no_maps = false;
  bool inline_delegates = false;
  bool naive = false;
  bool no_input_memory = false;
  bool no_output_memory = false;

  const auto list = [&](const char* name, std::vector<std::string>& to, const std::string& help,
                        const char* type) {
    app.add_option(name, to, help)->allow_extra_args(false)->type_name(type);
  };
  app.add_option("model", model, "exported model (.pt2): the method \"forward\"")
      ->type_name("FILE");
  list("--method", methods, "a method of its own; repeatable", "NAME=FILE");
  app.add_option("-o,--output", options.output, "program (.pte)")->required()->type_name("FILE");
  list("--backend", backends, backends_help(), "NAME");
  list("--only-op", options.only_ops,
       "delegate this operator alone (add, aten.add.Tensor); repeatable", "OP");
  list("--exclude-op", options.excluded_ops, "never delegate this operator; repeatable", "OP");
  list("--dynamic", bounds, "narrower bounds of a dynamic size: x.0=1:8 or s0=1:8", "SIZE=MIN:MAX");
  app.add_option("--etrecord", options.record, "also writes an ETRecord, for other tools' profiles")
      ->type_name("FILE");
  app.add_flag("--no-debug-maps", no_maps,
               "leave out what profiles are joined with (executor_runner --profile)");
  app.add_flag("--summary", options.summary, "print what is delegated, memory and sizes");
  app.add_flag("--explain", options.explain, "print why the rest is not, most expensive first");
  app.add_flag("--graph", options.graph, "print the graph, with what is inside delegates");
  app.add_option("--graphviz", options.graphviz, "writes the graph for dot")->type_name("FILE");
  app.add_flag("--fold-constants", options.fold_constants,
               "compute what needs no input now, not at each run");
  app.add_flag("--external-constants", options.emit.external_constants,
               "weights to a file beside the program (.ptd)");
  app.add_option("--segment-alignment", options.emit.segment_alignment, "of weights and delegates")
      ->capture_default_str()
      ->type_name("BYTES");
  app.add_option("--constant-alignment", options.emit.constant_tensor_alignment,
                 "of each weight (default: 16)")
      ->type_name("BYTES");
  app.add_option("--delegate-alignment", options.emit.delegate_alignment,
                 "of delegates inside the table (default: 16)")
      ->type_name("BYTES");
  app.add_flag("--inline-delegates", inline_delegates, "keep delegates inside the table");
  app.add_flag("--stacktrace", options.emit.emit_stacktrace, "keep each instruction's stack trace");
  app.add_flag("--no-plan-inputs", no_input_memory, "the caller gives the inputs' memory");
  app.add_flag("--no-plan-outputs", no_output_memory, "the caller gives the outputs' memory");
  app.add_flag("--no-reuse", naive, "a place of its own for every tensor");
  try {
    app.parse(argc, argv);
    for (const std::string& method : methods) add_method(method, options);
    if (!model.empty() && !options.models.emplace(kOnlyMethod, model).second) {
      throw ToolError("the model and --method forward=... are the same method");
    }
    if (options.models.empty()) throw ToolError("give a model (.pt2), or methods by --method");
    options.backends = checked_backends(backends);
    for (const std::string& bound : bounds)
      options.bounds.push_back(aot::parse_dynamic_bound(bound));
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error);
    return std::nullopt;
  }
  options.emit.emit_debug_maps = !no_maps;
  options.emit.extract_delegate_segments = !inline_delegates;
  options.emit.memory_planning.greedy = !naive;
  options.emit.memory_planning.alloc_graph_input = !no_input_memory;
  options.emit.memory_planning.alloc_graph_output = !no_output_memory;
  return options;
}

}  // namespace vitrine::tools
