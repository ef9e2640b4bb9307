# Functions that turn folders into libraries.

# How far release builds optimize, as options after the build type's -O3: what answers calls, what waits
# for compilers, devices and people all the time, and tests. Each step down compiles a fifth faster or more.
set(RATCHET_ANSWERS $<$<CONFIG:Release>:-O2>)
set(RATCHET_WAITS $<$<NOT:$<CONFIG:Debug>>:-O1>)
set(RATCHET_CHECKS $<IF:$<CONFIG:Release>,-O0,${RATCHET_WAITS}>)

# Headers that most sources include and that take longest to read, precompiled once for all libraries.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without.
set(RATCHET_PRECOMPILED <nlohmann/json.hpp> <fmt/format.h> <algorithm> <array> <chrono> <cstdint>
    <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view>
    <thread> <utility> <variant> <vector>)
file(CONFIGURE OUTPUT generated/precompiled.cpp CONTENT "")
add_library(ratchet-precompiled OBJECT ${CMAKE_BINARY_DIR}/generated/precompiled.cpp)
target_link_libraries(ratchet-precompiled PRIVATE fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json)
target_precompile_headers(ratchet-precompiled PRIVATE ${RATCHET_PRECOMPILED})

# ratchet_unity(<target> <size>): compiles up to <size> sources of one folder together, which reads and
# instantiates the headers that they share once. Sources with flags of their own are compiled alone.
function(ratchet_unity target size)
  if(NOT RATCHET_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(last "")
  set(count 0)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    if(NOT folder STREQUAL last)
      set(last ${folder})
      set(count 0)
    endif()
    math(EXPR group "${count} / ${size}")
    math(EXPR count "${count} + 1")
    string(REPLACE "${CMAKE_SOURCE_DIR}/" "" name ${folder})
    string(REPLACE "/" "_" name ${name})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
endfunction()

# ratchet_compile(<target> <size> <options...>): with the precompiled header and these options, up to
# <size> sources at a time.
function(ratchet_compile target size)
  target_compile_options(${target} PRIVATE ${ARGN})
  target_precompile_headers(${target} REUSE_FROM ratchet-precompiled)
  ratchet_unity(${target} ${size})
endfunction()

# ratchet_library(<name> "<folder>;..." <options> <libraries...>): all sources of these folders; the
# libraries are the arrows of the layer table that tests/repo checks against the #include lines.
function(ratchet_library name folders options)
  list(TRANSFORM folders REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/\\1/*.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${folders})
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json ${ARGN})
  set(size 10)
  if(name STREQUAL ratchet-tools)
    # Tools are edited most often; fewer at a time keep the way to a linked program short.
    set(size 6)
  endif()
  ratchet_compile(${name} ${size} ${options})
endfunction()

# ratchet_main(<name> <source> <libraries...>): a program's `main`, once for every program that has it. It
# is an object of a library, for those of programs cannot share the precompiled header.
function(ratchet_main name source)
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PUBLIC ${ARGN})
  ratchet_compile(${name} 1 ${RATCHET_ANSWERS})
endfunction()
