#include "formats/delegates/vgf/spirv_graph.h"

#include <map>
#include <optional>

#include "formats/delegates/payload_text.h"
#include "formats/delegates/tosa/tosa_names.h"

namespace vitrine::delegates::vgf {
namespace {

constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeadWords = 5;
constexpr std::string_view kTosaSet = "TOSA.001000";
constexpr size_t kMaxOperators = size_t{1} << 18;
constexpr size_t kMaxRank = 16;

enum Opcode : uint32_t {
  kExtInstImport = 11,
  kExtInst = 12,
  kTypeBool = 20,
  kTypeInt = 21,
  kTypeFloat = 22,
  kConstantTrue = 41,
  kConstantFalse = 42,
  kConstant = 43,
  kConstantComposite = 44,
  kConstantNull = 46,
  kConstantReplicated = 4461,
  kTypeTensor = 4163,
  kGraphConstant = 4181,
  kGraphInput = 4184,
  kGraphSetOutput = 4185,
};

class ModuleReader {
 public:
  ModuleReader(Bytes words, std::vector<PayloadTensor>& tensors)
      : words_(words), tensors_(tensors) {}

  PayloadGraph read() {
    if (words_.size() < kHeadWords * 4 || word(0) != kMagic) {
      throw FormatError("SPIR-V: expected 07230203 as the first word, and 5 words or more");
    }
    const size_t count = words_.size() / 4;
    for (size_t at = kHeadWords; at < count;) {
      const uint32_t head = word(at);
      const size_t length = head >> 16;
      if (length == 0 || length > count - at) {
        throw FormatError(
            fmt::format("SPIR-V: the instruction at word {} has {} words: expected 1 to {}", at,
                        length, count - at));
      }
      read_instruction(head & 0xffff, at, length);
      at += length;
    }
    return std::move(result_);
  }

 private:
  uint32_t word(size_t index) const { return number_at<uint32_t>(words_, index * 4, "SPIR-V"); }

  void read_instruction(uint32_t opcode, size_t at, size_t length) {
    const auto has = [&](size_t words) { return length >= words; };
    switch (opcode) {
      case kExtInstImport:
        if (has(3) && has_text_at(words_, (at + 2) * 4, kTosaSet)) tosa_set_ = word(at + 1);
        break;
      case kTypeBool:
        if (has(2)) scalars_[word(at + 1)] = "bool";
        break;
      case kTypeInt:
        // TOSA's integers are signed, although their SPIR-V types are unsigned.
        if (has(4)) scalars_[word(at + 1)] = fmt::format("i{}", word(at + 2));
        break;
      case kTypeFloat:
        if (has(3)) scalars_[word(at + 1)] = fmt::format("f{}", word(at + 2));
        break;
      case kConstant:
        if (has(4)) constants_[word(at + 2)] = word(at + 3);
        break;
      case kConstantTrue:
      case kConstantFalse:
      case kConstantNull:
        if (!has(3)) break;
        texts_[word(at + 2)] = opcode == kConstantTrue    ? "true"
                               : opcode == kConstantFalse ? "false"
                                                          : "zeros";
        break;
      case kConstantReplicated:
        if (has(4)) {
          const auto item = constants_.find(word(at + 3));
          if (item != constants_.end()) {
            texts_[word(at + 2)] = fmt::format("all {}", static_cast<int32_t>(item->second));
          }
        }
        break;
      case kConstantComposite:
        if (has(3) && length - 3 <= kMaxRank) {
          std::vector<uint32_t>& items = composites_[word(at + 2)];
          items.clear();
          for (size_t i = 3; i < length; ++i) items.push_back(word(at + i));
        }
        break;
      case kTypeTensor:
        if (has(3)) types_[word(at + 1)] = tensor_type(at, length);
        break;
      case kGraphConstant:
        if (has(4)) {
          define(word(at + 2), word(at + 1));
          tensors_.back().name = fmt::format("constant {}", word(at + 3));
        }
        break;
      case kGraphInput:
        if (has(3)) {
          define(word(at + 2), word(at + 1));
          result_.inputs.push_back(values_[word(at + 2)]);
        }
        break;
      case kGraphSetOutput:
        if (has(3)) {
          const auto found = values_.find(word(at + 1));
          if (found != values_.end()) result_.outputs.push_back(found->second);
        }
        break;
      case kExtInst:
        if (has(5) && tosa_set_ && word(at + 3) == *tosa_set_) read_operator(at, length);
        break;
      default:
        break;
    }
  }

  PayloadTensor tensor_type(size_t at, size_t length) const {
    PayloadTensor tensor;
    const auto element = scalars_.find(word(at + 2));
    tensor.dtype = element == scalars_.end() ? "?" : element->second;
    tensor.has_shape = false;
    if (length < 5) return tensor;
    const auto shape = composites_.find(word(at + 4));
    if (shape == composites_.end()) return tensor;
    tensor.has_shape = true;
    for (const uint32_t id : shape->second) {
      const auto size = constants_.find(id);
      tensor.shape.push_back(size == constants_.end() ? Dim{0, -1}
                                                      : Dim{size->second, size->second});
    }
    return tensor;
  }

  void define(uint32_t id, uint32_t type) {
    const auto found = types_.find(type);
    PayloadTensor tensor;
    tensor.has_shape = false;
    tensor.dtype = "?";
    if (found != types_.end()) tensor = found->second;
    values_[id] = tensors_.size();
    tensors_.push_back(std::move(tensor));
  }

  void read_operator(size_t at, size_t length) {
    if (result_.operators.size() == kMaxOperators) {
      throw FormatError(fmt::format("SPIR-V: the graph has more than the maximum of {} operators",
                                    kMaxOperators));
    }
    PayloadOperator op;
    op.name = tosa::operator_name(word(at + 4));
    for (size_t i = 5; i < length; ++i) {
      const uint32_t id = word(at + i);
      const auto value = values_.find(id);
      const auto number = constants_.find(id);
      const auto list = composites_.find(id);
      const auto known = texts_.find(id);
      std::string text = known != texts_.end() ? known->second : fmt::format("id {}", id);
      if (value != values_.end()) {
        op.inputs.push_back(value->second);
        text = tensor_name(value->second);
      } else if (number != constants_.end()) {
        text = fmt::format("{}", static_cast<int32_t>(number->second));
      } else if (list != composites_.end()) {
        text = list_text(list->second, [&](uint32_t item) {
          const auto found = constants_.find(item);
          return found == constants_.end() ? std::string("?")
                                           : fmt::format("{}", static_cast<int32_t>(found->second));
        });
      }
      op.arguments.push_back({"", std::move(text)});
    }
    define(word(at + 2), word(at + 1));
    op.outputs.push_back(values_[word(at + 2)]);
    result_.operators.push_back(std::move(op));
  }

  Bytes words_;
  std::vector<PayloadTensor>& tensors_;
  PayloadGraph result_;
  std::optional<uint32_t> tosa_set_;
  std::map<uint32_t, std::string> scalars_;
  std::map<uint32_t, std::string> texts_;  // texts of constants that are not numbers
  std::map<uint32_t, uint32_t> constants_;
  std::map<uint32_t, std::vector<uint32_t>> composites_;
  std::map<uint32_t, PayloadTensor> types_;
  std::map<uint32_t, size_t> values_;  // indices of tensors
};

}  // namespace

PayloadGraph read_spirv(Bytes words, std::vector<PayloadTensor>& tensors) {
  return ModuleReader(words, tensors).read();
}

}  // namespace vitrine::delegates::vgf
