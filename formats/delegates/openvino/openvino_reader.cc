// Reads payloads of the OpenVINO backend. Payloads of the CPU plugin contain XML whose bytes are
// XORed with a fixed mask. Payloads of other plugins have undocumented formats.
#include <array>

#include "formats/delegates/byte_view.h"
#include "formats/delegates/openvino/ir_reader.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace openvino {
namespace {

constexpr std::string_view kBackends[] = {"OpenvinoBackend"};
constexpr size_t kHeaderBytes = 48;
constexpr std::array<unsigned char, 12> kMask = {0x30, 0x60, 0x70, 0x02, 0x04, 0x08,
                                                 0x3F, 0x6F, 0x72, 0x74, 0x78, 0x7F};

bool is_cpu_model(Bytes bytes) {
  return bytes.size() >= kHeaderBytes && load_little<uint64_t>(bytes.data()) == kHeaderBytes;
}

// True if the three regions of a payload fill the bytes after the header without gaps.
bool is_whole_model(Bytes bytes) {
  if (!is_cpu_model(bytes)) return false;
  uint64_t end = kHeaderBytes;
  for (size_t i = 0; i < 3; ++i) {
    if (load_little<uint64_t>(bytes.data() + i * 16) != end) return false;
    const auto size = load_little<uint64_t>(bytes.data() + i * 16 + 8);
    if (size > bytes.size() - end) return false;
    end += size;
  }
  return end == bytes.size();
}

std::string unmask(Bytes masked) {
  std::string text(text_of(masked));
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(static_cast<unsigned char>(text[i]) ^ kMask[i % kMask.size()]);
  }
  return text;
}

PayloadDescription read_openvino(const PayloadInput& input) {
  PayloadDescription result;
  result.options = options_text(input);
  const std::string_view device = option_of(input, "device");
  if (!is_cpu_model(input.bytes)) {
    result.kind = "OpenVINO blob";
    result.closed = fmt::format("closed format of the OpenVINO plugin for {}: {} bytes",
                                device.empty() ? "its device" : device, input.bytes.size());
    return result;
  }
  result.kind = "OpenVINO CPU model";
  constexpr std::string_view kNames[] = {"custom data", "constants", "graph"};
  std::array<Bytes, 3> regions;
  for (size_t i = 0; i < regions.size(); ++i) {
    regions[i] = range_of(input.bytes, load_little<uint64_t>(input.bytes.data() + i * 16),
                          load_little<uint64_t>(input.bytes.data() + i * 16 + 8),
                          fmt::format("OpenVINO {}", kNames[i]));
    result.parts.push_back({std::string(kNames[i]), regions[i].size(), ""});
  }
  std::string xml = unmask(regions[2]);
  if (!xml.starts_with("<?xml") && !xml.starts_with("<net")) xml = text_of(regions[2]);
  if (!xml.starts_with("<?xml") && !xml.starts_with("<net")) {
    result.closed = "the graph has an unknown encoding, so only sizes are known";
    result.constants = regions[1].empty() ? 0 : 1;
    result.constant_bytes = regions[1].size();
    return result;
  }
  openvino::read_ir(xml, regions[1].size(), result);
  return result;
}

}  // namespace
}  // namespace openvino

const DelegateReader kOpenVinoReader = {openvino::kBackends, "OpenVINO delegate payload",
                                        openvino::is_whole_model, openvino::read_openvino};

}  // namespace vitrine::delegates
