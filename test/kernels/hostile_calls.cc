#include "test/kernels/hostile_calls.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "kernels/optimized/optimized_kernels.h"
#include "test/kernels/argument_values.h"

namespace vitrine::test {

bool tests_optimized_kernels() { return std::getenv("VITRINE_TEST_OPTIMIZED") != nullptr; }

const std::map<std::string_view, const Kernel*>& kernels_by_name() {
  static const auto kernels = [] {
    std::map<std::string_view, const Kernel*> result;
    if (tests_optimized_kernels()) {
      for (const Kernel* kernel : optimized::kernels().kernels) {
        result.emplace(kernel->name, kernel);
      }
    }
    for (const KernelTable& table : {portable::kernels(), quantized::kernels(), llm::kernels()}) {
      for (const Kernel* kernel : table.kernels) result.emplace(kernel->name, kernel);
    }
    return result;
  }();
  return kernels;
}

const std::vector<OpCall>& op_calls() {
  static const std::vector<OpCall> calls = all_op_calls();
  return calls;
}

static const OpCall* current_call = nullptr;

void print_current_call() {
  if (current_call != nullptr) std::fprintf(stderr, "CALL %s\n", current_call->text().c_str());
}

Error run_checked(const OpCall& call) {
  ArgumentValues values(call.arguments);
  Budget budget(kMaxTemp);
  HeapArena temp(
      1, &budget);  // chunks have the requested size, so that AddressSanitizer finds overruns
  current_call = &call;
  const std::clock_t start = std::clock();
  Error error = values.call(*kernels_by_name().at(call.name), temp);
  const auto seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  current_call = nullptr;
  EXPECT_TRUE(values.inputs_intact()) << call.text() << ": an input was written to";
  EXPECT_LT(seconds, 1) << call.text();
  if (!error.ok()) {
    EXPECT_NE(error.code(), ErrorCode::kInternal) << call.text() << ": " << error.message();
    EXPECT_NE(error.code(), ErrorCode::kMemoryAllocationFailed)
        << call.text() << ": " << error.message();
    EXPECT_STRNE(error.message(), "") << call.text();
  }
  return error;
}

}  // namespace vitrine::test
