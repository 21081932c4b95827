# Fetches dagre, a JavaScript library that lays out the graphs of `pte_inspect --format html`. The build adds the
# library to the page. Sets VITRINE_DAGRE_FOLDER to a folder with dagre.js and LICENSE, or to an empty text if no source
# has the library. Without dagre, the build still works, but pte_inspect cannot draw graphs. docs/dependencies.md has
# the details.

set(VITRINE_DAGRE_DEBIAN n/node-dagre-layout)  # below pool/main
set(VITRINE_DAGRE_NPM @dagrejs/dagre@3.1.3)
# archive | SHA-256 | the library in it | its license
set(VITRINE_DAGRE_ARCHIVES
  "node-dagre-layout_0.8.8+really0.8.5+dfsg-6_all.deb|3929b113e198b3b73d9be11693baa24fe96cae83da7f670e027814829b9fbba4|usr/share/nodejs/dagre/dist/dagre.min.js|usr/share/doc/node-dagre-layout/copyright"
  "dagrejs-dagre-3.1.3.tgz|12441833c8af49e5a241d94bfd53159875965876b3f4f3214abafe1ed6a9ee4c|package/dist/dagre.min.js|package/LICENSE")

# Unpacks an archive if it has the expected hash. Sets `found` in the caller if the library and its license are in it.
function(_vitrine_unpack_dagre archive sha256 library license folder)
  if(NOT EXISTS ${archive})
    return()
  endif()
  file(SHA256 ${archive} actual)
  if(NOT actual STREQUAL sha256)
    message(WARNING "${archive}: SHA-256 is ${actual}, expected ${sha256}: not used")
    return()
  endif()
  set(scratch ${folder}.unpack)
  file(REMOVE_RECURSE ${scratch})
  file(MAKE_DIRECTORY ${scratch})
  if(archive MATCHES "deb$")
    execute_process(COMMAND dpkg-deb -x ${archive} ${scratch} RESULT_VARIABLE status ERROR_QUIET)
  else()
    file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${scratch})
  endif()
  if(EXISTS ${scratch}/${library} AND EXISTS ${scratch}/${license})
    file(READ ${scratch}/${library} text)
    string(REGEX REPLACE "//# sourceMappingURL=[^\n]*\n?" "" text "${text}")  # a browser would look for that file
    file(MAKE_DIRECTORY ${folder})
    file(READ ${scratch}/${license} terms)
    if(archive MATCHES "deb$")
      string(APPEND terms "
The file also contains graphlib (Copyright (c) 2012-2014 Chris Pettitt) and lodash (Copyright OpenJS Foundation and other
contributors <https://openjsf.org/>, based on Underscore.js, copyright Jeremy Ashkenas, DocumentCloud and Investigative
Reporters & Editors <http://underscorejs.org/>), both under the Expat license.
")
    endif()
    file(WRITE ${folder}/LICENSE "${terms}")
    cmake_path(GET archive FILENAME name)
    file(WRITE ${folder}/archive "${name}|${sha256}")
    file(WRITE ${folder}/dagre.js "${text}")
    set(found TRUE PARENT_SCOPE)
  endif()
  file(REMOVE_RECURSE ${scratch})
endfunction()

# Tries the sources of dagre in order.
function(vitrine_fetch_dagre)
  file(SHA256 ${PROJECT_SOURCE_DIR}/cmake/GraphLayout.cmake key)
  string(SUBSTRING ${key} 0 16 key)
  set(folder ${VITRINE_DEPS_DIR}/dagre-${key})
  file(MAKE_DIRECTORY ${VITRINE_DEPS_DIR})
  file(LOCK ${folder}.lock GUARD FUNCTION)
  set(VITRINE_DAGRE_FOLDER "" PARENT_SCOPE)
  if(NOT EXISTS ${folder}/dagre.js AND NOT VITRINE_DAGRE_MISSING STREQUAL key)
    include(${PROJECT_SOURCE_DIR}/cmake/third_party/sources.cmake)
    find_program(VITRINE_NPM npm)
    set(found FALSE)
    foreach(row IN LISTS VITRINE_DAGRE_ARCHIVES)
      string(REPLACE "|" ";" fields "${row}")
      list(POP_FRONT fields name)
      if(NOT found AND VITRINE_DOWNLOADS)
        _vitrine_unpack_dagre(${VITRINE_DOWNLOADS}/${name} ${fields} ${folder})
      endif()
    endforeach()
    foreach(row IN LISTS VITRINE_DAGRE_ARCHIVES)
      string(REPLACE "|" ";" fields "${row}")
      list(POP_FRONT fields name)
      list(GET fields 0 sha256)
      set(archive ${VITRINE_DEPS_DIR}/${name})
      if(found)
        break()
      elseif(name MATCHES "deb$")
        _vitrine_debian_tarball(${VITRINE_DAGRE_DEBIAN}/${name} ${sha256} ${archive} fetched)
      elseif(VITRINE_NPM)
        execute_process(COMMAND ${VITRINE_NPM} pack --silent ${VITRINE_DAGRE_NPM} WORKING_DIRECTORY ${VITRINE_DEPS_DIR}
                        OUTPUT_QUIET ERROR_QUIET TIMEOUT 60)
      endif()
      _vitrine_unpack_dagre(${archive} ${fields} ${folder})
    endforeach()
    if(NOT found)
      set(VITRINE_DAGRE_MISSING ${key} CACHE INTERNAL "no source provides dagre; cmake --fresh tries again")
      message(STATUS "dagre: not available (docs/dependencies.md); pte_inspect will not draw graphs as pages")
      return()
    endif()
    message(STATUS "dagre: fetched into ${folder}")
  endif()
  if(EXISTS ${folder}/dagre.js)
    set(VITRINE_DAGRE_FOLDER ${folder} PARENT_SCOPE)
  endif()
endfunction()
vitrine_fetch_dagre()
