#include "kbs/query/specs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "kbs/documents/labels.h"
#include "server/core/text.h"

namespace ratchet::kbs {
namespace {

/// A hardware page with its names.
struct Product {
  DocumentPlace place;
  std::string id, path;
  Origin origin;
  std::vector<std::string> names;  // as written
};

/// The words of a name in lower case. "80 GB" counts as the one word "80gb"; vendor names are
/// dropped.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string(name) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += lower(c);
      continue;
    }
    if (word == "gb" && !words.empty() &&
        std::isdigit(static_cast<unsigned char>(words.back().back())) != 0)
      words.back() += word;
    else if (!word.empty() && word != "nvidia" && word != "amd")
      words.push_back(word);
    word.clear();
  }
  return words;
}

Result<std::vector<Product>> all_products(const Indexes& indexes) {
  std::vector<Product> products;
  for (std::size_t r = 0; r < indexes.readers.size(); ++r) {
    auto connection = indexes.readers[r]->connection();
    if (!connection) return connection.error();
    auto read = for_each_row(**connection,
                             "SELECT rowid, id, corpus, path, product FROM doc "
                             "WHERE rowid IN (SELECT doc FROM spec) ORDER BY id",
                             [&](const Statement& row) {
                               Product product;
                               product.place = {r, row.integer(0)};
                               product.id = indexes.shown_id(r, row.text(1), row.text(2));
                               product.origin = indexes.origin(r, row.text(2));
                               product.path = row.text(3);
                               product.names.push_back(product.id);
                               for (const auto name : lines_of(row.text(4)))
                                 product.names.emplace_back(name);
                               products.push_back(std::move(product));
                             });
    if (!read) return read.error();
  }
  return products;
}

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// The kind of a word that distinguishes sibling products, such as memory size, form factor or
/// variant. Empty for other words. A name with such a word never refers to a product without it.
std::string deciding(std::string_view word) {
  if (word.size() > 2 && word.ends_with("gb") &&
      std::isdigit(static_cast<unsigned char>(word.front())) != 0)
    return std::string(word);
  if (word.starts_with("sxm")) return "sxm";
  for (const std::string_view known :
       {"pcie", "nvl", "oam", "laptop", "mobile", "ti", "super", "d", "max", "3e"})
    if (word == known) return std::string(known);
  return {};
}

bool contradicts(const Product& product, const std::vector<std::string>& wanted) {
  std::vector<std::string> own;
  for (const auto& name : product.names)
    for (const auto& word : words_of(name)) own.push_back(deciding(word));
  return std::ranges::any_of(wanted, [&](const auto& word) {
    const auto kind = deciding(word);
    return !kind.empty() && !holds(own, kind);
  });
}

/// How well a name fits a product: 3 the exact name, 2 the same words in another order, 1 all words
/// of one are among those of the other, 0 not at all. Second, the number of shared words.
std::pair<int, std::size_t> fit(const Product& product, std::string_view wanted) {
  const auto wanted_words = words_of(wanted);
  std::pair<int, std::size_t> best{0, 0};
  for (const auto& name : product.names) {
    if (name.empty()) continue;
    if (squeezed(name) == squeezed(wanted)) return {3, wanted_words.size()};
    const auto words = words_of(name);
    std::size_t common = 0;
    bool model = false;  // a shared model number, such as h200 or 4090
    for (const auto& word : words) {
      if (!holds(wanted_words, word)) continue;
      ++common;
      model = model || (deciding(word).empty() && std::ranges::any_of(word, [](unsigned char c) {
                          return std::isdigit(c) != 0;
                        }));
    }
    const bool within = common == words.size() || common == wanted_words.size();
    if (!model || !within) continue;
    best =
        std::max(best, {common == words.size() && common == wanted_words.size() ? 2 : 1, common});
  }
  return contradicts(product, wanted_words) ? std::pair<int, std::size_t>{} : best;
}

/// The products that fit best; several when the name is ambiguous.
std::vector<const Product*> best_products(const std::vector<Product>& products,
                                          std::string_view wanted) {
  std::vector<const Product*> best;
  std::pair<int, std::size_t> best_fit{1, 0};
  for (const auto& product : products) {
    const auto how = fit(product, wanted);
    if (how.first == 0 || how < best_fit) continue;
    if (how > best_fit) best.clear();
    best_fit = how;
    best.push_back(&product);
  }
  return best;
}

std::string folded_metric(std::string_view metric) {
  std::string out;
  for (const char c : metric) out += c == '-' || c == ' ' ? '_' : lower(c);
  return out;
}

std::string shown_metric(const std::string& metric) {
  std::string line;
  for (const char c : metric.substr(0, 80))
    line += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
  return line;
}

Result<std::vector<Spec>> read_specs(const Indexes& indexes, const Product& product,
                                     const std::optional<std::string>& metric) {
  auto connection = indexes.readers[product.place.reader]->connection();
  if (!connection) return connection.error();
  std::vector<Spec> specs;
  auto read = for_each_row(
      **connection,
      "SELECT metric, value, unit, qualifier, kind, line FROM spec WHERE doc=? ORDER BY ordinal",
      [&](const Statement& row) {
        if (metric && folded_metric(row.text(0)) != folded_metric(*metric)) return;
        Spec spec{std::string(row.text(0)), row.real(1),
                  std::string(row.text(2)), std::string(row.text(3)),
                  std::string(row.text(4)), ""};
        spec.citation = fmt::format("{}: {} {} <- {}:{}", spec.metric, spec.value, spec.unit,
                                    product.path, row.integer(5));
        specs.push_back(std::move(spec));
      },
      product.place.row);
  if (!read) return read.error();
  return specs;
}

/// The metrics of a product, those that share most words with `wanted` first.
Result<std::vector<std::string>> near_metrics(const Indexes& indexes, const Product& product,
                                              std::string_view wanted) {
  auto specs = read_specs(indexes, product, std::nullopt);
  if (!specs) return specs.error();
  const auto wanted_words = words_of(folded_metric(wanted));
  const auto shared = [&](const std::string& metric) {
    const auto words = words_of(metric);
    return std::ranges::count_if(words,
                                 [&](const auto& word) { return holds(wanted_words, word); });
  };
  std::vector<std::string> metrics;
  for (const auto& spec : *specs)
    if (!holds(metrics, spec.metric)) metrics.push_back(spec.metric);
  std::ranges::stable_sort(metrics, std::greater{}, shared);
  return metrics;
}

}  // namespace

Result<SpecAnswer> look_up_spec(const Indexes& indexes, const std::string& product,
                                const std::optional<std::string>& metric) {
  auto products = all_products(indexes);
  if (!products) return products.error();
  const auto best = best_products(*products, std::string_view(product).substr(0, 200));
  SpecAnswer answer;
  const auto unknown =
      fmt::format("{}: UNKNOWN (gpu-wiki not found)", shown_metric(metric.value_or("product")));
  if (best.empty()) {
    answer.unknown = unknown;
    return answer;
  }
  if (best.size() > 1) {
    std::vector<std::string> ids;
    for (const auto* one : best) ids.push_back(one->id);
    return invalid_argument(
        fmt::format("product: '{}' could mean {} products", product, best.size()),
        fmt::format("Name one of {}.", fmt::join(ids, ", ")));
  }
  answer.product = best.front()->id;
  answer.origin = best.front()->origin;
  auto specs = read_specs(indexes, *best.front(), metric);
  if (!specs) return specs.error();
  answer.specs = *std::move(specs);
  if (!answer.specs.empty()) return answer;
  answer.unknown = unknown;
  if (!metric) return answer;
  auto near = near_metrics(indexes, *best.front(), *metric);
  if (!near) return near.error();
  answer.metrics = *std::move(near);
  return answer;
}

}  // namespace ratchet::kbs
