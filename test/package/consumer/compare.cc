// compare <sample>: runs and profiles the program in a folder of test/samples, and compares its
// output with PyTorch's.
#include <vitrine.h>
#include <vitrine/vitrine.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace {

std::vector<float> read_floats(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<float> floats(bytes.size() / sizeof(float));
  if (!floats.empty()) std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

int fail(const char* message) { return std::fprintf(stderr, "compare: %s\n", message), 1; }

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  vitrine::CallProfile profile;
  auto module = vitrine::Module::load((folder + "/model.pte").c_str(), {.tracer = &profile});
  if (!module.ok()) return fail(module.error().message());
  auto meta = module->method_meta("forward");
  if (!meta.ok()) return fail(meta.error().message());
  std::vector<float> input = read_floats(folder + "/input_0.bin");
  auto array = vitrine::Array::borrow<float>(input, meta->input_tensor(0).sizes);
  if (!array.ok()) return fail(array.error().message());
  auto outputs = module->forward({*array});
  if (!outputs.ok()) return fail(outputs.error().message());
  auto output = outputs->at(0).array()->data<float>();
  if (!output.ok()) return fail(output.error().message());

  const std::vector<float> expected = read_floats(folder + "/expected_0.bin");
  if (output->size() != expected.size()) return fail("wrong number of outputs");
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!(std::fabs((*output)[i] - expected[i]) <= 1e-4)) return fail("wrong outputs");
  }
  auto methods = profile.methods();
  if (!methods.ok()) return fail(methods.error().message());
  if (methods->front().times.calls != 1 || methods->front().rows.empty()) {
    return fail("the profile lacks the call or its rows");
  }
  // Invalid calls return errors and do not throw.
  if (module->call("backward", {}).ok()) return fail("the call of an unknown method succeeded");
  if (vitrine_version_number() != VITRINE_VERSION_NUMBER) {
    return fail("the version of the headers differs from the version of the library");
  }
  std::printf("%s: %zu outputs match PyTorch\n", vitrine_version(), expected.size());
  return 0;
}
