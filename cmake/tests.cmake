# Functions that turn folders of tests into programs and ctest entries.

# Tags of Catch2 that become ctest labels; `./dev test` leaves these out, `./dev test --all` does not.
set(RATCHET_TEST_LABELS slow npm python browser)

# ratchet_tests(<name> <folder> <libraries...> [OPTIMIZED] [ROOMS <folder>...]): one Catch2 program per
# folder of tests, with the folders inside it that ROOMS names; every test case becomes one ctest entry, with
# the first of its tags that is a label. OPTIMIZED: tests that time a library, or that compute for seconds.
function(ratchet_tests name folder)
  cmake_parse_arguments(PARSE_ARGV 2 tests "OPTIMIZED" "" "ROOMS")
  set(ARGN ${tests_UNPARSED_ARGUMENTS})
  set(places ${folder})
  foreach(room ${tests_ROOMS})
    list(APPEND places ${folder}/${room})
  endforeach()
  list(TRANSFORM places REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/tests/\\1/*.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${places})
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ratchet-test-support ${ARGN} Catch2::Catch2WithMain)
  # Most tests are compiled more often than they run long.
  target_compile_options(${name} PRIVATE $<IF:$<BOOL:${tests_OPTIMIZED}>,${RATCHET_WAITS},${RATCHET_CHECKS}>)
  # The first program makes the precompiled header of all like it. (Programs and libraries cannot share one.)
  get_property(first GLOBAL PROPERTY RATCHET_FIRST_TESTS_${tests_OPTIMIZED})
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
  else()
    target_precompile_headers(${name} PRIVATE ${RATCHET_PRECOMPILED}
      <catch2/catch_test_macros.hpp> <catch2/generators/catch_generators.hpp>)
    set_property(GLOBAL PROPERTY RATCHET_FIRST_TESTS_${tests_OPTIMIZED} ${name})
  endif()
  ratchet_unity(${name} 6)
  # Verdicts on times need a machine to themselves.
  catch_discover_tests(${name} TEST_SPEC "[timed]" TEST_PREFIX "${folder}: "
    TEST_LIST ${name}_timed PROPERTIES LABELS slow RUN_SERIAL ON SKIP_RETURN_CODE 4 TIMEOUT 600)
  set(others "~[timed]")
  foreach(label ${RATCHET_TEST_LABELS})
    catch_discover_tests(${name} TEST_SPEC "[${label}]${others}" TEST_PREFIX "${folder}: "
      TEST_LIST ${name}_${label} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 4 TIMEOUT 600)
    string(APPEND others "~[${label}]")
  endforeach()
  catch_discover_tests(${name} TEST_SPEC "${others}" TEST_PREFIX "${folder}: "
    PROPERTIES SKIP_RETURN_CODE 4 TIMEOUT 60)
endfunction()

# ratchet_reaches_json(<header> <result>): whether a header includes nlohmann/json.hpp, by whatever it includes.
function(ratchet_reaches_json header result)
  get_property(known GLOBAL PROPERTY "RATCHET_REACHES_JSON_${header}")
  if("${known}" STREQUAL "")
    set(known NO)
    set_property(GLOBAL PROPERTY "RATCHET_REACHES_JSON_${header}" NO)
    file(STRINGS ${CMAKE_SOURCE_DIR}/${header} includes REGEX "^#include [<\"]")
    if("${includes}" MATCHES "<nlohmann/json.hpp>")
      set(known YES)
    endif()
    foreach(include ${includes})
      if(NOT known AND include MATCHES "\"(.+)\"" AND EXISTS ${CMAKE_SOURCE_DIR}/${CMAKE_MATCH_1})
        ratchet_reaches_json(${CMAKE_MATCH_1} known)
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY "RATCHET_REACHES_JSON_${header}" ${known})
  endif()
  set(${result} ${known} PARENT_SCOPE)
endfunction()

# ratchet_header_test(): a ctest entry that compiles every header alone. Its sources are written when
# the tree is configured and compiled by that entry only.
function(ratchet_header_test)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
       ${CMAKE_SOURCE_DIR}/server/*.h ${CMAKE_SOURCE_DIR}/kbs/*.h ${CMAKE_SOURCE_DIR}/kernels/*.h
       ${CMAKE_SOURCE_DIR}/tools/*.h ${CMAKE_SOURCE_DIR}/tests/*.h ${CMAKE_SOURCE_DIR}/bench/*.h)
  list(FILTER headers EXCLUDE REGEX "^kernels/(problems|python|cuda)/")
  if(NOT TARGET ratchet-worker-cuda)
    list(FILTER headers EXCLUDE REGEX "^kernels/(worker/cuda|measure)/")
  endif()
  set(with_json)
  set(without_json)
  foreach(header ${headers})
    string(REPLACE "/" "_" source ${header})
    set(source ${CMAKE_BINARY_DIR}/headers/${source}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"  // alone, and twice\n#include \"${header}\"\n")
    ratchet_reaches_json(${header} reaches)
    if(reaches)
      list(APPEND with_json ${source})
    else()
      list(APPEND without_json ${source})
    endif()
  endforeach()
  add_custom_target(ratchet-headers)
  foreach(group with_json without_json)
    set(target ratchet-headers-${group})
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${${group}})
    target_compile_options(${target} PRIVATE -O0)
    target_link_libraries(${target} PRIVATE ratchet-tools ratchet-mcp Catch2::Catch2
                          PkgConfig::seccomp PkgConfig::ffi)
    if(TARGET ratchet-measure)
      target_link_libraries(${target} PRIVATE ratchet-measure)
    endif()
    add_dependencies(ratchet-headers ${target})
  endforeach()
  # They read it anyway, and it takes longer than all else that they read.
  target_precompile_headers(ratchet-headers-with_json PRIVATE <nlohmann/json.hpp>)
  add_test(NAME "repo:every header compiles alone"
           COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target ratchet-headers)
  set_tests_properties("repo:every header compiles alone" PROPERTIES LABELS slow TIMEOUT 900
                       RUN_SERIAL ON)
endfunction()
