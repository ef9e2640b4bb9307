#include "kbs/query/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kbs/index/code_row.h"

namespace ratchet::kbs {
namespace {

// Chosen on the development judgments as round numbers on a flat optimum. Fields in column order.
constexpr double kSaturation = 3;
constexpr std::array<double, kFtsFields> kWeights{2, 6, 3, 3, 3, 1};
constexpr std::array<double, kFtsFields> kLengthNorm{0.5, 0.5, 0.5, 0.5, 0.5, 0.7};

// Code, by hand on a few dozen questions about identifiers; no judgments exist for it.
constexpr double kNamed = 1.6;       // what a part defines, or its path
constexpr double kTypicalPart = 64;  // distinct terms
constexpr double kPartLength = 0.25;

// Fields from the most telling to the least.
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

/// Documents that hold each phrase: counted among the found, or known where the phrase was only
/// looked up.
void add_frequencies(const RankingSource& source, std::vector<double>& frequency) {
  std::vector<double> found(frequency.size());
  for (const auto& posting : source.postings->postings) ++found[posting.phrase];
  for (std::size_t i = 0; i < found.size(); ++i)
    frequency[i] += std::max(found[i], (*source.frequencies)[i]);
}

double idf_of(double documents, double all) {
  return std::log(1 + (std::max(all - documents, 0.0) + 0.5) / (documents + 0.5));
}

Corpus describe(const QueryPlan& plan, std::span<const RankingSource> sources) {
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

/// Saturated frequency of a phrase in a document, 0..k1+1.
double weight_of(const Posting& posting, const DocumentStatistics& document, const Corpus& corpus) {
  double frequency = 0;
  for (std::size_t f = 0; f < kFtsFields; ++f) {
    if (posting.counts[f] == 0) continue;
    const double length = document.lengths[f] / corpus.mean_length[f];
    frequency += kWeights[f] * posting.counts[f] / (1 - kLengthNorm[f] + kLengthNorm[f] * length);
  }
  return frequency * (kSaturation + 1) / (frequency + kSaturation);
}

/// What a term is worth: the information of its exact form, or of the rarest other form when the
/// exact one does not occur in the corpus at all.
double worth_of(const PlanTerm& term, const Corpus& corpus) {
  return corpus.idf[term.alternatives.front().phrases.front()];
}

bool names_subject(const Posting& posting) {
  return posting.counts[static_cast<std::size_t>(FtsField::id)] != 0 ||
         posting.counts[static_cast<std::size_t>(FtsField::title)] != 0 ||
         posting.counts[static_cast<std::size_t>(FtsField::tags)] != 0;
}

/// Scores one document from its postings; `found` is scratch space, one slot a phrase.
class DocumentScorer {
 public:
  DocumentScorer(const QueryPlan& plan, const Corpus& corpus)
      : plan_(plan), corpus_(corpus), weight_(plan.phrases.size()), subject_(plan.phrases.size()) {
    for (const auto& term : plan.terms) total_ += worth_of(term, corpus);
  }

  /// `weigh(posting)`: how much the phrase counts in this document.
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
  const auto corpus = describe(plan, sources);
  DocumentScorer scorer(plan, corpus);
  std::vector<Scored> all;
  for (std::uint32_t s = 0; s < sources.size(); ++s) {
    const auto& postings = sources[s].postings->postings;
    for (std::size_t begin = 0; begin < postings.size();) {
      auto end = begin;
      while (end < postings.size() && postings[end].row == postings[begin].row) ++end;
      Scored scored;
      scored.source = s;
      scored.row = sources[s].postings->rows[postings[begin].row];
      scored.first = static_cast<std::uint32_t>(begin);
      scored.count = static_cast<std::uint32_t>(end - begin);
      const auto& document = sources[s].statistics->of(scored.row);
      scorer.score(
          {&postings[begin], end - begin},
          [&](const Posting& posting) { return weight_of(posting, document, corpus); }, scored);
      if (scored.matched != 0) all.push_back(scored);
      begin = end;
    }
  }
  return all;
}

namespace {

Corpus describe_code(const QueryPlan& plan, std::span<const RankingSource> sources) {
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
  const auto corpus = describe_code(plan, sources);
  DocumentScorer scorer(plan, corpus);
  std::vector<Scored> all;
  for (std::uint32_t s = 0; s < sources.size(); ++s) {
    const auto& postings = sources[s].postings->postings;
    std::int64_t last_file = -1;  // rows come in order, so a file's parts stand together
    for (std::size_t begin = 0; begin < postings.size();) {
      auto end = begin;
      while (end < postings.size() && postings[end].row == postings[begin].row) ++end;
      Scored scored{
          .source = s, .row = sources[s].postings->rows[postings[begin].row], .code = true};
      scored.first = static_cast<std::uint32_t>(begin);
      scored.count = static_cast<std::uint32_t>(end - begin);
      const auto place = CodeRow::of(scored.row);
      scorer.score(
          {&postings[begin], end - begin},
          [&](const Posting& posting) { return weight_of_code(posting, place.magnitude); }, scored);
      begin = end;
      if (scored.matched == 0) continue;
      if (place.file != last_file)
        all.push_back(scored);
      else if (scored.score > all.back().score)
        all.back() = scored;
      last_file = place.file;
    }
  }
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
      if (shown) break;  // the first form of a word that occurs says enough
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
