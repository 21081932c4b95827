#include "kernels/portable/portable_kernels.h"

#define VITRINE_ROOM portable
#define VITRINE_KERNEL_LIST "kernels/portable/kernel_list.inc"
#include "kernels/util/kernel_table.inc"
