// Reads payloads in closed formats, and payloads that contain a native library.
#include <algorithm>

#include "formats/delegates/byte_view.h"
#include "formats/delegates/flat_table.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace closed {
namespace {

constexpr std::string_view kNeuropilotBackends[] = {"NeuropilotBackend"};
constexpr std::string_view kEnnBackends[] = {"EnnBackend"};
constexpr std::string_view kAotInductorBackends[] = {"CudaBackend", "MetalBackend"};
constexpr size_t kNeuropilotHeaderBytes = 13;
constexpr size_t kMaxKeyBytes = 4096;

constexpr OptionFormat kNeuropilotOptions[] = {{"ImportForever", OptionKind::kBool},
                                               {"HighAddr", OptionKind::kBool}};

PayloadDescription read_neuropilot(const PayloadInput& input) {
  const Bytes head = range_of(input.bytes, 0, kNeuropilotHeaderBytes, "MediaTek header");
  if (head[0] != std::byte{1}) {
    throw FormatError(
        fmt::format("MediaTek header: version {}, expected 1", static_cast<int>(head[0])));
  }
  const auto size = load_little<uint32_t>(head.data() + 9);
  range_of(input.bytes, kNeuropilotHeaderBytes, size, "MediaTek network");
  PayloadDescription result;
  result.kind = "MediaTek NeuroPilot network";
  result.version = "1";
  result.options = options_text(input, kNeuropilotOptions);
  result.facts = {fmt::format("{} inputs, {} outputs", load_little<uint32_t>(head.data() + 1),
                              load_little<uint32_t>(head.data() + 5))};
  const std::string_view key = option_of(input, "ExtractSharedBlobKey");
  std::string shared;
  if (!key.empty()) {
    const auto bytes = size_of_named(input.data, key);
    shared = bytes ? fmt::format(", {} shared", *bytes) : ", shared weights missing";
    result.constants = 1;
    result.constant_bytes = bytes.value_or(0);
    result.facts.push_back(fmt::format("shared weights: named data {}", key));
  }
  const std::string_view platform = option_of(input, "platform-config");
  result.closed = fmt::format("closed format of MediaTek ({} bytes{}){}{}", size, shared,
                              platform.empty() ? "" : ", for ", platform);
  return result;
}

PayloadDescription read_enn(const PayloadInput& input) {
  PayloadDescription result;
  result.kind = "Samsung ENN network";
  std::string chipset;
  for (const CompileOption& option : input.options) {
    if (option.key != "enn_compile_options") {
      continue;
    }
    const FlatFile file(option.value, "enn_compile_options");
    if (!file.has_identifier("EETO")) file.fail("no identifier \"EETO\" at byte 4");
    chipset = fmt::format("{}", file.root().number<int32_t>(0));
    result.options.push_back({"chipset", chipset});
  }
  result.closed = fmt::format("closed format of Samsung ({} bytes){}{}", input.bytes.size(),
                              chipset.empty() ? "" : ", for chipset ", chipset);
  return result;
}

struct LibraryKind {
  std::string_view magic;
  std::string_view name;
};
constexpr LibraryKind kLibraries[] = {{"\x7f"
                                       "ELF",
                                       "ELF library"},
                                      {"MZ", "PE library"},
                                      {"\xcf\xfa\xed\xfe", "Mach-O library"},
                                      {"\xca\xfe\xba\xbe", "Mach-O library"}};

// Reads a payload of PyTorch's AOTInductor. Its two lines are the keys of the library and of the
// library's weights in named data. If the payload is empty, the method's name determines both keys.
PayloadDescription read_aot_inductor(const PayloadInput& input) {
  PayloadDescription result;
  result.kind = "AOTInductor library";
  result.options = options_text(input);
  std::string keys[2];
  if (input.bytes.empty()) {  // payloads before 1.4
    keys[0] = fmt::format("{}_so_blob", input.method);
    keys[1] = fmt::format("{}_weights_blob", input.method);
  } else {
    const std::string_view text = text_of(input.bytes);
    const size_t line = text.find('\n');
    if (line == std::string_view::npos || text.size() > kMaxKeyBytes || !is_printable(text)) {
      throw FormatError(
          fmt::format("AOTInductor payload: expected two keys in two lines, found {} "
                      "bytes",
                      text.size()));
    }
    keys[0] = text.substr(0, line);
    keys[1] = text.substr(line + 1);
    while (keys[1].ends_with('\n') || keys[1].ends_with('\0')) keys[1].pop_back();
  }
  std::string kind = "native library";
  const auto size = size_of_named(input.data, keys[0]);
  if (size) {
    const auto found = input.data->get(keys[0]);
    for (const LibraryKind& library : kLibraries) {
      if (has_text_at(found->bytes(), 0, library.magic)) kind = library.name;
    }
  } else {
    result.notes.push_back(fmt::format("the library is missing: named data {}", keys[0]));
  }
  PayloadTensor& weights = result.tensors.emplace_back();
  weights.name = "weights";
  weights.dtype = "bytes";
  weights.has_shape = false;
  weights.constant = named_constant(input.data, keys[1], 0);
  result.parts = {{"library", size.value_or(0), fmt::format("{}, named data {}", kind, keys[0])}};
  result.closed = fmt::format("{} ({} bytes) with compiled kernels, which Vitrine never loads",
                              kind, size.value_or(0));
  return result;
}

}  // namespace
}  // namespace closed

const DelegateReader kNeuropilotReader = {closed::kNeuropilotBackends, "MediaTek delegate payload",
                                          nullptr, closed::read_neuropilot};
const DelegateReader kEnnReader = {closed::kEnnBackends, "Samsung delegate payload", nullptr,
                                   closed::read_enn};
const DelegateReader kAotInductorReader = {closed::kAotInductorBackends,
                                           "AOTInductor delegate payload", nullptr,
                                           closed::read_aot_inductor};

}  // namespace vitrine::delegates
