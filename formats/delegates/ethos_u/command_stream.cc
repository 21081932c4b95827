#include "formats/delegates/ethos_u/command_stream.h"

#include <map>

#include "formats/delegates/payload_text.h"

namespace vitrine::delegates::ethos_u {
namespace {

constexpr uint32_t kHasPayload = 1u << 14;
constexpr uint32_t kCodeMask = kHasPayload | (kHasPayload - 1);

// Actions of the driver, identified by the low byte of a word.
constexpr uint8_t kConfigure = 1, kCommandStream = 2, kNothing = 5;

// Register numbers.
constexpr uint32_t kIfmDepth = 0x104, kIfmWidth = 0x10A, kIfmHeight = 0x10B, kOfmWidth = 0x111,
                   kOfmHeight = 0x112, kOfmDepth = 0x113, kKernelWidth = 0x120,
                   kKernelHeight = 0x121, kDmaLength = 0x4032;

enum Code : uint32_t {
  kStop = 0x0,
  kIrq = 0x1,
  kConv = 0x2,
  kDepthwise = 0x3,
  kPool = 0x5,
  kElementwise = 0x6,
  kResize = 0x7,
  kDmaStart = 0x10,
  kDmaWait = 0x11,
  kKernelWait = 0x12,
  kPmuMask = 0x13,
};
constexpr uint32_t kFirstRegister = 0x100;
constexpr size_t kMaxCommands = size_t{1} << 18;

constexpr NumberName kPoolModes[] = {{0, "max"}, {1, "average"}, {2, "reduce sum"}};
constexpr NumberName kElementwiseModes[] = {{0, "mul"}, {1, "add"},   {2, "sub"}, {3, "min"},
                                            {4, "max"}, {5, "lrelu"}, {6, "abs"}, {7, "clz"},
                                            {8, "shr"}, {9, "shl"}};

class StreamReader {
 public:
  explicit StreamReader(Bytes block) : words_(block.first(block.size() / 4 * 4)) {
    if (!has_text_at(block, 0, "COP1") && !has_text_at(block, 0, "COP2")) {
      throw FormatError("Ethos-U cmd_data: expected \"COP1\" or \"COP2\" at byte 0");
    }
  }

  CommandStream read() {
    size_t at = 1;
    while (at < words_.size() / 4) {
      const uint32_t action = word(at++);
      switch (static_cast<uint8_t>(action & 0xff)) {
        case kConfigure:
          configure(word(at), word(at + 1));
          at += 2;
          break;
        case kCommandStream: {
          const uint64_t length = (action >> 16) | ((action >> 8 & 0xff) << 16);
          run(at, length);
          return std::move(stream_);
        }
        case kNothing:
          break;
        default:
          throw FormatError(fmt::format("Ethos-U cmd_data: word {} is the unknown driver action {}",
                                        at - 1, action & 0xff));
      }
    }
    return std::move(stream_);
  }

 private:
  uint32_t word(size_t index) const {
    return number_at<uint32_t>(words_, uint64_t{index} * 4, "Ethos-U cmd_data");
  }

  void configure(uint32_t config, uint32_t id) {
    const unsigned macs = config & 0xf;
    stream_.target = fmt::format("{} MACs per cycle, architecture {}.{}.{}", uint64_t{1} << macs,
                                 id >> 28, id >> 20 & 0xff, id >> 16 & 0xf);
  }

  void run(size_t at, uint64_t length) {
    const uint64_t end = at + length;
    if (end > words_.size() / 4) {
      throw FormatError(
          fmt::format("Ethos-U cmd_data: a command stream of {} words at word {} does "
                      "not fit in {} words",
                      length, at, words_.size() / 4));
    }
    while (at < end) {
      const uint32_t head = word(at++);
      const uint32_t code = head & kCodeMask;
      const uint32_t parameter = head >> 16;
      if ((code & kHasPayload) != 0) {
        if (at >= end) throw FormatError("Ethos-U cmd_data: the last command is truncated");
        registers_[code] = word(at++);
      } else if (code >= kFirstRegister) {
        registers_[code] = parameter;
      } else if (code == kStop) {
        return;
      } else {
        command(code, parameter);
      }
    }
  }

  uint64_t get(uint32_t code) const {
    const auto found = registers_.find(code);
    return found == registers_.end() ? 0 : found->second;
  }
  bool has(uint32_t code) const { return registers_.contains(code); }

  void command(uint32_t code, uint32_t parameter) {
    if (stream_.commands.size() == kMaxCommands) {
      throw FormatError(
          fmt::format("Ethos-U cmd_data: has more than the maximum of {} commands", kMaxCommands));
    }
    Command op;
    switch (code) {
      case kConv:
        op.name = "CONV";
        break;
      case kDepthwise:
        op.name = "DEPTHWISE";
        break;
      case kPool:
        op.name = "POOL " + name_of(kPoolModes, parameter, "mode");
        break;
      case kElementwise:
        op.name = "ELEMENTWISE " + name_of(kElementwiseModes, parameter, "mode");
        break;
      case kResize:
        op.name = "RESIZE";
        break;
      case kDmaStart:
        op.name = "DMA";
        op.dma_bytes = get(kDmaLength);
        stream_.commands.push_back(op);
        return;
      case kIrq:
      case kDmaWait:
      case kKernelWait:
      case kPmuMask:
        return;
      default:
        ++stream_.unknown_commands;
        return;
    }
    op.has_shapes = has(kOfmWidth) && has(kOfmHeight) && has(kOfmDepth);
    op.ifm = {get(kIfmHeight) + 1, get(kIfmWidth) + 1, get(kIfmDepth) + 1};
    op.ofm = {get(kOfmHeight) + 1, get(kOfmWidth) + 1, get(kOfmDepth) + 1};
    op.kernel_height = get(kKernelHeight) + 1;
    op.kernel_width = get(kKernelWidth) + 1;
    if (op.has_shapes && (code == kConv || code == kDepthwise)) {
      op.macs = multiply({op.ofm[0], op.ofm[1], op.ofm[2], op.kernel_height, op.kernel_width,
                          code == kConv ? op.ifm[2] : 1});
    }
    stream_.commands.push_back(std::move(op));
  }

  // Returns the product of the factors, or 0 if the product exceeds 64 bits.
  static uint64_t multiply(std::initializer_list<uint64_t> factors) {
    uint64_t product = 1;
    for (const uint64_t factor : factors) {
      if (__builtin_mul_overflow(product, factor, &product)) return 0;
    }
    return product;
  }

  Bytes words_;
  CommandStream stream_;
  std::map<uint32_t, uint64_t> registers_;
};

}  // namespace

CommandStream read_command_stream(Bytes block) { return StreamReader(block).read(); }

}  // namespace vitrine::delegates::ethos_u
