// Reads the text of a compiled model (model.mil): one statement per line.
#include <map>
#include <utility>

#include "formats/delegates/core_ml/mil.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates::core_ml {
namespace {

constexpr size_t kMaxArgumentText = 200;
constexpr size_t kMaxStatements = size_t{1} << 20;

constexpr std::pair<std::string_view, std::string_view> kTextDtypes[] = {
    {"fp16", "f16"},  {"fp32", "f32"},  {"fp64", "f64"}, {"int8", "i8"},    {"int16", "i16"},
    {"int32", "i32"}, {"int64", "i64"}, {"uint8", "u8"}, {"uint16", "u16"}, {"uint32", "u32"}};

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Splits the text at separators outside brackets and quotes, and calls visit(part) for each part.
// An unmatched closing bracket ends the last part. Returns the position of this bracket, or the
// size of the text.
template <class Visit>
size_t split(std::string_view text, char separator, const Visit& visit) {
  size_t depth = 0, begin = 0;
  bool quoted = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    const bool is_arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && !is_arrow) {
      if (depth == 0) break;
      --depth;
    }
    if (c != separator || depth != 0) continue;
    visit(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (begin < i) visit(trim(text.substr(begin, i - begin)));
  return i;
}

class TextReader {
 public:
  explicit TextReader(PayloadDescription& result) : result_(result) {}

  void line(std::string_view text) {
    text = trim(text);
    if (text.starts_with("func ")) return begin_function(text.substr(5));
    if (graph_ == SIZE_MAX) return;
    if (text.starts_with("} -> (")) {
      split(text.substr(6), ',', [&](std::string_view name) {
        const auto found = names_.find(name);
        if (found != names_.end()) graph().outputs.push_back(found->second);
      });
      return;
    }
    statement(text);
  }

 private:
  PayloadGraph& graph() { return result_.graphs[graph_]; }

  // Reads the first line of a function: "main<ios16>(tensor<fp16, [1, 10]> x, tensor<fp16, [1, 10]>
  // y) {".
  void begin_function(std::string_view text) {
    const size_t open = text.find('(');
    if (open == std::string_view::npos)
      throw FormatError("model.mil: a function without arguments");
    names_.clear();
    graph_ = result_.graphs.size();
    result_.graphs.emplace_back().name = trim(text.substr(0, open));
    split(text.substr(open + 1), ',',
          [&](std::string_view argument) { graph().inputs.push_back(define(argument)); });
  }

  // Adds a value that is declared as "tensor<fp16, [1, 10]> x".
  size_t define(std::string_view text) {
    const size_t space = text.rfind(' ');
    if (space == std::string_view::npos) {
      throw FormatError(fmt::format("model.mil: expected a type and a name, found \"{}\"",
                                    text.substr(0, kMaxArgumentText)));
    }
    PayloadTensor tensor = read_type(trim(text.substr(0, space)));
    tensor.name = text.substr(space + 1);
    names_[tensor.name] = result_.tensors.size();
    result_.tensors.push_back(std::move(tensor));
    return result_.tensors.size() - 1;
  }

  static PayloadTensor read_type(std::string_view text) {
    PayloadTensor tensor;
    constexpr std::string_view kTensor = "tensor<";
    tensor.has_shape = false;
    tensor.dtype = text.substr(0, kMaxArgumentText);
    if (!text.starts_with(kTensor)) return tensor;
    text.remove_prefix(kTensor.size());
    const size_t comma = text.find(',');
    const std::string_view dtype = text.substr(0, comma);
    tensor.dtype = dtype;
    for (const auto& [from, to] : kTextDtypes) {
      if (dtype == from) tensor.dtype = to;
    }
    const size_t open = text.find('[');
    if (open == std::string_view::npos) return tensor;
    tensor.has_shape = true;
    split(text.substr(open + 1), ',', [&](std::string_view size) {
      int64_t number = 0;
      bool is_number = !size.empty() && size.size() <= 18;
      for (const char c : size) {
        is_number = is_number && c >= '0' && c <= '9';
        if (is_number) number = number * 10 + (c - '0');
      }
      tensor.shape.push_back(is_number ? Dim{number, number} : Dim{0, -1});
    });
    return tensor;
  }

  // Reads a statement: "tensor<fp16, [1, 10]> var_3 = mul(x = x, y = y)[name = ...];".
  void statement(std::string_view text) {
    const size_t equals = find_assignment(text);
    if (equals == std::string_view::npos) return;
    const std::string_view call = trim(text.substr(equals + 1));
    const size_t open = call.find('(');
    if (open == std::string_view::npos) return;
    if (++statements_ > kMaxStatements) throw FormatError("model.mil: too many statements");
    PayloadOperator op;
    op.name = call.substr(0, open);
    std::string_view arguments = call.substr(open + 1);
    const size_t end =
        split(arguments, ',', [&](std::string_view argument) { add_argument(argument, op); });
    split(trim(text.substr(0, equals)), ',',
          [&](std::string_view result) { op.outputs.push_back(define(result)); });
    if (op.name != "const") {
      graph().operators.push_back(std::move(op));
      return;
    }
    const std::string_view attributes = arguments.substr(end);
    const bool is_blob = attributes.find("BLOBFILE(") != std::string_view::npos;
    for (const size_t index : op.outputs) {
      PayloadTensor& tensor = result_.tensors[index];
      if (!is_blob && tensor.shape.empty()) continue;
      const uint64_t elements = element_count(tensor.shape).value_or(0);
      uint64_t bytes = 0;
      if (__builtin_mul_overflow(elements, bytes_of_dtype(tensor.dtype), &bytes)) bytes = 0;
      tensor.constant = ConstantData{bytes, is_blob ? "weights file" : "model.mil", false};
    }
  }

  // Returns the position of the '=' between the results and the call.
  static size_t find_assignment(std::string_view text) {
    size_t depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '"') return std::string_view::npos;
      if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
      if ((c == ')' || c == ']' || c == '}' || c == '>') && depth > 0) --depth;
      if (c == '=' && depth == 0) return i;
    }
    return std::string_view::npos;
  }

  void add_argument(std::string_view argument, PayloadOperator& op) {
    const size_t equals = argument.find(" = ");
    const bool is_named = equals != std::string_view::npos;
    const std::string_view value = is_named ? argument.substr(equals + 3) : argument;
    const auto found = names_.find(value);
    if (found != names_.end()) op.inputs.push_back(found->second);
    op.arguments.push_back({std::string(is_named ? argument.substr(0, equals) : ""),
                            found != names_.end()
                                ? tensor_name(found->second)
                                : std::string(value.substr(0, kMaxArgumentText))});
  }

  PayloadDescription& result_;
  size_t graph_ = SIZE_MAX;
  size_t statements_ = 0;
  std::map<std::string, size_t, std::less<>> names_;
};

}  // namespace

void read_mil_text(std::string_view text, PayloadDescription& description) {
  TextReader reader(description);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    reader.line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (description.graphs.empty()) throw FormatError("model.mil: no function");
}

}  // namespace vitrine::delegates::core_ml
