#include "tools/pte_lower/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <variant>

#include "runtime/core/parse_real.h"
#include "tools/common/command_line.h"
#include "tools/common/tool_error.h"
#include "tools/pte_lower/auto/options.h"
#include "tools/pte_lower/backends.h"

namespace vitrine::tools {
namespace {

constexpr char kDefaultMethod[] = "forward";

std::string backends_help() {
  std::string text = "backends, in order of preference; none (default): leave all calls to kernels";
  for (const BackendRow& row : lowering_backends()) {
    text += fmt::format("\n{}: {}", row.name, row.help);
  }
  return text;
}

// Parses a method and its file: "decode=decode.pt2".
void add_method(const std::string& text, LoweringOptions& options) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw ToolError(fmt::format("--method {}: expected NAME=FILE", text));
  }
  if (!options.models.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
    throw ToolError(fmt::format("--method {}: the method was given twice", text));
  }
}

// Parses an integer, a real number or a boolean: "1", "-0.5", "true".
std::variant<int64_t, bool, double> parse_constant(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  int64_t integer = 0;
  double real = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, integer);
  if (error == std::errc() && stop == end) return integer;
  if (!parse_real(text, real))
    throw ToolError(fmt::format("\"{}\" is neither a number nor true or false", text));
  return real;
}

// Parses a value such as "get_max_seq_len=2048", or a list such as "get_eos_ids=2,7". A list of one
// value ends with a comma: "get_eos_ids=2,".
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

// CLI11 stores simple options in `options`, and texts in other members. parse_values() converts the
// texts.
struct CommandLine {
  LoweringOptions options;
  std::string model;
  std::string explain;
  std::optional<std::string> quantize;
  AutoTexts search;
  std::vector<std::string> arguments;
  std::vector<std::string> keep;
  std::string attention = "aten";
  std::vector<std::string> methods;
  std::vector<std::string> bounds;
  std::vector<std::string> max_sizes;
  std::vector<std::string> operators;
  std::vector<std::string> metadata;
  std::vector<std::string> backends;
};

CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& to,
                      const std::string& help) {
  return app.add_option(name, to, help)->allow_extra_args(false);
}

// Adds an option that sets `flag` to false. Does not use CLI11's syntax "--name{false}", because
// the help would show "{false}".
void add_unset(CLI::App& app, const char* name, bool& flag, const char* help) {
  app.add_flag_callback(
      name, [&flag] { flag = false; }, help);
}

void add_model_options(CLI::App& app, CommandLine& line) {
  LoweringOptions& options = line.options;
  app.add_option("model", line.model,
                 "exported model: .pt2 for the method \"forward\", or .ptn for all methods")
      ->type_name("FILE");
  add_list(app, "--method", line.methods, "another method and its exported model; repeatable")
      ->type_name("NAME=FILE");
  app.add_option("-o,--output", options.output,
                 "program to write (.pte); optional with --explain, --summary and --graph")
      ->type_name("FILE");
  std::set<std::string> backends = {"none"};
  for (const BackendRow& row : lowering_backends()) backends.emplace(row.name);
  show_choices(add_list(app, "--backend", line.backends, backends_help()), backends);
  add_list(app, "--backend-option", options.backend_options,
           "enable_bf16: let xnnpack delegate bf16 tensors")
      ->type_name("OPTION");
  add_list(app, "--only-op", options.only_ops,
           "delegate only this operator (add, aten.add.Tensor); repeatable")
      ->type_name("OP");
  add_list(app, "--exclude-op", options.excluded_ops, "never delegate this operator; repeatable")
      ->type_name("OP");
  add_list(app, "--metadata", line.metadata,
           "add a method that returns this value or list: get_max_seq_len=2048, get_eos_ids=2,7; "
           "repeatable")
      ->type_name("NAME=VALUE");
  add_list(app, "--dynamic", line.bounds,
           "narrow the bounds of a dynamic size: x.0=1:8 or s0=1:8; repeatable")
      ->type_name("SIZE=MIN:MAX");
  add_list(app, "--max-size", line.max_sizes,
           "set the maximum of a dynamic size that was exported without one: x.0=8; repeatable")
      ->type_name("SIZE=N");
  add_list(app, "--operator", line.operators,
           "declare a custom operator that the model calls: 'my::op(Tensor(a!) x, float y=1.0) -> "
           "Tensor'; "
           "repeatable")
      ->type_name("SCHEMA");
}

void add_rewriting_options(CLI::App& app, CommandLine& line) {
  app.add_option(
         "--attention", line.attention,
         "aten (default): leave attention unchanged; "
         "custom_sdpa: use llama::custom_sdpa and llama::update_cache, like ExecuTorch's language "
         "models; auto: use both where they are faster")
      ->check(CLI::IsMember({"aten", "custom_sdpa", "auto"}).description(""))
      ->type_name("aten|custom_sdpa|auto");
  app.add_option(
         "--quantize", line.quantize,
         "quantize the model, bit for bit like torchao: int8, or 8da4w:32,embedding:4:32\n"
         "int8 (needs --calibrate), int8_dynamic: layers and activations, like XNNPACKQuantizer; "
         ":per_tensor uses one scale for each weight\n"
         "f16, bf16: all calls in f32; bf16 is not delegated by default\n"
         "8da4w[:GROUP][:RULE]: linear layers in int4; default GROUP: 128\n"
         "embedding:BITS[:GROUP][:RULE]: BITS: 2, 4 or 8; default GROUP: a row\n"
         "RULE for scales: hqq (default, like ExecuTorch's language models) or affine (like "
         "torchao's quantize_())\n"
         "float: only the parts of --keep; auto: needs --calibrate and a bound")
      ->type_name("SCHEME,...");
  add_list(app, "--calibrate", line.options.calibrate,
           "data for int8: .bin, .npy, .npz, folders, lists (.txt); repeatable")
      ->type_name("PATH");
  add_list(app, "--keep", line.keep,
           "scheme of a module, module type or operator: 'classifier.*=float', fc=8da4w:32; "
           "repeatable")
      ->type_name("PART=SCHEME");
  add_auto_options(app, line.search);
}

void parse_quantize_options(CommandLine& line) {
  LoweringOptions& options = line.options;
  if (line.quantize == "auto") {
    if (!line.keep.empty()) {
      throw ToolError(
          "--keep cannot be combined with --quantize auto, which chooses the scheme of each part");
    }
    if (options.calibrate.empty()) {
      throw ToolError("--quantize auto needs calibration data: --calibrate PATH");
    }
    if (options.models.size() > 1) {
      throw ToolError("--quantize auto: several methods cannot share calibration data");
    }
    if (options.emit.external_constants) {
      throw ToolError("--quantize auto cannot be combined with --external-constants");
    }
    options.search = parse_auto_options(line.search, line.arguments);
    options.search->calibrate = options.calibrate;
    return;
  }
  if (has_auto_options(line.search)) {
    throw ToolError(
        "--at_least, --at_most_bytes, --at_most_ms, --device_times, --accuracy, --samples and "
        "--search_report need --quantize auto");
  }
  if (line.quantize) options.quantize = aot::parse_quantization(*line.quantize);
  if (!line.quantize && !line.keep.empty())
    throw ToolError("--keep needs --quantize int8 or another scheme");
  for (const std::string& rule : line.keep) aot::add_rule(rule, options.quantize);
  if (!options.calibrate.empty() && !options.quantize.int8) {
    throw ToolError("--calibrate needs --quantize int8");
  }
}

void add_report_options(CLI::App& app, CommandLine& line) {
  LoweringOptions& options = line.options;
  app.add_option("--etrecord", options.record,
                 "also write an ETRecord, for profiling with other tools")
      ->type_name("FILE");
  add_unset(app, "--no-debug-maps", options.emit.emit_debug_maps,
            "leave out the debug maps, which name source ops in profiles");
  app.add_flag("--summary", options.summary,
               "print what is delegated, planned memory and file sizes");
  app.add_flag("--explain{reasons}", line.explain,
               "print why calls are not delegated, most expensive first; --explain=places lists "
               "each call")
      ->check(CLI::IsMember({"reasons", "places"}).description(""));
  app.add_flag("--graph", options.graph, "print the graph, including the graphs inside delegates");
  app.add_option("--graphviz", options.graphviz, "write the graph for Graphviz's dot")
      ->type_name("FILE");
}

void add_emit_options(CLI::App& app, LoweringOptions& options) {
  aot::EmitOptions& emit = options.emit;
  app.add_flag("--fold-constants", options.fold_constants,
               "during lowering, compute the values that do not depend on inputs");
  app.add_flag(
      "--optimize", options.optimize,
      "apply speed optimizations that ExecuTorch does not have, without more planned memory; "
      "--explain lists the changes");
  app.add_flag("--external-constants", emit.external_constants,
               "write weights to a separate file next to the program (.ptd)");
  app.add_option("--segment-alignment", emit.segment_alignment,
                 "alignment of segments (weights and delegates)")
      ->capture_default_str()
      ->type_name("BYTES");
  app.add_option("--constant-alignment", emit.constant_tensor_alignment,
                 "alignment of each weight (default: 16)")
      ->type_name("BYTES");
  app.add_option("--delegate-alignment", emit.delegate_alignment,
                 "alignment of delegates inside the flatbuffer (default: 16)")
      ->type_name("BYTES");
  add_unset(app, "--inline-delegates", emit.extract_delegate_segments,
            "keep delegates inside the flatbuffer instead of in segments");
  app.add_flag("--stacktrace", emit.emit_stacktrace, "keep each instruction's stack trace");
  add_unset(app, "--no-plan-inputs", emit.memory_planning.alloc_graph_input,
            "do not plan memory for inputs; the caller provides it");
  add_unset(app, "--no-plan-outputs", emit.memory_planning.alloc_graph_output,
            "do not plan memory for outputs; the caller provides it");
  app.add_flag("--share-mutable-buffers", emit.memory_planning.share_mutable_buffers,
               "let methods share the memory and state of mutable buffers with the same name");
  add_unset(app, "--no-reuse", emit.memory_planning.greedy, "give every tensor its own memory");
  add_unset(app, "--no-load-check", options.check_loading,
            "do not check that the new program loads (default: check programs with delegates)");
}

void parse_values(CommandLine& line) {
  LoweringOptions& options = line.options;
  for (const std::string& method : line.methods) add_method(method, options);
  if (!line.model.empty() && !options.models.emplace(kDefaultMethod, line.model).second) {
    throw ToolError("--method forward=...: the model argument is already the method forward");
  }
  if (options.models.empty())
    throw ToolError("no model was given: expected a .pt2 or .ptn file, or --method NAME=FILE");
  const bool has_report = options.summary || options.graph || !line.explain.empty();
  if (options.output.empty() && !has_report) {
    throw ToolError(
        "--output is required, unless --explain, --summary or --graph asks for a report");
  }
  if (options.output == "-") options.output = "/dev/stdout";
  options.backends = checked_backends(line.backends);
  for (const std::string& bound : line.bounds) {
    options.bounds.push_back(aot::parse_dynamic_bound(bound));
  }
  for (const std::string& size : line.max_sizes) {
    options.bounds.push_back(aot::parse_max_size(size));
  }
  for (const std::string& schema : line.operators) {
    options.operators.push_back(aot::parse_operator(schema));
  }
  options.attention = *aot::attention_operator(line.attention);
  parse_quantize_options(line);
  for (const std::string& given : line.metadata) {
    options.emit.constant_methods.push_back(parse_constant_method(given));
  }
  options.explain = !line.explain.empty();
  options.explain_places = line.explain == "places";
}

}  // namespace

std::optional<LoweringOptions> parse_lowering_options(int argc, char** argv, int* exit_code) {
  return parse_lowering_options(std::vector<std::string>(argv + 1, argv + argc), exit_code);
}

std::optional<LoweringOptions> parse_lowering_options(std::vector<std::string> arguments,
                                                      int* exit_code) {
  CLI::App app(
      "Lowers a model that torch.export.save wrote (.pt2) to an ExecuTorch program (.pte).\n"
      "  pte_lower model.pt2 --backend xnnpack -o model.pte --summary",
      "pte_lower");
  app.get_formatter()->column_width(30);
  CommandLine line;
  line.arguments = arguments;
  add_model_options(app, line);
  add_rewriting_options(app, line);
  add_report_options(app, line);
  add_emit_options(app, line.options);
  if (!parse_command_line(
          app, std::move(arguments), [&] { parse_values(line); }, exit_code)) {
    return std::nullopt;
  }
  return std::move(line.options);
}

aot::LowerOptions to_lower_options(const LoweringOptions& options) {
  aot::LowerOptions lowering;
  lowering.partitioners = make_partitioners(options.backends, options.backend_options);
  lowering.filter = aot::OpFilter(options.only_ops, options.excluded_ops);
  lowering.bounds = options.bounds;
  lowering.operators = options.operators;
  lowering.attention = options.attention;
  lowering.quantize = options.quantize;
  lowering.emit = options.emit;
  lowering.fold_constants = options.fold_constants;
  lowering.optimize = options.optimize;
  lowering.make_record = !options.record.empty();
  return lowering;
}

}  // namespace vitrine::tools
