# Defines the install rules, and the files for find_package(Vitrine), pkg-config and CPack (docs/installing.md).
#
# The three parts are `runtime` (libvitrine.so), `dev` (headers, static libraries, CMake and pkg-config files) and
# `tools`.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Vitrine)

set(device_libraries vitrine_api)
foreach(name IN LISTS VITRINE_DEVICE_COMPONENT_NAMES)
  list(APPEND device_libraries vitrine_component_${name})
endforeach()
set(host_libraries "")
if(VITRINE_BUILD_HOST)
  foreach(name IN LISTS VITRINE_HOST_COMPONENT_NAMES)
    list(APPEND host_libraries vitrine_component_${name})
  endforeach()
endif()
foreach(side device host)
  set(all "")
  foreach(library IN LISTS ${side}_libraries)
    vitrine_linked_libraries(${library} below)
    list(APPEND all ${below})
  endforeach()
  list(FILTER all INCLUDE REGEX "^vitrine_")
  list(REMOVE_DUPLICATES all)
  set(${side}_libraries ${all})
endforeach()
if(host_libraries)
  list(REMOVE_ITEM host_libraries ${device_libraries})
endif()
foreach(library IN LISTS device_libraries)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

set(VITRINE_INSTALLED_TARGETS ${device_libraries} ${host_libraries})
install(TARGETS ${device_libraries} EXPORT VitrineTargets ARCHIVE COMPONENT dev)
install(EXPORT VitrineTargets NAMESPACE Vitrine:: DESTINATION ${package_dir} COMPONENT dev)
install(FILES ${VITRINE_XNNPACK_LIBRARIES} DESTINATION ${CMAKE_INSTALL_LIBDIR}/vitrine COMPONENT dev)
if(TARGET vitrine_shared)
  install(TARGETS vitrine_shared EXPORT VitrineSharedTargets
          LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
  install(EXPORT VitrineSharedTargets NAMESPACE Vitrine:: DESTINATION ${package_dir} COMPONENT dev)
endif()
if(host_libraries)
  install(TARGETS ${host_libraries} EXPORT VitrineHostTargets ARCHIVE COMPONENT dev)
  install(EXPORT VitrineHostTargets NAMESPACE Vitrine:: DESTINATION ${package_dir} COMPONENT dev)
endif()

install(FILES include/vitrine.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(DIRECTORY include/vitrine ${VITRINE_GENERATED_DIR}/include/vitrine
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")
if(host_libraries)
  include(HostHeaders)
  foreach(header IN LISTS VITRINE_HOST_HEADERS)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${VITRINE_DEVTOOLS_HEADERS}/${folder} COMPONENT dev)
  endforeach()
endif()

# Sources of kernels, for selective builds.
set(VITRINE_SOURCES ${CMAKE_INSTALL_DATADIR}/vitrine)
install(FILES cmake/SelectOps.cmake cmake/DistributionPackages.cmake DESTINATION ${VITRINE_SOURCES}/cmake COMPONENT dev)
install(DIRECTORY kernels schema DESTINATION ${VITRINE_SOURCES} COMPONENT dev PATTERN CMakeLists.txt EXCLUDE)
install(DIRECTORY runtime/core DESTINATION ${VITRINE_SOURCES}/runtime COMPONENT dev FILES_MATCHING PATTERN "*.h")

list(JOIN VITRINE_DEVICE_COMPONENT_NAMES " " device_components)
list(JOIN VITRINE_HOST_COMPONENT_NAMES " " host_components)
set(left_out "")
if(NOT SENTENCEPIECE_LIBRARY)
  set(left_out SentencePiece)
endif()
configure_package_config_file(cmake/package/VitrineConfig.cmake.in ${PROJECT_BINARY_DIR}/package/VitrineConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS VITRINE_SOURCES)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/VitrineConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/VitrineConfig.cmake
              ${PROJECT_BINARY_DIR}/package/VitrineConfigVersion.cmake
              cmake/package/VitrineSelectOps.cmake
        DESTINATION ${package_dir} COMPONENT dev)

# Names archives by their full path in the .pc file, so that the linker cannot choose other libraries instead.
vitrine_linked_libraries(vitrine_api linked)
set(VITRINE_PC_ARCHIVES "")
foreach(library IN LISTS linked)
  if(library STREQUAL vitrine_xnnpack_library)
    foreach(file IN LISTS VITRINE_XNNPACK_LIBRARIES)
      cmake_path(GET file FILENAME name)
      string(APPEND VITRINE_PC_ARCHIVES " \${libdir}/vitrine/${name}")
    endforeach()
  elseif(TARGET ${library})
    get_property(type TARGET ${library} PROPERTY TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      string(APPEND VITRINE_PC_ARCHIVES " \${libdir}/lib${library}.a")
    endif()
  endif()
endforeach()
set(pc_files vitrine-static)
if(TARGET vitrine_shared)
  list(APPEND pc_files vitrine)
endif()
set(pc_folder /${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH VITRINE_PC_PREFIX ${pc_folder} /)  # "../../"
foreach(name IN LISTS pc_files)
  configure_file(cmake/package/${name}.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

# The package has one executable, `vitrine`, and a link to this executable for each tool.
set(tools "")
if(TARGET vitrine_run)
  list(APPEND tools vitrine_run)
  install(TARGETS vitrine_run RUNTIME COMPONENT tools)
endif()
if(VITRINE_BUILD_HOST)
  set(links executor_runner pte_inspect pte_lower llm_runner)
  list(APPEND tools vitrine ${links})
  install(TARGETS vitrine RUNTIME COMPONENT tools)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/package/bin)
  foreach(link IN LISTS links)
    file(CREATE_LINK vitrine ${PROJECT_BINARY_DIR}/package/bin/${link} SYMBOLIC)
    install(FILES ${PROJECT_BINARY_DIR}/package/bin/${link} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endforeach()
endif()
foreach(tool IN LISTS tools)
  install(FILES cmake/package/completion.bash RENAME ${tool}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
endforeach()
# Manual pages are made from the output of --help, so cross-compiled builds do not have them.
if(NOT CMAKE_CROSSCOMPILING)
  set(script ${PROJECT_SOURCE_DIR}/cmake/package/man_page.py)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
  set(pages "")
  foreach(tool IN LISTS tools)
    set(page ${PROJECT_BINARY_DIR}/man/${tool}.1)
    add_custom_command(OUTPUT ${page} DEPENDS ${tool} ${script} VERBATIM COMMENT "Manual page of ${tool}"
      COMMAND ${VITRINE_PYTHON3} ${script} $<TARGET_FILE:${tool}> ${PROJECT_VERSION} ${page})
    list(APPEND pages ${page})
  endforeach()
  add_custom_target(vitrine_man_pages ALL DEPENDS ${pages})
  list(APPEND VITRINE_INSTALLED_TARGETS vitrine_man_pages)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()
# Makes the README's links to headers point to the installed headers.
file(RELATIVE_PATH headers /${CMAKE_INSTALL_DOCDIR} /${CMAKE_INSTALL_INCLUDEDIR})
file(READ README.md readme)
string(REPLACE "](include/" "](${headers}/" readme "${readme}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/README.md CONTENT "${readme}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS README.md)
install(FILES ${PROJECT_BINARY_DIR}/package/README.md CHANGELOG.md CODE_OF_CONDUCT.md CONTRIBUTING.md SECURITY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)

# Each package installs Vitrine's license and the third-party notices in share/doc/<package>.
include(${PROJECT_SOURCE_DIR}/cmake/third_party/pins.cmake)
set(notices ${PROJECT_BINARY_DIR}/package/THIRD_PARTY_NOTICES ${PROJECT_BINARY_DIR}/package/vitrine.spdx.json)
set(pins "")
foreach(pin IN LISTS VITRINE_PINS)
  list(APPEND pins --pin ${pin})
endforeach()
set(script ${PROJECT_SOURCE_DIR}/cmake/package/notices.py)
add_custom_command(OUTPUT ${notices} VERBATIM COMMENT "Third-party notices"
  DEPENDS ${script} ${PROJECT_SOURCE_DIR}/cmake/third_party/pins.cmake
  COMMAND ${VITRINE_PYTHON3} ${script} --version ${PROJECT_VERSION} --sources ${VITRINE_SOURCES_DIR}
          --output ${PROJECT_BINARY_DIR}/package --dagre "${VITRINE_DAGRE_FOLDER}" ${pins})
add_custom_target(vitrine_notices ALL DEPENDS ${notices})
list(APPEND VITRINE_INSTALLED_TARGETS vitrine_notices)
set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
foreach(row "runtime|libvitrine${abi}" "dev|libvitrine-dev" "tools|vitrine-tools")
  string(REPLACE "|" ";" row ${row})
  list(GET row 0 component)
  list(GET row 1 package)
  install(FILES LICENSE ${notices} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
endforeach()
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)

# CMake's `--strip` skips archives, so this code removes the debug information from archives, but not their symbols.
install(CODE "
  if(CMAKE_INSTALL_DO_STRIP)
    file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libvitrine_*.a\"
                       \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/vitrine/*.a\")
    foreach(archive IN LISTS archives)
      execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug \"\${archive}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
  endif()" COMPONENT dev)

if(PROJECT_IS_TOP_LEVEL)
  include(Packages)
endif()
