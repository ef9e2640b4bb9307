// ratchet-kbs-build CONTENT INDEX: writes the index of the shipped wiki at build time. A page that
// cannot be read is named and left out; tests/kbs/content_test.cpp fails on it.

#include <fmt/format.h>

#include "kbs/corpus/importer.h"

int main(int count, char** arguments) {
  using namespace ratchet;
  if (count != 3) {
    fmt::print(stderr, "usage: ratchet-kbs-build CONTENT INDEX\n");
    return 2;
  }
  const auto fail = [](const Error& error) {
    fmt::print(stderr, "ratchet-kbs-build: {}\n{}\n", error.message, error.hint);
    return 1;
  };
  // Always from nothing: the builder itself may have changed.
  std::error_code ignored;
  std::filesystem::remove(arguments[2], ignored);
  auto writer = kbs::IndexWriter::open(arguments[2]);
  if (!writer) return fail(writer.error());
  auto report = kbs::import_folder({.root = arguments[1],
                                    .corpus = "gpu-wiki",
                                    .license = "Apache-2.0",
                                    .progress = {},
                                    .stop = {}},
                                   *writer);
  if (!report) return fail(report.error());
  for (const auto& [path, reason] : report->problems) fmt::print(stderr, "{}: {}\n", path, reason);
  if (auto done = writer->finish(); !done) return fail(done.error());
  return 0;
}
