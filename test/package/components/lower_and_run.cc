// lower_and_run model.pt2 model.pte: lowers a model to XNNPACK and runs the result with the kernels
// that this executable chooses.
#include <vitrine/kernels.h>
#include <vitrine/method.h>
#include <vitrine/xnnpack.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "aot/pipeline/lower.h"
#include "backends/xnnpack/aot/partitioner.h"

namespace {

vitrine::Error run(const char* path) {
  vitrine::KernelRegistry kernels;
  VITRINE_RETURN_IF_ERROR(kernels.add("portable", vitrine::portable::kernels()));
  vitrine::BackendRegistry backends;
  VITRINE_RETURN_IF_ERROR(backends.add(&vitrine::xnnpack_backend()));
  VITRINE_ASSIGN_OR_RETURN(auto source, vitrine::map_file(path));
  VITRINE_ASSIGN_OR_RETURN(const auto program, vitrine::Program::load(std::move(source)));
  VITRINE_ASSIGN_OR_RETURN(
      const auto method,
      vitrine::Method::load(program, "forward", {.kernels = &kernels, .backends = &backends}));
  std::printf("%zu delegate, %zu operators\n", method->meta().num_delegates(),
              method->meta().num_operators());
  VITRINE_ASSIGN_OR_RETURN(const vitrine::Tensor* planned, method->input(0).as_tensor());
  vitrine::Tensor input = *planned;
  std::vector<float> numbers(static_cast<size_t>(input.numel()), 0.5F);
  input.set_data(numbers.data());
  VITRINE_RETURN_IF_ERROR(method->set_input(0, vitrine::EValue(&input)));
  return method->execute();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  try {
    vitrine::aot::LowerOptions options;
    options.partitioners.push_back(std::make_shared<vitrine::aot::XnnpackPartitioner>());
    const auto model =
        vitrine::aot::lower(vitrine::aot::import_methods({{"forward", argv[1]}}), options);
    std::FILE* file = std::fopen(argv[2], "wb");
    if (file == nullptr) return 1;
    std::fwrite(model.emitted.pte.data(), 1, model.emitted.pte.size(), file);
    std::fclose(file);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  const vitrine::Error error = run(argv[2]);
  if (!error.ok()) std::fprintf(stderr, "%s\n", error.message());
  return error.ok() ? 0 : 1;
}
