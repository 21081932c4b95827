# Defines vitrine_select_kernels(<target> FROM <item>... [ROOMS <room>...]) for an installed Vitrine. The function
# defines a library of selected kernels, which replaces the components `kernels` and `optimized_kernels`. Items are
# operators, text files that list operators, and programs (docs/kernels.md).
include(${VITRINE_SOURCES}/cmake/SelectOps.cmake)
if(NOT TARGET vitrine_extension)
  add_library(vitrine_extension ALIAS Vitrine::vitrine_extension)
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
    vitrine_require_dependencies("A selection of optimized kernels" Highway)
  endif()
  target_link_libraries(${target} PUBLIC Vitrine::vitrine_threads PRIVATE Vitrine::vitrine_highway)
endfunction()
