# Options, warnings and flags of every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
# Libraries carried beside the binaries (./dev bundle) are found without environment variables.
# RPATH, not RUNPATH: only the former also serves the libraries that those libraries need.
set(CMAKE_BUILD_RPATH "$ORIGIN")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN")
add_link_options(-Wl,--disable-new-dtags)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

option(RATCHET_TESTS "Build the tests" ON)
option(RATCHET_CUDA "Build the CUDA worker when the toolkit is found" ON)
option(RATCHET_UNITY "Compile the sources of a folder several at a time" ON)
set(RATCHET_SANITIZE "" CACHE STRING "Sanitizers for all targets, e.g. address,undefined or thread")
set(RATCHET_HTTPLIB_DIR "" CACHE PATH "Folder of a newer httplib.h than the system's")

# Designated initializers leave members at their defaults on purpose. Warnings are errors where
# CMAKE_COMPILE_WARNING_AS_ERROR says so, as .ci/run does.
add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Optimized, GCC 12 to 14 see bounds broken inside their own library (bug 105329 and its kin), the
  # more so with a precompiled header. The Debug presets compile the same sources with every warning.
  foreach(warning restrict array-bounds stringop-overflow stringop-overread)
    add_compile_options($<$<NOT:$<CONFIG:Debug>>:-Wno-${warning}>)
  endforeach()
  # For x86, GCC 13 and later turn these on from -O2 on, and refuse a precompiled header made with them where
  # they are off. They change nothing at -O1.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13 AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_compile_options(-munroll-only-small-loops -mvzeroupper)
  endif()
  # GCC collects its own garbage from 128 MB on; later saves an eighth of the time for 0.2 GB more.
  add_compile_options("SHELL:--param ggc-min-heapsize=524288")
  if(RATCHET_UNITY)
    # Sources compiled together are #included, where GCC takes them for headers.
    add_compile_options(-Wno-subobject-linkage)
  endif()
endif()
if(RATCHET_SANITIZE)
  add_compile_options(-fsanitize=${RATCHET_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RATCHET_SANITIZE})
  add_compile_definitions(RATCHET_SANITIZED)
  if(RATCHET_SANITIZE MATCHES address AND NOT RATCHET_SANITIZE MATCHES fuzzer)
    set(runtime libasan.so)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      set(runtime libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so)
    endif()
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${runtime} OUTPUT_VARIABLE runtime
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    # For programs of others that load our libraries, such as Python.
    file(REAL_PATH "${runtime}" RATCHET_SANITIZER_RUNTIME)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      # One runtime for programs and the libraries that they load. The check of dynamic types asks through
      # pipes whether it may read an object, which the walls of a kernel forbid.
      cmake_path(GET RATCHET_SANITIZER_RUNTIME PARENT_PATH folder)
      add_compile_options(-fno-sanitize=vptr)
      add_link_options(-shared-libsan -Wl,-rpath,${folder})
    endif()
  endif()
endif()

# All alike, so that all can use the same precompiled header.
add_compile_options(-pthread)

include(CheckLinkerFlag)
foreach(linker mold lld)
  check_linker_flag(CXX -fuse-ld=${linker} RATCHET_HAS_${linker})
  if(RATCHET_HAS_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()

# Every include is written from the root: "server/core/result.h".
include_directories(${CMAKE_SOURCE_DIR})
