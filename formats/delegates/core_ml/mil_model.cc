// Reads a model that is stored as a protobuf (.mlmodel).
#include <algorithm>
#include <map>

#include "formats/delegates/core_ml/mil.h"
#include "formats/delegates/core_ml/protobuf.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates::core_ml {
namespace {

constexpr uint32_t kMlProgram = 502;
constexpr size_t kInlineElements = 8;  // larger constants are tensors
constexpr uint64_t kMaxTextBytes = 200;

constexpr NumberName kDtypes[] = {
    {1, "bool"}, {2, "string"}, {10, "f16"},      {11, "f32"},   {12, "f64"}, {13, "bf16"},
    {21, "i8"},  {22, "i16"},   {23, "i32"},      {24, "i64"},   {25, "i4"},  {31, "u8"},
    {32, "u16"}, {33, "u32"},   {34, "u64"},      {35, "u4"},    {36, "u2"},  {37, "u1"},
    {38, "u6"},  {39, "u3"},    {40, "f8e4m3fn"}, {41, "f8e5m2"}};

constexpr NumberName kModelTypes[] = {
    {200, "pipelineClassifier"}, {201, "pipelineRegressor"},      {202, "pipeline"},
    {500, "neuralNetwork"},      {303, "neuralNetworkRegressor"}, {403, "neuralNetworkClassifier"}};

constexpr NumberName kOpsets[] = {
    {6, "iOS15"}, {7, "iOS16"}, {8, "iOS17"}, {9, "iOS18"}, {10, "iOS26"}};

struct NamedValue {
  size_t tensor = SIZE_MAX;
  std::string text;  // text of a small constant
};

PayloadTensor read_type(Bytes type, size_t depth = 0) {
  PayloadTensor tensor;
  tensor.has_shape = false;
  const ProtoField tensor_type = find_field(type, 1);
  if (tensor_type.wire_type != 2 || tensor_type.number == 0) {
    const ProtoField state = find_field(type, 5);
    if (state.number != 0 && depth < kMaxMessageDepth) {
      tensor = read_type(find_field(state.data, 1).data, depth + 1);
      tensor.storage = "state";
      return tensor;
    }
    tensor.dtype = find_field(type, 2).number != 0   ? "list"
                   : find_field(type, 3).number != 0 ? "tuple"
                   : find_field(type, 4).number != 0 ? "dictionary"
                                                     : "unknown type";
    return tensor;
  }
  int64_t rank = 0;
  ProtoReader reader(tensor_type.data);
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) {
      tensor.dtype = name_of(kDtypes, static_cast<int64_t>(field.value), "dtype");
    }
    if (field.number == 2) rank = static_cast<int64_t>(field.value);
    if (field.number != 3) continue;
    const ProtoField constant = find_field(field.data, 1);
    const uint64_t size = find_field(constant.data, 1).value;
    if (size > INT64_MAX) throw FormatError("Core ML model: a dimension is larger than 2^63 - 1");
    const auto known = static_cast<int64_t>(size);
    tensor.shape.push_back(constant.number != 0 ? Dim{known, known} : Dim{0, -1});
  }
  tensor.has_shape = rank >= 0;
  return tensor;
}

struct Literal {
  PayloadTensor tensor;
  std::string text;  // text of a small immediate value
  uint64_t bytes = 0;
  bool is_blob = false;
  std::string_view file;
  uint64_t offset = 0;
};

std::string values_text(Bytes message, uint32_t kind, uint64_t& count) {
  std::vector<std::string> items;
  const auto add = [&](std::string text) {
    ++count;
    if (items.size() <= kInlineElements) items.push_back(std::move(text));
  };
  ProtoReader reader(message);
  for (ProtoField field; reader.next(field);) {
    if (field.number != 1) continue;
    if (kind == 4) {
      add(fmt::format("\"{}\"", field.text().substr(0, kMaxTextBytes)));
    } else if (kind == 1 || kind == 6) {
      const size_t size = kind == 1 ? 4 : 8;
      const auto number = [&](const std::byte* from) {
        return fmt::format("{:g}",
                           size == 4 ? load_little<float>(from) : load_little<double>(from));
      };
      if (field.wire_type == 2) {
        for (size_t i = 0; i + size <= field.data.size(); i += size) add(number(&field.data[i]));
      } else {
        add(number(reinterpret_cast<const std::byte*>(&field.value)));
      }
    } else {
      std::vector<int64_t> numbers;
      add_varints(field, numbers);
      for (const int64_t number : numbers) {
        if (kind == 3) {
          add(number != 0 ? "true" : "false");
        } else {
          add(fmt::format("{}", kind == 2 ? static_cast<int32_t>(number) : number));
        }
      }
    }
  }
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ", ") + items[i];
  return text;
}

Literal read_value(Bytes value) {
  Literal literal;
  literal.tensor = read_type(find_field(value, 2).data);
  const ProtoField blob = find_field(value, 5);
  if (blob.number != 0) {
    literal.is_blob = true;
    literal.file = find_field(blob.data, 1).text();
    literal.offset = find_field(blob.data, 2).value;
    return literal;
  }
  const ProtoField tensor = find_field(find_field(value, 3).data, 1);
  ProtoReader reader(tensor.data);
  for (ProtoField field; reader.next(field);) {
    if (field.wire_type != 2) continue;
    if (field.number == 7) {
      literal.bytes = find_field(field.data, 1).data.size();
      literal.text = fmt::format("{} bytes", literal.bytes);
      continue;
    }
    uint64_t count = 0;
    std::string text = values_text(field.data, field.number, count);
    literal.bytes = count * std::max<size_t>(1, bytes_of_dtype(literal.tensor.dtype));
    const bool is_scalar = literal.tensor.shape.empty() && count == 1;
    literal.text = count > kInlineElements ? "" : is_scalar ? text : "[" + text + "]";
  }
  return literal;
}

class ModelReader {
 public:
  ModelReader(const std::vector<PackedFile>& files, PayloadDescription& result)
      : files_(files), result_(result) {}

  void read_function(std::string_view name, Bytes function) {
    names_.clear();
    const std::string_view opset = find_field(function, 2).text();
    Bytes block;
    bool has_block = false;
    each_map_entry(function, 3, [&](std::string_view key, Bytes value) {
      if (has_block && key != opset) return;
      block = value;
      has_block = true;
    });
    PayloadGraph graph;
    graph.name = fmt::format("{} ({})", name, opset);
    ProtoReader reader(function);
    for (ProtoField field; reader.next(field);) {
      if (field.number == 1) graph.inputs.push_back(define(field.data));
    }
    read_block(block, std::move(graph), 0);
  }

 private:
  size_t define(Bytes named_type) {
    PayloadTensor tensor = read_type(find_field(named_type, 2).data);
    tensor.name = find_field(named_type, 1).text();
    const size_t index = result_.tensors.size();
    names_[tensor.name] = {index, ""};
    result_.tensors.push_back(std::move(tensor));
    return index;
  }

  void read_block(Bytes block, PayloadGraph graph, size_t depth) {
    if (depth > kMaxMessageDepth)
      throw FormatError("Core ML model: blocks are nested more than 64 deep");
    const size_t position = result_.graphs.size();
    result_.graphs.emplace_back();
    std::vector<Bytes> operations;
    std::vector<std::string_view> outputs;
    ProtoReader reader(block);
    for (ProtoField field; reader.next(field);) {
      if (field.number == 1) graph.inputs.push_back(define(field.data));
      if (field.number == 2) outputs.push_back(field.text());
      if (field.number == 3) operations.push_back(field.data);
    }
    for (const Bytes operation : operations) read_operation(operation, graph, depth);
    for (const std::string_view name : outputs) {
      const auto found = names_.find(name);
      if (found != names_.end() && found->second.tensor != SIZE_MAX) {
        graph.outputs.push_back(found->second.tensor);
      }
    }
    result_.graphs[position] = std::move(graph);
  }

  void read_operation(Bytes operation, PayloadGraph& graph, size_t depth) {
    PayloadOperator op;
    op.name = find_field(operation, 1).text();
    if (op.name == "const") return read_constant(operation);
    each_map_entry(operation, 2,
                   [&](std::string_view name, Bytes argument) { add_input(op, name, argument); });
    size_t blocks = 0;
    ProtoReader reader(operation);
    for (ProtoField field; reader.next(field);) {
      if (field.number == 3) op.outputs.push_back(define(field.data));
      if (field.number != 4) continue;
      PayloadGraph inner;
      inner.name = fmt::format("{}: {} block {}", graph.name, op.name.substr(0, 40), blocks++);
      read_block(field.data, std::move(inner), depth + 1);
    }
    graph.operators.push_back(std::move(op));
  }

  void add_input(PayloadOperator& op, std::string_view name, Bytes argument) {
    std::vector<std::string> texts;
    ProtoReader reader(argument);
    for (ProtoField field; reader.next(field);) {
      if (field.number != 1) continue;
      const ProtoField binding = find_field(field.data, 1);
      if (binding.number == 0) {
        texts.push_back(read_value(find_field(field.data, 2).data).text);
        continue;
      }
      const auto found = names_.find(binding.text());
      if (found == names_.end()) {
        throw FormatError(fmt::format("Core ML model: {} reads {}, which no operation defines",
                                      op.name, binding.text().substr(0, kMaxTextBytes)));
      }
      const NamedValue& value = found->second;
      if (value.tensor != SIZE_MAX) op.inputs.push_back(value.tensor);
      texts.push_back(value.tensor != SIZE_MAX ? tensor_name(value.tensor) : value.text);
    }
    const std::string text =
        texts.size() == 1 ? texts[0] : list_text(texts, [](const auto& item) { return item; });
    op.arguments.push_back({std::string(name), text});
  }

  void read_constant(Bytes operation) {
    Bytes value;
    each_map_entry(operation, 5, [&](std::string_view key, Bytes attribute) {
      if (key == "val") value = attribute;
    });
    Literal literal = read_value(value);
    const ProtoField output = find_field(operation, 3);
    const std::string name(find_field(output.data, 1).text());
    if (!literal.is_blob && !literal.text.empty() && literal.bytes <= kMaxTextBytes) {
      names_[name] = {SIZE_MAX, literal.text};
      return;
    }
    PayloadTensor& tensor = result_.tensors.emplace_back(std::move(literal.tensor));
    tensor.name = name;
    tensor.constant = literal.is_blob ? find_weight(literal, tensor)
                                      : ConstantData{literal.bytes, "model file", false};
    names_[name] = {result_.tensors.size() - 1, ""};
  }

  ConstantData find_weight(const Literal& literal, const PayloadTensor& tensor) const {
    std::string_view path = literal.file;
    constexpr std::string_view kModelPath = "@model_path/";
    if (path.starts_with(kModelPath)) path.remove_prefix(kModelPath.size());
    const PackedFile* file = path.empty() ? nullptr : find_file(files_, path);
    uint64_t expected = element_count(tensor.shape).value_or(0);
    const size_t element = bytes_of_dtype(tensor.dtype);
    if (__builtin_mul_overflow(expected, element, &expected)) {
      throw FormatError(
          fmt::format("Core ML model: the size of {} overflows", tensor_text(tensor)));
    }
    const std::string location =
        fmt::format("{}, byte {}", path.substr(0, kMaxTextBytes), literal.offset);
    if (file == nullptr) return {expected, location, true};
    const WeightBlob blob = read_weight(file->data, literal.offset);
    if (element != 0 && blob.bytes != expected) {
      throw FormatError(fmt::format("{}: has {} bytes, but {} needs {}", location, blob.bytes,
                                    tensor_text(tensor), expected));
    }
    // Files store bool values as u8.
    if (!blob.dtype.empty() && blob.dtype != tensor.dtype && tensor.dtype != "bool") {
      throw FormatError(fmt::format("{}: has {} values, but the constant is {}", location,
                                    blob.dtype, tensor.dtype));
    }
    return {blob.bytes, location, false};
  }

  const std::vector<PackedFile>& files_;
  PayloadDescription& result_;
  std::map<std::string, NamedValue, std::less<>> names_;
};

}  // namespace

void read_model(Bytes model, const std::vector<PackedFile>& files,
                PayloadDescription& description) {
  Bytes program;
  uint32_t type = 0;
  ProtoReader reader(model);
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) {
      const auto version = static_cast<int64_t>(field.value);
      description.version = fmt::format("{} ({})", version, name_of(kOpsets, version, "opset"));
    }
    if (field.number == kMlProgram) program = field.data;
    if (field.number >= 200) type = field.number;
  }
  if (type != kMlProgram) {
    description.closed = fmt::format(
        "a model of type {}, which is not an ML program: only its size "
        "and files are known",
        name_of(kModelTypes, type, "type"));
    return;
  }
  ModelReader functions(files, description);
  each_map_entry(program, 2, [&](std::string_view name, Bytes function) {
    functions.read_function(name, function);
  });
}

}  // namespace vitrine::delegates::core_ml
