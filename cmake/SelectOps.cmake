# Selects kernels by operators and dtypes. See docs/kernels.md, "Selective build".
#
# A selection is a list of items, each of which is
#   aten::add.out   an operator
#   dtype:FLOAT     a dtype, named as in schema/scalar_type.fbs
#   ops.txt         a file with one such item per line; # begins a comment
#   model.pte       a program: the operators of all its methods, and the dtypes of their tensors
# If no item names a dtype, all dtypes are selected. File names are relative to the folder of the
# calling CMakeLists.txt, or else to the root of these sources.

# Installed packages also contain this file, next to the sources of kernels.
include(${CMAKE_CURRENT_LIST_DIR}/DistributionPackages.cmake)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH VITRINE_SELECT_ROOT)

# Options for code that runs on devices: no exceptions and no RTTI (docs/architecture.md). Multiplications and additions
# are not fused, so all machines round results in the same way.
set(VITRINE_DEVICE_OPTIONS -fno-exceptions -fno-rtti -ffp-contract=off)

set(VITRINE_SELECT_OPS "" CACHE STRING
  "operators to build kernels for: names, text files of names, programs (.pte); empty: all")

# Sets lists in the caller's scope: the operators and the dtypes of a program.
function(_vitrine_read_program path folder out_operators out_dtypes)
  vitrine_require_dependencies("Reading ${path}" flatc)
  file(REMOVE_RECURSE ${folder})
  file(MAKE_DIRECTORY ${folder})
  execute_process(
    COMMAND ${VITRINE_FLATC} --json --strict-json --defaults-json --raw-binary
            -I ${VITRINE_SELECT_ROOT}/schema -o ${folder} ${VITRINE_SELECT_ROOT}/schema/program.fbs -- ${path}
    RESULT_VARIABLE status OUTPUT_VARIABLE messages ERROR_VARIABLE messages)
  cmake_path(GET path STEM LAST_ONLY stem)
  if(NOT status EQUAL 0 OR NOT EXISTS ${folder}/${stem}.json)
    message(FATAL_ERROR "${path}: flatc cannot read this program: ${messages}")
  endif()
  file(READ ${folder}/${stem}.json json)

  # Each call of string(JSON) parses its whole argument, so the loops pass small parts instead of the whole program.
  set(operators "")
  string(JSON plans GET "${json}" execution_plan)
  string(JSON num_plans LENGTH "${plans}")
  while(num_plans GREATER 0)
    math(EXPR num_plans "${num_plans} - 1")
    string(JSON list ERROR_VARIABLE none GET "${plans}" ${num_plans} operators)
    if(none)
      continue()
    endif()
    string(JSON count LENGTH "${list}")
    while(count GREATER 0)
      math(EXPR count "${count} - 1")
      string(JSON operator GET "${list}" ${count} name)
      string(JSON overload ERROR_VARIABLE none GET "${list}" ${count} overload)
      if(overload AND NOT none)
        string(APPEND operator ".${overload}")
      endif()
      list(APPEND operators ${operator})
    endwhile()
  endwhile()

  set(dtypes "")
  string(REGEX MATCHALL "\"scalar_type\": (\"[A-Z0-9]+\"|[0-9]+)" tensors "${json}")
  list(REMOVE_DUPLICATES tensors)
  foreach(tensor IN LISTS tensors)
    string(REGEX REPLACE "^.*: \"?([A-Z0-9]+)\"?$" "\\1" dtype "${tensor}")
    list(APPEND dtypes ${dtype})
  endforeach()
  set(${out_operators} ${${out_operators}} ${operators} PARENT_SCOPE)
  set(${out_dtypes} ${${out_dtypes}} ${dtypes} PARENT_SCOPE)
endfunction()

# Sets <out> to a bit mask of the listed dtypes, and of the other dtypes that kernels for these dtypes need.
function(_vitrine_dtype_mask out)
  file(READ ${VITRINE_SELECT_ROOT}/schema/scalar_type.fbs schema)
  string(REGEX MATCHALL "[A-Z0-9]+ = [0-9]+" entries "${schema}")
  foreach(entry IN LISTS entries)
    string(REGEX MATCH "^([A-Z0-9]+) = ([0-9]+)$" entry "${entry}")
    set(number_of_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  set(dtypes ${ARGN} FLOAT)  # the dtype of fractions, and of sums of Half and BFloat16
  foreach(dtype IN LISTS ARGN)
    if(dtype MATCHES "^(BYTE|CHAR|SHORT|INT|BOOL)$")
      list(APPEND dtypes LONG)  # the dtype of sums and promotions
    elseif(dtype MATCHES "^(UINT16|BITS16)$")
      list(APPEND dtypes SHORT)  # quantized values are stored as SHORT
    endif()
  endforeach()
  set(mask 0)
  foreach(dtype IN LISTS dtypes)
    if(DEFINED number_of_${dtype})
      set(dtype ${number_of_${dtype}})
    elseif(NOT dtype MATCHES "^[0-9]+$")
      message(FATAL_ERROR "unknown dtype ${dtype}; schema/scalar_type.fbs lists all dtypes")
    endif()
    math(EXPR mask "${mask} | (1 << ${dtype})" OUTPUT_FORMAT HEXADECIMAL)
  endforeach()
  set(${out} ${mask} PARENT_SCOPE)
endfunction()

# Finds the kernels of a room, which is a folder of kernels/. Sets lists in the caller: <room>_names, <room>_ids and
# <room>_files have one element per kernel; <room>_others has the files that do not define kernels. A kernel that is
# defined by a formula has the file kernel_list.inc.
function(_vitrine_read_room room)
  set(folder ${VITRINE_SELECT_ROOT}/kernels/${room})
  if(CMAKE_SCRIPT_MODE_FILE)
    file(GLOB sources ${folder}/*.cc ${folder}/*/*.cc)
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc ${folder}/*/*.cc)
  endif()
  foreach(list names ids files others)
    set(${list} "")
  endforeach()
  foreach(file IN LISTS sources ITEMS ${folder}/kernel_list.inc)
    file(READ ${file} text)
    set(macro "VITRINE_[A-Z_]*KERNEL")
    if(file MATCHES "\\.inc$")
      set(macro "[A-Z]+")
    endif()
    string(REGEX MATCHALL "${macro}\\([A-Za-z0-9_]+,[ \t\r\n]*\"[^\"]+\"" entries "${text}")
    foreach(entry IN LISTS entries)
      string(REGEX MATCH "\\(([A-Za-z0-9_]+),[^\"]*\"([^\"]+)\"" entry "${entry}")
      list(APPEND ids ${CMAKE_MATCH_1})
      list(APPEND names ${CMAKE_MATCH_2})
      list(APPEND files ${file})
    endforeach()
    if(NOT entries AND file MATCHES "\\.cc$")
      list(APPEND others ${file})
    endif()
  endforeach()
  foreach(list names ids files others)
    set(${room}_${list} ${${list}} PARENT_SCOPE)
  endforeach()
endfunction()

# Sets <out> to the path of the file that an item names, or to an empty string if the file is missing.
function(_vitrine_find_file item out)
  set(${out} "" PARENT_SCOPE)
  foreach(folder IN ITEMS ${CMAKE_CURRENT_SOURCE_DIR} ${VITRINE_SELECT_ROOT})
    set(path ${item})
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${folder})
    if(EXISTS ${path} AND NOT IS_DIRECTORY ${path})
      set(${out} ${path} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# vitrine_write_selection(<folder> FROM <item>... [ROOMS <room>...] [SOURCES <variable>])
#
# Writes kernels/<room>/kernel_list.inc and kernels/util/selected_dtypes.h into <folder>. If <folder> comes first in a
# target's include path, these files replace the files of the source tree. Sets <variable> to the list of source files
# to compile, including all of kernels/util. Rooms are folders of kernels/; the default is all rooms. If several rooms
# have a kernel for an operator, all of these kernels are selected, because one kernel may fall back on another.
#
# Stops with an error if no items are given, if a file is missing, or if operators do not have a kernel in these rooms.
function(vitrine_write_selection folder)
  cmake_parse_arguments(arg "" "SOURCES" "FROM;ROOMS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_FROM)
    list(JOIN ARGN " " given)
    message(FATAL_ERROR "selected kernels: expected FROM <item>... [ROOMS <room>...], not \"${given}\"")
  endif()
  set(kernels ${VITRINE_SELECT_ROOT}/kernels)
  if(NOT arg_ROOMS)
    file(GLOB arg_ROOMS RELATIVE ${kernels} ${kernels}/*/kernel_list.inc)
    list(TRANSFORM arg_ROOMS REPLACE "/kernel_list.inc" "")
  endif()

  set(operators "")
  set(dtypes "")
  set(inputs "")
  while(arg_FROM)
    list(POP_FRONT arg_FROM item)
    _vitrine_find_file(${item} path)
    if(item MATCHES "^dtype:(.+)$")
      list(APPEND dtypes ${CMAKE_MATCH_1})
    elseif(NOT path AND item MATCHES "\\.(pte|txt)$|^[^:]*/")
      message(FATAL_ERROR "selected kernels: ${item}: no such file in ${CMAKE_CURRENT_SOURCE_DIR} or "
                          "${VITRINE_SELECT_ROOT}")
    elseif(path MATCHES "\\.pte$")
      list(APPEND inputs ${path})
      _vitrine_read_program(${path} ${folder}/program operators dtypes)
    elseif(path)
      list(APPEND inputs ${path})
      file(STRINGS ${path} lines)
      foreach(line IN LISTS lines)
        string(REGEX REPLACE "#.*" "" line "${line}")
        string(STRIP "${line}" line)
        if(line)
          list(APPEND arg_FROM ${line})
        endif()
      endforeach()
    else()
      list(APPEND operators ${item})
    endif()
  endwhile()
  list(REMOVE_DUPLICATES operators)
  list(REMOVE_DUPLICATES dtypes)

  file(GLOB sources ${kernels}/util/*.cc)
  foreach(room IN LISTS arg_ROOMS)
    _vitrine_read_room(${room})
    list(APPEND sources ${${room}_others})
  endforeach()

  set(missing "")
  foreach(operator IN LISTS operators)
    set(found FALSE)
    foreach(room IN LISTS arg_ROOMS)
      list(FIND ${room}_names ${operator} index)
      if(index GREATER_EQUAL 0)
        list(GET ${room}_ids ${index} id)
        list(GET ${room}_files ${index} file)
        list(APPEND ${room}_selected ${id})
        list(APPEND sources ${file})
        set(found TRUE)
      endif()
    endforeach()
    if(NOT found)
      list(APPEND missing ${operator})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing "\n  " missing)
    message(FATAL_ERROR "selected kernels: there is no kernel for\n  ${missing}\n"
                        "The files ${kernels}/*/kernel_list.inc list all kernels. If a program has custom operators, "
                        "select its other operators by name. pte_inspect --ops prints the operators outside delegates.")
  endif()

  foreach(room IN LISTS arg_ROOMS)
    set(content "// Selected by cmake/SelectOps.cmake.\n")
    file(STRINGS ${kernels}/${room}/kernel_list.inc lines REGEX "^[A-Z_]+\\(")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "^[A-Z_]+\\(([A-Za-z0-9_]+)" id "${line}")
      if(CMAKE_MATCH_1 IN_LIST ${room}_selected)
        string(APPEND content "${line}\n")
      endif()
    endforeach()
    file(CONFIGURE OUTPUT ${folder}/kernels/${room}/kernel_list.inc CONTENT "${content}" @ONLY)
    list(APPEND inputs ${kernels}/${room}/kernel_list.inc)
  endforeach()

  set(header ${kernels}/util/selected_dtypes.h)
  file(READ ${header} content)
  if(dtypes)
    _vitrine_dtype_mask(mask ${dtypes})
    string(REPLACE "= 0xffffffff;" "= ${mask};" content "${content}")
  endif()
  file(CONFIGURE OUTPUT ${folder}/kernels/util/selected_dtypes.h CONTENT "${content}" @ONLY)

  list(REMOVE_DUPLICATES sources)
  list(FILTER sources EXCLUDE REGEX "\\.inc$")
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs} ${header} ${sources})
  endif()
  if(arg_SOURCES)
    set(${arg_SOURCES} ${sources} PARENT_SCOPE)
  endif()
endfunction()

# vitrine_select_kernels(<target> FROM <item>... [ROOMS <room>...])
#
# Adds a library with only the selected kernels. The library defines the function <room>::kernels() for each of its
# rooms. Programs must not link another library that defines one of these functions.
function(vitrine_select_kernels target)
  set(folder ${CMAKE_BINARY_DIR}/selected/${target})
  vitrine_write_selection(${folder} SOURCES sources ${ARGN})
  vitrine_device_library(${target} ${sources})
  target_include_directories(${target} BEFORE PUBLIC $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${target} PUBLIC vitrine_extension)
  vitrine_kernel_options(${target})
endfunction()
