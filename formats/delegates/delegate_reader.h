// Reads the payloads of backends that Vitrine does not run. Each backend has a DelegateReader in
// its own file. A payload is untrusted: readers check every offset, index and count, and throw a
// FormatError that names the position of the damage. Readers never open a file that a payload
// names, and never execute code in a payload.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/delegates/payload_description.h"
#include "vitrine/named_data.h"

namespace vitrine::delegates {

struct CompileOption {
  std::string_view key;
  std::span<const std::byte> value;
};

// A payload with its options and named data, which must outlive the PayloadDescription.
struct PayloadInput {
  std::string_view backend = {};  // empty for a bare file
  std::span<const std::byte> bytes = {};
  std::vector<CompileOption> options = {};
  const NamedDataMap* data = nullptr;  // constants by key; may be null
  std::string_view method = {};
};

struct DelegateReader {
  std::span<const std::string_view> backends;
  std::string_view name;  // name of a bare file: "Vulkan delegate payload"
  // Returns true if the bytes identify a payload of this backend. Null if the bytes of such
  // payloads do not identify the backend.
  bool (*recognizes)(std::span<const std::byte> bytes);
  PayloadDescription (*read)(const PayloadInput& input);
};

// Return null if no reader matches the backend or recognizes the bytes.
const DelegateReader* find_reader(std::string_view backend);
const DelegateReader* recognize_payload(std::span<const std::byte> bytes);

// Describes a payload and its options. For an unknown backend, the description has only the
// payload's size. Throws a FormatError if the payload is damaged.
PayloadDescription describe_payload(const PayloadInput& input);

extern const DelegateReader kVulkanReader, kMlxReader, kCoreMlReader, kEthosUReader, kVgfReader,
    kTosaReader, kOpenVinoReader, kQnnReader, kNeutronReader, kMpsReader, kNeuropilotReader,
    kEnnReader, kAotInductorReader, kNativeReader, kExecutorReader, kCompilerDemoReader;

}  // namespace vitrine::delegates
