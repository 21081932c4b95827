// write_sample_payloads FOLDER: writes each sample payload to a file, as the initial corpus of a
// fuzzer.
#include <cstdio>
#include <fstream>

#include "test/corruption/sample_payloads.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_sample_payloads FOLDER\n");
    return 1;
  }
  for (vitrine::test::SamplePayload& sample : vitrine::test::sample_payloads()) {
    const std::vector<std::byte> payload = sample.builder.build();
    std::ofstream file(std::string(argv[1]) + "/" + sample.name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(payload.data()),
               static_cast<std::streamsize>(payload.size()));
    if (!file) {
      std::fprintf(stderr, "cannot write to %s\n", argv[1]);
      return 1;
    }
  }
}
