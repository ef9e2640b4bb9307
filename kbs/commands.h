#pragma once

// The commands `ratchet kbs add|remove|stats|doctor`; query, get and grep are in `Knowledge`.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/core/result.h"

namespace ratchet {

/// An input of a corpus that was not indexed.
struct KbsProblem {
  std::string path;
  std::string reason;

  static constexpr void fields(auto&& visit) {
    using P = KbsProblem;
    visit(required<&P::path>("Relative to the corpus."), required<&P::reason>());
  }
};

struct KbsAddOptions {
  std::filesystem::path folder;      ///< a knowledge folder, or one that contains `knowledge/`
  std::string name;                  ///< of the corpus; empty: the folder's name
  std::string license;               ///< for pages that state none; empty: unknown
  std::filesystem::path user_index;  ///< created when missing
  std::function<void(int done, int total)> progress;
  std::stop_token stop;
};

struct KbsAddReport {
  std::string corpus;
  int documents = 0, bundles = 0, added = 0, changed = 0, unchanged = 0, removed = 0;
  std::vector<KbsProblem> problems;

  static constexpr void fields(auto&& visit) {
    using R = KbsAddReport;
    visit(required<&R::corpus>(), required<&R::documents>("Pages and records in the corpus now."),
          required<&R::bundles>("Bundles of code in the corpus now."),
          required<&R::added>("Documents and bundles; so are the next three."),
          required<&R::changed>(), required<&R::unchanged>("Same content hash; not indexed again."),
          required<&R::removed>("No longer in the folder."),
          required<&R::problems>("Skipped, with the reason."));
  }
};

/// Indexes a folder, or updates the index with its changes. The old index stays in use until this
/// succeeds.
/// Errors: `not_found` for the folder, `invalid_argument` for the name, `conflict` while another
/// writer works, `timed_out` when stopped.
Result<KbsAddReport> kbs_add(const KbsAddOptions& options);

struct KbsRemoveReport {
  std::string corpus;
  int removed = 0;

  static constexpr void fields(auto&& visit) {
    using R = KbsRemoveReport;
    visit(required<&R::corpus>(), required<&R::removed>("Documents."));
  }
};

/// Errors: `not_found` when there is no such corpus or no index.
Result<KbsRemoveReport> kbs_remove(const std::filesystem::path& user_index,
                                   const std::string& corpus);

struct KbsCorpus {
  std::string name, root, added_at;
  int documents = 0, bundles = 0, problems = 0;

  static constexpr void fields(auto&& visit) {
    using C = KbsCorpus;
    visit(required<&C::name>(), required<&C::root>(), required<&C::added_at>("UTC."),
          required<&C::documents>("Pages and records."), required<&C::bundles>("Bundles of code."),
          required<&C::problems>("Skipped when it was added."));
  }
};

struct KbsIndexStats {
  std::string path;
  std::int64_t bytes = 0, text_bytes = 0, prefilter_bytes = 0;
  int documents = 0, bundles = 0, parts = 0;
  std::map<std::string, int> scopes;  ///< documents per scope
  std::vector<KbsCorpus> corpora;

  static constexpr void fields(auto&& visit) {
    using S = KbsIndexStats;
    visit(required<&S::path>(), required<&S::bytes>("Size on disk."),
          required<&S::text_bytes>("Text indexed, before compression."),
          required<&S::prefilter_bytes>("For grep_kbs."),
          required<&S::documents>("Pages, records and files of code."),
          required<&S::bundles>("Bundles of code."), required<&S::parts>("Distinct parts of code."),
          required<&S::scopes>("Documents per scope."), required<&S::corpora>());
  }
};

/// Errors: `not_found` without the file.
Result<KbsIndexStats> kbs_stats(const std::filesystem::path& index);

struct KbsDoctorReport {
  bool healthy = true;
  std::vector<std::string> findings;  ///< each problem with its remedy
  std::vector<KbsProblem> problems;   ///< inputs that `add` skipped

  static constexpr void fields(auto&& visit) {
    using R = KbsDoctorReport;
    visit(required<&R::healthy>(), required<&R::findings>("Problems with their remedies."),
          required<&R::problems>("Inputs that were skipped when corpora were added."));
  }
};

/// Runs SQLite's integrity check and checks every stored text and every cited source.
/// Errors: `not_found` without the file.
Result<KbsDoctorReport> kbs_doctor(const std::filesystem::path& index);

}  // namespace ratchet
