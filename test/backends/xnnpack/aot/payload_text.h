// Describes payloads as text, so that tests can compare them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace vitrine::aot::test {

struct PayloadText {
  // One line per node: the node's type, operands and members. An operand has its datatype, dims,
  // quantization, and the key of its constant if it has one. The output of node 3 is "%3".
  std::vector<std::string> nodes;
  std::vector<uint32_t> handles;  // one per node
};

// Fails the test if `payload` is not a valid payload.
PayloadText describe_payload(std::span<const std::byte> payload);

}  // namespace vitrine::aot::test
