#include "formats/delegates/delegate_reader.h"

#include <algorithm>

#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace {

// All readers, in the order in which the functions below try them.
constexpr const DelegateReader* kReaders[] = {
    &kEthosUReader,   &kVulkanReader,  &kMlxReader,        &kTosaReader,
    &kNativeReader,   &kVgfReader,     &kMpsReader,        &kOpenVinoReader,
    &kQnnReader,      &kNeutronReader, &kCoreMlReader,     &kCompilerDemoReader,
    &kExecutorReader, &kEnnReader,     &kNeuropilotReader, &kAotInductorReader};

}  // namespace

const DelegateReader* find_reader(std::string_view backend) {
  for (const DelegateReader* reader : kReaders) {
    if (std::ranges::count(reader->backends, backend) != 0) return reader;
  }
  return nullptr;
}

const DelegateReader* recognize_payload(std::span<const std::byte> bytes) {
  for (const DelegateReader* reader : kReaders) {
    if (reader->recognizes != nullptr && reader->recognizes(bytes)) return reader;
  }
  return nullptr;
}

PayloadDescription describe_payload(const PayloadInput& input) {
  const DelegateReader* reader =
      input.backend.empty() ? recognize_payload(input.bytes) : find_reader(input.backend);
  PayloadDescription description;
  if (reader != nullptr) {
    description = reader->read(input);
  } else {
    description.kind = "unknown format";
    description.closed =
        fmt::format("{} bytes, which only the backend can read", input.bytes.size());
  }
  if (description.options.empty()) description.options = options_text(input);
  finish(description);
  return description;
}

}  // namespace vitrine::delegates
