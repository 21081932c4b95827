#include "kernels/llm/llm_kernels.h"

#define VITRINE_ROOM llm
#define VITRINE_KERNEL_LIST "kernels/llm/kernel_list.inc"
#include "kernels/util/kernel_table.inc"
