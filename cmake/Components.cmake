# Defines the components that other projects link as Vitrine::<component>, from this build or from an installed package.
#
# Vitrine::vitrine contains the C++ API (vitrine/vitrine.h), the C API (vitrine.h), and all kernels and backends. The
# other components are for programs that choose their own kernels and backends.

# name | targets of the component, without the prefix vitrine_
set(VITRINE_DEVICE_COMPONENTS
  "runtime|executor threads"
  "kernels|kernels_portable kernels_quantized kernels_llm"
  "optimized_kernels|kernels_optimized"
  "xnnpack|xnnpack_backend")
set(VITRINE_HOST_COMPONENTS
  "devtools|tools_common etdump_writer etdump_reader etrecord bundled_program inspector backend_profiles"
  "aot|pte_lower aot_pipeline xnnpack_aot"
  "llm|llm tokenizers")

foreach(side DEVICE HOST)
  list(TRANSFORM VITRINE_${side}_COMPONENTS REPLACE "\\|.*" "" OUTPUT_VARIABLE VITRINE_${side}_COMPONENT_NAMES)
endforeach()

function(_vitrine_add_component row)
  string(REGEX MATCH "^([a-z_]+)\\|(.*)$" row "${row}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE " " ";" layers "${CMAKE_MATCH_2}")
  list(TRANSFORM layers PREPEND vitrine_)
  add_library(vitrine_component_${name} INTERFACE)
  target_link_libraries(vitrine_component_${name} INTERFACE ${layers})
  set_target_properties(vitrine_component_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(Vitrine::${name} ALIAS vitrine_component_${name})
endfunction()
foreach(row IN LISTS VITRINE_DEVICE_COMPONENTS)
  _vitrine_add_component(${row})
endforeach()
if(VITRINE_BUILD_HOST)
  foreach(row IN LISTS VITRINE_HOST_COMPONENTS)
    _vitrine_add_component(${row})
  endforeach()
endif()

set_target_properties(vitrine_api PROPERTIES EXPORT_NAME vitrine_static)
add_library(Vitrine::vitrine_static ALIAS vitrine_api)
if(TARGET vitrine_shared)
  add_library(Vitrine::vitrine_shared ALIAS vitrine_shared)
endif()
if(BUILD_SHARED_LIBS)
  add_library(Vitrine::vitrine ALIAS vitrine_shared)
else()
  add_library(Vitrine::vitrine ALIAS vitrine_api)
endif()

# Sets <out> to <target> and all libraries that it links, directly or indirectly. Each library precedes the libraries
# that it needs.
function(vitrine_linked_libraries target out)
  set(found "")
  get_property(waiting TARGET ${target} PROPERTY LINK_LIBRARIES)
  get_property(interface TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES)
  list(APPEND waiting ${interface})
  list(REMOVE_DUPLICATES waiting)
  foreach(item IN LISTS waiting)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
    if(item MATCHES "^\\$<")
      continue()
    endif()
    set(below ${item})
    if(TARGET ${item})
      get_property(aliased TARGET ${item} PROPERTY ALIASED_TARGET)
      if(aliased)
        set(item ${aliased})
      endif()
      vitrine_linked_libraries(${item} below)
    endif()
    # A library must follow all its users, so <item> and its libraries move to the end.
    list(REMOVE_ITEM found ${below})
    list(APPEND found ${below})
  endforeach()
  set(${out} ${target} ${found} PARENT_SCOPE)
endfunction()
