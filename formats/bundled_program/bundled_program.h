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

// A dense tensor. `data` holds exactly its elements, in the order of dim_order.
struct BundledTensor {
  ScalarType dtype = ScalarType::kByte;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  std::span<const std::byte> data;
};

using BundledValue = std::variant<BundledTensor, int64_t, bool, double>;

struct TestSet {
  std::vector<BundledValue> inputs;            // all inputs of the method, flattened
  std::vector<BundledValue> expected_outputs;  // all outputs of the method, or none
};

struct TestSuite {
  std::string method;
  std::vector<TestSet> sets;
};

// Spans point into `bytes`, or into the caller's bytes that were parsed.
struct BundledProgram {
  uint32_t version = 2;
  std::vector<TestSuite> suites;
  std::span<const std::byte> program;      // a .pte; aligned to 32 bytes if the writer aligned it
  std::shared_ptr<const std::byte> bytes;  // null unless the reader read or copied the bytes

  // Returns null if the bundle has no suite for that method.
  const TestSuite* suite(std::string_view method) const;
};

// True if the bytes have the identifier, "BP08" at byte 4.
bool is_bundled_program(std::span<const std::byte> bytes);

// `bytes` are untrusted; a BundledProgramError names `source` and the field. `bytes` must outlive
// the result, which refers to them (or to a copy, if they are not aligned to 32 bytes).
BundledProgram parse_bundled_program(std::span<const std::byte> bytes,
                                     std::string_view source = "bundled program");
BundledProgram read_bundled_program(const std::filesystem::path& file);

// Returns the bytes of the file, with suites sorted by method name. The caller must make sure that
// the program has these methods, with inputs and outputs of these kinds. Throws BundledProgramError
// for a value that readers would reject.
std::vector<std::byte> write_bundled_program(const BundledProgram& program);

}  // namespace vitrine::bundled
