# vitrine_fetch_sources(<folder>) puts every pinned source into <folder>/<name> and sets <name>_SOURCE_DIR in the
# caller. It tries three ways, in this order: 1. VITRINE_DOWNLOADS, a folder that already has the archives; 2. the
# public git repositories, by commit (FetchContent); 3. Debian's source packages, from the mirror in this machine's
# configuration of apt. Sources that are already complete are not fetched again. docs/dependencies.md describes each
# way.
include(FetchContent)
include(${CMAKE_CURRENT_LIST_DIR}/pins.cmake)

# Sets `out` to TRUE if the repository answers. The answer for one pinned repository is valid for all, because they are
# on the same host.
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

# Sets `out` to the Debian mirrors in this machine's configuration of apt.
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

# Downloads the tarball to `path` and checks the pin's hash.
function(_vitrine_debian_tarball pin_tarball pin_sha256 path out_found)
  set(${out_found} FALSE PARENT_SCOPE)
  _vitrine_debian_mirrors(mirrors)
  foreach(attempt RANGE 1 3)
    foreach(mirror IN LISTS mirrors)
      # Uses apt's downloader, which uses apt's proxy and mirror settings.
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
  # Some tarballs have a top folder, others do not.
  file(GLOB entries LIST_DIRECTORIES true ${scratch}/*)
  list(LENGTH entries count)
  if(count EQUAL 1)
    file(RENAME ${entries} ${destination})
    file(REMOVE_RECURSE ${scratch})
  else()
    file(RENAME ${scratch} ${destination})
  endif()
endfunction()

# Runs git in `folder` and ignores any repository that contains the folder. Sets `out` to git's output, and `out_errors`
# to its error messages.
function(_vitrine_git_outside folder out out_errors)
  find_program(VITRINE_GIT git)
  if(NOT VITRINE_GIT)
    message(FATAL_ERROR "git is not installed; install git, which checks and patches the third-party sources")
  endif()
  get_filename_component(parent ${folder} DIRECTORY)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=GIT_DIR --unset=GIT_WORK_TREE --unset=GIT_INDEX_FILE
            GIT_CEILING_DIRECTORIES=${parent} ${VITRINE_GIT} -c core.autocrlf=false ${ARGN}
    WORKING_DIRECTORY ${folder} OUTPUT_VARIABLE printed ERROR_VARIABLE errors RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0 AND NOT errors)
    set(errors "git failed: ${status}")
  elseif(status EQUAL 0)
    set(errors "")
  endif()
  set(${out} "${printed}" PARENT_SCOPE)
  set(${out_errors} "${errors}" PARENT_SCOPE)
endfunction()

# Unpacks VITRINE_DOWNLOADS/<name> and checks it against `hash` (pins.cmake).
function(_vitrine_unpack_download tarball hash destination)
  set(expected ${hash})
  if(hash MATCHES "^tree:(.*)")
    set(expected ${CMAKE_MATCH_1})
    _vitrine_unpack(${tarball} ${destination})
    set(index ${destination}.index.git)
    file(REMOVE_RECURSE ${index})
    _vitrine_git_outside(${destination} printed errors init -q --bare ${index})
    _vitrine_git_outside(${destination} printed errors --git-dir=${index} --work-tree=${destination} add -f -A .)
    _vitrine_git_outside(${destination} actual errors --git-dir=${index} write-tree)
    file(REMOVE_RECURSE ${index})
    set(what "the git tree of its contents")
  else()
    file(SHA256 ${tarball} actual)
    set(what "SHA-256")
  endif()
  if(NOT actual STREQUAL expected)
    file(REMOVE_RECURSE ${destination})
    message(FATAL_ERROR "${tarball}: ${what} is ${actual}, expected ${expected} ${errors}")
  endif()
  if(what STREQUAL "SHA-256")
    _vitrine_unpack(${tarball} ${destination})
  endif()
endfunction()

# Applies the patches of this pin for this source, all or none.
function(_vitrine_patch_source name source)
  set(patches ${VITRINE_SOURCE_PATCHES})
  list(FILTER patches INCLUDE REGEX "/${name}-[^/]*$")
  if(NOT patches)
    return()
  endif()
  _vitrine_git_outside(${source} printed errors apply --whitespace=nowarn ${patches})
  if(errors)
    message(FATAL_ERROR "${name}: the patches for the pin ${VITRINE_XNNPACK_PIN} (${patches}) do not apply to ${source}:\n${errors}")
  endif()
endfunction()

function(vitrine_fetch_sources folder)
  file(MAKE_DIRECTORY ${folder})
  file(LOCK ${folder}.lock GUARD FUNCTION)  # builds for several targets share the sources
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
      # Removes the files that an interrupted call may have left.
      file(REMOVE_RECURSE ${source} ${folder}/${pin_NAME}.git-bin ${folder}/${pin_NAME}.git-sub)
      if(VITRINE_DOWNLOADS AND EXISTS ${VITRINE_DOWNLOADS}/${tarball_name})
        message(STATUS "${pin_NAME}: from VITRINE_DOWNLOADS")
        _vitrine_unpack_download(${VITRINE_DOWNLOADS}/${tarball_name} ${pin_HASH} ${source})
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
      if(NOT found AND pin_TARBALL MATCHES "/")
        message(STATUS "${pin_NAME}: from Debian's source package ${tarball_name}")
        _vitrine_debian_tarball(${pin_TARBALL} ${pin_HASH} ${folder}/${tarball_name} found)
        if(found)
          _vitrine_unpack(${folder}/${tarball_name} ${source})
          file(REMOVE ${folder}/${tarball_name})
        endif()
      endif()
      if(NOT found)
        set(origin "SHA-256 ${pin_HASH}, Debian source package, suite sid or the snapshot archive")
        if(NOT pin_TARBALL MATCHES "/")
          string(REGEX REPLACE "[.]git$" "/archive/${pin_COMMIT}.tar.gz" origin ${pin_GIT})
        endif()
        message(FATAL_ERROR
          "Cannot get the source of ${pin_NAME}. Either make ${pin_GIT} reachable, or download\n"
          "  ${tarball_name}\n"
          "(${origin})\n"
          "into a folder and configure with -DVITRINE_DOWNLOADS=<that folder>.")
      endif()
      _vitrine_patch_source(${pin_NAME} ${source})
      file(WRITE ${stamp} ${pin_COMMIT})
    endif()
    set(${pin_NAME}_SOURCE_DIR ${source} PARENT_SCOPE)
  endforeach()
endfunction()
