# vitrine_fetch_sources(<folder>): brings every pinned source below <folder>/<name> and sets
# <name>_SOURCE_DIR in the caller. Ways, in this order:
#   1. VITRINE_DOWNLOADS, a folder that holds the Debian source tarballs already;
#   2. the public git repositories, by commit (FetchContent);
#   3. Debian's source packages, from the mirror that this machine's apt uses.
# A source that is complete is never fetched again. docs/dependencies.md tells of each way.
include(FetchContent)
include(${CMAKE_CURRENT_LIST_DIR}/pins.cmake)

# TRUE in `out` if the repository answers. Asked once: one host serves all pins.
function(_vitrine_git_answers repository out)
  set(${out} FALSE PARENT_SCOPE)
  find_program(VITRINE_GIT git)
  if(NOT VITRINE_GIT)
    return()
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env GIT_TERMINAL_PROMPT=0 ${VITRINE_GIT} ls-remote ${repository} HEAD
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET TIMEOUT 20)
  if(status EQUAL 0)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# The Debian mirrors that apt is set up with.
function(_vitrine_debian_mirrors out)
  set(mirrors "")
  execute_process(COMMAND apt-get indextargets --format "$(ORIGIN) $(SITE)"
                  OUTPUT_VARIABLE targets ERROR_QUIET RESULT_VARIABLE status)
  string(REGEX MATCHALL "Debian [^\n]+" lines "${targets}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^Debian " "" site "${line}")
    string(REGEX REPLACE "/$" "" site "${site}")
    if(NOT site MATCHES "security")
      list(APPEND mirrors "${site}")
    endif()
  endforeach()
  if(NOT mirrors)  # no index yet: read the source lists themselves
    file(GLOB lists /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources)
    foreach(list_file IN LISTS lists)
      file(STRINGS ${list_file} lines REGEX "^[^#]*(https?://[^ ]*/debian)/?( |$)")
      foreach(line IN LISTS lines)
        string(REGEX MATCH "https?://[^ ]*/debian" site "${line}")
        list(APPEND mirrors "${site}")
      endforeach()
    endforeach()
  endif()
  list(REMOVE_DUPLICATES mirrors)
  set(${out} "${mirrors}" PARENT_SCOPE)
endfunction()

# Leaves a tarball with the pin's hash at `path`, or says how to get one by hand.
function(_vitrine_debian_tarball pin_tarball pin_sha256 path out_found)
  set(${out_found} FALSE PARENT_SCOPE)
  _vitrine_debian_mirrors(mirrors)
  foreach(attempt RANGE 1 3)
    foreach(mirror IN LISTS mirrors)
      # apt's own downloader, so that its proxy and mirror settings hold here too.
      execute_process(
        COMMAND /usr/lib/apt/apt-helper download-file ${mirror}/pool/main/${pin_tarball} ${path} SHA256:${pin_sha256}
        OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE status TIMEOUT 300)
      if(status EQUAL 0 AND EXISTS ${path})
        file(SHA256 ${path} actual)
        if(actual STREQUAL pin_sha256)
          set(${out_found} TRUE PARENT_SCOPE)
          return()
        endif()
      endif()
      file(REMOVE ${path})
    endforeach()
  endforeach()
endfunction()

function(_vitrine_unpack tarball destination)
  set(scratch ${destination}.unpack)
  file(REMOVE_RECURSE ${scratch} ${destination})
  file(ARCHIVE_EXTRACT INPUT ${tarball} DESTINATION ${scratch})
  # Some tarballs have one top folder, some have none.
  file(GLOB entries LIST_DIRECTORIES true ${scratch}/*)
  list(LENGTH entries count)
  if(count EQUAL 1)
    file(RENAME ${entries} ${destination})
    file(REMOVE_RECURSE ${scratch})
  else()
    file(RENAME ${scratch} ${destination})
  endif()
endfunction()

function(vitrine_fetch_sources folder)
  file(MAKE_DIRECTORY ${folder})
  set(git_answers UNKNOWN)
  foreach(row IN LISTS VITRINE_PINS)
    vitrine_read_pin(pin "${row}")
    set(source ${folder}/${pin_NAME})
    set(stamp ${folder}/${pin_NAME}.commit)
    set(have "")
    if(EXISTS ${stamp})
      file(READ ${stamp} have)
    endif()
    if(NOT have STREQUAL pin_COMMIT)
      get_filename_component(tarball_name ${pin_TARBALL} NAME)
      set(found FALSE)
      if(VITRINE_DOWNLOADS AND EXISTS ${VITRINE_DOWNLOADS}/${tarball_name})
        file(SHA256 ${VITRINE_DOWNLOADS}/${tarball_name} actual)
        if(NOT actual STREQUAL pin_SHA256)
          message(FATAL_ERROR "${VITRINE_DOWNLOADS}/${tarball_name}: SHA-256 is ${actual}, expected ${pin_SHA256}")
        endif()
        message(STATUS "${pin_NAME}: from VITRINE_DOWNLOADS")
        _vitrine_unpack(${VITRINE_DOWNLOADS}/${tarball_name} ${source})
        set(found TRUE)
      endif()
      if(NOT found)
        if(git_answers STREQUAL UNKNOWN)
          _vitrine_git_answers(${pin_GIT} git_answers)
        endif()
        if(git_answers)
          message(STATUS "${pin_NAME}: from ${pin_GIT} at ${pin_COMMIT}")
          FetchContent_Populate(${pin_NAME}
            GIT_REPOSITORY ${pin_GIT} GIT_TAG ${pin_COMMIT}
            SOURCE_DIR ${source} BINARY_DIR ${folder}/${pin_NAME}.git-bin SUBBUILD_DIR ${folder}/${pin_NAME}.git-sub QUIET)
          set(found TRUE)
        endif()
      endif()
      if(NOT found)
        message(STATUS "${pin_NAME}: from Debian's source package ${tarball_name}")
        _vitrine_debian_tarball(${pin_TARBALL} ${pin_SHA256} ${folder}/${tarball_name} found)
        if(found)
          _vitrine_unpack(${folder}/${tarball_name} ${source})
          file(REMOVE ${folder}/${tarball_name})
        endif()
      endif()
      if(NOT found)
        message(FATAL_ERROR
          "Cannot get the source of ${pin_NAME}. Either make ${pin_GIT} reachable, or download\n"
          "  ${tarball_name}\n"
          "(SHA-256 ${pin_SHA256}, Debian source package, suite sid or the snapshot archive)\n"
          "into a folder and configure with -DVITRINE_DOWNLOADS=<that folder>.")
      endif()
      file(WRITE ${stamp} ${pin_COMMIT})
    endif()
    set(${pin_NAME}_SOURCE_DIR ${source} PARENT_SCOPE)
  endforeach()
endfunction()
