#include "tools/pte_lower/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <variant>

#include "host/command_line.h"
#include "host/tool_error.h"
#include "runtime/core/parse_real.h"
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
    throw ToolError(fmt::format("--method {}: expected NAME=FILE", text));
  }
  if (!options.models.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
    throw ToolError(fmt::format("--method {}: this method is given twice", text));
  }
}

// "1", "-0.5", "true".
std::variant<int64_t, bool, double> parse_constant(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  int64_t integer = 0;
  double real = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, integer);
  if (error == std::errc() && stop == end) return integer;
  if (!parse_real(text, real))
    throw ToolError(fmt::format("\"{}\" is neither a number nor a bool", text));
  return real;
}

// "get_max_seq_len=2048"; a list with commas, "get_eos_ids=2,7" or "get_eos_ids=2,".
aot::ConstantMethod parse_constant_method(const std::string& text) try {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw ToolError("expected NAME=VALUE");
  }
  aot::ConstantMethod method;
  method.name = text.substr(0, equals);
  std::string_view rest = std::string_view(text).substr(equals + 1);
  method.is_list = rest.find(',') != std::string_view::npos;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    method.values.push_back(parse_constant(rest.substr(0, comma)));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return method;
} catch (const ToolError& error) {
  throw ToolError(fmt::format("--metadata {}: {}", text, error.what()));
}

std::vector<std::string> checked_backends(const std::vector<std::string>& names) {
  const bool none = std::ranges::count(names, "none") != 0;
  if (none && names.size() > 1)
    throw ToolError("--backend none cannot be combined with other backends");
  if (none) return {};
  for (const std::string& name : names) lowering_backend(name);
  return names;
}

// As the command line has it, before texts are taken apart.
struct CommandLine {
  LoweringOptions options;
  std::string model;
  std::string explain;
  std::optional<std::string> quantise;
  std::string attention = "aten";
  std::vector<std::string> methods;
  std::vector<std::string> bounds;
  std::vector<std::string> operators;
  std::vector<std::string> metadata;
  std::vector<std::string> backends;
};

CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& to,
                      const std::string& help) {
  return app.add_option(name, to, help)->allow_extra_args(false);
}

// CLI11's own way would show the value as a part of the option's name.
void add_unset(CLI::App& app, const char* name, bool& flag, const char* help) {
  app.add_flag_callback(
      name, [&flag] { flag = false; }, help);
}

void add_model_options(CLI::App& app, CommandLine& line) {
  LoweringOptions& options = line.options;
  app.add_option("model", line.model, "exported model (.pt2): the method \"forward\"")
      ->type_name("FILE");
  add_list(app, "--method", line.methods, "a method of its own; repeatable")
      ->type_name("NAME=FILE");
  app.add_option("-o,--output", options.output, "program (.pte)")->required()->type_name("FILE");
  add_list(app, "--backend", line.backends, backends_help())->type_name("NAME");
  add_list(app, "--only-op", options.only_ops,
           "delegate only this operator (add, aten.add.Tensor); repeatable")
      ->type_name("OP");
  add_list(app, "--exclude-op", options.excluded_ops, "never delegate this operator; repeatable")
      ->type_name("OP");
  add_list(app, "--metadata", line.metadata,
           "a method that gives this value or list: get_max_seq_len=2048, get_eos_ids=2,7; "
           "repeatable")
      ->type_name("NAME=VALUE");
  add_list(app, "--dynamic", line.bounds, "narrower bounds of a dynamic size: x.0=1:8 or s0=1:8")
      ->type_name("SIZE=MIN:MAX");
  add_list(app, "--operator", line.operators,
           "a custom operator that the model calls: 'my::op(Tensor(a!) x, float y=1.0) -> Tensor'; "
           "repeatable")
      ->type_name("SCHEMA");
}

void add_rewriting_options(CLI::App& app, CommandLine& line) {
  app.add_option("--attention", line.attention,
                 "custom_sdpa: attention by llama::custom_sdpa and writes to caches by "
                 "llama::update_cache, as in stock language models; auto: the same where it is "
                 "faster; aten (default): as it is")
      ->check(CLI::IsMember({"aten", "custom_sdpa", "auto"}).description(""))
      ->type_name("KIND");
  app.add_option("--quantize", line.quantise,
                 "quantise float weights, bit for bit as torchao does: 8da4w:32,embedding:4:32\n"
                 "8da4w[:GROUP][:RULE]: linear layers, int4 (128 a group), activations int8\n"
                 "embedding:BITS[:GROUP][:RULE]: embeddings, 2, 4 or 8 bits (a group is a row)\n"
                 "RULE, of scales: hqq (ExecuTorch's language models; default) or affine "
                 "(torchao's quantize_())")
      ->type_name("SCHEME,...");
}

void add_report_options(CLI::App& app, CommandLine& line) {
  LoweringOptions& options = line.options;
  app.add_option("--etrecord", options.record, "also writes an ETRecord, for other tools' profiles")
      ->type_name("FILE");
  add_unset(app, "--no-debug-maps", options.emit.emit_debug_maps,
            "leave out what profiles are joined with (executor_runner --profile)");
  app.add_flag("--summary", options.summary, "print what is delegated, memory and sizes");
  app.add_flag("--explain{reasons}", line.explain,
               "print why the rest is not, most expensive first; --explain=places lists each call")
      ->check(CLI::IsMember({"reasons", "places"}).description(""));
  app.add_flag("--graph", options.graph, "print the graph, with what is inside delegates");
  app.add_option("--graphviz", options.graphviz, "writes the graph for dot")->type_name("FILE");
}

void add_emit_options(CLI::App& app, LoweringOptions& options) {
  aot::EmitOptions& emit = options.emit;
  app.add_flag("--fold-constants", options.fold_constants,
               "compute what needs no input now, not at each run");
  app.add_flag("--optimize", options.optimise,
               "go beyond ExecuTorch's lowering for speed; planned memory does not grow. --explain "
               "tells what was done");
  app.add_flag("--external-constants", emit.external_constants,
               "weights to a file beside the program (.ptd)");
  app.add_option("--segment-alignment", emit.segment_alignment, "of weights and delegates")
      ->capture_default_str()
      ->type_name("BYTES");
  app.add_option("--constant-alignment", emit.constant_tensor_alignment,
                 "of each weight (default: 16)")
      ->type_name("BYTES");
  app.add_option("--delegate-alignment", emit.delegate_alignment,
                 "of delegates inside the table (default: 16)")
      ->type_name("BYTES");
  add_unset(app, "--inline-delegates", emit.extract_delegate_segments,
            "keep delegates inside the table");
  app.add_flag("--stacktrace", emit.emit_stacktrace, "keep each instruction's stack trace");
  add_unset(app, "--no-plan-inputs", emit.memory_planning.alloc_graph_input,
            "the caller gives the inputs' memory");
  add_unset(app, "--no-plan-outputs", emit.memory_planning.alloc_graph_output,
            "the caller gives the outputs' memory");
  app.add_flag("--share-mutable-buffers", emit.memory_planning.share_mutable_buffers,
               "one place for a buffer that several methods have, so that they share its state");
  add_unset(app, "--no-reuse", emit.memory_planning.greedy, "a place of its own for every tensor");
}

void take_apart(CommandLine& line) {
  LoweringOptions& options = line.options;
  for (const std::string& method : line.methods) add_method(method, options);
  if (!line.model.empty() && !options.models.emplace(kOnlyMethod, line.model).second) {
    throw ToolError("the model and --method forward=... are the same method");
  }
  if (options.models.empty()) throw ToolError("give a model (.pt2), or methods by --method");
  options.backends = checked_backends(line.backends);
  for (const std::string& bound : line.bounds) {
    options.bounds.push_back(aot::parse_dynamic_bound(bound));
  }
  for (const std::string& schema : line.operators) {
    options.operators.push_back(aot::parse_operator(schema));
  }
  options.attention = *aot::attention_operator(line.attention);
  if (line.quantise) options.quantise = aot::parse_quantisation(*line.quantise);
  for (const std::string& given : line.metadata) {
    options.emit.constant_methods.push_back(parse_constant_method(given));
  }
  options.explain = !line.explain.empty();
  options.explain_places = line.explain == "places";
}

}  // namespace

std::optional<LoweringOptions> parse_lowering_options(int argc, char** argv, int* exit_code) {
  CLI::App app(
      "Makes an ExecuTorch program (.pte) of a model that torch.export.save wrote (.pt2).\n"
      "  pte_lower model.pt2 --backend xnnpack -o model.pte --summary\n"
      "  pte_lower --method encode=a.pt2 --method decode=b.pt2 -o model.pte",
      "pte_lower");
  app.get_formatter()->column_width(36);
  CommandLine line;
  add_model_options(app, line);
  add_rewriting_options(app, line);
  add_report_options(app, line);
  add_emit_options(app, line.options);
  if (!parse_command_line(
          app, argc, argv, [&] { take_apart(line); }, exit_code)) {
    return std::nullopt;
  }
  return std::move(line.options);
}

}  // namespace vitrine::tools
