// run_selected model.pte: checks that the selected kernels are enough for the program.
#include <vitrine/kernels.h>
#include <vitrine/method.h>

#include <cstdio>

namespace {

vitrine::Error load(const char* path) {
  vitrine::KernelRegistry kernels;
  VITRINE_RETURN_IF_ERROR(kernels.add("portable", vitrine::portable::kernels()));
  VITRINE_ASSIGN_OR_RETURN(auto source, vitrine::map_file(path));
  VITRINE_ASSIGN_OR_RETURN(const auto program, vitrine::Program::load(std::move(source)));
  VITRINE_ASSIGN_OR_RETURN(const auto method,
                           vitrine::Method::load(program, "forward", {.kernels = &kernels}));
  std::printf("%zu operators\n", method->meta().num_operators());
  return vitrine::Error();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const vitrine::Error error = load(argv[1]);
  if (!error.ok()) std::fprintf(stderr, "%s\n", error.message());
  return error.ok() ? 0 : 1;
}
