#include "kernels/llm/attention.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

VITRINE_KERNEL(custom_sdpa_out, "llama::custom_sdpa.out", custom_sdpa_out<attend>);
VITRINE_KERNEL(custom_quantized_sdpa_out, "llama::custom_quantized_sdpa.out",
               custom_quantized_sdpa_out<attend>);
VITRINE_KERNEL(sdpa_with_kv_cache_out, "llama::sdpa_with_kv_cache.out",
               sdpa_with_kv_cache_out<attend>);

}  // namespace vitrine::llm
