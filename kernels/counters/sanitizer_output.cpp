#include "kernels/counters/sanitizer_output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <tuple>

#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr std::string_view kPrefix = "=========";
constexpr std::size_t kMostMessage = 400;

int number_in(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct Place {
  std::string function, file;
  int line = 0;
};

std::string base_name(std::string_view path) {
  return std::filesystem::path(path).filename().string();
}

/// "a.cu:13" or "a.cu:13:f(int)".
std::optional<Place> source_place(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto line = number_in(text.substr(colon + 1));
  if (line <= 0) return std::nullopt;
  Place place{"", base_name(text.substr(0, colon)), line};
  if (const auto next = text.find(':', colon + 1); next != std::string_view::npos)
    place.function = text.substr(next + 1);
  return place;
}

/// The text after "at ": "f(int *)+0x90 in a.cu:13", "0x90 in a.cu:13:f(int *)", "f(int *)+0x90".
Place place_of(std::string_view text) {
  if (const auto hazards = text.find(" ["); hazards != std::string_view::npos)
    text = text.substr(0, hazards);
  Place place;
  const auto in = text.rfind(" in ");
  const auto where = text.substr(0, std::min(in, text.size()));
  if (in != std::string_view::npos) {
    if (auto found = source_place(text.substr(in + 4)))
      place = *std::move(found);
    else
      place.function = text.substr(in + 4);
  }
  if (place.function.empty() && !where.starts_with("0x"))
    place.function = where.substr(0, where.rfind("+0x"));
  return place;
}

/// Stack frames and their headings: they differ from run to run and repeat the place.
bool is_frame(std::string_view line) {
  return std::ranges::any_of(
      std::array<std::string_view, 4>{"Host Frame", "Device Frame", "Saved host backtrace",
                                      "Host backtrace"},
      [&](std::string_view start) { return line.starts_with(start); });
}

/// The words that name the kind of a report, without sizes, names and places.
std::string kind_of(std::string_view title) {
  for (const std::string_view end : {" of size", " reported between", " at ", " due to", " ("})
    title = title.substr(0, std::min(title.find(end), title.size()));
  title = trimmed(title);
  if (title.ends_with('.')) title.remove_suffix(1);
  return std::string(title);
}

/// Collects the lines of one report.
class SanitizerOutputReader {
 public:
  SanitizerOutputReader(SanitizerTool tool, SanitizerOutput& output)
      : tool_(tool), output_(output) {}

  void line(std::string_view text) {
    if (!text.starts_with(kPrefix)) return;  // output of the program itself
    text.remove_prefix(kPrefix.size());
    const bool continues = text.starts_with("   ");
    text = trimmed(text);
    if (text.empty())
      close();
    else if (!continues)
      title(text);
    else if (open_)
      detail(text);
    else if (in_trouble_)
      output_.trouble += " " + std::string(text);
  }

  void finish() {
    close();
    if (summary_) output_.errors = *summary_;
  }

 private:
  void close() {
    if (open_) keep(*std::move(open_));
    open_.reset();
  }

  void title(std::string_view text) {
    close();
    in_trouble_ = false;
    if (text == "COMPUTE-SANITIZER" || is_frame(text)) return;
    if (const auto at = text.find("SUMMARY: "); at != std::string_view::npos) {
      output_.finished = true;
      if (text.find("were not printed") == std::string_view::npos)
        summary_ = std::max(summary_.value_or(0), number_in(text.substr(at + 9)));
      return;
    }
    SanitizerFinding finding;
    finding.tool = tool_;
    finding.severity = "error";
    if (text.starts_with("Warning: ")) finding.severity = "warning";
    for (const std::string_view word : {"Warning: ", "Error: "})
      if (text.starts_with(word)) text.remove_prefix(word.size());
    // Messages about the program and about itself are not reports about the kernel.
    if (is_trouble(text)) {
      if (!output_.trouble.empty()) output_.trouble += "; ";
      output_.trouble += text;
      in_trouble_ = true;
      return;
    }
    finding.kind = kind_of(text);
    finding.message = text;
    open_ = std::move(finding);
    if (const auto at = text.find(" at "); at != std::string_view::npos)
      take(place_of(text.substr(at + 4)));
  }

  static bool is_trouble(std::string_view text) {
    if (text.find("errors were skipped") != std::string_view::npos) return true;
    return std::ranges::any_of(
        std::array<std::string_view, 9>{"Error buffer overflow", "process didn't terminate",
                                        "Target application", "Internal Sanitizer Error",
                                        "Unable to", "Program hit", "The application may",
                                        "Tracking kernels", "No attachable process"},
        [&](std::string_view start) { return text.starts_with(start); });
  }

  void detail(std::string_view text) {
    if (is_frame(text)) return;
    if (text.starts_with("at ")) take(place_of(text.substr(3)));
    if (open_->message.size() + text.size() < kMostMessage) {
      open_->message += "; ";
      open_->message += text;
    }
  }

  void take(Place place) {
    if (open_->line > 0 || (!open_->function.empty() && place.line == 0)) return;
    open_->function = std::move(place.function);
    open_->file = std::move(place.file);
    open_->line = place.line;
  }

  void keep(SanitizerFinding finding) {
    const auto key = [](const SanitizerFinding& f) {
      return std::tie(f.severity, f.kind, f.function, f.file, f.line);
    };
    if (finding.severity == "error") ++output_.errors;
    const auto same = std::ranges::find_if(
        output_.findings, [&](const auto& other) { return key(other) == key(finding); });
    if (same == output_.findings.end())
      output_.findings.push_back(std::move(finding));
    else
      ++same->count;
  }

  SanitizerTool tool_;
  SanitizerOutput& output_;
  std::optional<SanitizerFinding> open_;
  std::optional<int> summary_;
  bool in_trouble_ = false;
};

}  // namespace

SanitizerOutput parse_sanitizer_output(SanitizerTool tool, std::string_view text) {
  SanitizerOutput output;
  SanitizerOutputReader reader(tool, output);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    reader.line(text.substr(at, end - at));
    at = end + 1;
  }
  reader.finish();
  return output;
}

void cap_findings(SanitizerReport& report) {
  std::ranges::stable_partition(report.findings,
                                [](const SanitizerFinding& f) { return f.severity == "error"; });
  if (report.findings.size() <= kMostSanitizerFindings) return;
  report.dropped = static_cast<int>(report.findings.size() - kMostSanitizerFindings);
  report.findings.resize(kMostSanitizerFindings);
}

}  // namespace ratchet
