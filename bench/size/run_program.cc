// The least that runs a program: load with verification, set inputs, execute.
#include "bench/size/table.h"
#include "runtime/executor/method.h"

namespace vitrine {
namespace {

Error run(const char* path) {
  VITRINE_ASSIGN_OR_RETURN(std::unique_ptr<DataSource> source, map_file(path));
  VITRINE_ASSIGN_OR_RETURN(const auto program, Program::load(std::move(source)));
  KernelRegistry kernels;
  VITRINE_RETURN_IF_ERROR(kernels.add("size", size::kernels()));
  VITRINE_ASSIGN_OR_RETURN(const auto method,
                           Method::load(program, "forward", {.kernels = &kernels}));
  for (size_t i = 0; i < method->num_inputs(); ++i) {
    VITRINE_RETURN_IF_ERROR(method->set_input(i, method->input(i)));
  }
  return method->execute();
}

}  // namespace
}  // namespace vitrine

int main(int argc, char** argv) { return argc > 1 && vitrine::run(argv[1]).ok() ? 0 : 1; }
