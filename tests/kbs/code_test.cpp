// The code of the shipped wiki: CUDA files compile for each target that they name, their index
// arithmetic is tested on the host, and processor code is checked by our own server.

#include "kbs/documents/page_reader.h"
#include "server/core/process.h"
#include "server/core/text.h"
#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

const fs::path& code_folder() {
  static const fs::path folder = test::source_dir() / "kbs/content/code";
  return folder;
}

std::vector<fs::path> code_files(std::string_view extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(code_folder()))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// The output of a program that must succeed.
void succeeds(std::vector<std::string> argv) {
  const auto ended = run_program(
      {.argv = std::move(argv), .environment = inherited_environment({"PATH", "HOME", "TMPDIR"})},
      std::chrono::minutes(20));
  REQUIRE(ended);
  INFO(ended->out << ended->err);
  CHECK(ended->status.clean());
}

std::string nvcc() {
  for (const char* place : {"/usr/local/cuda/bin/nvcc", "/usr/local/cuda-13.0/bin/nvcc"})
    if (fs::exists(place)) return place;
  return {};
}

Json header_of(const fs::path& file) {
  auto page = kbs::page_of_code(file.generic_string(), test::read_text(file));
  INFO(file.string());
  REQUIRE(page);
  auto header = kbs::header_json(kbs::split_page(*page).header);
  REQUIRE(header);
  return *std::move(header);
}

TEST_CASE("a file of the wiki has at most 150 lines, 300 with warp group products or attention") {
  for (const char* extension : {".cu", ".cpp", ".py"})
    for (const auto& file : code_files(extension)) {
      const auto name = file.stem().string();
      const auto text = test::read_text(file);
      const std::string_view fence = text.starts_with("#") ? "\n# ---\n" : "\n// ---\n";
      const auto code = std::string_view(text).substr(text.find(fence) + fence.size());
      const bool long_one = name.starts_with("attention") ||
                            code.find("wgmma.mma") != std::string_view::npos ||
                            code.find("tcgen05.mma") != std::string_view::npos;
      INFO(name);
      CHECK(std::ranges::count(code, '\n') <= (long_one ? 300 : 150));
    }
}

TEST_CASE("every CUDA file of the wiki compiles for each target that it names, without spills",
          "[slow]") {
  const auto compiler = nvcc();
  if (compiler.empty()) SKIP("no nvcc");
  const test::TempFolder folder;
  CHECK(code_files(".cu").size() >= 5);
  for (const auto& file : code_files(".cu")) {
    const auto targets = header_of(file).value("compiled", Json::array());
    INFO(file.string());
    CHECK_FALSE(targets.empty());
    for (const auto& target : targets)
      succeeds({compiler, "-std=c++17", "-arch=" + target.get<std::string>(), "-cubin", "-Xptxas",
                "-warn-spills,-Werror", file.string(), "-o", (folder / "out.cubin").string()});
  }
}

TEST_CASE("the index arithmetic of every CUDA file of the wiki covers what it must", "[slow]") {
  for (const auto& file : code_files(".cu")) {
    const test::TempFolder folder;
    const auto text = test::read_text(file);
    const auto begin = text.find("// region index");
    if (begin == std::string::npos) {  // it ran on its device
      CHECK(header_of(file).at("code_evidence") == "measured");
      continue;
    }
    test::write_text(folder / "region.h",
                     text.substr(begin, text.find("\n// region ", begin) - begin));
    const auto driver = test::source_dir() / "tests/kbs/code" / (file.stem().string() + ".cpp");
    const auto program = (folder / "driver").string();
    succeeds({"g++", "-std=c++20", "-O1", "-Wall", "-Werror", "-I" + folder.path().string(),
              "-include", "cstdint", driver.string(), "-o", program});
    succeeds({program});
  }
}

TEST_CASE("every Python file of the wiki compiles") {
  for (const auto& file : code_files(".py"))
    succeeds({"python3", "-c", "import sys; compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')",
              file.string()});
}

TEST_CASE("the wiki's Triton product compiles for Hopper to wgmma fed by tensor copies", "[slow]") {
  // `./dev test --all` installs it there.
  const auto python = test::build_dir() / "python" / "bin" / "python";
  if (!fs::exists(python)) SKIP("no Triton in the build's python");
  const auto ended =
      run_program({.argv = {python.string(), "-B",  // the wiki's folder stays as it is
                            (test::source_dir() / "tests/kbs/code/triton_compile.py").string(),
                            (code_folder() / "gemm-triton-persistent.py").string(), "90",
                            R"({"a": "tensordesc<bf16[128,64]>", "b": "tensordesc<bf16[256,64]>",
                    "c": "tensordesc<bf16[128,128]>", "M": "i32", "N": "i32", "K": "i32",
                    "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "BAND": 8})",
                            R"({"num_warps": 8, "num_stages": 4})"},
                   .environment = inherited_environment({"PATH", "HOME", "TMPDIR"})},
                  std::chrono::minutes(5));
  REQUIRE(ended);
  INFO(ended->out << ended->err);
  REQUIRE(ended->status.clean());
  REQUIRE_FALSE(ended->out.starts_with("no triton"));
  CHECK(ended->out.starts_with("compiled for sm_90"));
  CHECK(ended->out.find("wgmma 0") == std::string::npos);
  CHECK(ended->out.find("tensor copies 0") == std::string::npos);
}

TEST_CASE("every step of the wiki's processor code passes the judge at odd sizes", "[slow]") {
  const auto ratchet = test::build_dir() / "bin/ratchet";
  if (!fs::exists(ratchet) || !fs::exists(test::build_dir() / "bin/ratchet-worker"))
    SKIP("build the target programs first");
  succeeds({"python3", (test::source_dir() / "tests/kbs/code/run.py").string(), ratchet.string(),
            (test::source_dir() / "kbs/content").string()});
}

TEST_CASE("measured code says on what and when, and compiled code was not run") {
  for (const char* extension : {".cu", ".cpp", ".py"})
    for (const auto& file : code_files(extension)) {
      const auto header = header_of(file);
      INFO(file.string());
      if (header.at("code_evidence") == "compiled") {
        CHECK(header.at("confidence") == "experimental");
        CHECK_FALSE(header.contains("measured"));
        continue;
      }
      REQUIRE(header.contains("measured"));
      const auto& rows = header.at("measured");
      if (header.contains("task") && header.at("task").contains("timed"))
        CHECK(static_cast<int>(rows.size()) == header.at("task").at("timed").get<int>());
      for (std::size_t step = 0; step < rows.size(); ++step) {
        CHECK(rows[step].at("step") == "v" + std::to_string(step));
        CHECK(rows[step].at("ms").get<double>() > 0);
        CHECK_FALSE(rows[step].at("device").get<std::string>().empty());
        CHECK(rows[step].at("date").get<std::string>().size() == 10);
      }
    }
}

TEST_CASE("the ladder of a kernel page shows the times that its code's header holds") {
  for (const auto& entry :
       fs::directory_iterator(test::source_dir() / "kbs/content/docs/kernels")) {
    const auto text = test::read_text(entry.path());
    INFO(entry.path().string());
    auto header = kbs::header_json(kbs::split_page(text).header);
    REQUIRE(header);
    const fs::path file =
        test::source_dir() / "kbs/content" / header->at("code").get<std::string>();
    REQUIRE(fs::exists(file));
    const auto code = header_of(file);
    CHECK(header->at("code_evidence") == code.at("code_evidence"));
    CHECK(text.find("`" + code.at("id").get<std::string>() + "`") != std::string::npos);
    for (const auto& row : code.value("measured", Json::array())) {
      const auto step = row.at("step").get<std::string>();
      CHECK(text.find("| " + step + " ") != std::string::npos);
      CHECK(text.find("| " + row.at("ms").dump() + " | " + row.at("times_v0").dump() + " |") !=
            std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ratchet
