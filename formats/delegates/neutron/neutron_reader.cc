// Reads payloads of NXP's Neutron backend, which consist of a readable header and microcode in an
// undocumented format.
#include "formats/delegates/byte_view.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace neutron {
namespace {

constexpr std::string_view kBackends[] = {"NeutronBackend"};
constexpr uint32_t kMagic = 0x64434D6E;  // spells "nMCd"
constexpr size_t kAlignment = 16;

// Positions of fields in the header of the microcode, in words.
struct Layout {
  size_t scratch, sram, inputs, outputs;
};
constexpr Layout kLayouts[] = {{9, 10, 11, 12}, {9, 12, 13, 14}};
constexpr size_t kMicrocodeBytes = 6, kWeightBytes = 7, kProfileBytes = 10, kDebugBytes = 11;

std::string map_text(Bytes map) {
  return list_text(map, [](std::byte item) { return fmt::format("{}", static_cast<int>(item)); });
}

PayloadDescription read_neutron(const PayloadInput& input) {
  constexpr std::string_view kWhat = "Neutron header";
  const Bytes head = range_of(input.bytes, 0, 3, kWhat);
  const auto inputs = static_cast<size_t>(head[0]), outputs = static_cast<size_t>(head[1]);
  const uint64_t maps = 3 + inputs + outputs;
  const uint64_t start = round_up(4 + 2 * inputs + 2 * outputs, kAlignment);
  const auto word = [&](size_t index) {
    return number_at<uint32_t>(input.bytes, start + index * 4, kWhat);
  };
  if (word(0) != kMagic) {
    throw FormatError(fmt::format("Neutron header: expected \"nMCd\" at byte {}", start));
  }
  const Bytes input_map = range_of(input.bytes, maps, inputs, kWhat);
  const Bytes output_map = range_of(input.bytes, maps + inputs, outputs, kWhat);
  const auto version =
      static_cast<size_t>(range_of(input.bytes, maps + inputs + outputs, 1, kWhat)[0]);

  PayloadDescription result;
  result.kind = "Neutron microcode";
  result.version = fmt::format("{}", version);
  result.options = options_text(input);
  const uint64_t microcode = word(kMicrocodeBytes), weights = word(kWeightBytes);
  result.facts = {
      fmt::format("{} inputs, at positions {} in the call's inputs", inputs, map_text(input_map)),
      fmt::format("{} outputs, at positions {} in the call's outputs", outputs,
                  map_text(output_map))};
  result.parts = {{"microcode", microcode, "closed"}, {"weights", weights, ""}};
  const std::string_view target = option_of(input, "target");
  result.closed = fmt::format("closed microcode format of NXP ({} bytes{}{})", input.bytes.size(),
                              target.empty() ? "" : ", for ", target);
  if (version >= std::size(kLayouts)) {
    result.notes.push_back(
        fmt::format("payload version {} is newer than 1, so sizes of working memory "
                    "are not read",
                    version));
    return result;
  }
  const Layout& layout = kLayouts[version];
  if (word(layout.inputs) != inputs || word(layout.outputs) != outputs) {
    throw FormatError(
        fmt::format("Neutron header: has {} inputs and {} outputs, but the microcode has {} "
                    "inputs and {} outputs",
                    inputs, outputs, word(layout.inputs), word(layout.outputs)));
  }
  result.facts.push_back(
      fmt::format("working memory {} B, SRAM {} B", word(layout.scratch), word(layout.sram)));
  if (version == 1) {
    result.facts.push_back(fmt::format("profile data {} B, debug data {} B",
                                       word(kProfileBytes) & 0x7fffffff, word(kDebugBytes)));
  }
  range_of(input.bytes, start, microcode + weights, "Neutron microcode and weights");
  result.constants = weights == 0 ? 0 : 1;
  result.constant_bytes = weights;
  return result;
}

}  // namespace
}  // namespace neutron

const DelegateReader kNeutronReader = {neutron::kBackends, "Neutron delegate payload", nullptr,
                                       neutron::read_neutron};

}  // namespace vitrine::delegates
