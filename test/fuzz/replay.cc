// Replaces libFuzzer's main. Runs a target on each file that is an argument, and on every file in
// each folder that is an argument.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "test/corruption/sample_payloads.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Returns false if the file cannot be read.
static bool replay(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    std::fprintf(stderr, "cannot read %s\n", file.c_str());
    return false;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return true;
}

int main(int argc, char** argv) {
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--samples") == 0) {
      for (vitrine::test::SamplePayload& sample : vitrine::test::sample_payloads()) {
        const std::vector<std::byte> payload = sample.builder.build();
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
        ++count;
      }
      continue;
    }
    std::vector<std::filesystem::path> files{argv[i]};
    if (std::filesystem::is_directory(argv[i])) {
      const std::filesystem::directory_iterator folder(argv[i]);
      files.assign(begin(folder), end(folder));
    }
    for (const std::filesystem::path& file : files) {
      if (!replay(file)) return 1;
      ++count;
    }
  }
  std::printf("%d inputs\n", count);
  return count > 0 ? 0 : 1;
}
