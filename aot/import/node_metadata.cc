#include "aot/import/node_metadata.h"

#include <string_view>

#include "aot/import/import_error.h"

namespace vitrine::aot {
namespace {

constexpr size_t kMaxAncestryDepth = 120;  // in levels of JSON

// Splits the text at each `separator` that is outside brackets and parentheses.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == separator && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<ModuleStackEntry> read_module_stack(const std::string& text) {
  std::vector<ModuleStackEntry> stack;
  for (const std::string& entry : split(text, ';')) {
    const std::vector<std::string> parts = split(entry, ',');
    if (parts.size() < 3) continue;  // skipping an entry only loses a name
    stack.push_back({parts[0], parts[1], parts[2]});
  }
  return stack;
}

std::vector<Ancestor> read_ancestors(const JsonValue& value) {
  std::vector<Ancestor> ancestors;
  value.each_item([&](const JsonValue& item) {
    Ancestor ancestor;
    ancestor.name = item.at("name").string();
    ancestor.target = item.at("target").string();
    ancestor.graph_id = item.at("graph_id").integer();
    if (item.holds("pass_name")) ancestor.pass_name = item.at("pass_name").string();
    if (item.holds("action") && item.at("action").is_string()) {
      ancestor.action = item.at("action").string();
    }
    if (item.holds("from_node")) ancestor.from = read_ancestors(item.at("from_node"));
    ancestors.push_back(std::move(ancestor));
  });
  return ancestors;
}

}  // namespace

std::shared_ptr<const Origin> read_origin(const JsonValue& value) {
  auto origin = std::make_shared<Origin>();
  bool is_empty = true;
  value.each_member([&](const std::string& key, const JsonValue& item) {
    const std::string& text = item.string();
    is_empty = false;
    if (key == "stack_trace") origin->stack_trace = text;
    if (key == "nn_module_stack") origin->module_stack = read_module_stack(text);
    if (key == "source_fn_stack") origin->source_fn_stack = text;
    if (key == "torch_fn") origin->torch_fn = text;
    if (key == "custom") origin->custom = text;
    if (key == "from_node") {
      try {
        const JsonDocument document(text, "from_node", kMaxAncestryDepth);
        origin->from_node = read_ancestors(document.root());
      } catch (const ImportError& error) {
        item.fail(error.what());
      }
    }
  });
  return is_empty ? nullptr : origin;
}

}  // namespace vitrine::aot
