// Reads payloads of the deprecated MPS backend, which consist of a flatbuffer with nodes and
// values.
#include <iterator>

#include "formats/delegates/flat_table.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace mps {
namespace {

constexpr std::string_view kBackends[] = {"MPSBackend"};
constexpr size_t kHeaderBytes = 24;

// Names of the node kinds, in the order of their numbers in the schema, from 1.
constexpr std::string_view kNodes[] = {
    "HardTanh",
    "ReLU",
    "GELU",
    "LeakyReLU",
    "Softmax",
    "LogSoftmax",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Fmod",
    "Remainder",
    "Min",
    "Max",
    "Pow",
    "Atan2",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Minimum",
    "Exp",
    "Exp2",
    "Reciprocal",
    "Sqrt",
    "Neg",
    "Log",
    "Log10",
    "Log2",
    "Erf",
    "Floor",
    "Ceil",
    "Rsqrt",
    "Sigmoid",
    "Sin",
    "Sign",
    "Cos",
    "Tan",
    "Abs",
    "Asin",
    "Acos",
    "Atan",
    "Sinh",
    "Cosh",
    "Tanh",
    "Asinh",
    "Acosh",
    "Atanh",
    "BitwiseNot",
    "Isnan",
    "Isinf",
    "Round",
    "LogicalNot",
    "MatMul",
    "Addmm",
    "Full",
    "FullLike",
    "Clamp",
    "Where",
    "IndexSelect",
    "Embedding",
    "IndexTensor",
    "IndexPut",
    "Scatter",
    "Mean",
    "Permute",
    "View",
    "Expand",
    "Cat",
    "Squeeze",
    "Unsqueeze",
    "Select",
    "Slice",
    "PixelShuffle",
    "SplitWithSizes",
    "Cast",
    "Conv2D",
    "DepthwiseConv2D",
    "Eq",
    "Ne",
    "Ge",
    "Gt",
    "Le",
    "Lt",
    "BatchNorm",
    "LayerNorm",
    "MaxPool2DWithIndices",
    "AvgPool2D",
    "ConstantPadND",
    "Arange",
    "DequantizePerChannelGroup",
};
static_assert(std::size(kNodes) == 90);

// The operand slots of the node kinds from `first` to `last`: "i" is the id of an input, "o" is the
// id of the output, and "." is unused.
struct NodeSlots {
  uint8_t first, last;
  std::string_view slots;
};
constexpr NodeSlots kSlots[] = {{2, 2, "i.o"}, {7, 20, "iio"},  {21, 52, "io"}, {1, 1, "io"},
                                {3, 6, "io"},  {53, 53, "iio"}, {78, 83, "iio"}};

constexpr NumberName kDtypes[] = {{1, "f16"},  {2, "f32"},  {3, "f64"},  {4, "bf16"}, {5, "i4"},
                                  {6, "i8"},   {7, "i16"},  {8, "i32"},  {9, "i64"},  {10, "u4"},
                                  {11, "u8"},  {12, "u16"}, {13, "u32"}, {14, "u64"}, {15, "bool"},
                                  {16, "c32"}, {17, "c64"}};

class MpsGraph {
 public:
  MpsGraph(const PayloadInput& input, Bytes graph, Bytes data)
      : input_(input), data_(data), file_(graph, "MPS flatbuffer") {}

  PayloadDescription read() {
    if (!file_.has_identifier("MP00")) file_.fail("no identifier \"MP00\" at byte 4");
    const FlatTable root = file_.root();
    result_.kind = "MPS graph";
    result_.version = root.text(0);
    result_.options = options_text(input_, kOptions);
    for (const FlatTable& value : root.tables(2)) read_value(value);
    PayloadGraph graph;
    graph.name = root.number<int16_t>(6) == 0 ? "graph" : "kernel";
    for (const FlatTable& node : root.tables(1)) graph.operators.push_back(read_node(node));
    if (unread_ != 0) {
      result_.facts.push_back(fmt::format("operands are not read for {} operators", unread_));
    }
    graph.inputs = ids(root, 3);
    graph.outputs = ids(root, 4);
    for (const size_t id : ids(root, 5)) {
      PayloadTensor& tensor = result_.tensors[id];
      if (!tensor.constant) tensor.constant = ConstantData{0, "unknown", false};
    }
    result_.graphs.push_back(std::move(graph));
    return std::move(result_);
  }

 private:
  static constexpr OptionFormat kOptions[] = {{"use_fp16", OptionKind::kBool}};

  void read_value(const FlatTable& value) {
    PayloadTensor tensor;
    tensor.dtype = name_of(kDtypes, value.number<int16_t>(0), "dtype");
    for (const int32_t size : value.numbers<int32_t>(2)) {
      tensor.shape.push_back(size < 0 ? Dim{0, -1} : Dim{size, size});
    }
    const auto bytes = value.number<uint64_t>(3);
    if (bytes != 0) {
      const bool is_legacy = value.has(4);  // the value itself has the bytes
      if (!is_legacy) range_of(data_, value.number<uint64_t>(5), bytes, "MPS constants");
      tensor.constant = ConstantData{bytes, "payload", false};
    }
    result_.tensors.push_back(std::move(tensor));
  }

  size_t check(int64_t id) const {
    if (id < 0 || static_cast<uint64_t>(id) >= result_.tensors.size()) {
      file_.fail(fmt::format("no value {}; there are {}", id, result_.tensors.size()));
    }
    return static_cast<size_t>(id);
  }

  std::vector<size_t> ids(const FlatTable& root, size_t slot) const {
    std::vector<size_t> list;
    for (const int32_t id : root.numbers<int32_t>(slot)) list.push_back(check(id));
    return list;
  }

  PayloadOperator read_node(const FlatTable& node) {
    PayloadOperator op;
    const auto type = node.number<uint8_t>(0);
    if (type == 0 || type > std::size(kNodes)) {
      op.name = fmt::format("operator {} (newer schema)", type);
      return op;
    }
    op.name = kNodes[type - 1];
    const FlatTable body = node.needed_table(1, op.name);
    ++unread_;
    for (const NodeSlots& known : kSlots) {
      if (type < known.first || type > known.last) continue;
      --unread_;
      for (size_t slot = 0; slot < known.slots.size(); ++slot) {
        if (known.slots[slot] == '.') continue;
        const size_t id = check(body.number<int32_t>(slot));
        if (known.slots[slot] == 'o') {
          op.outputs.push_back(id);
        } else {
          op.inputs.push_back(id);
          op.arguments.push_back({"", tensor_name(id)});
        }
      }
    }
    return op;
  }

  const PayloadInput& input_;
  Bytes data_;
  FlatFile file_;
  PayloadDescription result_;
  size_t unread_ = 0;
};

// Bytes 0 to 3 are zero if there is a header, and otherwise the flatbuffer's root offset.
PayloadDescription read_mps(const PayloadInput& input) {
  const Bytes bytes = input.bytes;
  if (!has_text_at(bytes, 4, "MP00")) throw FormatError("MPS payload: no \"MP00\" at byte 4");
  if (number_at<uint32_t>(bytes, 0, "MPS header") != 0) return MpsGraph(input, bytes, {}).read();
  const auto data = number_at<uint64_t>(bytes, 8, "MPS header");
  const auto size = number_at<uint64_t>(bytes, 16, "MPS header");
  const Bytes constants = size == 0 ? Bytes() : range_of(bytes, data, size, "MPS constants");
  const uint64_t end = size == 0 ? bytes.size() : data;
  if (end < kHeaderBytes)
    throw FormatError(
        fmt::format("MPS header: the constants begin inside the header, at byte {}", data));
  return MpsGraph(input, range_of(bytes, kHeaderBytes, end - kHeaderBytes, "MPS flatbuffer"),
                  constants)
      .read();
}

}  // namespace
}  // namespace mps

const DelegateReader kMpsReader = {
    mps::kBackends, "MPS delegate payload",
    [](std::span<const std::byte> bytes) { return has_text_at(bytes, 4, "MP00"); }, mps::read_mps};

}  // namespace vitrine::delegates
