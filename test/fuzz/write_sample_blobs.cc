// write_sample_blobs FOLDER: one file a payload, for a fuzzer to begin with.
#include <cstdio>
#include <fstream>

#include "test/corruption/sample_blobs.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "write_sample_blobs FOLDER\n");
    return 1;
  }
  for (vitrine::test::SampleBlob& sample : vitrine::test::sample_blobs()) {
    const std::vector<std::byte> blob = sample.builder.build();
    std::ofstream file(std::string(argv[1]) + "/" + sample.name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(blob.data()),
               static_cast<std::streamsize>(blob.size()));
    if (!file) {
      std::fprintf(stderr, "%s cannot be written to\n", argv[1]);
      return 1;
    }
  }
}
