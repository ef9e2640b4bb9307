#include "kbs/documents/code_parts.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace ratchet::kbs {
namespace {

std::vector<std::string> names(const std::vector<CodePart>& parts) {
  std::vector<std::string> out;
  for (const auto& part : parts) out.push_back(part.name);
  return out;
}

const std::string kFiller =
    "  // A body long enough that the next definition is worth a part of its own: two hundred "
    "bytes "
    "of text are the least, below that small neighbours stay together in one part of the file: a "
    "little more.\n";

TEST_CASE("a diff is split by file, with the line number of each section") {
  const std::string diff =
      "diff --git a/old.cu b/new.cu\n--- a/old.cu\n+++ b/new.cu\n@@ -1 +1 @@\n-a\n+b\n"
      "diff --git a/gone.py b/gone.py\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
  const auto sections = split_diff(diff);
  REQUIRE(sections.size() == 2);
  CHECK(sections[0].path == "new.cu");
  CHECK(sections[0].line == 1);
  CHECK(sections[1].path == "gone.py");  // a deleted file is known by its old name
  CHECK(sections[1].line == 7);          // six lines stand before it
}

TEST_CASE("a mail header before the first section is dropped") {
  const auto sections =
      split_diff("From 1234\nSubject: x\n\ndiff --git a/a.h b/a.h\n@@ -1 +1 @@\n+b\n");
  REQUIRE(sections.size() == 1);
  CHECK(sections[0].path == "a.h");
  CHECK(sections[0].line == 4);
}

TEST_CASE("each hunk is a part named by its context, and the file's header joins the first") {
  const auto parts = split_hunks(
      "diff --git a/a.cu b/a.cu\n--- a/a.cu\n+++ b/a.cu\n@@ -1,2 +1,2 @@ void first(int "
      "n)\n-a\n+b\n"
      "@@ -9,2 +9,2 @@ __global__ void second(float* x)\n-c\n+d\n");
  REQUIRE(parts.size() == 2);
  CHECK(names(parts) == std::vector<std::string>{"first", "second"});
  CHECK(parts[0].begin == 0);
  CHECK(parts[1].line == 7);
}

TEST_CASE("Python is split at functions and methods, which keep their decorators and comments") {
  const auto parts = split_definitions("import torch\n" + kFiller +
                                           "\n# Why it is there.\n@triton.jit\ndef kernel(x):\n" +
                                           kFiller + "\nclass Op:\n    def __init__(self):\n" +
                                           kFiller + "    def forward(self):\n        pass\n",
                                       "op.py");
  REQUIRE(parts.size() == 4);
  CHECK(parts[1].name == "kernel");
  CHECK(parts[1].line == 4);  // import, filler, blank line; then the comment
  CHECK(parts[2].name == "Op");
  CHECK(parts[3].name == "Op.forward");
}

TEST_CASE("C++ is split at definitions in the first column, which name the parts") {
  const auto parts = split_definitions(
      "#include <cuda.h>\n\n// Adds.\ntemplate <class T>\n__global__ void add(T* x) {\n" + kFiller +
          "}\n\n// Holds state.\nstruct State {\n" + kFiller + "};\n",
      "add.cuh");
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].name == "add");
  CHECK(parts[1].name == "State");
  CHECK(parts[1].line == 9);  // its comment: eight lines stand before
}

TEST_CASE("parts cover any text without gaps") {
  for (const std::string& text :
       {std::string("x"), std::string(50'000, 'y'), "\n\n\n" + kFiller, std::string(20'000, '\n'),
        "def a():\n" + kFiller + "def b():\n" + kFiller}) {
    for (const char* path : {"a.py", "a.cu", "a.md", "a"}) {
      std::size_t at = 0;
      for (const auto& part : split_definitions(text, path)) {
        CHECK(part.begin == at);
        at = part.end;
      }
      CHECK(at == text.size());
    }
  }
}

TEST_CASE("a file's language follows from its name and, for Python, from its imports") {
  CHECK(language_of("a/b.cu", "") == "cuda-cpp");
  CHECK(language_of("a.h", "__device__ int x;") == "cuda-cpp");
  CHECK(language_of("a.h", "int x;") == "cpp");
  CHECK(language_of("k.py", "import triton\n") == "triton");
  CHECK(language_of("k.py", "import cutlass.cute as cute\n") == "cute-dsl");
  CHECK(language_of("k.py", "import os\n") == "python");
}

}  // namespace
}  // namespace ratchet::kbs
