# Functions that turn folders into libraries.

# Libraries that wait for compilers, devices and people all the time: -O1 compiles them in two thirds
# of the time.
set(RATCHET_UNHURRIED ratchet-runs ratchet-kernels ratchet-tools ratchet-docs ratchet-offers)
set(RATCHET_UNHURRIED_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O1>)

# Headers that most sources include and that take longest to read, precompiled once for each way to
# compile. -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without.
set(RATCHET_PRECOMPILED <nlohmann/json.hpp> <fmt/format.h> <algorithm> <array> <chrono> <cstdint>
    <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view>
    <thread> <utility> <variant> <vector>)
file(CONFIGURE OUTPUT generated/precompiled.cpp CONTENT "")
foreach(name ratchet-precompiled ratchet-precompiled-unhurried)
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/generated/precompiled.cpp)
  target_link_libraries(${name} PRIVATE fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json)
  target_precompile_headers(${name} PRIVATE ${RATCHET_PRECOMPILED})
endforeach()
target_compile_options(ratchet-precompiled-unhurried PRIVATE ${RATCHET_UNHURRIED_OPTIONS})

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

# ratchet_library(<name> "<folder>;..." <libraries...>): all sources of these folders; the libraries
# are the arrows of the layer table that tests/repo checks against the #include lines.
function(ratchet_library name folders)
  list(TRANSFORM folders REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/\\1/*.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${folders})
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json ${ARGN})
  if(name IN_LIST RATCHET_UNHURRIED)
    target_compile_options(${name} PRIVATE ${RATCHET_UNHURRIED_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM ratchet-precompiled-unhurried)
  else()
    target_precompile_headers(${name} REUSE_FROM ratchet-precompiled)
  endif()
  # Tools are edited most often; fewer at a time keep the way to a linked program short.
  if(name STREQUAL ratchet-tools)
    ratchet_unity(${name} 4)
  else()
    ratchet_unity(${name} 10)
  endif()
endfunction()
