// Reads payloads of the MLX backend, which consist of chains of instructions.
#include <algorithm>
#include <array>

#include "formats/delegates/flat_table.h"
#include "formats/delegates/mlx/operator_table.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace mlx {
namespace {

constexpr std::string_view kBackends[] = {"MLXBackend"};
constexpr size_t kHeaderBytes = 24;
constexpr uint32_t kMaxCount = 1000000;
constexpr size_t kMaxRank = 16;

// Slots of the payload's root table.
constexpr size_t kVersion = 0, kNumValues = 6, kChains = 7, kMainChain = 8, kInitChain = 9,
                 kInputMap = 10, kOutputMap = 11, kBufferMap = 12, kNamedSlots = 13,
                 kTensorMeta = 14;

// The kinds of tensors in the order of their ids; the constants have the lowest ids. Slot k + 1 of
// the root table holds the number of tensors of kind k.
enum Kind : uint8_t { kConstant, kInput, kOutput, kBuffer, kTemporary, kKinds };
constexpr std::string_view kKindNames[] = {"constant", "input", "output", "mutable buffer",
                                           "temporary"};

struct Field {
  std::string_view name, type, absent;
  bool is_optional = false;
};

Field parse_field(std::string_view text) {
  Field field;
  const size_t space = text.find(' ');
  field.name = text.substr(0, space);
  field.type = text.substr(space + 1);
  if (const size_t equals = field.type.find('='); equals != std::string_view::npos) {
    field.absent = field.type.substr(equals + 1);
    field.type = field.type.substr(0, equals);
  }
  if (field.type.ends_with('?')) {
    field.is_optional = true;
    field.type.remove_suffix(1);
  }
  return field;
}

bool is_result(const Field& field) {
  return field.name == "out" || field.name == "outs" || field.name == "outputs";
}

class FieldReader {
 public:
  FieldReader(const FlatFile& file, size_t num_tensors, size_t num_values)
      : file_(file), num_tensors_(num_tensors), num_values_(num_values) {}

  std::string text(const FlatTable& op, size_t slot, const Field& field) const {
    const std::string_view type = field.type;
    if (type == "T") return tensor(op.number<uint32_t>(slot), field);
    if (type == "V") return value(op.number<uint32_t>(slot), field);
    if (type == "b") return op.flag(slot, field.absent == "true") ? "true" : "false";
    if (type == "str") return fmt::format("\"{}\"", op.text(slot).substr(0, 200));
    if (type == "source") {
      return fmt::format("{} bytes of shader source", op.text(slot).size());
    }
    if (type == "[T]") return tensor_list(op.numbers<uint32_t>(slot), field);
    if (type == "[i32]") return numbers_text(op.numbers<int32_t>(slot));
    if (type == "[i8]") return numbers_text(op.numbers<int8_t>(slot));
    if (type == "[str]") {
      return list_text(op.texts(slot),
                       [](std::string_view item) { return std::string(item.substr(0, 200)); });
    }
    if (type == "[I]") {
      return list_text(op.tables(slot),
                       [&](const FlatTable& item) { return integer(item, field); });
    }
    if (!op.has(slot) && !field.absent.empty()) {
      return field.absent == "null" ? "none" : std::string(field.absent);
    }
    if (type == "i32") return fmt::format("{}", op.number<int32_t>(slot));
    if (type == "u32") return fmt::format("{}", op.number<uint32_t>(slot));
    if (type == "u64") return fmt::format("{}", op.number<uint64_t>(slot));
    if (type == "f32") return fmt::format("{:g}", op.number<float>(slot));
    if (type == "i8") return program_dtype(op.number<int8_t>(slot));
    const FlatTable operand = op.needed_table(slot, field.name);
    if (type == "I") return integer(operand, field);
    if (type == "F") {
      return operand.flag(2) ? value(operand.number<uint32_t>(1), field)
                             : fmt::format("{:g}", operand.number<double>(0));
    }
    if (type == "J") {
      return operand.flag(2) ? value(operand.number<uint32_t>(0), field)
                             : tensor(operand.number<uint32_t>(1), field);
    }
    switch (operand.number<uint8_t>(3)) {  // type K
      case 0:
        return fmt::format("{}", operand.number<int64_t>(0));
      case 1:
        return value(operand.number<uint32_t>(1), field);
      default:
        return tensor(operand.number<uint32_t>(2), field);
    }
  }

  std::vector<size_t> tensors(const FlatTable& op, size_t slot, const Field& field) const {
    std::vector<size_t> found;
    if (field.type == "T") found.push_back(op.number<uint32_t>(slot));
    if (field.type == "[T]") {
      for (const uint32_t id : op.numbers<uint32_t>(slot)) found.push_back(id);
    }
    if (field.type == "J" || field.type == "K") {
      const bool is_long = field.type == "K";
      const auto operand = op.table(slot);
      const bool is_tensor =
          operand && (is_long ? operand->number<uint8_t>(3) >= 2 : !operand->flag(2));
      if (is_tensor) found.push_back(operand->number<uint32_t>(is_long ? 2 : 1));
    }
    for (const size_t id : found) check(id, num_tensors_, "tensor", field);
    return found;
  }

 private:
  void check(size_t id, size_t count, const char* what, const Field& field) const {
    if (id >= count)
      file_.fail(fmt::format("{}: no {} {}; there are {}", field.name, what, id, count));
  }
  std::string tensor(size_t id, const Field& field) const {
    check(id, num_tensors_, "tensor", field);
    return tensor_name(id);
  }
  std::string value(size_t id, const Field& field) const {
    check(id, num_values_, "value", field);
    return fmt::format("v{}", id);
  }
  std::string tensor_list(const std::vector<uint32_t>& ids, const Field& field) const {
    return list_text(ids, [&](uint32_t id) { return tensor(id, field); });
  }
  std::string integer(const FlatTable& operand, const Field& field) const {
    return operand.flag(2) ? value(operand.number<uint32_t>(1), field)
                           : fmt::format("{}", operand.number<int64_t>(0));
  }

  const FlatFile& file_;
  const size_t num_tensors_, num_values_;
};

class MlxGraph {
 public:
  MlxGraph(const PayloadInput& input, Bytes graph, uint64_t embedded)
      : input_(input), embedded_(embedded), file_(graph, "MLX flatbuffer"), root_(file_.root()) {}

  PayloadDescription read() {
    result_.kind = "MLX program";
    result_.version = root_.text(kVersion).empty() ? "1" : std::string(root_.text(kVersion));
    if (result_.version != "1") {
      result_.notes.push_back(
          fmt::format("version {} is unknown, expected 1: fields may have "
                      "other meanings",
                      result_.version));
    }
    read_tensors();
    read_names();
    read_chains();
    return std::move(result_);
  }

 private:
  void read_tensors() {
    for (size_t kind = 0; kind < kKinds; ++kind) {
      counts_[kind] = root_.number<uint32_t>(kind + 1);
      if (counts_[kind] > kMaxCount) {
        file_.fail(fmt::format("{} {} tensors are more than the maximum of {}", counts_[kind],
                               kKindNames[kind], kMaxCount));
      }
    }
    const std::vector<FlatTable> metas = root_.tables(kTensorMeta);
    const size_t described =
        counts_[kConstant] + counts_[kInput] + counts_[kOutput] + counts_[kBuffer];
    // need_tensor() adds temporary tensors, which the file does not describe.
    num_tensors_ = described + counts_[kTemporary];
    if (described > metas.size()) {
      file_.fail(fmt::format("tensor_meta has {} entries for {} tensors", metas.size(), described));
    }
    for (size_t id = 0; id < described; ++id) {
      result_.tensors.push_back(read_meta(metas[id], id));
      result_.tensors.back().storage = kKindNames[kind_of(id)];
    }
  }

  size_t kind_of(size_t id) const {
    size_t kind = 0;
    while (kind < kTemporary && id >= counts_[kind]) id -= counts_[kind++];
    return kind;
  }

  PayloadTensor read_meta(const FlatTable& meta, size_t id) const {
    PayloadTensor tensor;
    tensor.dtype = program_dtype(meta.number<int8_t>(1));
    for (const FlatTable& dim : meta.tables(0)) {
      const auto value = dim.number<int32_t>(0, -1);
      const auto min = dim.number<int32_t>(1);
      const auto max = dim.number<int32_t>(2, -1);
      if (value < -1 || (value == -1 && (min < 0 || max < -1 || (max >= 0 && max < min)))) {
        file_.fail(fmt::format(
            "tensor_meta[{}]: a dimension has size {} and bounds {} to {}, which are invalid", id,
            value, min, max));
      }
      tensor.shape.push_back(value >= 0 ? Dim{value, value} : Dim{min, max});
    }
    if (tensor.shape.size() > kMaxRank) {
      file_.fail(fmt::format("tensor_meta[{}]: rank {} is more than the maximum of {}", id,
                             tensor.shape.size(), kMaxRank));
    }
    return tensor;
  }

  // Adds the temporary tensors up to `id`. Throws a FormatError if `id` exceeds the payload's size:
  // each use of a tensor takes bytes.
  void need_tensor(size_t id) {
    if (id > input_.bytes.size())
      file_.fail(fmt::format("temporary tensor {}: too many tensors for a file of this size", id));
    while (result_.tensors.size() <= id) {
      PayloadTensor& tensor = result_.tensors.emplace_back();
      tensor.dtype = "?";
      tensor.has_shape = false;
      tensor.storage = kKindNames[kTemporary];
    }
  }

  void read_names() {
    for (const FlatTable& slot : root_.tables(kNamedSlots)) {
      const auto variant = slot.table(1);
      if (!variant || variant->number<int8_t>(1) != 0) continue;
      const auto id = variant->number<uint32_t>(0);
      if (id >= num_tensors_)
        file_.fail(fmt::format("named_slots: no tensor {}; there are {}", id, num_tensors_));
      if (id < result_.tensors.size()) result_.tensors[id].name = slot.text(0);
    }
    for (size_t id = 0; id < counts_[kConstant]; ++id) {
      PayloadTensor& tensor = result_.tensors[id];
      uint64_t bytes = element_count(tensor.shape).value_or(0);
      if (__builtin_mul_overflow(bytes, bytes_of_dtype(tensor.dtype), &bytes)) {
        file_.fail(
            fmt::format("tensor_meta[{}]: the size of {} overflows", id, tensor_text(tensor)));
      }
      tensor.constant = tensor.name.empty()
                            ? ConstantData{bytes, "unknown: the tensor has no name", true}
                            : named_constant(input_.data, tensor.name, bytes);
      // Constants that are not in named data are inside the payload, at unknown offsets.
      if (embedded_ != 0 && tensor.constant->is_missing) {
        tensor.constant = ConstantData{bytes, "payload data", false};
      }
    }
    if (embedded_ != 0) {
      result_.parts.push_back({"data", embedded_, "constants inside the payload"});
    }
  }

  void read_chains() {
    const std::vector<FlatTable> chains = root_.tables(kChains);
    const auto main = root_.number<uint32_t>(kMainChain);
    const auto init = root_.number<int32_t>(kInitChain, -1);
    if (main >= chains.size() || (init >= 0 && static_cast<size_t>(init) >= chains.size())) {
      file_.fail(
          fmt::format("the main chain is {} and the init chain is {}, but there are {} chains",
                      main, init, chains.size()));
    }
    const auto num_values = root_.number<uint32_t>(kNumValues);
    const FieldReader fields(file_, num_tensors_, num_values);
    for (size_t i = 0; i < chains.size(); ++i) {
      PayloadGraph graph;
      graph.name = i == main ? "main" : fmt::format("chain {}", i);
      if (init >= 0 && i == static_cast<size_t>(init)) graph.name = "init";
      if (i == main) {
        graph.inputs = mapped(kInputMap);
        graph.outputs = mapped(kOutputMap);
        const size_t buffers = root_.tables(kBufferMap).size();
        if (buffers != 0) result_.facts.push_back(fmt::format("{} mutable buffers", buffers));
      }
      for (const FlatTable& instruction : chains[i].tables(0)) {
        graph.operators.push_back(read_operator(instruction, fields, chains.size()));
      }
      result_.graphs.push_back(std::move(graph));
    }
  }

  std::vector<size_t> mapped(size_t slot) {
    std::vector<size_t> ids;
    for (const FlatTable& variant : root_.tables(slot)) {
      if (variant.number<int8_t>(1) != 0) continue;  // an int, a float or a bool
      const auto id = variant.number<uint32_t>(0);
      if (id >= num_tensors_)
        file_.fail(fmt::format("input or output: no tensor {}; there are {}", id, num_tensors_));
      need_tensor(id);
      ids.push_back(id);
    }
    return ids;
  }

  PayloadOperator read_operator(const FlatTable& instruction, const FieldReader& fields,
                                size_t chains) {
    PayloadOperator op;
    const auto number = instruction.number<uint8_t>(0);
    const auto formats = mlx::operator_formats();
    const auto format = std::ranges::find(formats, number, &mlx::OperatorFormat::number);
    if (format == formats.end()) {
      op.name = fmt::format("operator {} (newer schema)", number);
      return op;
    }
    op.name = format->name;
    const FlatTable table = instruction.needed_table(1, fmt::format("{}: its fields", op.name));
    std::string_view rest = format->fields;
    for (size_t slot = 0; !rest.empty(); ++slot) {
      const size_t end = rest.find(", ");
      const Field field = parse_field(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 2);
      read_field(table, slot, field, fields, op);
      if (field.name.ends_with("_chain")) check_chain(table, slot, chains);
    }
    if (op.name == "MetalKernel") {
      result_.notes.push_back(
          "MetalKernel has shader source, which the backend compiles on the device: trust the file "
          "before you run it on the device");
    }
    return op;
  }

  void read_field(const FlatTable& table, size_t slot, const Field& field,
                  const FieldReader& fields, PayloadOperator& op) {
    if (field.is_optional && !table.has(slot)) {
      op.arguments.push_back({std::string(field.name), "none"});
      return;
    }
    const bool is_operand = field.type == "T" || field.type == "V";
    if (is_operand && !table.has(slot)) {
      file_.fail(fmt::format("{}: its operand {} is missing", op.name, field.name));
    }
    for (const size_t id : fields.tensors(table, slot, field)) {
      need_tensor(id);
      (is_result(field) ? op.outputs : op.inputs).push_back(id);
    }
    if (is_result(field) && field.type != "V") return;
    op.arguments.push_back({std::string(field.name), fields.text(table, slot, field)});
  }

  void check_chain(const FlatTable& table, size_t slot, size_t chains) const {
    const auto chain = table.number<uint32_t>(slot);
    if (chain >= chains) file_.fail(fmt::format("no chain {}; there are {}", chain, chains));
  }

  const PayloadInput& input_;
  const uint64_t embedded_;
  FlatFile file_;
  FlatTable root_;
  PayloadDescription result_;
  std::array<uint32_t, kKinds> counts_{};
  size_t num_tensors_ = 0;
};

PayloadDescription read_mlx(const PayloadInput& input) {
  const Bytes bytes = input.bytes;
  if (bytes.size() < kHeaderBytes || !has_text_at(bytes, 4, "MLX0")) {
    throw FormatError("MLX header: no \"MLX0\" at byte 4, or fewer than 24 bytes");
  }
  const auto data = number_at<uint64_t>(bytes, 8, "MLX header");
  const auto data_bytes = number_at<uint64_t>(bytes, 16, "MLX header");
  if (data <= kHeaderBytes || data > bytes.size()) {
    throw FormatError(fmt::format("MLX header: the data begin at byte {}, expected 25 to {}", data,
                                  bytes.size()));
  }
  range_of(bytes, data, data_bytes, "MLX data");
  return MlxGraph(input, range_of(bytes, kHeaderBytes, data - kHeaderBytes, "MLX flatbuffer"),
                  data_bytes)
      .read();
}

}  // namespace
}  // namespace mlx

const DelegateReader kMlxReader = {
    mlx::kBackends, "MLX delegate payload",
    [](std::span<const std::byte> bytes) { return has_text_at(bytes, 4, "MLX0"); }, mlx::read_mlx};

}  // namespace vitrine::delegates
