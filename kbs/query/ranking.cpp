#include "kbs/query/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kbs/index/code_row.h"

namespace ratchet::kbs {
namespace {

// Round numbers near a flat optimum on one half of the development judgments, checked on the other.
// Fields in column order.
constexpr double kSaturation = 4;
constexpr std::array<double, kFtsFields> kWeights{2, 6, 3, 3, 3, 1};
constexpr std::array<double, kFtsFields> kLengthNorm{0.5, 0.5, 0.5, 0.5, 0.5, 0.8};
// Words that stand together as in the query.
constexpr double kTogether = 2;
constexpr double kTogetherSaturation = 5;

// For code, chosen by hand on a few dozen questions about identifiers; there are no judgments.
constexpr double kNamed = 1.6;       // weight of a match in what a part defines, or in its path
constexpr double kTypicalPart = 64;  // number of distinct terms
constexpr double kPartLength = 0.25;

// Fields from the highest weight to the lowest.
constexpr std::array<std::size_t, kFtsFields> kByWeight{1, 3, 2, 4, 0, 5};

std::size_t strongest_field(const Posting& posting) {
  for (const auto field : kByWeight)
    if (posting.counts[field] != 0) return field;
  return kFtsFields - 1;
}

struct Corpus {
  double documents = 0;
  std::array<double, kFtsFields> mean_length{};
  std::vector<double> idf;  // per phrase
};

/// Adds the number of documents that contain each phrase: counted among the matches, or known from
/// the index where the phrase was only looked up.
void add_frequencies(const RankingSource& source, std::vector<double>& frequency) {
  std::vector<double> found(frequency.size());
  for (const auto& posting : source.postings->postings) ++found[posting.phrase];
  for (std::size_t i = 0; i < found.size(); ++i)
    frequency[i] += std::max(found[i], (*source.frequencies)[i]);
}

double idf_of(double documents, double all) {
  return std::log(1 + (std::max(all - documents, 0.0) + 0.5) / (documents + 0.5));
}

Corpus corpus_of(const QueryPlan& plan, std::span<const RankingSource> sources) {
  Corpus corpus;
  std::vector<double> frequency(plan.phrases.size());
  for (const auto& source : sources) {
    corpus.documents += source.statistics->count;
    for (std::size_t f = 0; f < kFtsFields; ++f)
      corpus.mean_length[f] += source.statistics->lengths[f];
    add_frequencies(source, frequency);
  }
  for (auto& length : corpus.mean_length)
    length = std::max(length / std::max(corpus.documents, 1.0), 1.0);
  for (const double documents : frequency)
    corpus.idf.push_back(idf_of(documents, corpus.documents));
  return corpus;
}

/// Saturated frequency of a phrase in a document: 0 to `kSaturation` + 1.
double weight_of(const Posting& posting, const DocumentStatistics& document, const Corpus& corpus) {
  double frequency = 0;
  for (std::size_t f = 0; f < kFtsFields; ++f) {
    if (posting.counts[f] == 0) continue;
    const double length = document.lengths[f] / corpus.mean_length[f];
    frequency += kWeights[f] * posting.counts[f] / (1 - kLengthNorm[f] + kLengthNorm[f] * length);
  }
  return frequency * (kSaturation + 1) / (frequency + kSaturation);
}

/// What a phrase adds by following the one before it in the query: 0 to `kTogether`.
double following_of(const Posting& posting) {
  double frequency = 0;
  for (std::size_t f = 0; f < kFtsFields; ++f) frequency += kWeights[f] * posting.following[f];
  return kTogether * frequency / (frequency + kTogetherSaturation);
}

/// The information content of a term: the inverse document frequency of its exact form.
double worth_of(const PlanTerm& term, const Corpus& corpus) {
  return corpus.idf[term.alternatives.front().phrases.front()];
}

bool names_subject(const Posting& posting) {
  return posting.counts[static_cast<std::size_t>(FtsField::id)] != 0 ||
         posting.counts[static_cast<std::size_t>(FtsField::title)] != 0 ||
         posting.counts[static_cast<std::size_t>(FtsField::tags)] != 0;
}

/// Calls `visit(scored, postings)` for each row of each source; source, row, first and count are
/// set.
template <class Visit>
void for_each_match(std::span<const RankingSource> sources, Visit visit) {
  for (std::uint32_t s = 0; s < sources.size(); ++s) {
    const auto& rows = sources[s].postings->rows;
    const std::span all(sources[s].postings->postings);
    for (std::size_t begin = 0; begin < all.size();) {
      auto end = begin;
      while (end < all.size() && all[end].row == all[begin].row) ++end;
      visit(Scored{.source = s,
                   .row = rows[all[begin].row],
                   .first = static_cast<std::uint32_t>(begin),
                   .count = static_cast<std::uint32_t>(end - begin)},
            all.subspan(begin, end - begin));
      begin = end;
    }
  }
}

/// Scores one document at a time from its postings.
class DocumentScorer {
 public:
  DocumentScorer(const QueryPlan& plan, const Corpus& corpus)
      : plan_(plan), corpus_(corpus), weight_(plan.phrases.size()), subject_(plan.phrases.size()) {
    for (const auto& term : plan.terms) total_ += worth_of(term, corpus);
  }

  /// `weigh(posting)`: the weight of the phrase in this document.
  template <class Weigh>
  void score(std::span<const Posting> postings, Weigh weigh, Scored& out) {
    for (const auto& posting : postings) {
      weight_[posting.phrase] = weigh(posting);
      subject_[posting.phrase] = names_subject(posting) ? 1 : 0;
    }
    double covered = 0;
    double about = 0;
    for (std::size_t t = 0; t < plan_.terms.size(); ++t) {
      const auto [best, subject] = best_of(plan_.terms[t]);
      if (best <= 0) continue;
      out.score += best;
      out.matched |= std::uint64_t{1} << t;
      const double worth = worth_of(plan_.terms[t], corpus_);
      covered += worth;
      if (subject) about += worth;
    }
    out.coverage = total_ > 0 ? covered / total_ : 0;
    out.about = total_ > 0 ? about / total_ : 0;
    for (const auto& posting : postings) weight_[posting.phrase] = 0;
  }

 private:
  struct Best {
    double score = 0;
    bool subject = false;
  };

  Best best_of(const PlanTerm& term) const {
    Best best;
    for (const auto& alternative : term.alternatives) {
      double sum = 0;
      bool all = true;
      bool subject = true;
      for (const auto phrase : alternative.phrases) {
        all = all && weight_[phrase] > 0;
        sum += corpus_.idf[phrase] * weight_[phrase];
        subject = subject && subject_[phrase];
      }
      if (!all) continue;
      const double score = alternative.weight * sum;
      if (score > best.score) best.score = score;
      best.subject = best.subject || subject;
    }
    return best;
  }

  const QueryPlan& plan_;
  const Corpus& corpus_;
  std::vector<double> weight_;
  std::vector<char> subject_;
  double total_ = 0;
};

}  // namespace

std::vector<Scored> score_matches(const QueryPlan& plan, std::span<const RankingSource> sources) {
  const auto corpus = corpus_of(plan, sources);
  DocumentScorer scorer(plan, corpus);
  std::vector<Scored> all;
  for_each_match(sources, [&](Scored scored, std::span<const Posting> postings) {
    const auto& document = sources[scored.source].statistics->of(scored.row);
    scorer.score(
        postings, [&](const Posting& posting) { return weight_of(posting, document, corpus); },
        scored);
    if (scored.matched == 0) return;
    for (const auto& posting : postings)
      scored.score += corpus.idf[posting.phrase] * following_of(posting);
    all.push_back(scored);
  });
  return all;
}

namespace {

Corpus code_corpus_of(const QueryPlan& plan, std::span<const RankingSource> sources) {
  Corpus corpus;
  std::vector<double> frequency(plan.phrases.size());
  for (const auto& source : sources) {
    corpus.documents += source.code->parts;
    add_frequencies(source, frequency);
  }
  for (const double documents : frequency)
    corpus.idf.push_back(idf_of(documents, corpus.documents));
  return corpus;
}

double weight_of_code(const Posting& posting, unsigned magnitude) {
  const bool named = posting.counts[static_cast<std::size_t>(FtsField::title)] != 0;
  const double length = std::ldexp(1.0, static_cast<int>(magnitude)) / kTypicalPart;
  return (named ? kNamed : 1.0) / (1 - kPartLength + kPartLength * length);
}

}  // namespace

std::vector<Scored> score_code(const QueryPlan& plan, std::span<const RankingSource> sources) {
  const auto corpus = code_corpus_of(plan, sources);
  DocumentScorer scorer(plan, corpus);
  std::vector<Scored> all;
  for_each_match(sources, [&](Scored scored, std::span<const Posting> postings) {
    const auto place = CodeRow::of(scored.row);
    scored.code = true;
    scorer.score(
        postings, [&](const Posting& posting) { return weight_of_code(posting, place.magnitude); },
        scored);
    if (scored.matched == 0) return;
    // Rows are in order, so the parts of a file are adjacent.
    const bool same_file = !all.empty() && all.back().source == scored.source &&
                           CodeRow::of(all.back().row).file == place.file;
    if (!same_file)
      all.push_back(scored);
    else if (scored.score > all.back().score)
      all.back() = scored;
  });
  return all;
}

std::string explain(const QueryPlan& plan, const RankingSource& source, const Scored& scored) {
  std::array<std::vector<std::string_view>, kFtsFields> found;
  std::vector<std::string_view> missing;
  const std::span postings(source.postings->postings.data() + scored.first, scored.count);
  for (std::size_t t = 0; t < plan.terms.size(); ++t) {
    const auto& term = plan.terms[t];
    if ((scored.matched >> t & 1U) == 0 && scored.count > 0) missing.push_back(term.surface);
    for (const auto& alternative : term.alternatives) {
      bool shown = false;
      for (const auto phrase : alternative.phrases) {
        const auto posting = std::ranges::find(postings, phrase, &Posting::phrase);
        if (posting == postings.end()) continue;
        const bool exact = alternative.kind == Alternative::Kind::exact;
        auto& words = found[strongest_field(*posting)];
        const std::string_view word = exact ? std::string_view(term.surface) : plan.phrases[phrase];
        if (std::ranges::find(words, word) == words.end()) words.push_back(word);
        shown = true;
      }
      if (shown) break;  // only the first form of a word that occurs
    }
  }
  std::string why;
  const auto part = [&](std::string_view name, const std::vector<std::string_view>& words) {
    if (!words.empty())
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", name, fmt::join(words, ", "));
  };
  for (const auto field : kByWeight) part(kFtsFieldNames[field], found[field]);
  part("missing", missing);
  return why;
}

}  // namespace ratchet::kbs
