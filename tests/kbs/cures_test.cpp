// Every finding of the diagnosis, and every method, leads to a page and a region of the shipped
// wiki that shows the cure for the language and the chip.

#include <regex>
#include <set>

#include "kbs/documents/labels.h"
#include "kbs/documents/page_reader.h"
#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

class ShippedWiki : public test::TestKnowledge {
 public:
  ShippedWiki() { add(test::source_dir() / "kbs/content", "gpu-wiki"); }

  std::vector<Cure> cures(const std::string& finding, const char* language, const char* chip) {
    auto found = base().cures({chip, language, "", {finding}});
    REQUIRE(found);
    return *std::move(found);
  }

  void check_shown(const Cure& cure) {
    INFO(cure.finding << " → " << cure.page << " # " << cure.section);
    const auto shown = base().page({.id = cure.page, .section = cure.section});
    REQUIRE(shown);
    CHECK_FALSE(shown->text.empty());
  }
};

/// The pages that the rules of the diagnosis name.
std::set<std::string> findings() {
  const std::regex named(R"re(Treatment\{\s*"([a-z0-9-]+)")re");
  const auto text = test::read_text(test::source_dir() / "kernels/diagnosis/diagnosis_metrics.cpp");
  std::set<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), named); at != std::sregex_iterator(); ++at)
    all.insert("pattern-" + (*at)[1].str());
  return all;
}

std::vector<kbs::Document> methods() {
  std::vector<kbs::Document> all;
  for (const auto& entry :
       fs::directory_iterator(test::source_dir() / "kbs/content/docs/methods")) {
    auto page = kbs::read_page(entry.path().string(), test::read_text(entry.path()));
    REQUIRE(page);
    all.push_back(*std::move(page));
  }
  return all;
}

constexpr std::array kGpuLanguages{"cuda-cpp", "triton", "cutlass", "cute-dsl"};
constexpr std::array kChips{"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"};

TEST_CASE("every finding on a GPU leads to a region for its language and chip") {
  ShippedWiki wiki;
  CHECK(findings().size() > 35);
  int code = 0;
  int advice = 0;
  for (const auto& finding : findings()) {
    if (finding.starts_with("pattern-host-")) continue;
    for (const auto* language : kGpuLanguages)
      for (const auto* chip : kChips) {
        const auto found = wiki.cures(finding, language, chip);
        INFO(finding << " " << language << " " << chip);
        REQUIRE_FALSE(found.empty());
        CHECK(found.size() <= 2);
        for (const auto& cure : found) {
          wiki.check_shown(cure);
          code += cure.code == "advice" ? 0 : 1;
          advice += cure.code == "advice" ? 1 : 0;
          if (cure.page.starts_with("method-"))
            CHECK(cure.section.find(std::string_view(language) == "triton" ? "Triton"
                                    : std::string_view(language) == "cuda-cpp"
                                        ? "CUDA C++"
                                        : "CuTe") != std::string::npos);
        }
      }
  }
  INFO(code << " with code, " << advice << " without");
  CHECK(advice * 10 < code);
}

TEST_CASE("every finding on a processor leads to a region for C++ and for Python") {
  ShippedWiki wiki;
  for (const auto& finding : findings()) {
    if (!finding.starts_with("pattern-host-")) continue;
    for (const auto* language : {"cpp", "python"}) {
      const auto found = wiki.cures(finding, language, "");
      INFO(finding << " " << language);
      REQUIRE_FALSE(found.empty());
      for (const auto& cure : found) wiki.check_shown(cure);
    }
  }
}

TEST_CASE("every method leads to a region for each language and chip that its page names") {
  ShippedWiki wiki;
  const auto all = methods();
  CHECK(all.size() > 60);
  for (const auto& method : all)
    for (const auto& language : method.languages)
      for (const auto& chip : method.architectures) {
        const auto found = wiki.cures(method.id, language.c_str(), chip.name.c_str());
        INFO(method.id << " " << language << " " << chip.name);
        REQUIRE_FALSE(found.empty());
        for (const auto& cure : found) wiki.check_shown(cure);
      }
}

}  // namespace
}  // namespace ratchet
