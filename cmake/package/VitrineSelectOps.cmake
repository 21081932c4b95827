# vitrine_select_kernels(<target> FROM <item>... [ROOMS <room>...]) with an installed Vitrine: a library
# of some kernels, in place of the components `kernels` and `optimized_kernels`. Items are operators,
# files of these, and programs (docs/kernels.md).
include(${VITRINE_SOURCES}/cmake/SelectOps.cmake)
if(NOT TARGET vitrine_kernel)
  add_library(vitrine_kernel ALIAS Vitrine::vitrine_kernel)
endif()

function(vitrine_device_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE ${VITRINE_DEVICE_OPTIONS} -ffunction-sections -fdata-sections)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} PRIVATE ${VITRINE_SELECT_ROOT})
endfunction()

function(vitrine_kernel_options target)
  get_target_property(sources ${target} SOURCES)
  if(sources MATCHES "/optimized/")
    vitrine_require_dependencies("A selection of optimised kernels" Highway)
  endif()
  target_link_libraries(${target} PUBLIC Vitrine::vitrine_threadpool PRIVATE Vitrine::vitrine_highway)
endfunction()
