# Libraries that the tree is built on.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(yaml-cpp REQUIRED IMPORTED_TARGET yaml-cpp)
# Not through pkg-config: RE2 11's description requires Abseil's hundreds of modules, and CMake asks 14 times,
# for 2 s each. What RE2 needs of Abseil, its shared library names itself.
find_path(RATCHET_RE2_INCLUDE re2/re2.h REQUIRED)
find_library(RATCHET_RE2_LIBRARY re2 REQUIRED)
add_library(ratchet-re2 INTERFACE)
target_include_directories(ratchet-re2 SYSTEM INTERFACE ${RATCHET_RE2_INCLUDE})
target_link_libraries(ratchet-re2 INTERFACE ${RATCHET_RE2_LIBRARY})
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
add_library(ratchet-httplib INTERFACE)
if(RATCHET_HTTPLIB_DIR)
  target_include_directories(ratchet-httplib SYSTEM BEFORE INTERFACE ${RATCHET_HTTPLIB_DIR})
else()
  # The distributions ship it compiled; its macros decide the layout of its classes, so they must
  # come from its own description.
  pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
  target_link_libraries(ratchet-httplib INTERFACE PkgConfig::httplib OpenSSL::SSL)
endif()
