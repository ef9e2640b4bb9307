#include "kernels/labs/lab_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/core/storage.h"

namespace ratchet {
namespace {

constexpr std::size_t kShortest = 256;  // below it a place and a digest take no less
constexpr std::size_t kMostText = std::size_t{128} << 20U;

using Pointer = Json::json_pointer;

/// Calls `visit` with every string of a value and its place.
void for_each_string(Json& value, const Pointer& place,
                     const std::function<void(const Pointer&, std::string&)>& visit) {
  if (value.is_string()) return visit(place, value.get_ref<std::string&>());
  if (value.is_object())
    for (auto& [name, element] : value.items()) for_each_string(element, place / name, visit);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) for_each_string(value[i], place / i, visit);
}

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The string at a place; null if there is none.
std::string* string_at(Json& message, const std::string& place) {
  try {
    return message.at(Pointer(place)).get_ptr<std::string*>();
  } catch (const Json::exception&) {
    return nullptr;
  }
}

}  // namespace

TextPlaces take_texts(
    Json& message,
    const std::function<bool(const std::string& digest, const std::string& text)>& wanted) {
  TextPlaces places;
  for_each_string(message, Pointer(), [&](const Pointer& place, std::string& text) {
    if (text.size() < kShortest) return;
    const auto digest = sha256_hex(text);
    if (!wanted(digest, text)) return;
    places[place.to_string()] = digest;
    text.clear();
  });
  return places;
}

Status put_texts(Json& message, const TextPlaces& places,
                 const std::map<std::string, std::string>& by_digest) {
  for (const auto& [place, digest] : places) {
    auto* const text = string_at(message, place);
    if (text == nullptr || !text->empty())
      return invalid_argument(fmt::format("places: no text belongs at \"{}\"", place));
    const auto found = by_digest.find(digest);
    if (found == by_digest.end())
      return invalid_argument(fmt::format("places: no text has the digest \"{}\"", digest));
    *text = found->second;
  }
  return {};
}

Status TextPieces::want(const std::vector<std::string>& digests) {
  for (const auto& digest : digests) {
    const auto text = all_.find(digest);
    if (text == all_.end())
      return invalid_argument(fmt::format("it asks for a text \"{}\" that nobody named", digest));
    total_ += text->second.size();
    wanted_.push_back(digest);
  }
  return {};
}

TextPieces::Piece TextPieces::next() {
  const auto digest = wanted_.front();
  const std::string& text = all_.at(digest);
  auto size = std::min(text.size() - begun_, kMostBytes);
  // JSON has whole characters only: bytes 10xxxxxx belong to the one before.
  const auto cuts = [&](std::size_t at) {
    return begun_ + at < text.size() && (static_cast<unsigned char>(text[begun_ + at]) >> 6U) == 2;
  };
  for (int back = 0; back < 3 && cuts(size); ++back) --size;  // a character has four at most
  sent_ += size;
  Piece piece{digest, text.substr(begun_, size), sent_, total_};
  begun_ += size;
  if (begun_ == text.size()) {
    wanted_.pop_front();
    begun_ = 0;
  }
  return piece;
}

std::optional<std::string> TextStore::find(const std::string& digest) const {
  if (!is_digest(digest)) return std::nullopt;
  auto text = read_file(folder_ / digest, kMostText);
  if (!text || sha256_hex(*text) != digest) return std::nullopt;
  note_use(folder_ / digest);
  return *std::move(text);
}

Status TextStore::keep(const std::string& digest, const std::string& text) {
  if (const auto own = sha256_hex(text); own != digest)
    return invalid_argument(
        fmt::format("texts: one with the digest {} came as \"{}\"", own, digest));
  const std::scoped_lock lock(keeping_);
  if (write_file(folder_ / digest, text)) make_room();
  return {};
}

void TextStore::make_room() const {
  namespace fs = std::filesystem;
  auto bytes = contents_of(folder_).bytes;
  if (bytes <= most_bytes_) return;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code failed;
  for (fs::directory_iterator entry(folder_, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code gone;
    if (const auto used = entry->last_write_time(gone); !gone)
      files.emplace_back(used, entry->path());
  }
  std::ranges::sort(files);
  // Down to half, so that the next texts do not make room again.
  for (const auto& [used, path] : files) {
    if (bytes <= most_bytes_ / 2) return;
    bytes -= space_of(path);
    fs::remove(path, failed);
  }
}

}  // namespace ratchet
