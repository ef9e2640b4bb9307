// Long texts that cross the line once.

#include "kernels/labs/lab_texts.h"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/core/storage.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;

namespace {

const std::string kLong(300, 'x');
const std::string kOther(300, 'y');

}  // namespace

TEST_CASE("a message gets its long texts back wherever they were", "[labs]") {
  const Json message{{"body", {{"kernel", {{"text", kLong}}}, {"list", {"short", kOther, kLong}}}},
                     {"files", {{"/a/b~c", {{"texts", {{"x/y.h", kOther}}}}}}}};
  Json short_one = message;
  std::map<std::string, std::string> texts;

  const auto places = take_texts(short_one, [&](const auto& digest, const auto& text) {
    texts.emplace(digest, text);
    return true;
  });

  CHECK(places.size() == 4);
  CHECK(texts.size() == 2);
  CHECK(short_one.dump().find("xxx") == std::string::npos);
  CHECK(short_one["body"]["list"][0] == "short");
  REQUIRE(put_texts(short_one, places, texts));
  CHECK(short_one == message);
}

TEST_CASE("texts that are not wanted stay where they are", "[labs]") {
  Json message{{"a", kLong}, {"b", kOther}};

  const auto places = take_texts(
      message, [](const auto& digest, const auto&) { return digest == sha256_hex(kOther); });

  CHECK(places == TextPlaces{{"/b", sha256_hex(kOther)}});
  CHECK(message["a"] == kLong);
}

TEST_CASE("a text is put only where one was taken, and only one that is known", "[labs]") {
  const std::map<std::string, std::string> texts{{sha256_hex(kLong), kLong}};
  const auto refused = [&](const std::string& place, const std::string& digest) {
    Json message{{"text", ""}, {"taken", "words"}, {"number", 1}, {"list", Json::array({""})}};
    const auto put = put_texts(message, {{place, digest}}, texts);
    return put ? std::string() : put.error().message;
  };
  const auto known = sha256_hex(kLong);

  CHECK(refused("/text", known).empty());
  CHECK(refused("/list/0", known).empty());
  for (const char* place : {"/taken", "/number", "/nowhere", "/list/7", "/list/-", "no pointer",
                            "/list/x", "/text/deeper", "/a~2"})
    CHECK(refused(place, known).find("no text belongs at") != std::string::npos);
  CHECK(refused("/text", sha256_hex(kOther)).find("no text has the digest") != std::string::npos);
}

TEST_CASE("a store gives back what it keeps, unless it was damaged", "[labs]") {
  const test::TempFolder folder;
  TextStore store(folder / "texts");
  const auto digest = sha256_hex(kLong);

  CHECK_FALSE(store.find(digest));
  REQUIRE(store.keep(digest, kLong));
  CHECK(store.find(digest) == kLong);
  CHECK_FALSE(store.keep(digest, kOther));
  CHECK(store.find(digest) == kLong);
  REQUIRE(write_file(folder / "texts" / digest, kOther));
  CHECK_FALSE(store.find(digest));
  REQUIRE(store.keep(digest, kLong));
  CHECK(store.find(digest) == kLong);
}

TEST_CASE("a digest that is a path finds no file", "[labs]") {
  const test::TempFolder folder;
  REQUIRE(write_file(folder / "secret", kLong));

  CHECK_FALSE(TextStore(folder / "texts").find("../secret"));
}

TEST_CASE("a store that is full forgets what was not used for longest", "[labs]") {
  const test::TempFolder folder;
  // A text takes a block of 4 KiB on most disks; 40 KiB are ten of them.
  TextStore store(folder / "texts", 40 << 10);
  std::string last;
  for (int i = 0; i < 200; ++i) {
    const auto text = std::to_string(i) + kLong;
    last = sha256_hex(text);
    REQUIRE(store.keep(last, text));
  }

  CHECK(contents_of(folder / "texts").bytes <= 40 << 10);
  CHECK(store.find(last));
  CHECK_FALSE(store.find(sha256_hex("0" + kLong)));
}

TEST_CASE("a store without room for a file still serves the request", "[labs]") {
  TextStore store("/proc/no-such-place");

  CHECK(store.keep(sha256_hex(kLong), kLong));
  CHECK_FALSE(store.find(sha256_hex(kLong)));
}

TEST_CASE("a long text goes in pieces of whole characters, others beside it", "[labs]") {
  TextPieces texts;
  std::string accents;  // of two bytes each: a cut after 64 KiB less one would be within one
  while (accents.size() < 2 * TextPieces::kMostBytes) accents += "é";
  accents.insert(0, "x");
  texts.add("long", accents);
  texts.add("short", kLong);
  texts.add("unwanted", kOther);

  REQUIRE(texts.want({"long", "short"}));
  std::map<std::string, std::string> came;
  std::vector<std::size_t> sent;
  while (texts.wanted()) {
    const auto piece = texts.next();
    CHECK(piece.text.size() <= TextPieces::kMostBytes);
    CHECK(Json(piece.text).dump(-1, ' ', false, Json::error_handler_t::replace) ==
          Json(piece.text).dump());  // which would throw
    CHECK(piece.total == accents.size() + kLong.size());
    came[piece.digest] += piece.text;
    sent.push_back(piece.sent);
  }

  CHECK(came == std::map<std::string, std::string>{{"long", accents}, {"short", kLong}});
  // Of 131,073 bytes: byte 65,536 ends a character, so the first piece has one less.
  CHECK(sent == std::vector<std::size_t>{65'535, 131'071, 131'073, 131'373});
  CHECK(texts.want({"none"}).error().message == "it asks for a text \"none\" that nobody named");
}

TEST_CASE("a text of no whole characters goes in pieces, too", "[labs]") {
  TextPieces texts;
  texts.add("odd", std::string(TextPieces::kMostBytes + 5, '\x80'));
  REQUIRE(texts.want({"odd"}));
  CHECK(texts.next().text.size() == TextPieces::kMostBytes - 3);
  CHECK(texts.next().text.size() == 8);
  CHECK_FALSE(texts.wanted());
}
