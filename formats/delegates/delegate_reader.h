// Reads the payloads of backends that Vitrine does not run.
//
// Each backend has a DelegateReader in its own file. A payload is untrusted: readers check every
// offset, index and count, and throw a FormatError that names the position of the damage. They open
// no file and execute nothing that a payload names.
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

// A payload and what belongs to it. Everything must outlive the description.
struct PayloadInput {
  std::string_view backend = {};  // empty for a bare file
  std::span<const std::byte> bytes = {};
  std::vector<CompileOption> options = {};
  const NamedDataMap* data = nullptr;  // constants by key; may be null
  std::string_view method = {};
};

struct DelegateReader {
  std::span<const std::string_view> backends;
  std::string_view name;  // of a bare file: "Vulkan delegate payload"
  // True if the bytes alone show that they are such a payload. Null if they cannot.
  bool (*recognizes)(std::span<const std::byte> bytes);
  PayloadDescription (*read)(const PayloadInput& input);
};

// Returns null for an unknown backend or unknown bytes.
const DelegateReader* find_reader(std::string_view backend);
const DelegateReader* recognize_payload(std::span<const std::byte> bytes);

// Describes the payload, with its options. A payload of an unknown backend has only its size.
// Throws a FormatError if the payload is damaged.
PayloadDescription describe_payload(const PayloadInput& input);

// The readers. Each is defined in the file of its backend.
extern const DelegateReader kVulkanReader, kMlxReader, kCoreMlReader, kEthosUReader, kVgfReader,
    kTosaReader, kOpenVinoReader, kQnnReader, kNeutronReader, kMpsReader, kNeuropilotReader,
    kEnnReader, kAotInductorReader, kNativeReader, kExecutorReader, kCompilerDemoReader;

}  // namespace vitrine::delegates
