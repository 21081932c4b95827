// The smallest code that loads, verifies and runs a program.
#include "bench/size/register_kernels.h"
#include "vitrine/method.h"

int main(int argc, char** argv) {
  using namespace vitrine;
  if (argc < 2) return 2;
  auto source = map_file(argv[1]);
  if (!source.ok()) return 1;
  auto program = Program::load(std::move(*source));
  if (!program.ok()) return 1;
  KernelRegistry kernels;
  if (!size::register_kernels(kernels).ok()) return 1;
  auto method = Method::load(std::move(*program), "forward", {.kernels = &kernels});
  if (!method.ok()) return 1;
  for (size_t i = 0; i < (*method)->num_inputs(); ++i) {
    if (!(*method)->set_input(i, (*method)->input(i)).ok()) return 1;
  }
  return (*method)->execute().ok() ? 0 : 1;
}
