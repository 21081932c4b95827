// Reads payloads of the Ethos-U backend, which consist of blocks that the Vela compiler writes.
#include <map>

#include "formats/delegates/ethos_u/command_stream.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace ethos_u {
namespace {

constexpr std::string_view kBackends[] = {"EthosUBackend", "ArmBackend"};
constexpr std::string_view kFirstBlock = "vela_bin_stream";
constexpr std::string_view kLastBlock = "vela_end_stream";
constexpr size_t kNameBytes = 16;
constexpr size_t kHeadBytes = 32;
constexpr size_t kMaxBlocks = 4096;
constexpr size_t kKeyBytes = 64;
constexpr uint64_t kMaxTensors = 4096;

struct Block {
  std::string name;
  Bytes data;
  bool is_external = false;
};

std::vector<Block> read_blocks(Bytes bytes) {
  if (!has_text_at(bytes, 0, kFirstBlock)) {
    throw FormatError("Ethos-U payload: expected \"vela_bin_stream\" at byte 0");
  }
  std::vector<Block> blocks;
  for (uint64_t at = 0; blocks.size() < kMaxBlocks;) {
    const Bytes head = range_of(bytes, at, kHeadBytes, "Ethos-U block");
    Block block;
    block.name = text_of(head.first(kNameBytes));
    block.name.resize(std::min(block.name.find('\0'), block.name.size()));
    const auto size = load_little<uint32_t>(head.data() + kNameBytes);
    block.is_external = head[kNameBytes + 4] == std::byte{1};
    block.data =
        range_of(bytes, at + kHeadBytes, size, fmt::format("Ethos-U block {}", block.name));
    at += kHeadBytes + round_up(size, 16);
    const bool is_last = block.name.starts_with(kLastBlock);
    blocks.push_back(std::move(block));
    if (is_last) return blocks;
  }
  throw FormatError(fmt::format("Ethos-U payload: no vela_end_stream in {} blocks", kMaxBlocks));
}

std::string shape_text(const ethos_u::Shape& shape) {
  return fmt::format("[{},{},{}]", shape[0], shape[1], shape[2]);
}

class VelaReader {
 public:
  explicit VelaReader(const PayloadInput& input) : input_(input) {}

  PayloadDescription read() {
    result_.kind = "Ethos-U command stream";
    result_.options = options_text(input_);
    graph_ = {};
    for (const Block& block : read_blocks(input_.bytes)) read_block(block);
    result_.graphs.push_back(std::move(graph_));
    if (weights_ != 0) {
      result_.constants = 1;
      result_.constant_bytes = weights_;
      result_.closed = "weights are compressed: only their size is known";
    }
    result_.facts.emplace_back(
        "the payload has no names of source operators; one source operator may "
        "become many commands");
    return std::move(result_);
  }

 private:
  void read_block(Block block) {
    if (block.is_external && block.data.size() >= kKeyBytes) return read_external(block);
    use(block.name, block.data, "");
  }

  // Reads a block whose content is in named data. The bytes of `block` are the key.
  void read_external(const Block& block) {
    const std::string key(text_of(block.data.first(kKeyBytes)));
    if (input_.data != nullptr) {
      if (const auto found = input_.data->get(key); found.ok()) {
        return use(block.name, found->bytes(), "named data " + key);
      }
    }
    result_.parts.push_back({block.name, block.data.size(), "named data " + key});
    result_.notes.push_back(fmt::format("block {}: named data {} is missing", block.name, key));
  }

  void use(const std::string& name, Bytes data, const std::string& content) {
    result_.parts.push_back({name, data.size(), content});
    if (name == "cmd_data") return read_commands(data);
    if (name == "weight_data") weights_ += data.size();
    if (name == "scratch_size") {
      result_.facts.push_back(
          fmt::format("working memory {} B", number_at<uint32_t>(data, 0, "Ethos-U scratch_size")));
    }
    if (name == "inputs") read_tensors(data, name, graph_.inputs);
    if (name == "outputs") read_tensors(data, name, graph_.outputs);
  }

  void read_tensors(Bytes data, const std::string& name, std::vector<size_t>& list) {
    const auto count = number_at<uint32_t>(data, 0, "Ethos-U block " + name);
    if (count > kMaxTensors) {
      throw FormatError(fmt::format("Ethos-U block {}: {} tensors are more than the maximum of {}",
                                    name, count, kMaxTensors));
    }
    // Shapes have 4 entries in files of ExecuTorch 0.7 and earlier, and 6 entries in later files.
    const bool is_long = data.size() >= 4 + uint64_t{count} * 36;
    const size_t rank = is_long ? 6 : 4;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t at = 4 + uint64_t{i} * (rank + 3) * 4;
      const Bytes entry = range_of(data, at, (rank + 3) * 4, "Ethos-U block " + name);
      PayloadTensor tensor;
      const auto size = load_little<int32_t>(entry.data() + rank * 4);
      tensor.dtype = fmt::format("{}-byte", size);
      for (size_t k = 0; k < rank; ++k) {
        const auto dim = load_little<int32_t>(entry.data() + k * 4);
        if (dim < 0)
          throw FormatError(fmt::format("Ethos-U block {}: size {} is negative", name, dim));
        tensor.shape.push_back({dim, dim});
      }
      tensor.storage =
          fmt::format("region {}, offset {}", load_little<int32_t>(entry.data() + rank * 4 + 8),
                      load_little<int32_t>(entry.data() + rank * 4 + 4));
      list.push_back(result_.tensors.size());
      result_.tensors.push_back(std::move(tensor));
    }
  }

  void read_commands(Bytes data) {
    const ethos_u::CommandStream stream = ethos_u::read_command_stream(data);
    if (!stream.target.empty()) result_.facts.push_back(stream.target);
    uint64_t macs = 0, dma = 0;
    for (const ethos_u::Command& command : stream.commands) {
      PayloadOperator op;
      op.name = command.name;
      if (command.dma_bytes != 0) {
        op.arguments.push_back({"bytes", fmt::format("{}", command.dma_bytes)});
      }
      if (command.has_shapes) {
        op.arguments.push_back({"in", shape_text(command.ifm)});
        op.arguments.push_back({"out", shape_text(command.ofm)});
      }
      if (command.macs != 0) {
        op.arguments.push_back(
            {"kernel", fmt::format("{}x{}", command.kernel_height, command.kernel_width)});
        op.arguments.push_back({"MACs", fmt::format("{}", command.macs)});
      }
      saturating_add(macs, command.macs);
      saturating_add(dma, command.dma_bytes);
      graph_.operators.push_back(std::move(op));
    }
    if (macs != 0)
      result_.facts.push_back(fmt::format("{:.2f} M MACs", static_cast<double>(macs) / 1e6));
    if (dma != 0) result_.facts.push_back(fmt::format("DMA of {} B", dma));
    if (stream.unknown_commands != 0) {
      result_.notes.push_back(
          fmt::format("{} commands are unknown and not listed", stream.unknown_commands));
    }
  }

  static void saturating_add(uint64_t& sum, uint64_t value) {
    if (__builtin_add_overflow(sum, value, &sum)) sum = UINT64_MAX;
  }

  const PayloadInput& input_;
  PayloadDescription result_;
  PayloadGraph graph_;
  uint64_t weights_ = 0;
};

}  // namespace
}  // namespace ethos_u

const DelegateReader kEthosUReader = {
    ethos_u::kBackends, "Ethos-U delegate payload",
    [](std::span<const std::byte> bytes) { return has_text_at(bytes, 0, ethos_u::kFirstBlock); },
    [](const PayloadInput& input) { return ethos_u::VelaReader(input).read(); }};

}  // namespace vitrine::delegates
