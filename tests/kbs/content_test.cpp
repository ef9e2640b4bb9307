// Consistency of the shipped wiki: every page can be read, every link resolves, every number has a
// source, and every hardware metric is cited with its line.

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "kbs/documents/page_reader.h"
#include "tests/kbs/fixture.h"
#include "tests/support/places.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

fs::path content() {
  return test::source_dir() / "kbs/content";
}

struct ContentPage {
  fs::path path;  // relative to the content
  kbs::Document document;
  Json header;
};

const std::vector<ContentPage>& pages() {
  static const auto all = [] {
    std::vector<ContentPage> read;
    for (const auto& entry : fs::recursive_directory_iterator(content())) {
      const auto relative = entry.path().lexically_relative(content());
      if (!entry.is_regular_file() || relative == "vocabulary.yaml") continue;
      auto text = test::read_text(entry.path());
      INFO(relative.string());
      if (entry.path().extension() != ".md") {
        auto page = kbs::page_of_code(relative.generic_string(), text);
        if (!page) FAIL(page.error().message);
        text = *std::move(page);
      }
      auto document = kbs::read_page(relative.generic_string(), text);
      if (!document) FAIL(document.error().message);
      auto header = kbs::header_json(kbs::split_page(text).header);
      REQUIRE(header);
      read.push_back({relative, *std::move(document), *std::move(header)});
    }
    return read;
  }();
  return all;
}

std::set<std::string> ids() {
  std::set<std::string> all;
  for (const auto& page : pages()) all.insert(page.document.id);
  return all;
}

std::set<std::string> words_of(const Json& vocabulary, const char* name) {
  std::set<std::string> words;
  for (const auto& word : vocabulary.at(name)) words.insert(word.get<std::string>());
  return words;
}

Json vocabulary() {
  auto json = kbs::header_json(test::read_text(content() / "vocabulary.yaml"));
  REQUIRE(json);
  return *std::move(json);
}

TEST_CASE("every page of the wiki can be read and has a unique id") {
  CHECK(pages().size() > 150);
  CHECK(ids().size() == pages().size());
}

TEST_CASE("the wiki uses only words of its vocabulary") {
  const auto known = vocabulary();
  const std::map<std::string, std::string> lists{
      {"tags", "tags"}, {"architectures", "architectures"}, {"languages", "languages"}};
  for (const auto& page : pages()) {
    INFO(page.path.string());
    CHECK(words_of(known, "kinds").contains(page.document.kind));
    CHECK(words_of(known, "confidence").contains(page.document.confidence));
    for (const auto& [field, list] : lists)
      for (const auto& word : page.header.value(field, Json::array())) {
        INFO(field << ": " << word.get<std::string>());
        CHECK(words_of(known, list.c_str()).contains(word.get<std::string>()));
      }
  }
}

TEST_CASE("related pages and candidate techniques of the wiki exist") {
  const auto known = ids();
  for (const auto& page : pages())
    for (const auto* field : {"related", "candidate_techniques"})
      for (const auto& id : page.header.value(field, Json::array())) {
        INFO(page.path.string() << " " << field << " " << id.get<std::string>());
        CHECK(known.contains(id.get<std::string>()));
      }
}

TEST_CASE("every page of code cures something, and the region that shows it can be read") {
  test::TestKnowledge kb;
  kb.add(content(), "gpu-wiki");
  const auto known = ids();
  for (const auto& page : pages()) {
    INFO(page.path.string());
    if (page.document.kind == "code") CHECK_FALSE(page.document.cures.empty());
    for (const auto& cure : page.document.cures) {
      INFO(cure.id << ": " << cure.region);
      CHECK(known.contains(cure.id));
      const auto shown = kb.base().page({.id = page.document.id, .section = cure.region});
      REQUIRE(shown);
      CHECK(shown->text.find("region " + cure.region) != std::string::npos);
    }
  }
}

TEST_CASE("a page that was merged into another is found under its old id") {
  test::TestKnowledge kb;
  kb.add(content(), "gpu-wiki");
  for (const auto& [old_id, id] : std::map<std::string, std::string>{
           {"technique-coalescing", "method-coalesced-access"},
           {"technique-kernel-fusion", "method-kernel-fusion"},
           {"technique-split-k", "method-split-k-parallel-reduce"},
           {"technique-persistent-kernel", "method-persistent-kernel"},
           {"technique-vectorized-access", "method-vectorized-access"},
           {"technique-bank-conflict-avoidance", "method-bank-conflict"},
           {"technique-shared-memory-tiling", "method-tiling-smem"},
           {"technique-warp-specialization", "method-warp-specialization"},
           {"technique-register-tiling-ilp", "method-ilp-unroll-register-tile"},
           {"technique-atomics-aggregation", "method-warp-aggregated-atomics"},
           {"technique-launch-overhead-graphs", "method-cuda-graphs"},
           {"technique-divergence-reduction", "method-branch-eliminate"},
           {"technique-warp-shuffle-reduction", "method-reduction"},
           {"technique-occupancy-tuning", "method-launch-config"},
           {"technique-async-copy-pipeline", "method-multi-stage-pipeline"},
           {"technique-tensor-cores-wgmma", "method-tensor-core"},
           {"technique-online-softmax", "method-online-recomputation"}}) {
    INFO(old_id);
    const auto page = kb.base().page({.id = old_id});
    REQUIRE(page);
    CHECK(page->id == id);
    const auto answer = kb.query({.text = old_id});
    REQUIRE_FALSE(answer.results.empty());
    CHECK(answer.results.front().id == id);
  }
  CHECK_FALSE(kb.base().page({.id = "technique-never-written"}));
}

TEST_CASE("links between pages of the wiki resolve to files") {
  const std::regex link(R"(\]\(([^)#:\s]+\.(md|yaml))(#[^)]*)?\))");
  for (const auto& page : pages()) {
    const std::string text = page.document.text;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), link);
         at != std::sregex_iterator(); ++at) {
      INFO(page.path.string() << " links to " << (*at)[1].str());
      CHECK(fs::exists(content() / page.path.parent_path() / (*at)[1].str()));
    }
  }
}

TEST_CASE("the wiki's table of contents lists every page with its id") {
  const auto index = test::read_text(content() / "README.md");
  for (const auto& page : pages()) {
    if (page.path == "README.md") continue;
    INFO(page.path.string());
    CHECK(index.find("(" + page.path.generic_string() + ")") != std::string::npos);
    CHECK(index.find("`" + page.document.id + "`") != std::string::npos);
  }
}

TEST_CASE("every number on a hardware page cites a source that the page defines") {
  const auto known = vocabulary();
  for (const auto& page : pages()) {
    std::set<std::string> sources;
    for (const auto& source : page.document.sources) sources.insert(source.id);
    INFO(page.path.string());
    CHECK_FALSE(sources.empty());
    for (const auto& row : page.document.specs) {
      INFO("line " << row.line << ": " << row.metric);
      CHECK(sources.contains(row.source));
      CHECK(words_of(known, "metrics").contains(row.metric));
      CHECK(words_of(known, "metric_kinds").contains(row.kind));
      CHECK_FALSE(row.unit.empty());
    }
  }
}

TEST_CASE("every source of the wiki that is not our own has an address") {
  for (const auto& page : pages())
    for (const auto& source : page.header.value("sources", Json::array())) {
      const auto publisher = source.value("publisher", "");
      if (publisher == "ratchet" || publisher == "third parties") continue;
      INFO(page.path.string() << ": " << source.dump());
      CHECK(source.value("url", "").starts_with("https://"));
    }
}

TEST_CASE(
    "every source of the wiki that is not our own has a date, and a manual section and version") {
  // What changes in place; a paper, a data sheet, an issue does not.
  const std::regex rolling(
      R"(https://(docs\.nvidia\.com|gcc\.gnu\.org|triton-lang\.org|www\.openmp\.org|numpy\.org|rocm\.docs\.amd\.com|github\.com/[^/]+/[^/]+$).*)");
  for (const auto& page : pages())
    for (const auto& source : page.header.value("sources", Json::array())) {
      const auto url = source.value("url", "");
      if (url.empty()) continue;
      INFO(page.path.string() << ": " << source.dump());
      REQUIRE(source.contains("date"));
      CHECK(std::regex_match(
          source["date"].is_number() ? source["date"].dump() : source["date"].get<std::string>(),
          std::regex(R"(\d{4}(-\d\d(-\d\d)?)?)")));
      if (!std::regex_match(url, rolling)) continue;
      CHECK_FALSE(source.value("section", "").empty());
      CHECK_FALSE(source.value("version", "").empty());
    }
}

TEST_CASE("no page of the wiki estimates a gain as a range that nobody measured") {
  const std::regex range(R"([0-9.]+x (to|or) [0-9.]+x)");
  for (const auto& page : pages()) {
    const std::string body(kbs::split_page(page.document.text).body);
    std::smatch found;
    const bool any = std::regex_search(body, found, range);
    INFO(page.path.string() << ": " << (any ? found.str() : ""));
    CHECK_FALSE(any);
  }
}

TEST_CASE("the wiki is spelled as in the United States", "[slow]") {
  // British forms of the words that the wiki uses most; searches find both spellings.
  const std::regex british(
      R"(\b\w*((vector|special|quant|util|optim|synchron|serial|privat|parallel|initial|normal|material)is(e|ed|es|ing|ation)|neighbour|behaviour|colour|favour|centre)\w*)",
      std::regex::icase);
  for (const auto& page : pages()) {
    const auto text =
        page.document.title + "\n" + std::string(kbs::split_page(page.document.text).body);
    std::smatch found;
    INFO(page.path.string());
    const bool any = std::regex_search(text, found, british);
    INFO((any ? found.str() : ""));
    CHECK_FALSE(any);
  }
}

TEST_CASE("every metric of every shipped hardware page is cited with its line") {
  test::TestKnowledge kb;
  kb.add(content(), "gpu-wiki");
  int rows = 0;
  for (const auto& page : pages()) {
    if (page.document.specs.empty()) continue;
    const auto answer = kb.base().lookup_spec(page.document.id, std::nullopt);
    REQUIRE(answer);
    REQUIRE(answer->specs.size() == page.document.specs.size());
    std::istringstream text(page.document.text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    for (const auto& spec : answer->specs) {
      const auto colon = spec.citation.rfind(':');
      const auto number = std::stoul(spec.citation.substr(colon + 1));
      INFO(spec.citation);
      REQUIRE(number <= lines.size());
      CHECK(lines[number - 1].find("id: " + spec.metric + ",") != std::string::npos);
      CHECK(spec.citation.find(" <- " + page.path.generic_string() + ":") != std::string::npos);
      ++rows;
    }
  }
  CHECK(rows > 100);
}

TEST_CASE("where what is known of a shipped device differs, each figure is shown with its kind") {
  test::TestKnowledge kb;
  kb.add(content(), "gpu-wiki");
  const auto answer = kb.base().lookup_spec("NVIDIA H200", "l2_size");
  REQUIRE(answer);
  REQUIRE(answer->specs.size() == 2);
  CHECK(answer->specs[0].citation.starts_with("l2_size: 50 MB <- "));
  CHECK(answer->specs[0].kind == "datasheet");
  CHECK(answer->specs[1].citation.starts_with("l2_size: 60 MB <- "));
  CHECK(answer->specs[1].kind == "runtime");
}

TEST_CASE("the wiki answers common questions within the first three results") {
  test::TestKnowledge kb;
  kb.add(content(), "gpu-wiki");
  const auto answers = [&](const char* text, const char* id) {
    auto ids = kb.ids({.text = text, .limit = 3});
    return std::ranges::find(ids, id) != ids.end();
  };
  CHECK(answers("shared memory bank conflicts", "pattern-bank-conflicts"));
  CHECK(answers("register spills", "pattern-register-spills"));
  CHECK(answers("kernel shorter than launch overhead", "pattern-launch-bound"));
  CHECK(answers("H200", "hw-h200"));
  CHECK(answers("topk on a processor", "kernel-topk-rows"));
  CHECK(answers("prefix sum", "kernel-scan-lookback"));
  CHECK(answers("numpy temporaries", "kernel-numpy-elementwise"));
  CHECK(answers("int4 decode GEMV", "kernel-gemv-w4a16"));
}

TEST_CASE("the built index contains all shipped pages") {
  const auto built = test::build_dir() / "share/ratchet/kbs/builtin.db";
  if (!fs::exists(built)) SKIP("build the target ratchet-data first");
  const auto stats = kbs_stats(built);
  REQUIRE(stats);
  CHECK(stats->documents == static_cast<int>(pages().size()));
}

}  // namespace
}  // namespace ratchet
