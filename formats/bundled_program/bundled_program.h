// A program bundled with inputs and expected outputs (.bpte). Format:
// docs/formats/bundled_program.md. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/host_error.h"
#include "vitrine/scalar_type.h"

namespace vitrine::bundled {

class BundledProgramError : public HostError {
 public:
  using HostError::HostError;
};

// A dense tensor; `data` holds exactly its elements, in the order that dim_order gives.
struct BundledTensor {
  ScalarType dtype = ScalarType::kByte;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  std::span<const std::byte> data;
};

using BundledValue = std::variant<BundledTensor, int64_t, bool, double>;

struct TestSet {
  std::vector<BundledValue> inputs;            // all of the method's, flattened
  std::vector<BundledValue> expected_outputs;  // all of the method's, or none
};

struct TestSuite {
  std::string method;
  std::vector<TestSet> sets;
};

// Spans belong to `bytes`, or to whoever gave the bytes that were parsed.
struct BundledProgram {
  uint32_t version = 2;
  std::vector<TestSuite> suites;
  std::span<const std::byte>
      program;  // a whole .pte; aligned to 32 if the bundle's writer saw to it
  std::shared_ptr<const std::byte> bytes;  // what was read or copied; else null

  // Null if the bundle has none for that method.
  const TestSuite* suite(std::string_view method) const;
};

// By the identifier, "BP08" at byte 4.
bool is_bundled_program(std::span<const std::byte> bytes);

// `bytes` are untrusted: a BundledProgramError names `source` and the place. They outlive the
// result, which refers to them (or to a copy, if they are not aligned to 32).
BundledProgram parse_bundled_program(std::span<const std::byte> bytes,
                                     std::string_view source = "bundled program");
BundledProgram read_bundled_program(const std::filesystem::path& file);

// The bytes of the file, with suites in the order of their methods' names. That the methods are the
// program's, with inputs and outputs of these kinds, is for the caller to see to. A
// BundledProgramError names the value that no reader would take.
std::vector<std::byte> write_bundled_program(const BundledProgram& program);

}  // namespace vitrine::bundled
