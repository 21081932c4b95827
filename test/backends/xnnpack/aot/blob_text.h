// Payloads as text, to compare them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace vitrine::aot::test {

struct BlobText {
  // One line a node: its type, members and operands, each with datatype, dims, quantisation and
  // the key of its constant; what nodes make is named by the node's number.
  std::vector<std::string> nodes;
  std::vector<uint32_t> handles;  // by node
};

// Fails the test if `bytes` are not a payload.
BlobText describe_blob(std::span<const std::byte> blob);

}  // namespace vitrine::aot::test
