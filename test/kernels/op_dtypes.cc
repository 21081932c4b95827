// Prints the dtypes that each operator supports. A line has the name of an operator and the dtypes
// that its tensors may have. The target op_table reads these lines.
//
// The program finds the dtypes by running the calls of op_arguments.inc. For each call, it chooses
// the dtype of one of the tensors (Float, if any tensor is Float), and tries every dtype for all
// tensors that have the chosen dtype. It first changes inputs and outputs. If the call fails, it
// changes only the inputs.
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "kernels/optimized/optimized_kernels.h"
#include "test/kernels/argument_values.h"

namespace vitrine::test {
namespace {

constexpr ScalarType kDtypes[] = {
    ScalarType::kFloat, ScalarType::kDouble, ScalarType::kHalf,        ScalarType::kBFloat16,
    ScalarType::kLong,  ScalarType::kInt,    ScalarType::kShort,       ScalarType::kChar,
    ScalarType::kByte,  ScalarType::kBool,   ScalarType::kComplexFloat};

// Changes tensors of dtype `from` to dtype `to`. Outputs keep their dtype if `outputs` is false.
void replace(Argument& argument, ScalarType from, ScalarType to, bool outputs) {
  for (Argument& item : argument.items) replace(item, from, to, outputs);
  if (argument.is_tensor() && argument.dtype == from && (outputs || !argument.output)) {
    argument.dtype = to;
  }
  // A ScalarType argument is the dtype of an output.
  if (argument.kind == Argument::Kind::kScalarType && outputs &&
      argument.integer == static_cast<int64_t>(from)) {
    argument.integer = static_cast<int64_t>(to);
  }
}

bool has(const Argument& argument, ScalarType dtype) {
  for (const Argument& item : argument.items) {
    if (has(item, dtype)) return true;
  }
  return argument.is_tensor() && argument.dtype == dtype;
}

bool supports(const Kernel& kernel, const OpCall& call, ScalarType from, ScalarType to) {
  for (const bool outputs : {true, false}) {
    OpCall changed = call;
    for (Argument& argument : changed.arguments) replace(argument, from, to, outputs);
    ArgumentValues values(changed.arguments);
    HeapArena temp;
    if (values.call(kernel, temp).ok()) return true;
  }
  return false;
}

}  // namespace
}  // namespace vitrine::test

int main() {
  using namespace vitrine;
  using namespace vitrine::test;
  std::map<std::string, const Kernel*> kernels;
  for (const KernelTable& table : {portable::kernels(), quantized::kernels(), llm::kernels()}) {
    for (const Kernel* kernel : table.kernels) kernels.emplace(kernel->name, kernel);
  }
  std::map<std::string, std::set<size_t>> found;
  for (const OpCall& call : all_op_calls()) {
    std::set<size_t>& dtypes = found[std::string(call.name)];
    // Replaces the first dtype in kDtypes that occurs among the tensors of the call.
    for (const ScalarType from : kDtypes) {
      bool varies = false;
      for (const Argument& argument : call.arguments) varies = varies || has(argument, from);
      if (!varies) continue;
      for (size_t i = 0; i < std::size(kDtypes); ++i) {
        if (supports(*kernels.at(std::string(call.name)), call, from, kDtypes[i])) dtypes.insert(i);
      }
      break;
    }
  }
  for (const auto& [name, dtypes] : found) {
    std::printf("%s", name.c_str());
    for (const size_t i : dtypes) std::printf(" %s", scalar_type_name(kDtypes[i]));
    std::printf("\n");
  }
  return 0;
}
