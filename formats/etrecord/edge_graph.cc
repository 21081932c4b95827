#include "formats/etrecord/edge_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "base/serialized_dtypes.h"

namespace vitrine::etrecord {
namespace {

constexpr std::string_view kTargetPrefixes[] = {
    "executorch.exir.dialects.edge.ops.", "executorch.exir.dialects.backend.ops.", "torch.ops."};
constexpr std::string_view kDelegateCall = "higher_order.executorch_call_delegate";
// A path that contains one of these texts belongs to PyTorch's own Python files.
constexpr std::string_view kTorchFolders[] = {"-packages/torch/", "/torch/nn/", "/torch/_"};
constexpr const char* kIntegerKinds[] = {"as_int", "as_bool", "as_ints", "as_bools"};
// Kinds of inputs whose values the program contains.
constexpr const char* kConstantKinds[] = {"parameter", "buffer", "tensor_constant"};
// Maximum nesting of lowered modules.
constexpr int kMaxNesting = 4;

// The JSON forms in which arguments and outputs refer to values by name.
enum class NameForm : uint8_t { kNamed, kListOfNamed, kListOfUnions, kSymbol, kListOfSymbols };
struct NamingKind {
  const char* tag;
  NameForm form;
};
constexpr NamingKind kNamingKinds[] = {{"as_tensor", NameForm::kNamed},
                                       {"as_tensors", NameForm::kListOfNamed},
                                       {"as_optional_tensors", NameForm::kListOfUnions},
                                       {"as_sym_int", NameForm::kSymbol},
                                       {"as_sym_ints", NameForm::kListOfSymbols},
                                       {"as_sym_bool", NameForm::kSymbol},
                                       {"as_sym_bools", NameForm::kListOfSymbols},
                                       {"as_sym_float", NameForm::kSymbol},
                                       {"as_sym_floats", NameForm::kListOfSymbols}};

// Calls visit(name) for the name of every value in an argument or output.
template <class Visit>
void for_each_value_name(const JsonValue& argument, Visit visit) {
  const auto visit_symbol = [&](const JsonValue& symbol) {
    if (symbol.holds("as_name")) visit(symbol.at("as_name").string());
  };
  for (const NamingKind& kind : kNamingKinds) {
    if (!argument.holds(kind.tag)) continue;
    const JsonValue value = argument.at(kind.tag);
    switch (kind.form) {
      case NameForm::kNamed:
        visit(value.at("name").string());
        break;
      case NameForm::kListOfNamed:
        value.each_item([&](const JsonValue& item) { visit(item.at("name").string()); });
        break;
      case NameForm::kListOfUnions:
        value.each_item([&](const JsonValue& item) {
          if (item.holds("as_tensor")) visit(item.at("as_tensor").at("name").string());
        });
        break;
      case NameForm::kSymbol:
        visit_symbol(value);
        break;
      case NameForm::kListOfSymbols:
        value.each_item(visit_symbol);
        break;
    }
  }
}

void erase_all(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

struct Module {
  std::string path;
  std::string type;
};

// Reads the innermost (last) module of "key,path,type;key,path,type". Paths may have commas.
Module innermost_module(std::string_view stack) {
  const size_t semicolon = stack.rfind(';');
  const std::string_view last =
      semicolon == std::string_view::npos ? stack : stack.substr(semicolon + 1);
  const size_t first_comma = last.find(',');
  const size_t last_comma = last.rfind(',');
  if (first_comma == last_comma) return {};
  const std::string_view key = last.substr(0, first_comma);
  const std::string_view path = last.substr(first_comma + 1, last_comma - first_comma - 1);
  // Graph passes write such a path for a node that does not belong to any module.
  if (path == key && path.starts_with("_empty_nn_module_stack")) return {};
  return {normalized_module_path(path), std::string(last.substr(last_comma + 1))};
}

// Returns the last frame of a stack trace without its folder: "model.py:167" for
//   File "/a/model.py", line 167, in forward
std::string innermost_source_line(std::string_view trace) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  const size_t file = trace.rfind(kFile);
  if (file == std::string_view::npos) return "";
  trace.remove_prefix(file + kFile.size());
  const size_t line = trace.find(kLine);
  if (line == std::string_view::npos) return "";
  std::string_view path = trace.substr(0, line);
  if (const size_t slash = path.rfind('/'); slash != std::string_view::npos) {
    path.remove_prefix(slash + 1);
  }
  trace.remove_prefix(line + kLine.size());
  const size_t digits = trace.find_first_not_of("0123456789");
  return fmt::format("{}:{}", path, trace.substr(0, digits));
}

DebugHandle parse_handle(const JsonValue& value) {
  if (!value.is_string()) return value.integer<DebugHandle>();
  const std::string& text = value.string();
  DebugHandle handle = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), handle);
  if (error != std::errc() || end != text.data() + text.size()) {
    value.fail("is not a debug handle");
  }
  return handle;
}

// Appends an integer, a bool, or a list of them. Skips values of other kinds.
void append_integers(const JsonValue& value, std::vector<int64_t>& integers) {
  if (value.is_list()) {
    value.each_item([&](const JsonValue& item) { append_integers(item, integers); });
  } else if (value.is_boolean()) {
    integers.push_back(value.boolean() ? 1 : 0);
  } else if (value.is_integer()) {
    integers.push_back(value.integer());
  }
}

class GraphReader {
 public:
  EdgeGraph read(const JsonValue& program) {
    read_program(program, "", 0);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const DebugHandle handle = graph_.nodes[i].debug_handle;
      if (handle != 0) graph_.nodes_of_handle[handle].push_back(i);
    }
    return std::move(graph_);
  }

 private:
  void read_program(const JsonValue& program, const std::string& prefix, int nesting) {
    const JsonValue graph = program.at("graph_module").at("graph");
    if (graph.holds("tensor_values")) {
      graph.at("tensor_values").each_member([&](const std::string& name, const JsonValue& tensor) {
        value_of_[prefix + name] = graph_.values.size();
        graph_.values.push_back(read_tensor(tensor));
      });
    }
    if (program.at("graph_module").holds("signature")) {
      read_constants(program.at("graph_module").at("signature"), prefix);
    }
    graph.at("nodes").each_item([&](const JsonValue& node) { read_node(node, prefix, nesting); });
    if (nesting != 0 || !graph.holds("outputs")) return;
    graph.at("outputs").each_item([&](const JsonValue& output) {
      for_each_value_name(output, [&](const std::string& name) {
        if (const auto value = value_of_.find(name); value != value_of_.end()) {
          graph_.outputs.push_back(value->second);
        }
      });
    });
  }

  static EdgeValue read_tensor(const JsonValue& json) {
    EdgeValue value;
    if (json.holds("dtype")) {
      value.dtype = dtype_of_number(DtypeNumbering::kExir, json.at("dtype").integer<int>());
    }
    if (!json.holds("sizes")) return value;
    value.is_static = true;
    json.at("sizes").each_item([&](const JsonValue& size) {
      if (size.holds("as_int")) {
        value.sizes.push_back(size.at("as_int").integer<int64_t>());
        value.is_static &= value.sizes.back() >= 0;
      } else {
        value.is_static = false;
      }
    });
    return value;
  }

  void read_constants(const JsonValue& signature, const std::string& prefix) {
    if (!signature.holds("input_specs")) return;
    signature.at("input_specs").each_item([&](const JsonValue& spec) {
      for (const char* kind : kConstantKinds) {
        if (!spec.holds(kind)) continue;
        const auto value = value_of_.find(prefix + spec.at(kind).at("arg").at("name").string());
        if (value != value_of_.end()) graph_.values[value->second].is_constant = true;
      }
    });
  }

  void read_argument(const JsonValue& input, const std::string& prefix, EdgeNode& node) const {
    EdgeArgument argument;
    if (input.holds("name")) argument.name = input.at("name").string();
    const JsonValue arg = input.at("arg");
    for_each_value_name(arg, [&](const std::string& name) {
      const auto value = value_of_.find(prefix + name);
      if (value != value_of_.end()) argument.values.push_back(value->second);
    });
    for (const char* kind : kIntegerKinds) {
      if (arg.holds(kind)) append_integers(arg.at(kind), argument.integers);
    }
    if (!argument.values.empty() || !argument.integers.empty()) {
      node.arguments.push_back(std::move(argument));
    }
  }

  void read_node(const JsonValue& json, const std::string& prefix, int nesting) {
    EdgeNode node;
    node.target = json.at("target").string();
    for (const std::string_view known : kTargetPrefixes) {
      if (node.target.starts_with(known)) {
        node.target.erase(0, known.size());
        break;
      }
    }
    if (node.target == kDelegateCall && read_lowered_module(json, prefix, nesting)) return;

    read_metadata(json.at("metadata"), node);
    json.at("inputs").each_item([&](const JsonValue& input) {
      read_argument(input, prefix, node);
      for_each_value_name(input.at("arg"), [&](const std::string& name) {
        const auto producer = producer_.find(prefix + name);
        if (producer == producer_.end()) return;  // an input of the program
        if (std::find(node.inputs.begin(), node.inputs.end(), producer->second) ==
            node.inputs.end()) {
          node.inputs.push_back(producer->second);
        }
      });
    });
    if (json.holds("name")) node.name = prefix + json.at("name").string();
    const size_t index = graph_.nodes.size();
    json.at("outputs").each_item([&](const JsonValue& output) {
      for_each_value_name(output, [&](const std::string& name) {
        if (node.name.empty()) node.name = prefix + name;  // before 1.0, nodes did not have names
        producer_[prefix + name] = index;
        const auto value = value_of_.find(prefix + name);
        if (value != value_of_.end()) node.results.push_back(value->second);
      });
    });
    graph_.nodes.push_back(std::move(node));
  }

  static void read_metadata(const JsonValue& metadata, EdgeNode& node) {
    if (metadata.holds("debug_handle")) {
      node.debug_handle = parse_handle(metadata.at("debug_handle"));
    }
    if (metadata.holds("nn_module_stack")) {
      Module module = innermost_module(metadata.at("nn_module_stack").string());
      node.module_path = std::move(module.path);
      node.module_class = std::move(module.type);
    }
    if (metadata.holds("stack_trace")) {
      node.source_line = innermost_source_line(metadata.at("stack_trace").string());
      node.model_line = innermost_model_line(metadata.at("stack_trace").string());
    }
  }

  // Reads the original program of the lowered module in a delegate call. Returns false if the call
  // does not contain a lowered module.
  bool read_lowered_module(const JsonValue& call, const std::string& prefix, int nesting) {
    bool found = false;
    call.at("inputs").each_item([&](const JsonValue& input) {
      if (found || !input.at("arg").holds("as_string")) return;
      found = true;
      if (nesting == kMaxNesting) call.fail("lowered modules are nested too deep");
      const JsonValue text = input.at("arg").at("as_string");
      const JsonDocument document(text.string(), text.path());
      read_program(document.root().at("original_module"),
                   fmt::format("{}{}/", prefix, input.at("name").string()), nesting + 1);
    });
    return found;
  }

  EdgeGraph graph_;
  std::unordered_map<std::string, size_t> producer_;  // index of the node that makes a value
  std::unordered_map<std::string, size_t> value_of_;  // maps a name to an index in graph_.values
};

}  // namespace

std::string innermost_model_line(std::string_view trace) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  std::string innermost;
  size_t end = trace.size();
  while (end != 0) {
    const size_t file = trace.rfind(kFile, end - 1);
    if (file == std::string_view::npos) break;
    end = file;
    std::string_view frame = trace.substr(file + kFile.size());
    const size_t line = frame.find(kLine);
    if (line == std::string_view::npos) continue;
    std::string_view path = frame.substr(0, line);
    const bool is_torch = std::any_of(std::begin(kTorchFolders), std::end(kTorchFolders),
                                      [&](auto folder) { return path.find(folder) != path.npos; });
    if (const size_t slash = path.rfind('/'); slash != std::string_view::npos && slash != 0) {
      const size_t folder = path.rfind('/', slash - 1);
      path.remove_prefix(folder == std::string_view::npos ? 0 : folder + 1);
    }
    frame.remove_prefix(line + kLine.size());
    std::string text =
        fmt::format("{}:{}", path, frame.substr(0, frame.find_first_not_of("0123456789")));
    if (!is_torch) return text;
    if (innermost.empty()) innermost = std::move(text);
  }
  return innermost;
}

std::string normalized_module_path(std::string_view path) {
  // Replaces getattr() calls: getattr(L['s'].blocks, '0').conv  ->  L['s'].blocks.0.conv
  std::string text(path);
  erase_all(text, "getattr(");
  for (size_t at = text.find(", '"); at != std::string::npos; at = text.find(", '", at)) {
    text.replace(at, 3, ".");
  }
  erase_all(text, "')");
  if (text.starts_with("L['")) {
    const size_t end = text.find("']");
    text.erase(0, end == std::string::npos ? text.size() : end + 2);
  }
  if (text.starts_with('.')) text.erase(0, 1);
  return text;
}

EdgeGraph parse_edge_program(std::string_view json, const std::string& location) {
  const JsonDocument document(json, location);
  return GraphReader().read(document.root());
}

}  // namespace vitrine::etrecord
