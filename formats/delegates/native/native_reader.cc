// Reads payloads of ExecuTorch's native backend, which contain a functional graph with named values
// (.ptg).
#include <map>

#include "formats/delegates/flat_table.h"
#include "formats/delegates/payload_text.h"
#include "formats/native/native_schema.h"

namespace vitrine::delegates {
namespace native {
namespace {

constexpr std::string_view kBackends[] = {"NativeBackend"};
constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxText = 200;

using vitrine::native::ArgumentKind;

std::string dtype_of(int64_t number) {
  const auto dtype = vitrine::native::native_dtype(number);
  return dtype ? scalar_type_name(*dtype) : fmt::format("dtype {}", number);
}

class NativeProgram {
 public:
  explicit NativeProgram(const PayloadInput& input)
      : input_(input), file_(input.bytes, "native flatbuffer") {}

  PayloadDescription read() {
    if (!file_.has_identifier("NPTG")) file_.fail("no identifier \"NPTG\" at byte 4");
    const FlatTable root = file_.root();
    result_.kind = "native graph";
    result_.version = root.text(0);
    result_.options = options_text(input_);
    if (result_.version != "1") {
      file_.fail(fmt::format("version \"{}\": this build reads version 1", result_.version));
    }
    for (const FlatTable& method : root.tables(1)) read_method(method);
    return std::move(result_);
  }

 private:
  using Names = std::map<std::string, size_t, std::less<>>;

  void read_method(const FlatTable& method) {
    Names names;
    const FlatTable graph = method.needed_table(1, "the graph of a method");
    read_values(graph, names);
    for (const FlatTable& constant : method.tables(2)) read_constant(constant, names);
    const size_t buffers = method.tables(4).size();
    if (buffers != 0) {
      result_.facts.push_back(
          fmt::format("{} mutable buffer{}, initially zero", buffers, buffers == 1 ? "" : "s"));
    }
    read_graph(graph, std::string(method.text(0)), names, 0);
  }

  PayloadTensor read_meta(const std::optional<FlatTable>& meta) const {
    PayloadTensor tensor;
    tensor.dtype = "?";
    tensor.has_shape = meta.has_value();
    if (!meta) return tensor;
    tensor.dtype = dtype_of(meta->number<int8_t>(0));
    for (const FlatTable& dim : meta->tables(1)) {
      tensor.shape.push_back({dim.number<int64_t>(0), dim.number<int64_t>(1, -1)});
    }
    if (const std::vector<int32_t> order = meta->numbers<int32_t>(2); !order.empty()) {
      tensor.storage = "dim order " + numbers_text(order);
    }
    if (meta->has(3)) tensor.storage += tensor.storage.empty() ? "quantized" : ", quantized";
    return tensor;
  }

  size_t add(std::string_view name, PayloadTensor tensor, Names& names) {
    const auto found = names.find(name);
    if (found != names.end()) return found->second;
    tensor.name = name;
    names[tensor.name] = result_.tensors.size();
    result_.tensors.push_back(std::move(tensor));
    return result_.tensors.size() - 1;
  }

  void read_values(const FlatTable& graph, Names& names) {
    for (const FlatTable& value : graph.tables(3)) {
      add(value.text(0), read_meta(value.table(1)), names);
    }
  }

  void read_constant(const FlatTable& from, Names& names) {
    const size_t index = add(from.text(0), read_meta(from.table(2)), names);
    PayloadTensor& tensor = result_.tensors[index];
    uint64_t bytes = element_count(tensor.shape).value_or(0);
    if (__builtin_mul_overflow(bytes, bytes_of_dtype(tensor.dtype), &bytes)) {
      file_.fail(fmt::format("constant {}: the size of {} overflows",
                             from.text(0).substr(0, kMaxText), tensor_text(tensor)));
    }
    tensor.constant = named_constant(input_.data, from.text(1), bytes);
  }

  // Returns the index of a value. A value that the file does not describe has no shape.
  size_t value_of(std::string_view name, Names& names) {
    PayloadTensor tensor;
    tensor.dtype = "?";
    tensor.has_shape = false;
    return add(name, std::move(tensor), names);
  }

  void read_graph(const FlatTable& from, const std::string& name, Names& names, size_t depth) {
    if (depth == kMaxDepth)
      file_.fail(fmt::format("graphs are nested more than {} levels deep", kMaxDepth));
    const size_t position = result_.graphs.size();
    result_.graphs.emplace_back();
    PayloadGraph graph;
    graph.name = name.substr(0, kMaxText);
    for (const std::string_view input : from.texts(1))
      graph.inputs.push_back(value_of(input, names));
    for (const FlatTable& node : from.tables(0)) {
      if (node.number<int8_t>(1) == 0) graph.operators.push_back(read_node(node, names, depth));
    }
    for (const std::string_view output : from.texts(2)) {
      graph.outputs.push_back(value_of(output, names));
    }
    result_.graphs[position] = std::move(graph);
  }

  PayloadOperator read_node(const FlatTable& node, Names& names, size_t depth) {
    PayloadOperator op;
    op.name = node.text(2);
    for (const FlatTable& argument : node.tables(3)) {
      const auto wrapped = argument.table(1);
      op.arguments.push_back({std::string(argument.text(0)),
                              wrapped ? argument_text(*wrapped, names, op, depth) : "none"});
    }
    for (const FlatTable& output : node.tables(4)) {
      const std::vector<std::string_view> list = output.texts(3);
      if (list.empty()) op.outputs.push_back(value_of(output.text(0), names));
      for (const std::string_view name : list) op.outputs.push_back(value_of(name, names));
    }
    return op;
  }

  std::string argument_text(const FlatTable& argument, Names& names, PayloadOperator& op,
                            size_t depth) {
    const auto type = static_cast<ArgumentKind>(argument.number<uint8_t>(0));
    const auto body = argument.table(1);
    const auto tensor = [&](std::string_view name) {
      if (name.empty()) return std::string("none");
      op.inputs.push_back(value_of(name, names));
      return tensor_name(op.inputs.back());
    };
    if (type == ArgumentKind::kNone || !body) return "none";
    const bool is_number =
        type == ArgumentKind::kInt || type == ArgumentKind::kFloat || type == ArgumentKind::kBool;
    if (is_number && !body->text(1).empty()) return tensor(body->text(1));
    switch (type) {
      case ArgumentKind::kTensor:
        return tensor(body->text(0));
      case ArgumentKind::kInt:
        return fmt::format("{}", body->number<int64_t>(0));
      case ArgumentKind::kFloat:
        return fmt::format("{:g}", body->number<double>(0));
      case ArgumentKind::kBool:
        return body->flag(0) ? "true" : "false";
      case ArgumentKind::kString:
        return fmt::format("\"{}\"", body->text(0).substr(0, kMaxText));
      case ArgumentKind::kDtype:
        return dtype_of(body->number<int8_t>(0));
      case ArgumentKind::kIntList:
        return numbers_text(body->numbers<int64_t>(0));
      case ArgumentKind::kFloatList:
        return numbers_text(body->numbers<double>(0));
      case ArgumentKind::kBoolList:
        return list_text(body->numbers<uint8_t>(0),
                         [](uint8_t item) { return std::string(item != 0 ? "true" : "false"); });
      case ArgumentKind::kTensorList:
      case ArgumentKind::kOptionalTensorList:
        return list_text(body->texts(0), tensor);
      case ArgumentKind::kGraph: {
        Names inner;  // a graph has its own names
        const FlatTable graph = body->needed_table(1, "the graph of an argument");
        read_values(graph, inner);
        read_graph(graph, std::string(body->text(0)), inner, depth + 1);
        return fmt::format("graph {}", body->text(0).substr(0, kMaxText));
      }
      default:
        return fmt::format("argument of type {} (newer schema)", argument.number<uint8_t>(0));
    }
  }

  const PayloadInput& input_;
  FlatFile file_;
  PayloadDescription result_;
};

}  // namespace
}  // namespace native

const DelegateReader kNativeReader = {
    native::kBackends, "native graph (.ptg)",
    [](std::span<const std::byte> bytes) { return has_text_at(bytes, 4, "NPTG"); },
    [](const PayloadInput& input) { return native::NativeProgram(input).read(); }};

}  // namespace vitrine::delegates
