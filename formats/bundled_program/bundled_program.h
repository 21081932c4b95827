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
  std::span<const std::byte> program;      // a whole .pte; aligned to 32 if the writer aligned it
  std::shared_ptr<const std::byte> bytes;  // the bytes if they were read or copied; else null

  // Null if the bundle has no suite for that method.
  const TestSuite* suite(std::string_view method) const;
};

// Checks the identifier, "BP08" at byte 4.
bool is_bundled_program(std::span<const std::byte> bytes);

// `bytes` are untrusted; BundledProgramErrors name `source` and the place. `bytes` must outlive the
// result, which refers to them (or to a copy, if they are not aligned to 32).
BundledProgram parse_bundled_program(std::span<const std::byte> bytes,
                                     std::string_view source = "bundled program");
BundledProgram read_bundled_program(const std::filesystem::path& file);

// Returns the bytes of the file, with suites sorted by method name. The caller must make sure that
// the program has these methods, with inputs and outputs of these kinds. BundledProgramErrors name
// a value that readers would refuse.
std::vector<std::byte> write_bundled_program(const BundledProgram& program);

}  // namespace vitrine::bundled
