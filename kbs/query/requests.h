#pragma once

// Requests to the façade `Knowledge` and its answers, except for the types shared with other
// modules (server/facts/knowledge.h).

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/knowledge.h"

namespace ratchet {

/// A search. The values of one filter are combined with OR, different filters with AND.
struct KnowledgeQuery {
  using Filter = OneOrMany<std::string>;

  std::string text;
  Filter scopes, kinds, repos, tags, architectures, languages, symptoms, confidences;
  std::optional<bool> has_code;
  QuerySituation situation;  ///< of the run that asks; affects ranking, never filters
  int limit = 10;
  std::optional<std::string> cursor;

  static constexpr void fields(auto&& visit) {
    using Q = KnowledgeQuery;
    visit(required("query", &Q::text, "Words, identifiers or a question.", {.max_length = 1048576}),
          optional("scope", &Q::scopes,
                   "wiki, docs, blogs, contests, prs, diffs, snapshots, sources."),
          optional("kind", &Q::kinds, "Page kind, e.g. pattern."),
          optional("repo", &Q::repos, "owner/name."), optional("tag", &Q::tags, ""),
          optional("architecture", &Q::architectures, "sm90, H200, …"),
          optional("language", &Q::languages, "cuda-cpp, triton, …"),
          optional("symptom", &Q::symptoms, ""),
          optional("confidence", &Q::confidences, "verified, source-reported, …"),
          optional<&Q::has_code>("Only pages with code."),
          optional<&Q::limit>("Most results.", {.min = 1, .max = 50}),
          optional<&Q::cursor>("From next_cursor.", {.max_length = 200}));
  }
};

/// A search for lines that match a regular expression (RE2).
struct GrepRequest {
  std::string pattern;
  OneOrMany<std::string> scopes;
  bool ignore_case = false;
  int context = 2;  ///< lines before and after, at most 10
  bool files_only = false;
  int limit = 50;
  std::optional<std::string> cursor;

  static constexpr void fields(auto&& visit) {
    using G = GrepRequest;
    visit(required<&G::pattern>("RE2 regular expression.", {.max_length = 1000}),
          optional("scope", &G::scopes, "As in query_kbs; default all."),
          optional<&G::ignore_case>("Upper and lower case are one."),
          optional<&G::context>("Lines around each match.", {.min = 0, .max = 10}),
          optional<&G::files_only>("Pages instead of lines."),
          optional<&G::limit>("Most hits.", {.min = 1, .max = 200}),
          optional<&G::cursor>("From next_cursor.", {.max_length = 200}));
  }
};

struct PageRequest {
  std::string id;
  std::optional<std::string> section;
  bool follow_sources = false;
  bool include_code = true;
  bool body_only = false;
  bool frontmatter_only = false;
  std::optional<std::string> cursor;

  static constexpr void fields(auto&& visit) {
    using R = PageRequest;
    visit(required<&R::id>("Page id from query_kbs.", {.max_length = 300}),
          optional<&R::section>("Only the section with this heading, or this region of code.",
                                {.max_length = 200}),
          optional<&R::follow_sources>("Also what the page cites."),
          optional<&R::include_code>("Keep code blocks."),
          optional<&R::body_only>("Without front matter."),
          optional<&R::frontmatter_only>("Without the text."),
          optional<&R::cursor>("From next_cursor.", {.max_length = 200}));
  }
};

struct PageSource {
  std::string id;
  std::string title;
  std::string publisher;

  static constexpr void fields(auto&& visit) {
    visit(required<&PageSource::id>(), required<&PageSource::title>(),
          required<&PageSource::publisher>());
  }
};

/// A page whose region shows the cure of a finding.
struct Cure {
  std::string finding;  ///< id of the pattern or method page
  std::string page;
  std::string section;
  std::string code;  ///< measured, compiled, fragment or advice

  static constexpr void fields(auto&& visit) {
    visit(required<&Cure::finding>("Pattern or method."),
          required<&Cure::page>("For get_kbs_page."),
          required<&Cure::section>("The region to read."),
          required<&Cure::code>("measured or compiled: complete; fragment or advice: not."));
  }
};

struct Page {
  std::string id;
  std::string title;
  std::string text;
  Json front_matter;
  std::string path;  ///< of the file that it was read from; path:line for a part of a file
  std::string license;
  std::string content_digest;
  std::vector<PageSource> sources;
  std::optional<std::string> next_cursor;
  Origin origin = {};  ///< the added corpus; empty: the shipped wiki

  static constexpr void fields(auto&& visit) {
    using P = Page;
    visit(required<&P::id>(), required<&P::title>(), required<&P::text>("Markdown."),
          required<&P::front_matter>(), required<&P::path>("To cite it by."),
          required<&P::license>("Or unknown."), required<&P::content_digest>("SHA-256, hex."),
          required<&P::sources>(), optional<&P::next_cursor>("More text follows."));
  }
};

/// One hardware fact, with its file and line as a citation.
struct Spec {
  std::string metric;
  double value = 0;
  std::string unit;
  std::string qualifier;  ///< peak, dense, boost, …
  std::string kind;       ///< datasheet, runtime or measured
  std::string citation;   ///< "<metric>: <value> <unit> <- <path>:<line>"

  static constexpr void fields(auto&& visit) {
    using S = Spec;
    visit(required<&S::metric>(), required<&S::value>(), required<&S::unit>(),
          required<&S::qualifier>(), required<&S::kind>("datasheet, runtime or measured."),
          required<&S::citation>("metric: value unit <- path:line"));
  }
};

struct SpecAnswer {
  std::string product;  ///< id of the matching hardware page; empty when there is none
  std::vector<Spec> specs;
  std::optional<std::string> unknown;               ///< the line to record when nothing is known
  std::optional<std::vector<std::string>> metrics;  ///< instead, nearest first
  Origin origin = {};                               ///< as of a Page

  static constexpr void fields(auto&& visit) {
    using S = SpecAnswer;
    visit(required<&S::product>("Hardware page."), required<&S::specs>(),
          optional<&S::unknown>("Line to archive when unknown."),
          optional<&S::metrics>("What this product has instead, nearest first."));
  }
};

}  // namespace ratchet
