// Reads and writes programs that are bundled with inputs and expected outputs (.bpte). Format:
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

// A dense tensor. `data` holds exactly the tensor's elements, in the order of dim_order.
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

// A bundle. If `bytes` is null, the spans point into memory that the caller owns; otherwise they
// point into `bytes`.
struct BundledProgram {
  uint32_t version = 2;
  std::vector<TestSuite> suites;
  std::span<const std::byte> program;      // a .pte; aligned to 32 bytes if the writer aligned it
  std::shared_ptr<const std::byte> bytes;  // null unless the reader read or copied the bytes

  // Returns null if the bundle does not have a suite for the method.
  const TestSuite* suite(std::string_view method) const;
};

// True if the bytes have the identifier "BP08" at byte 4.
bool is_bundled_program(std::span<const std::byte> bytes);

// Parses untrusted bytes. Throws a BundledProgramError that names `source` and the field. The
// result points into `bytes` if they are aligned to 32 bytes; they must then outlive the result.
// Otherwise, the result owns a copy.
BundledProgram parse_bundled_program(std::span<const std::byte> bytes,
                                     std::string_view source = "bundled program");
BundledProgram read_bundled_program(const std::filesystem::path& file);

// Returns the bytes of a .bpte file, with suites sorted by method name. The program must have a
// method for each suite, with inputs and outputs of the same kinds. Throws BundledProgramError for
// a value that readers would reject.
std::vector<std::byte> write_bundled_program(const BundledProgram& program);

}  // namespace vitrine::bundled
