#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/build/builder.h"
#include "server/core/files.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {

inline const Toolchain& toolchain() {
  static const Toolchain found = find_toolchain("python3");
  return found;
}

inline BuildRequest request_of(Language language, std::string file_name, std::string text,
                               std::string arch) {
  BuildRequest request;
  request.source = {std::move(file_name), std::move(text), ""};
  request.language = language;
  request.arch = std::move(arch);
  return request;
}

/// A builder on an empty cache.
struct Bench {
  TempFolder folder;
  Builder builder = *Builder::open({folder / "cache", toolchain, std::chrono::seconds(60)});

  BuildRecord build(const BuildRequest& request) const {
    auto record = builder.build(request, CallContext());
    REQUIRE(record);
    return *record;
  }
  /// The bytes of a built library.
  std::string library(const BuildRecord& record) const {
    return *read_file(*builder.path_of(record.build_key));
  }
};

inline bool exports(const std::string& library, std::string_view symbol) {
  return library.find(std::string(1, '\0') + std::string(symbol) + '\0') != std::string::npos;
}

}  // namespace ratchet::test
