#include "kbs/documents/yaml.h"

#include <catch2/catch_test_macros.hpp>

namespace ratchet::kbs {
namespace {

TEST_CASE("scalars keep what they were written as, lists and maps their order") {
  const auto node = load_yaml("b: [1, '1', true, ~, x y]\na: {c: 2.5}\n");
  CHECK(node.keys == std::vector<std::string>{"b", "a"});
  CHECK(to_json(node) == Json::parse(R"({"b": [1, "1", true, null, "x y"], "a": {"c": 2.5}})"));
  CHECK(node["b"].items[1].quoted);
  CHECK_FALSE(node["b"].items[0].quoted);
  CHECK_FALSE(node["absent"]);
  CHECK_FALSE(node["a"]["c"]["deeper"]);
  CHECK(load_yaml("").kind == YamlNode::Kind::null);
}

TEST_CASE("of a key that is there twice, a look-up finds the first and JSON the last") {
  const auto node = load_yaml("a: 1\na: 2\n");
  CHECK(node["a"].text == "1");
  CHECK(to_json(node) == Json{{"a", 2}});
}

TEST_CASE("values know their line, aliases that of their anchor") {
  const auto node = load_yaml("rows:\n  - {id: a}\n  - &b {id: b}\n  - *b\n");
  const auto& rows = node["rows"].items;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].line == 1);
  CHECK(rows[1].line == 2);
  CHECK(rows[2].line == 2);
  CHECK(rows[2]["id"].text == "b");
}

TEST_CASE("aliases of scalars, lists and keys are written out") {
  CHECK(to_json(load_yaml("&k name: &l [1, 2]\nsame: *l\nkey: *k\n")) ==
        Json::parse(R"({"name": [1, 2], "same": [1, 2], "key": "name"})"));
}

TEST_CASE("an alias that doubles again and again is refused before it is written out") {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i)
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            ", *a" + std::to_string(i - 1) + "]\n";
  CHECK_THROWS_AS(load_yaml(text), YAML::Exception);
  CHECK_THROWS_AS(load_yaml("a: &a [*a]\n"), YAML::Exception);
  CHECK_THROWS_AS(load_yaml("a: " + std::string(65, '[') + std::string(65, ']')), YAML::Exception);
}

TEST_CASE("anchors within anchors do not keep a long value again and again") {
  const auto nested = [](int anchors) {
    std::string text = "a: ";
    for (int i = 0; i < anchors; ++i) text += "&b" + std::to_string(i) + " [";
    text += "[" + std::string(20'000, ',') + "]";
    return text + std::string(static_cast<std::size_t>(anchors), ']') + "\n";
  };
  CHECK_THROWS_AS(load_yaml(nested(60)), YAML::Exception);
  CHECK(load_yaml(nested(1))["a"].items[0].items.size() == 20'000);
}

}  // namespace
}  // namespace ratchet::kbs
