#include "formats/delegates/openvino/ir_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <utility>

#include "formats/delegates/byte_view.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates::openvino {
namespace {

constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxDataText = 200;

constexpr std::pair<std::string_view, char> kEntities[] = {
    {"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}};
constexpr std::pair<std::string_view, std::string_view> kDtypes[] = {
    {"FP16", "f16"}, {"FP32", "f32"}, {"FP64", "f64"},  {"BF16", "bf16"},   {"I8", "i8"},
    {"I16", "i16"},  {"I32", "i32"},  {"I64", "i64"},   {"U8", "u8"},       {"U16", "u16"},
    {"U32", "u32"},  {"U64", "u64"},  {"BOOL", "bool"}, {"boolean", "bool"}};

// A tag, which starts or ends an XML element.
struct Tag {
  std::string_view name;
  bool is_start = false, is_end = false;  // <a/> sets both members
  std::map<std::string, std::string, std::less<>> attributes;

  std::string_view get(std::string_view key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string_view() : found->second;
  }
};

// Splits XML into tags and the text before each tag. Expands only XML's five predefined entities.
class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : rest_(text), size_(text.size()) {}

  // Reads the next tag, and the text before the tag. Returns false at the end of the XML.
  bool next(Tag& tag, std::string_view& text) {
    for (;;) {
      const size_t open = rest_.find('<');
      text = rest_.substr(0, open);
      if (open == std::string_view::npos) return false;
      rest_.remove_prefix(open + 1);
      if (rest_.starts_with('?')) {
        skip_past("?>");
      } else if (rest_.starts_with("!--")) {
        skip_past("-->");
      } else if (rest_.starts_with('!')) {
        fail("found a document type or CDATA, but OpenVINO writes neither");
      } else {
        break;
      }
    }
    tag = {};
    tag.is_end = take('/');
    tag.is_start = !tag.is_end;
    tag.name = take_name();
    while (!take('>')) {
      if (take('/')) {
        tag.is_end = true;
        continue;
      }
      const std::string key(take_name());
      if (!take('=')) fail("an attribute does not have a value");
      tag.attributes[key] = take_value();
    }
    return true;
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw FormatError(fmt::format("OpenVINO graph: byte {}: {}", size_ - rest_.size(), what));
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  void skip_spaces() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }
  void skip_past(std::string_view end) {
    const size_t at = rest_.find(end);
    if (at == std::string_view::npos) fail("the XML ends inside a comment");
    rest_.remove_prefix(at + end.size());
  }
  bool take(char c) {
    skip_spaces();
    if (rest_.empty()) fail("the XML ends inside a tag");
    if (rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_name() {
    skip_spaces();
    size_t end = 0;
    while (end < rest_.size() && !is_space(rest_[end]) &&
           std::string_view("<>/='\"").find(rest_[end]) == std::string_view::npos) {
      ++end;
    }
    if (end == 0) fail("expected a name");
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }
  std::string take_value() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '"' && rest_[0] != '\'')) fail("expected a quoted value");
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) fail("the XML ends inside a value");
    std::string value = expand(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value;
  }
  std::string expand(std::string_view text) const {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
      result += text[i];
      if (text[i] != '&') continue;
      bool is_known = false;
      for (const auto& [name, c] : kEntities) {
        if (!text.substr(i + 1).starts_with(name)) continue;
        result.back() = c;
        i += name.size();
        is_known = true;
        break;
      }
      if (!is_known) fail("an entity is not one of the five that XML predefines");
    }
    return result;
  }

  std::string_view rest_;
  size_t size_;
};

class IrReader {
 public:
  IrReader(std::string_view xml, uint64_t constant_bytes, PayloadDescription& result)
      : xml_(xml), constant_bytes_(constant_bytes), result_(result) {}

  void read() {
    std::vector<std::string> open;
    Tag tag;
    std::string_view text;
    while (xml_.next(tag, text)) {
      if (tag.is_start) {
        if (open.size() == kMaxDepth) xml_.fail("elements are nested more than 32 levels deep");
        open.emplace_back(tag.name);
        start(tag);
      }
      if (!tag.is_end) continue;
      if (open.empty() || open.back() != tag.name)
        xml_.fail("an end tag does not match a start tag");
      end(tag.name, text);
      open.pop_back();
    }
    if (!open.empty()) xml_.fail("the XML ends inside an element");
    finish_graph();
  }

 private:
  struct Layer {
    std::string name, type;
    PayloadOperator op;
    std::vector<std::string> input_ports;
    std::map<std::string, size_t, std::less<>> outputs;  // maps a port to a tensor
    std::string fused;
    std::string offset, size;  // attributes of a Const
  };

  void start(const Tag& tag) {
    if (tag.name == "net") {
      name_ = tag.get("name");
      result_.version = fmt::format("IR {}", tag.get("version"));
    } else if (tag.name == "layer") {
      const std::string id(tag.get("id"));
      if (layers_.contains(id)) xml_.fail("two layers have the same id");
      layer_ = &layers_[id];
      order_.push_back(layer_);
      layer_->name = tag.get("name");
      layer_->type = tag.get("type");
    } else if (tag.name == "edge") {
      edges_.push_back({std::string(tag.get("from-layer")), std::string(tag.get("from-port")),
                        std::string(tag.get("to-layer")), std::string(tag.get("to-port"))});
    }
    if (layer_ == nullptr) return;
    if (tag.name == "data") {
      for (const auto& [key, value] : tag.attributes) {
        if (key == "offset") layer_->offset = value;
        if (key == "size") layer_->size = value;
        layer_->op.arguments.push_back({key, value.substr(0, kMaxDataText)});
      }
    } else if (tag.name == "attribute" && tag.get("name") == "fused_names") {
      layer_->fused = tag.get("value").substr(0, kMaxDataText);
    } else if (tag.name == "input" || tag.name == "output") {
      in_output_ = tag.name == "output";
    } else if (tag.name == "port") {
      if (!in_output_) {
        layer_->input_ports.emplace_back(tag.get("id"));
        return;
      }
      PayloadTensor& tensor = result_.tensors.emplace_back();
      tensor.name = tag.get("names");
      tensor.dtype = tag.get("precision");
      for (const auto& [from, to] : kDtypes) {
        if (tag.get("precision") == from) tensor.dtype = to;
      }
      layer_->outputs[std::string(tag.get("id"))] = result_.tensors.size() - 1;
      layer_->op.outputs.push_back(result_.tensors.size() - 1);
      port_ = &tensor;
    }
  }

  void end(std::string_view name, std::string_view text) {
    if (name == "layer") layer_ = nullptr;
    if (name == "port") port_ = nullptr;
    if (name != "dim" || port_ == nullptr) return;
    int64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || stop != text.data() + text.size())
      xml_.fail("a size is not a number");
    port_->shape.push_back(size < 0 ? Dim{0, -1} : Dim{size, size});
  }

  void finish_graph() {
    for (const Edge& edge : edges_) {
      const auto from = layers_.find(edge.from_layer);
      const auto to = layers_.find(edge.to_layer);
      if (from == layers_.end() || to == layers_.end()) xml_.fail("an edge names an unknown layer");
      const auto port = from->second.outputs.find(edge.from_port);
      if (port == from->second.outputs.end()) xml_.fail("an edge names an unknown port");
      to->second.op.inputs.push_back(port->second);
    }
    PayloadGraph graph;
    graph.name = name_;
    for (Layer* layer : order_) add_layer(*layer, graph);
    result_.graphs.push_back(std::move(graph));
  }

  void add_layer(Layer& layer, PayloadGraph& graph) {
    PayloadOperator& op = layer.op;
    if (layer.type == "Parameter") {
      graph.inputs.insert(graph.inputs.end(), op.outputs.begin(), op.outputs.end());
    } else if (layer.type == "Result") {
      graph.outputs.insert(graph.outputs.end(), op.inputs.begin(), op.inputs.end());
    } else if (layer.type == "Const" || layer.type == "Constant") {
      add_constant(layer);
    } else {
      op.name = layer.type;
      std::vector<PayloadArgument> arguments;
      for (const size_t input : op.inputs) arguments.push_back({"", tensor_name(input)});
      arguments.insert(arguments.end(), op.arguments.begin(), op.arguments.end());
      arguments.push_back({"layer", layer.name});
      if (!layer.fused.empty()) arguments.push_back({"fused", layer.fused});
      op.arguments = std::move(arguments);
      graph.operators.push_back(std::move(op));
    }
  }

  void add_constant(const Layer& layer) {
    const auto number = [&](std::string_view text) {
      uint64_t value = 0;
      std::from_chars(text.data(), text.data() + text.size(), value);
      return value;
    };
    const uint64_t offset = number(layer.offset), size = number(layer.size);
    if (offset > constant_bytes_ || size > constant_bytes_ - offset) {
      xml_.fail(fmt::format("constant {}: {} bytes at {} do not fit in {} bytes", layer.name, size,
                            offset, constant_bytes_));
    }
    for (const size_t output : layer.op.outputs) {
      result_.tensors[output].constant =
          ConstantData{size, fmt::format("payload constants, byte {}", offset), false};
    }
  }

  struct Edge {
    std::string from_layer, from_port, to_layer, to_port;
  };

  XmlReader xml_;
  uint64_t constant_bytes_;
  PayloadDescription& result_;
  std::string name_;
  std::map<std::string, Layer, std::less<>> layers_;
  std::vector<Layer*> order_;
  std::vector<Edge> edges_;
  Layer* layer_ = nullptr;
  PayloadTensor* port_ = nullptr;
  bool in_output_ = false;
};

}  // namespace

void read_ir(std::string_view xml, uint64_t constant_bytes, PayloadDescription& description) {
  IrReader(xml, constant_bytes, description).read();
}

}  // namespace vitrine::delegates::openvino
