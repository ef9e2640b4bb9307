#pragma once

// What a knowledge query returned. Made by `kbs`, logged in a run's ledger by `server/runs` so that
// evidence can be verified.

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"

namespace ratchet {

/// What a run is about, for ranking; empty fields are unknown.
struct QuerySituation {
  std::string architecture;           ///< sm_90a, NVIDIA H200, …
  std::string language;               ///< cuda-cpp, triton, …
  std::string bound;                  ///< of the newest profile: memory, compute, …
  std::vector<std::string> findings;  ///< ids of the pattern pages that the diagnosis names
};

struct QueryHit {
  std::string id;
  std::string title;
  std::string scope;  ///< wiki, docs, blogs, contests, prs, diffs, snapshots
  double score = 0;
  std::string why;      ///< fields and terms that matched
  std::string snippet;  ///< around the hits
  std::string confidence;
  std::vector<std::string> architectures;
  std::string license;
  std::string path;  ///< path:line of the snippet
  std::string content_digest;

  static constexpr void fields(auto&& visit) {
    using H = QueryHit;
    visit(required("id", &H::id, "Page id."), required("title", &H::title, ""),
          required("scope", &H::scope, ""), required("score", &H::score, "Higher is better."),
          required("why", &H::why, "Fields and terms matched."),
          required("snippet", &H::snippet, ""), required("confidence", &H::confidence, ""),
          required("architectures", &H::architectures, ""), required("license", &H::license, ""),
          required("path", &H::path, "path:line."),
          required("content_digest", &H::content_digest, ""));
  }
};

struct QueryAnswer {
  std::string query_id;
  std::vector<QueryHit> results;
  int total = 0;
  std::string relaxed;              ///< which step answered: all, most, any or none
  bool weak = false;                ///< nothing matches well; what is nearest is shown
  std::optional<std::string> note;  ///< for example: bad syntax was searched as text
  std::optional<std::string> next_cursor;

  static constexpr void fields(auto&& visit) {
    using A = QueryAnswer;
    visit(required("query_id", &A::query_id, "Cite it as evidence."),
          required("results", &A::results, "Best first."),
          required("total", &A::total, "Matches in all."),
          required("relaxed", &A::relaxed, "Which step answered: all, most, any, none."),
          required("weak", &A::weak, "Nothing matches well."), optional("note", &A::note, ""),
          optional("next_cursor", &A::next_cursor, "For the next page."));
  }
};

struct GrepHit {
  std::string id;
  std::string path;
  int line = 0;
  std::string text;  ///< the matching line, with context lines around it when asked

  static constexpr void fields(auto&& visit) {
    using H = GrepHit;
    visit(required("id", &H::id, "Page id."), required("path", &H::path, ""),
          required("line", &H::line, "Of the match, counted from 1."),
          required("text", &H::text, ""));
  }
};

struct GrepAnswer {
  std::vector<GrepHit> hits;
  int total = 0;
  std::optional<std::string> note;  ///< for example: bad syntax was searched as text
  std::optional<std::string> next_cursor;

  static constexpr void fields(auto&& visit) {
    using A = GrepAnswer;
    visit(required("hits", &A::hits, "In the order of the index."),
          required("total", &A::total, "Matching lines, or pages with files_only."),
          optional("note", &A::note, ""),
          optional("next_cursor", &A::next_cursor, "For the next page."));
  }
};

}  // namespace ratchet
