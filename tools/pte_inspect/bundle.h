// The program inside a bundled program (.bpte), and what tests come with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace vitrine::tools {

struct BundledSuite {
  std::string method;
  size_t test_cases = 0;
};

struct Bundle {
  uint32_t version = 0;
  std::vector<BundledSuite> suites;
  std::span<const std::byte> program;  // a view of the bundle
};

// Format: identifier BP08; a flatbuffer {version: uint; method_test_suites: [{method_name: string;
// test_cases: [...]}]; program: [ubyte]}. Throws ToolError that names `source` and the place.
Bundle open_bundle(std::span<const std::byte> bytes, const std::string& source);

}  // namespace vitrine::tools
