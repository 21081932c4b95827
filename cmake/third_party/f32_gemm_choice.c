#include "f32_gemm_choice.h"

#include "xnnpack/common.h"
#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/igemm.h"
#include "xnnpack/init-once.h"
#include "xnnpack/microfnptr.h"
#include "xnnpack/microparams-init.h"
#include "xnnpack/pack.h"
#include "xnnpack/packw.h"

#if (XNN_ARCH_X86 || XNN_ARCH_X86_64) && XNN_ENABLE_AVX512F && !XNN_PLATFORM_MOBILE

static struct xnn_gemm_config narrow = {0};
XNN_INIT_ONCE_GUARD(narrow);

static void set_kernels(size_t rows, xnn_gemm_ukernel_fn gemm, xnn_igemm_ukernel_fn igemm) {
  narrow.minmax.gemm[rows - 1] = xnn_init_hmp_gemm_ukernel(gemm);
  narrow.minmax.igemm[rows - 1] = xnn_init_hmp_igemm_ukernel(igemm);
}

// Half as wide as XNNPACK's. A single row waits for its additions in any width, so that its kernels
// are older ones, which programs have anyway.
static void init_narrow_config(void) {
  if (xnn_init_hardware_config()->use_x86_avx512f) {
    set_kernels(1, (xnn_gemm_ukernel_fn)xnn_f32_gemm_minmax_ukernel_1x16__fma3_broadcast,
                (xnn_igemm_ukernel_fn)xnn_f32_igemm_minmax_ukernel_1x16__fma3_broadcast);
    set_kernels(7, (xnn_gemm_ukernel_fn)xnn_f32_gemm_minmax_ukernel_7x16__avx512f_broadcast,
                (xnn_igemm_ukernel_fn)xnn_f32_igemm_minmax_ukernel_7x16__avx512f_broadcast);
    narrow.pack_gemm_goi =
        (xnn_packw_gemm_goi_ukernel_fn)xnn_x32_packw_gemm_goi_ukernel_x16__avx_u4;
    narrow.nr = 16;
  } else {
    set_kernels(1, (xnn_gemm_ukernel_fn)xnn_f32_gemm_minmax_ukernel_1x8__sse_load1,
                (xnn_igemm_ukernel_fn)xnn_f32_igemm_minmax_ukernel_1x8__sse_load1);
    set_kernels(7, (xnn_gemm_ukernel_fn)xnn_f32_gemm_minmax_ukernel_7x8__fma3_broadcast,
                (xnn_igemm_ukernel_fn)xnn_f32_igemm_minmax_ukernel_7x8__fma3_broadcast);
    narrow.pack_gemm_goi =
        (xnn_packw_gemm_goi_ukernel_fn)xnn_x32_packw_gemm_goi_ukernel_x8__sse2_u4;
    narrow.nr = 8;
  }
  narrow.pack_gemm_gio = (xnn_packw_gemm_gio_ukernel_fn)xnn_pack_f32_gemm_gio_w;
  narrow.init.f32 = xnn_init_f32_minmax_scalar_params;
  narrow.mr = 7;
}

// A narrow tile takes 0.6 of the time of a wide one: two would take longer than it.
static const struct xnn_gemm_config* narrower(const struct xnn_gemm_config* wide, size_t outputs) {
  if (wide == NULL || outputs > wide->nr / 2 || !xnn_init_hardware_config()->use_x86_fma3) {
    return wide;
  }
  XNN_INIT_ONCE(narrow);
  return &narrow;
}

#else

static const struct xnn_gemm_config* narrower(const struct xnn_gemm_config* wide, size_t outputs) {
  return wide;
}

#endif

const struct xnn_gemm_config* vitrine_f32_gemm_config(size_t outputs, size_t few) {
#if XNN_ARCH_X86 || XNN_ARCH_X86_64 || XNN_ARCH_ARM || XNN_ARCH_ARM64  // not vectors elsewhere
  if (outputs <= few) return xnn_init_f32_gemm_nr2_config();
#endif
  return narrower(xnn_init_f32_gemm_config(), outputs);
}
