#include "kernels/quantized/quantized_kernels.h"

#define VITRINE_ROOM quantized
#define VITRINE_KERNEL_LIST "kernels/quantized/kernel_list.inc"
#include "kernels/util/kernel_table.inc"
