// Memory for outputs that a program does not plan.
#include <cstring>

#include "vitrine/method.h"

namespace vitrine {

Error Method::allocate_outputs() {
  constexpr size_t kAlignment = 64;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i]->is_tensor() || meta_.output_tensor(i).is_memory_planned) continue;
    const Tensor& output = outputs_[i]->unchecked_tensor();
    if (output.raw_data() != nullptr) continue;
    const size_t bytes = output.bound_nbytes() + kReadableSlack;
    auto* memory = static_cast<std::byte*>(arena_.allocate(bytes, kAlignment));
    if (memory == nullptr) {
      return Error::make(ErrorCode::kMemoryAllocationFailed,
                         "no memory for output %zu: %llu bytes of the %llu that max_memory_bytes "
                         "allows are taken",
                         i, static_cast<unsigned long long>(memory_.used()),
                         static_cast<unsigned long long>(memory_.limit()));
    }
    std::memset(memory, 0, bytes);
    VITRINE_RETURN_IF_ERROR(set_output_data(i, {memory, bytes}));
  }
  return Error();
}

}  // namespace vitrine
