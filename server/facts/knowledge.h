#pragma once

// Answers of the knowledge base. Created by `kbs`; `server/runs` logs queries in the ledger so that
// evidence can be verified.

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/core/origin.h"

namespace ratchet {

/// What a run is about, for ranking. Empty fields are unknown.
struct QuerySituation {
  std::string architecture;           ///< sm_90a, NVIDIA H200, …
  std::string language;               ///< cuda-cpp, triton, …
  std::string bound;                  ///< of the latest profile: memory, compute, …
  std::vector<std::string> findings;  ///< ids of pattern pages named by the diagnosis
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
  std::optional<std::string> code;  ///< how its complete code was tried: measured or compiled
  Origin origin = {};               ///< the added corpus; empty: the shipped wiki

  static constexpr void fields(auto&& visit) {
    using H = QueryHit;
    visit(required<&H::id>("Page id."), required<&H::title>("Title."),
          required<&H::scope>("wiki, docs, blogs, contests, prs, diffs or snapshots."),
          required<&H::score>("Higher is better."),
          required<&H::why>("Fields and terms that matched."),
          required<&H::snippet>("Text around the matches."),
          required<&H::confidence>("How reliable the page is."),
          required<&H::architectures>("Architectures it applies to."),
          required<&H::license>("License of the text."),
          required<&H::path>("path:line of the snippet."),
          required<&H::content_digest>("SHA-256 of the page."),
          optional<&H::code>("Has complete code that was measured, or only compiled."));
  }
};

struct QueryAnswer {
  std::string query_id;
  std::vector<QueryHit> results;
  int total = 0;
  std::string relaxed;              ///< how many of the terms had to match: all, most, any or none
  bool weak = false;                ///< nothing matches well; the nearest results are shown
  std::optional<std::string> note;  ///< for example that invalid syntax was searched as text
  std::optional<std::string> next_cursor;

  static constexpr void fields(auto&& visit) {
    using A = QueryAnswer;
    visit(required<&A::query_id>("Cite this id in evidence."), required<&A::results>("Best first."),
          required<&A::total>("Number of matches."),
          required<&A::relaxed>("How many of the terms had to match: all, most, any or none."),
          required<&A::weak>("Nothing matches well."),
          optional<&A::note>("How the query was understood."),
          optional<&A::next_cursor>("Pass as cursor for the next page."));
  }
};

struct GrepHit {
  std::string id;
  std::string path;
  int line = 0;
  std::string text;    ///< the matching line, with context lines if requested
  Origin origin = {};  ///< as of a QueryHit

  static constexpr void fields(auto&& visit) {
    using H = GrepHit;
    visit(required<&H::id>("Page id."), required<&H::path>("File of the page."),
          required<&H::line>("Line of the match, counted from 1."),
          required<&H::text>("The line, with context if requested."));
  }
};

struct GrepAnswer {
  std::vector<GrepHit> hits;
  int total = 0;
  std::optional<std::string> note;  ///< for example that invalid syntax was searched as text
  std::optional<std::string> next_cursor;

  static constexpr void fields(auto&& visit) {
    using A = GrepAnswer;
    visit(required<&A::hits>("In index order."),
          required<&A::total>("Matching lines, or pages with files_only."),
          optional<&A::note>("How the query was understood."),
          optional<&A::next_cursor>("Pass as cursor for the next page."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<QueryHit>();
extern template const FieldTable& table_of<QueryAnswer>();
extern template const FieldTable& table_of<GrepHit>();
extern template const FieldTable& table_of<GrepAnswer>();
}  // namespace ratchet::fields_detail
