// Stands for libFuzzer where it is not linked: runs a target on the files that it is given.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "test/corruption/sample_blobs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--samples") == 0) {
      for (vitrine::test::SampleBlob& sample : vitrine::test::sample_blobs()) {
        const std::vector<std::byte> blob = sample.builder.build();
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(blob.data()), blob.size());
        ++count;
      }
      continue;
    }
    std::ifstream stream(argv[i], std::ios::binary);
    if (!stream) {
      std::fprintf(stderr, "%s cannot be read\n", argv[i]);
      return 1;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++count;
  }
  std::printf("%d inputs\n", count);
  return count > 0 ? 0 : 1;
}
