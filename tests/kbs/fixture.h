#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kbs/commands.h"
#include "kbs/knowledge.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {

inline std::filesystem::path fixture_corpus() {
  return source_dir() / "tests/kbs/fixtures";
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A page whose header has an id and a title.
inline std::string page_text(std::string_view id, std::string_view title, std::string_view body) {
  return std::string("---\nid: ")
      .append(id)
      .append("\ntitle: \"")
      .append(title)
      .append("\"\n---\n\n")
      .append(body)
      .append("\n");
}

/// True when a problem with this path and reason (or a part of them) was reported.
inline bool reported(const KbsAddReport& report, std::string_view path, std::string_view reason) {
  return std::ranges::any_of(report.problems, [&](const KbsProblem& problem) {
    return problem.path.find(path) != std::string::npos &&
           problem.reason.find(reason) != std::string::npos;
  });
}

/// A knowledge base over the corpora that a test adds, in a temporary folder.
class TestKnowledge {
 public:
  KbsAddReport add(const std::filesystem::path& corpus, const std::string& name = "kp") const {
    auto report = kbs_add({.folder = corpus,
                           .name = name,
                           .license = "",
                           .user_index = index(),
                           .progress = {},
                           .stop = {}});
    REQUIRE(report);
    return *report;
  }

  Knowledge& base() {
    if (!base_) {
      auto opened = Knowledge::open({.builtin_index = {}, .user_index = index()});
      REQUIRE(opened);
      base_ = *std::move(opened);
    }
    return *base_;
  }

  QueryAnswer query(const KnowledgeQuery& wanted) {
    auto answer = base().query(wanted);
    REQUIRE(answer);
    return *answer;
  }

  std::vector<std::string> ids(const KnowledgeQuery& wanted) {
    std::vector<std::string> out;
    for (const auto& hit : query(wanted).results) out.push_back(hit.id);
    return out;
  }

  [[nodiscard]] std::filesystem::path index() const { return folder_ / "index.db"; }
  [[nodiscard]] const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_;
  std::unique_ptr<Knowledge> base_;
};

/// The corpus under tests/kbs/fixtures, indexed.
class FixtureKnowledge : public TestKnowledge {
 public:
  FixtureKnowledge() { add(fixture_corpus()); }
};

}  // namespace ratchet::test
