// Foreign text in answers: how a record is marked, and that no text leaves its fence.

#include "server/core/origin.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "server/core/tool.h"

namespace ratchet {
namespace {

/// A record of a corpus, which may be our own.
struct Note {
  std::string title;
  std::string body;
  Origin origin;

  static constexpr void fields(auto&& visit) {
    visit(required<&Note::title>(), required<&Note::body>());
  }
};

/// A message that a program of others wrote.
struct Message {
  static constexpr std::string_view kOrigin = "compiler";
  int line = 0;
  std::string text;

  static constexpr void fields(auto&& visit) {
    visit(required<&Message::line>(), required<&Message::text>());
  }
};

/// An answer that lists the fields of its base anew.
struct Shown : Note {
  std::vector<Message> messages;

  static constexpr void fields(auto&& visit) {
    visit(required<&Shown::title>(), required<&Shown::messages>());
  }
};

TEST_CASE("a record with an origin is marked, one of our own is not", "[core]") {
  CHECK(encode(Note{"t", "b", {"corpus mine"}}) ==
        Json{{"title", "t"}, {"body", "b"}, {"origin", "corpus mine"}, {"untrusted", true}});
  CHECK(encode(Note{"t", "b", {}}) == Json{{"title", "t"}, {"body", "b"}});
  CHECK(readable_text(encode(Note{"t", "b", {}})) == "body: b\ntitle: t\n");
}

TEST_CASE("an answer that lists its base's fields anew is marked all the same", "[core]") {
  Shown shown;
  shown.origin = {"corpus mine"};

  CHECK(encode(shown)["untrusted"] == true);
  CHECK(schema_of<Shown>()["properties"].contains("untrusted"));
  CHECK(schema_of<Shown>()["required"] == Json{"title", "messages"});
}

TEST_CASE("a record cannot claim another origin than its type's", "[core]") {
  const auto read = decode<Message>(
      Json{{"line", 3}, {"text", "x"}, {"origin", "the user"}, {"untrusted", false}});
  REQUIRE(read);
  CHECK(encode(*read)["origin"] == "compiler");
  CHECK(encode(*read)["untrusted"] == true);
}

TEST_CASE("a record is read back with its origin", "[core]") {
  const Note note{"t", "b", {"corpus mine"}};
  const auto read = decode<Note>(encode(note));
  REQUIRE(read);
  CHECK(read->origin.name == "corpus mine");
}

TEST_CASE("a row of foreign text keeps its place in the list, behind the fence", "[core]") {
  Shown shown;
  shown.title = "built";
  shown.messages = {{3, "expected ';'"}, {9, "two\nlines"}};

  CHECK(readable_text(encode(shown)) ==
        "messages:\n"
        "  - [compiler] ¦ line=3  text=expected ';'\n"
        "  - [compiler]\n"
        "    ¦ line=9  text=two\n"
        "    ¦ lines\n"
        "title: built\n");
}

TEST_CASE("whatever may be read as the end of a line, the next begins with the fence", "[core]") {
  for (const std::string end :
       {"\n", "\r\n", "\r", "\v", "\f", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    CHECK(fenced("a" + end + "b") == "¦ a\n¦ b\n");
    CHECK(fenced("a" + end + end + "¦ b" + end) == "¦ a\n¦ \n¦ ¦ b\n");
  }
  CHECK(fenced("") == "¦ \n");
  CHECK(fenced("é, 한, €") == "¦ é, 한, €\n");
}

TEST_CASE("foreign text at the end of a message stays on its line if it has one", "[core]") {
  CHECK("failed: " + behind_fence("no") == "failed: ¦ no");
  CHECK("failed: " + behind_fence("no\nyes") == "failed: \n¦ no\n¦ yes");
}

}  // namespace
}  // namespace ratchet
