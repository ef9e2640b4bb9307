#include "server/facts/spent.h"

#include <iterator>

#include "server/core/clock.h"
#include "server/core/figures.h"

namespace ratchet {
namespace {

constexpr double kShownMs = 10;  // no reader saves what is shorter

std::string text_of(const SpentStep& one) {
  return one.step + " " + three_digits(one.ms / 1000) + " s";
}

}  // namespace

std::string spent_line(const Spent& spent) {
  std::string text;
  for (const auto& one : spent) {
    if (one.within || one.ms < kShownMs) continue;
    std::string parts;
    for (const auto& part : spent)
      if (part.within == one.step && part.ms >= kShownMs)
        parts += (parts.empty() ? "" : ", ") + text_of(part);
    text += (text.empty() ? "" : ", ") + text_of(one);
    if (!parts.empty()) text += " (" + parts + ")";
  }
  return text.empty() ? text : "spent: " + text + "\n";
}

void Stopwatch::begin(std::string step) {
  end();
  step_ = std::move(step);
  since_ = std::chrono::steady_clock::now();
}

void Stopwatch::add(Spent steps) {
  end();
  spent_.insert(spent_.end(), std::make_move_iterator(steps.begin()),
                std::make_move_iterator(steps.end()));
}

Spent Stopwatch::stop() {
  end();
  return std::move(spent_);
}

void Stopwatch::end() {
  if (step_) spent_.push_back({*std::exchange(step_, std::nullopt), milliseconds_since(since_)});
}

}  // namespace ratchet
