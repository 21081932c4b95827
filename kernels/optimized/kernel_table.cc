#include "kernels/optimized/optimized_kernels.h"

#define VITRINE_ROOM optimized
#define VITRINE_KERNEL_LIST "kernels/optimized/kernel_list.inc"
#include "kernels/util/kernel_table.inc"
