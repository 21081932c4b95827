# The third-party sources that are built, one per row:
#   name | commit | public repository | Debian source tarball (below pool/main) | its SHA-256
# docs/dependencies.md gives the reasons, and says how to move a pin.
set(VITRINE_PINS
  "XNNPACK|4ea82e595b36106653175dcb04b2aa532660d0d8|https://github.com/google/XNNPACK.git|x/xnnpack/xnnpack_0.0~git20241108.4ea82e5.orig.tar.xz|90bde2caef0f880f627bab0dc805a86c4b8070cd98e3243db3046ab3f3be1a99"
  "pthreadpool|0e6ca13779b57d397a5ba6bfdcaa8a275bc8ea2e|https://github.com/google/pthreadpool.git|p/pthreadpool/pthreadpool_0.0~git20251020.0e6ca13.orig.tar.xz|7a385b6585abe8f8658952c50b44a1dabe200de2c88eabe65d15168b8a82295c"
  "cpuinfo|877328f188a3c7d1fa855871a278eb48d530c4c0|https://github.com/pytorch/cpuinfo.git|c/cpuinfo/cpuinfo_0.0~git20250905.877328f.orig.tar.xz|557ca404a3836b9f335a3a06b65ff9fe9dbaaefab7fb5c0185f53d9f33615a10"
  "FP16|4dfe081cf6bcd15db339cf2680b9281b8451eeb3|https://github.com/Maratyszcza/FP16.git|f/fp16/fp16_0.0~git20200514.4dfe081.orig.tar.xz|7d7782b37b74136e0e12593a2a93ccbe7db831f4374cc408e44623d9b708b54e"
  "FXdiv|b408327ac2a15ec3e43352421954f5b1967701d1|https://github.com/Maratyszcza/FXdiv.git|f/fxdiv/fxdiv_0.0~git20200417.b408327.orig.tar.xz|7953482badaf4cb34026c3487c257b8e4ab2df061c019bd6fabbbc12ad52c44b"
)

# Corrections of the pinned sources, which are applied after fetching:
#   name | file | text | replacement
# - XNNPACK pads the parameters of dynamically quantized rows by 10, but its 14-row kernels for 4-bit weights (AVX-512 VNNI with
#   GFNI) read up to 12 more. The last of 2 or 3 rows was wrong.
# - Its AVX512-FP16 GEMM stores columns 32 to 63 of a tile of 64 at column 1. Compilers before clang 15 and GCC 13 do not build
#   these kernels.
# - It checks the scales of 4-bit blocks twice after the backend has checked them (backends/xnnpack/runtime/weights/constants.cc).
#   That takes most of the load time if packed weights are mapped.
# - It computes a few f32 outputs with kernels that are too wide, or two outputs at a time (f32_gemm_choice.h). It chooses the tile
#   of a transposed convolution by the number of images instead of the number of pixels.
# - pthreadpool's workers spin for 1,000 pauses (25 us on Zen 4; 100,000 pauses on Android). During operators that are too small
#   for two threads they fall asleep in the middle of a run.
# - For 64-bit ARM, GCC 13 and newer would use _Float16 in C++, which does not compile with XNNPACK.
set(VITRINE_SOURCE_FIXES
  "XNNPACK|include/xnnpack.h|#define XNN_EXTRA_QUANTIZATION_PARAMS 10|#define XNN_EXTRA_QUANTIZATION_PARAMS 16"
  "XNNPACK|src/tensor.c|size_t block = 0|size_t block = block_count"
  "XNNPACK|src/operators/fully-connected-nc.c|size_t block_index=0|size_t block_index = num_blocks"
  "XNNPACK|src/operators/convolution-nhwc.c|xnn_init_f32_gemm_config()|vitrine_f32_gemm_config(group_output_channels, /*few=*/2)"
  "XNNPACK|src/operators/convolution-nhwc.c|xnn_init_f32_gemm_nr2_config()|gemm_config /* has been chosen */"
  "XNNPACK|src/operators/deconvolution-nhwc.c|xnn_init_f32_gemm_config()|vitrine_f32_gemm_config(group_output_channels, /*few=*/4)"
  "XNNPACK|src/operators/deconvolution-nhwc.c|xnn_init_f32_gemm_nr2_config()|gemm_config /* has been chosen */"
  "XNNPACK|src/operators/deconvolution-nhwc.c|batch_size, mr, nr, deconvolution_op->ukernel.igemm|output_width_positions, mr, nr, deconvolution_op->ukernel.igemm"
  "XNNPACK|src/operators/fully-connected-nc.c|xnn_init_f32_gemm_config()|vitrine_f32_gemm_config(output_channels, /*few=*/4)"
  "XNNPACK|src/operators/fully-connected-nc.c|xnn_init_f32_gemm_nr2_config()|gemm_config /* has been chosen */"
  "XNNPACK|src/operators/dynamic-fully-connected-nc.c|ukernel->nr > output_channels|output_channels < min(ukernel->nr, 16)"
  "pthreadpool|src/threadpool-common.h|PAUSE_ITERATIONS 1000\n|PAUSE_ITERATIONS 10000\n"
  "XNNPACK|src/xnnpack/math.h|(XNN_GNUC_ACTUAL >= 13)|(XNN_GNUC_ACTUAL >= 1000)"
)
foreach(family gemm igemm)
  foreach(rows 1 7)
    list(APPEND VITRINE_SOURCE_FIXES
      "XNNPACK|src/f16-${family}/gen/f16-${family}-${rows}x64-minmax-avx512fp16-broadcast.c| + 1, vacc| + 32, vacc")
  endforeach()
endforeach()

# Splits a row of VITRINE_PINS into <prefix>_NAME, _COMMIT, _GIT, _TARBALL, _SHA256.
macro(vitrine_read_pin prefix row)
  string(REPLACE "|" ";" _fields "${row}")
  list(GET _fields 0 ${prefix}_NAME)
  list(GET _fields 1 ${prefix}_COMMIT)
  list(GET _fields 2 ${prefix}_GIT)
  list(GET _fields 3 ${prefix}_TARBALL)
  list(GET _fields 4 ${prefix}_SHA256)
endmacro()
