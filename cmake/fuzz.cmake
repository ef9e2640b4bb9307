# Fuzzers: which compiler they need, and their programs.
#
# cmake -S . -B build-fuzz -DRATCHET_FUZZ=ON needs nothing else: the compiler is looked for before
# project() would choose one. `./dev fuzz` does that and runs them.
option(RATCHET_FUZZ "Build with libFuzzer and add the fuzzers; looks for Clang by itself" OFF)
set(RATCHET_FUZZ_NEEDS
  "The fuzzers need Clang with libFuzzer, for instance\n  apt-get install clang-19 libclang-rt-19-dev")

if(RATCHET_FUZZ)
  if(NOT CMAKE_CXX_COMPILER)
    find_program(RATCHET_CLANG NAMES clang++-19 clang++-20 clang++-21 clang++-18 clang++-17 clang++
                 DOC "Compiler of the fuzzers")
    if(NOT RATCHET_CLANG)
      message(FATAL_ERROR "RATCHET_FUZZ: no clang++ was found. ${RATCHET_FUZZ_NEEDS}")
    endif()
    string(REPLACE "clang++" "clang" clang ${RATCHET_CLANG})
    set(CMAKE_CXX_COMPILER ${RATCHET_CLANG})
    set(CMAKE_C_COMPILER ${clang})
  endif()
  set(CMAKE_BUILD_TYPE Debug CACHE STRING "" FORCE)
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1" CACHE STRING "")  # assertions on, quick to build
  set(RATCHET_SANITIZE "fuzzer-no-link,address,undefined" CACHE STRING "")
endif()

# ratchet_fuzzers(<entry> <libraries...>): every tests/fuzz/<name>.cpp becomes fuzz-<name>, with the
# source of the entry that libFuzzer calls.
function(ratchet_fuzzers entry)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
  check_cxx_source_compiles("extern \"C\" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }"
                            RATCHET_HAS_LIBFUZZER)
  if(NOT RATCHET_HAS_LIBFUZZER)
    message(FATAL_ERROR
      "RATCHET_FUZZ: ${CMAKE_CXX_COMPILER} links no program with -fsanitize=fuzzer. ${RATCHET_FUZZ_NEEDS}")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.cpp)
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    add_executable(fuzz-${name} EXCLUDE_FROM_ALL ${source} ${entry})
    target_compile_definitions(fuzz-${name} PRIVATE RATCHET_FUZZER=${name})
    target_link_libraries(fuzz-${name} PRIVATE ${ARGN})
    target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
    list(APPEND programs fuzz-${name})
  endforeach()
  add_custom_target(fuzzers DEPENDS ${programs})
endfunction()
