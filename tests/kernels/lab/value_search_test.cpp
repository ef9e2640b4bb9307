// Searches for input values that a kernel answers wrongly, or that change its time.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "kernels/judge/recipe_source.h"
#include "kernels/judge/trial_plan.h"
#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

const std::string kRecipeSeed(64, '7');

struct Searching : LabFixture {
  Contract contract;

  Candidate candidate(const std::string& body, int n = 3000) {
    contract = doubling(doubling_source(body), n);
    return built(contract);
  }

  SearchedValues search(const Candidate& one, const Candidate* yardstick = nullptr,
                        double seconds = 5) {
    auto found = lab->search_values(contract, {&one, yardstick, seconds}, "secret", call);
    if (!found) FAIL(found.error().message);
    return *std::move(found);
  }

  CorrectnessReport checked(const Candidate& one) {
    auto report = lab->check(contract, one, "secret", call);
    if (!report) FAIL(report.error().message);
    return *std::move(report);
  }
};

/// Counts zeros; `otherwise` is what happens where nine tenths are.
std::string where_sparse(const std::string& otherwise, const std::string& usual) {
  return "int zeros = 0; for (int i = 0; i < n; ++i) zeros += x[i] == 0;"
         "if (n > 20 && zeros >= 0.88 * n) {" +
         otherwise + "} else {" + usual + "}";
}

std::string times_over(int times) {
  return "for (int t = 0; t < " + std::to_string(times) +
         "; ++t) for (int i = 0; i < n; ++i) ((volatile float*)y)[i] = 2 * x[i];";
}

bool is_kept(const ValueSearch& search, const std::string& beginning) {
  return std::ranges::any_of(
      search.kept, [&](const std::string& values) { return values.starts_with(beginning); });
}

/// With a search that found something: neighbors on the processor hide it from a session of some
/// seconds, so up to four are asked.
Profile profiled(Searching& fixture, const Candidate& one, const Candidate& parent,
                 double seconds) {
  constexpr int kMost = 4;
  ProfileRequest request{.candidate = &one, .parent = &parent, .search = seconds};
  Profile found;
  for (int asked = 0; asked < kMost && !(found.time_depends_on_values && found.search &&
                                         !found.search->kept.empty());
       ++asked) {
    auto profile = fixture.lab->profile(fixture.contract, request, "secret", fixture.call);
    if (!profile) FAIL(profile.error().message);
    found = *std::move(profile);
  }
  return found;
}

}  // namespace

TEST_CASE("a search asks a grid of all kinds first, in a secret order, and nothing twice",
          "[search]") {
  const LabFixture fixture;
  const auto contract = fixture.doubling(doubling_source(kHonestBody));
  RecipeSource one(contract, kRecipeSeed);
  RecipeSource same(contract, kRecipeSeed);
  RecipeSource other(contract, std::string(64, '8'));
  std::set<std::string> seen;
  std::set<RecipeKind> kinds;
  bool differs = false;
  for (int i = 0; i < 200; ++i) {
    const auto values = one.next();
    REQUIRE(values);
    CHECK(values == same.next());
    differs = differs || values != other.next();
    CHECK(seen.insert(*values).second);
    const auto recipe = recipe_of(*values);
    REQUIRE(recipe);
    if (i < 18) kinds.insert(recipe->kind);
  }
  for (const auto& [kind, name] : enum_names(RecipeKind{})) {
    INFO(name);
    CHECK(kinds.contains(kind) != is_edge(kind));  // edges of types are asked by the check itself
  }
  CHECK(differs);
}

TEST_CASE("a search stays near what was worst, and leaves out what is known", "[search]") {
  const LabFixture fixture;
  auto contract = fixture.doubling(doubling_source(kHonestBody));
  contract.found_values = {{"few(4)"}};
  RecipeSource source(contract, kRecipeSeed);
  std::map<RecipeKind, int> drawn;
  for (int i = 0; i < 117; ++i) {
    const auto values = source.next();
    REQUIRE(values);
    CHECK(*values != "few(4)");
    source.learn(*values, values->starts_with("specials") ? 2 : 1);
    if (i >= 17) ++drawn[recipe_of(*values)->kind];
  }
  // Half of a hundred, and a fifth of the other half.
  CHECK(drawn[RecipeKind::specials] > 45);
}

TEST_CASE("inputs that promise their contents are not searched", "[search]") {
  LabFixture fixture;
  auto contract = fixture.doubling(doubling_source(kHonestBody));
  contract.tensors[0].init = "given";
  CHECK_FALSE(RecipeSource(contract, kRecipeSeed).next());
  contract.tensors[0] = {"x", DType::i32, {"n"}, Role::in, "permutation"};
  RecipeSource orders(contract, kRecipeSeed);
  CHECK(
      std::set{orders.next(), orders.next()} ==
      std::set{std::optional<std::string>("ascending"), std::optional<std::string>("descending")});
  CHECK_FALSE(orders.next());
}

TEST_CASE("a kernel that is wrong only on sparse values passes a check and is found by a search",
          "[search]") {
  Searching fixture;
  const auto cheat =
      fixture.candidate(where_sparse("for (int i = 0; i < n; ++i) y[i] = 0;", kHonestBody));
  CHECK(fixture.checked(cheat).passed);

  const auto found = fixture.search(cheat);

  REQUIRE_FALSE(found.reasons.empty());
  CHECK(found.reasons.front().code == "mismatch");
  REQUIRE_FALSE(found.cases.empty());
  CHECK(found.cases.front().distribution == found.search.kept.front());
  CHECK((is_kept(found.search, "zeros(0.9") || is_kept(found.search, "empty_rows(0.9")));
  // y = 0 where 2 x is asked: ten thousand times the allowed error.
  CHECK(found.search.strain == 64);
}

TEST_CASE("what a search kept is asked in every later check", "[search]") {
  Searching fixture;
  const auto cheat =
      fixture.candidate(where_sparse("for (int i = 0; i < n; ++i) y[i] = 0;", kHonestBody));
  fixture.contract.found_values = {{"zeros(0.97)"}};

  const auto report = fixture.checked(cheat);

  CHECK_FALSE(report.passed);
  CHECK(std::ranges::any_of(report.cases, [](const CaseResult& one) {
    return one.distribution == "zeros(0.97)" && !one.passed;
  }));
  const auto honest = fixture.built(fixture.doubling(doubling_source(kHonestBody), 3000));
  CHECK(fixture.checked(honest).passed);
}

TEST_CASE("an honest kernel withstands a search, which tells how near it came", "[search]") {
  Searching fixture;
  const auto honest = fixture.candidate(kHonestBody);

  const auto found = fixture.search(honest, nullptr, 1);

  CHECK(found.reasons.empty());
  CHECK(found.search.kept.empty());
  CHECK(found.search.tried >= 18);
  // 2 x is exact.
  REQUIRE(found.search.strain);
  CHECK(*found.search.strain == 1.0 / 64);
}

TEST_CASE("what v0 answers wrongly too is not held against a version", "[search]") {
  Searching fixture;
  const auto body = where_sparse("for (int i = 0; i < n; ++i) y[i] = 0;", kHonestBody);
  const auto v0 = fixture.candidate(body);
  const auto version = fixture.candidate(body + "/* another */");

  const auto found = fixture.search(version, &v0, 1);

  CHECK(found.reasons.empty());
  CHECK(found.search.kept.empty());
  REQUIRE_FALSE(found.search.notes.empty());
  CHECK(found.search.notes.front().find("so is v0's answer") != std::string::npos);
}

TEST_CASE("a kernel that crashes on values that no check draws is found", "[search]") {
  Searching fixture;
  const auto cheat = fixture.candidate(where_sparse("*(volatile int*)8 = 1;", kHonestBody));

  const auto found = fixture.search(cheat);

  REQUIRE(found.fault);
  CHECK(found.reasons.front().code == "fault_crash");
  CHECK(found.search.kept.size() == 1);
}

TEST_CASE("a run keeps a bounded number of values", "[search]") {
  Contract contract;
  contract.found_values.emplace(kMostKeptValues - 1, "few(3)");
  ValueSearch search;

  keep_values(contract, {"few(4)", "few(5)"}, search);

  CHECK(search.kept == std::vector<std::string>{"few(4)"});
  REQUIRE(search.notes.size() == 1);
  CHECK(search.notes.front().find("few(5)") != std::string::npos);
}

TEST_CASE("a kernel that is slow only on values that no check draws is judged on those",
          "[search][timed]") {
  Searching fixture;
  const auto parent = fixture.candidate(times_over(12), 200'000);
  const auto cheat = fixture.candidate(where_sparse(times_over(60), times_over(1)), 200'000);

  const auto without = fixture.lab->profile(
      fixture.contract, {.candidate = &cheat, .parent = &parent}, "secret", fixture.call);
  const auto profile = profiled(fixture, cheat, parent, 10);

  REQUIRE(without);
  CHECK(without->verdict == Verdict::faster);
  INFO(encode(profile).dump(1).substr(0, 6000));
  CHECK(profile.verdict != Verdict::faster);
  REQUIRE(profile.search);
  CHECK((is_kept(*profile.search, "zeros(0.9") || is_kept(*profile.search, "empty_rows(0.9")));
  REQUIRE(profile.time_depends_on_values);
  CHECK(profile.time_depends_on_values->judged_on != kNormalValues);
}

TEST_CASE("an honest kernel that leaves out zeros gets the range and keeps its verdict",
          "[search][timed]") {
  Searching fixture;
  const auto work = [](int steps) {
    return "for (int i = 0; i < n; ++i) { volatile float v = 0; if (x[i] != 0) for (int s = 0; s "
           "< " +
           std::to_string(steps) + "; ++s) v = 2 * x[i]; y[i] = v; }";
  };
  const auto parent = fixture.candidate(work(60), 100'000);
  const auto better = fixture.candidate(work(12), 100'000);

  const auto profile = profiled(fixture, better, parent, 5);

  INFO(encode(profile).dump(1).substr(0, 6000));
  CHECK(profile.verdict == Verdict::faster);
  REQUIRE(profile.time_depends_on_values);
  CHECK(profile.time_depends_on_values->high > profile.time_depends_on_values->low);
  REQUIRE(profile.search);
  CHECK_FALSE(profile.search->kept.empty());
}
