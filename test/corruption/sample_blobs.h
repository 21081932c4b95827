// Sound XNNPACK payloads that together have every node and every kind of value.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "test/backends/xnnpack/blob_builder.h"

namespace vitrine::test {

struct SampleBlob {
  std::string name;
  BlobBuilder builder;
};
inline std::ostream& operator<<(std::ostream& out, const SampleBlob& sample) {
  return out << sample.name;
}
std::vector<SampleBlob> sample_blobs();

}  // namespace vitrine::test
