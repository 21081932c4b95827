// Makes valid XNNPACK payloads that together contain every kind of node and value.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "test/backends/xnnpack/payload_builder.h"

namespace vitrine::test {

struct SamplePayload {
  std::string name;
  PayloadBuilder builder;
};
inline std::ostream& operator<<(std::ostream& out, const SamplePayload& sample) {
  return out << sample.name;
}
std::vector<SamplePayload> sample_payloads();

}  // namespace vitrine::test
