// Runs a program that calls custom and portable operators. Sets the method's first input (f32) to
// the numbers in the command, and prints the method's first output.
//
//   vitrine_example_custom_op model.pte 1 -4.5 6
#include <cstdio>
#include <vector>

#include "my_ops.h"
#include "vitrine/kernels.h"
#include "vitrine/method.h"

namespace {

using vitrine::Error;
using vitrine::ErrorCode;
using vitrine::Tensor;

Error run(const char* path, std::vector<float>& numbers) {
  vitrine::KernelRegistry kernels;
  VITRINE_RETURN_IF_ERROR(kernels.add("my_ops", my_ops::kernels()));
  VITRINE_RETURN_IF_ERROR(kernels.add("portable", vitrine::portable::kernels()));

  VITRINE_ASSIGN_OR_RETURN(auto source, vitrine::map_file(path));
  VITRINE_ASSIGN_OR_RETURN(const auto program, vitrine::Program::load(std::move(source)));
  VITRINE_ASSIGN_OR_RETURN(
      const auto method,
      vitrine::Method::load(program, "forward",
                            {.kernels = &kernels, .check_plan = &vitrine::refuse_overlaps}));

  if (method->num_inputs() == 0 || !method->input(0).is_tensor() || method->num_outputs() == 0) {
    return Error::make(ErrorCode::kInvalidArgument, "%s: the method has no tensor input or output",
                       path);
  }
  // `input` has the dtype and shape that the method expects. `numbers` provides its memory.
  Tensor input = method->input(0).unchecked_tensor();
  if (static_cast<size_t>(input.numel()) != numbers.size()) {
    return Error::make(ErrorCode::kInvalidArgument, "%s: the input needs %lld numbers, got %zu",
                       path, static_cast<long long>(input.numel()), numbers.size());
  }
  input.set_data(numbers.data());
  VITRINE_RETURN_IF_ERROR(method->set_input(0, vitrine::EValue(&input)));
  VITRINE_RETURN_IF_ERROR(method->execute());

  if (!method->output(0).is_tensor() ||
      method->output(0).unchecked_tensor().dtype() != vitrine::ScalarType::kFloat) {
    return Error::make(ErrorCode::kInvalidArgument, "%s: the output is not an f32 tensor", path);
  }
  const Tensor& output = method->output(0).unchecked_tensor();
  for (int64_t i = 0; i < output.numel(); ++i) {
    std::printf("%s%g", i == 0 ? "" : " ", static_cast<double>(output.data<float>()[i]));
  }
  std::printf("\n");
  return Error();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s model.pte number...\n", argv[0]);
    return 2;
  }
  std::vector<float> numbers;
  for (int i = 2; i < argc; ++i) numbers.push_back(std::strtof(argv[i], nullptr));
  const Error error = run(argv[1], numbers);
  if (!error.ok()) std::fprintf(stderr, "%s: %s\n", error_code_name(error.code()), error.message());
  return error.ok() ? 0 : 1;
}
