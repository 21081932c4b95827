// Reads payloads of the Vulkan backend. ExecuTorch's WebGPU runtime reads the same payloads.
#include <algorithm>
#include <map>

#include "formats/delegates/flat_table.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace vulkan {
namespace {

constexpr std::string_view kBackends[] = {"VulkanBackend", "WebGPUBackend"};
constexpr size_t kHeaderBytes = 30;
constexpr size_t kMagicOffset = 4;
constexpr uint64_t kIsNamed = UINT64_MAX;  // VkBytes::offset of named data

// Slots of the payload's root table.
constexpr size_t kVersion = 0, kChain = 1, kValues = 2, kInputIds = 3, kOutputIds = 4,
                 kConstants = 5;

enum ValueType : uint8_t {
  kNone = 0,
  kNull = 1,
  kInt = 2,
  kDouble = 3,
  kBool = 4,
  kTensor = 5,
  kIntList = 6,
  kDoubleList = 7,
  kBoolList = 8,
  kValueList = 9,
  kString = 10,
  kSymInt = 11,
};

constexpr NumberName kDtypes[] = {{0, "bool"}, {1, "u8"},  {2, "i8"},  {3, "i32"},
                                  {4, "f16"},  {5, "f32"}, {6, "f64"}, {7, "i64"}};
constexpr NumberName kStorages[] = {
    {0, "buffer"}, {1, "texture 3D"}, {2, "texture 2D"}, {255, "default storage"}};
constexpr NumberName kLayouts[] = {
    {0, "width packed"}, {1, "height packed"},   {2, "channels packed"}, {3, "int8 4W4C"},
    {4, "int8 4H4W"},    {5, "int8 4W"},         {6, "int8 4C"},         {8, "int8 4C1W"},
    {9, "int8 conv2d"},  {255, "default layout"}};

constexpr OptionFormat kOptions[] = {{"storage_type_override", OptionKind::kU32},
                                     {"memory_layout_override", OptionKind::kU32},
                                     {"texture_limits_x", OptionKind::kU32},
                                     {"texture_limits_y", OptionKind::kU32},
                                     {"texture_limits_z", OptionKind::kU32},
                                     {"small_texture_limits", OptionKind::kBool},
                                     {"require_dynamic_shapes", OptionKind::kBool},
                                     {"skip_bool_tensors", OptionKind::kBool},
                                     {"force_fp16", OptionKind::kBool},
                                     {"downcast_64_bit", OptionKind::kBool},
                                     {"skip_tag_memory_metadata", OptionKind::kBool},
                                     {"skip_memory_planning", OptionKind::kBool},
                                     {"warmup_execute_after_compile", OptionKind::kBool},
                                     {"alias_buffer_mutations", OptionKind::kBool},
                                     {"external_constants_max_data_bytes", OptionKind::kU64}};

struct Framing {
  Bytes graph;
  Bytes constants;
};

Framing read_framing(Bytes bytes) {
  if (bytes.size() < kHeaderBytes) {
    throw FormatError(
        fmt::format("Vulkan header: truncated; expected 30 bytes, found {}", bytes.size()));
  }
  if (!has_text_at(bytes, kMagicOffset, "VH00")) {
    throw FormatError("Vulkan header: no \"VH00\" at byte 4");
  }
  const auto header = number_at<uint16_t>(bytes, 8, "Vulkan header");
  const auto graph = number_at<uint32_t>(bytes, 10, "Vulkan header");
  const auto graph_bytes = number_at<uint32_t>(bytes, 14, "Vulkan header");
  const auto constants = number_at<uint32_t>(bytes, 18, "Vulkan header");
  auto constant_bytes = number_at<uint64_t>(bytes, 22, "Vulkan header");
  if (header < kHeaderBytes || graph < header || graph_bytes == 0) {
    throw FormatError(fmt::format(
        "Vulkan header: has length {}, and a flatbuffer of {} bytes at byte {}; expected a length "
        "of 30 or more, and a flatbuffer after the header",
        header, graph_bytes, graph));
  }
  if (constants < uint64_t{graph} + graph_bytes) {
    throw FormatError(fmt::format(
        "Vulkan header: the constants at byte {} begin before the flatbuffer ends at {}", constants,
        uint64_t{graph} + graph_bytes));
  }
  // If the header states the size 0, the runtime treats the rest of the payload as constants.
  if (constant_bytes == 0 && constants < bytes.size()) constant_bytes = bytes.size() - constants;
  if (constant_bytes == 0) return {range_of(bytes, graph, graph_bytes, "Vulkan flatbuffer"), {}};
  return {range_of(bytes, graph, graph_bytes, "Vulkan flatbuffer"),
          range_of(bytes, constants, constant_bytes, "Vulkan constants")};
}

class VulkanGraph {
 public:
  VulkanGraph(const PayloadInput& input, const Framing& framing)
      : input_(input), framing_(framing), file_(framing.graph, "Vulkan flatbuffer") {}

  PayloadDescription read() {
    if (!file_.has_identifier("VK00")) file_.fail("no identifier \"VK00\" at byte 4");
    const FlatTable root = file_.root();
    result_.kind = "Vulkan graph";
    result_.version = root.text(kVersion);
    result_.options = options_text(input_, kOptions);
    constants_ = root.tables(kConstants);
    values_ = root.tables(kValues);
    positions_.resize(values_.size(), kNoTensor);
    for (size_t i = 0; i < values_.size(); ++i) read_value(i);
    PayloadGraph& graph = result_.graphs.emplace_back();
    const std::vector<FlatTable> chain = root.tables(kChain);
    for (size_t i = 0; i < chain.size(); ++i) graph.operators.push_back(read_call(chain[i], i));
    graph.inputs = tensors_of_ids(root, kInputIds, "input_ids");
    graph.outputs = tensors_of_ids(root, kOutputIds, "output_ids");
    add_planned_memory();
    for (const PayloadArgument& option : result_.options) {
      if (option.name == "require_dynamic_shapes" && option.text == "true") {
        result_.facts.emplace_back("shapes are upper bounds");
      }
    }
    return std::move(result_);
  }

 private:
  static constexpr size_t kNoTensor = SIZE_MAX;

  void read_value(size_t id) {
    const FlatTable& value = values_[id];
    const auto type = value.number<uint8_t>(0);
    if (type == kSymInt) {
      positions_[id] = result_.tensors.size();
      PayloadTensor& number = result_.tensors.emplace_back();
      number.dtype = "symint";
      number.has_shape = false;
    }
    if (type != kTensor) return;
    const FlatTable from = value.needed_table(1, fmt::format("values[{}]: the tensor", id));
    PayloadTensor tensor;
    tensor.dtype = name_of(kDtypes, from.number<int8_t>(0), "dtype");
    for (const uint32_t dim : from.numbers<uint32_t>(1)) tensor.shape.push_back({dim, dim});
    const auto storage = from.number<uint8_t>(4, 255);
    const auto layout = from.number<uint8_t>(5, 255);
    if (storage != 255 || layout != 255) {
      tensor.storage = fmt::format("{}, {}", name_of(kStorages, storage, "storage"),
                                   name_of(kLayouts, layout, "layout"));
    }
    const auto staging = from.number<int8_t>(6, 127);
    if (staging != 127) {
      tensor.storage += fmt::format("{}{} on the host", tensor.storage.empty() ? "" : ", ",
                                    name_of(kDtypes, staging, "dtype"));
    }
    const auto elements = element_count(tensor.shape);
    const size_t element_bytes = bytes_of_dtype(tensor.dtype);
    uint64_t bytes = 0;
    if (!elements || __builtin_mul_overflow(*elements, element_bytes, &bytes)) {
      file_.fail(fmt::format("values[{}]: the size of {} overflows", id, tensor_text(tensor)));
    }
    const auto constant = from.number<int32_t>(2);
    if (constant >= 0) {
      tensor.constant = read_constant(static_cast<uint32_t>(constant), bytes, id);
    } else if (const auto memory = from.number<int32_t>(3); memory >= 0) {
      uint64_t& planned = memory_[memory];
      planned = std::max(planned, bytes);
    }
    positions_[id] = result_.tensors.size();
    result_.tensors.push_back(std::move(tensor));
  }

  ConstantData read_constant(uint32_t index, uint64_t tensor_bytes, size_t id) const {
    if (index >= constants_.size()) {
      file_.fail(
          fmt::format("values[{}]: no constant {}; there are {}", id, index, constants_.size()));
    }
    const FlatTable& from = constants_[index];
    const auto offset = from.number<uint64_t>(0);
    const auto length = from.number<uint64_t>(1);
    const std::string_view key = from.text(2);
    if (!key.empty() && offset == kIsNamed) {
      ConstantData constant = named_constant(input_.data, key, length);
      if (!constant.is_missing && constant.bytes < tensor_bytes) {
        file_.fail(fmt::format("constants[{}]: named data {} has {} bytes, but the tensor takes {}",
                               index, key, constant.bytes, tensor_bytes));
      }
      return constant;
    }
    const uint64_t size = tensor_bytes == 0 ? length : tensor_bytes;
    range_of(framing_.constants, offset, size,
             fmt::format("Vulkan flatbuffer: constants[{}]", index));
    return {size, fmt::format("payload constants, byte {}", offset), false};
  }

  const FlatTable& value_of(int64_t id, const std::string& what) const {
    if (id < 0 || static_cast<uint64_t>(id) >= values_.size()) {
      file_.fail(fmt::format("{}: no value {}; there are {}", what, id, values_.size()));
    }
    return values_[static_cast<size_t>(id)];
  }

  // Adds the tensor with the value id `id`, or all tensors of the list with this id.
  void add_tensors(int64_t id, const std::string& what, std::vector<size_t>& tensors) const {
    const FlatTable& value = value_of(id, what);
    const auto type = value.number<uint8_t>(0);
    const size_t position = positions_[static_cast<size_t>(id)];
    if (position != kNoTensor) tensors.push_back(position);
    if (type != kValueList) return;
    const auto list = value.table(1);
    if (!list) return;
    for (const int32_t item : list->numbers<int32_t>(0)) {
      value_of(item, what);
      const size_t member = positions_[static_cast<size_t>(item)];
      if (member != kNoTensor) tensors.push_back(member);
    }
  }

  PayloadOperator read_call(const FlatTable& call, size_t index) {
    const std::string what = fmt::format("chain[{}]", index);
    PayloadOperator op;
    op.name = call.text(1);
    const std::vector<int32_t> args = call.numbers<int32_t>(2);
    for (size_t i = 0; i < args.size(); ++i) {
      if (i + 1 == args.size()) {
        add_tensors(args[i], what, op.outputs);
      } else {
        add_tensors(args[i], what, op.inputs);
        op.arguments.push_back({"", argument_text(args[i], what)});
      }
    }
    return op;
  }

  std::string argument_text(int64_t id, const std::string& what) const {
    const FlatTable& value = value_of(id, what);
    const auto type = value.number<uint8_t>(0);
    const size_t position = positions_[static_cast<size_t>(id)];
    if (position != kNoTensor) return tensor_name(position);
    const auto body = value.table(1);
    if (type == kNull || !body) return "none";
    switch (type) {
      case kInt:
        return fmt::format("{}", body->number<int64_t>(0));
      case kDouble:
        return fmt::format("{:g}", body->number<double>(0));
      case kBool:
        return body->flag(0) ? "true" : "false";
      case kIntList:
        return numbers_text(body->numbers<int64_t>(0));
      case kDoubleList:
        return numbers_text(body->numbers<double>(0));
      case kBoolList:
        return list_text(body->numbers<uint8_t>(0),
                         [](uint8_t item) { return std::string(item != 0 ? "true" : "false"); });
      case kValueList:
        return list_text(body->numbers<int32_t>(0), [&](int32_t item) {
          const auto nested = value_of(item, what).number<uint8_t>(0);
          return nested == kValueList ? std::string("list") : argument_text(item, what);
        });
      case kString:
        return fmt::format("\"{}\"", body->text(0).substr(0, 200));
      default:
        return fmt::format("value of type {} (newer schema)", type);
    }
  }

  std::vector<size_t> tensors_of_ids(const FlatTable& root, size_t slot, const char* what) const {
    std::vector<size_t> tensors;
    for (const uint32_t id : root.numbers<uint32_t>(slot)) add_tensors(id, what, tensors);
    return tensors;
  }

  void add_planned_memory() {
    if (memory_.empty()) return;
    uint64_t bytes = 0;
    for (const auto& [id, size] : memory_) {
      if (__builtin_add_overflow(bytes, size, &bytes)) file_.fail("the planned memory overflows");
    }
    result_.facts.push_back(fmt::format("planned activations {} B in {} allocation{}", bytes,
                                        memory_.size(), memory_.size() == 1 ? "" : "s"));
  }

  const PayloadInput& input_;
  const Framing& framing_;
  FlatFile file_;
  PayloadDescription result_;
  std::vector<FlatTable> constants_, values_;
  std::vector<size_t> positions_;       // index of each value's tensor
  std::map<int32_t, uint64_t> memory_;  // largest member of each shared allocation
};

PayloadDescription read_vulkan(const PayloadInput& input) {
  const Framing framing = read_framing(input.bytes);
  return VulkanGraph(input, framing).read();
}

}  // namespace
}  // namespace vulkan

const DelegateReader kVulkanReader = {vulkan::kBackends, "Vulkan delegate payload",
                                      [](std::span<const std::byte> bytes) {
                                        return has_text_at(bytes, vulkan::kMagicOffset, "VH00");
                                      },
                                      vulkan::read_vulkan};

}  // namespace vitrine::delegates
