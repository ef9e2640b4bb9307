#include "kernels/disassembly/code_loops.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

namespace ratchet {
namespace {

using Nodes = std::vector<std::size_t>;

/// Loops nested deeper are not told apart: every level reads all that is inside again.
constexpr int kDeepest = 32;

/// Basic blocks and the edges between them.
struct Blocks {
  std::vector<std::size_t> of;  ///< block of each instruction
  std::vector<Nodes> next, before;
};

Blocks blocks_of(const std::vector<Flow>& flow) {
  std::set<std::size_t> leaders{0};
  for (std::size_t i = 0; i < flow.size(); ++i) {
    if (!flow[i].target && flow[i].falls_through) continue;
    leaders.insert(i + 1);
    if (flow[i].target) leaders.insert(*flow[i].target);
  }
  Blocks blocks;
  std::size_t count = 0;
  for (std::size_t i = 0; i < flow.size(); ++i) {
    if (leaders.contains(i)) ++count;
    blocks.of.push_back(count - 1);
  }
  blocks.next.resize(count);
  blocks.before.resize(count);
  const auto connect = [&](std::size_t from, std::size_t to) {
    blocks.next[from].push_back(to);
    blocks.before[to].push_back(from);
  };
  for (std::size_t i = 0; i < flow.size(); ++i) {
    const bool ends = i + 1 == flow.size() || leaders.contains(i + 1);
    if (!ends) continue;
    if (flow[i].falls_through && i + 1 < flow.size()) connect(blocks.of[i], blocks.of[i + 1]);
    if (flow[i].target) connect(blocks.of[i], blocks.of[*flow[i].target]);
  }
  return blocks;
}

/// Kosaraju's two passes over the blocks that are `alive`, without recursion: kernels may have
/// thousands of blocks.
class Components {
 public:
  Components(const Blocks& blocks, const std::vector<bool>& alive)
      : blocks_(blocks), alive_(alive), seen_(alive.size(), false) {}

  std::vector<Nodes> find(const Nodes& within) {
    Nodes order;
    for (const auto node : within) walk(node, blocks_.next, order);
    std::fill(seen_.begin(), seen_.end(), false);
    std::vector<Nodes> components;
    for (const auto node : order | std::views::reverse) {
      Nodes component;
      walk(node, blocks_.before, component);
      if (!component.empty()) components.push_back(std::move(component));
    }
    return components;
  }

 private:
  /// Appends the unvisited reachable blocks in postorder.
  void walk(std::size_t start, const std::vector<Nodes>& arrows, Nodes& finished) {
    if (!alive_[start] || seen_[start]) return;
    std::vector<std::pair<std::size_t, std::size_t>> path{{start, 0}};
    seen_[start] = true;
    while (!path.empty()) {
      auto& [node, at] = path.back();
      if (at == arrows[node].size()) {
        finished.push_back(node);
        path.pop_back();
        continue;
      }
      const auto to = arrows[node][at++];
      if (!alive_[to] || seen_[to]) continue;
      seen_[to] = true;
      path.emplace_back(to, 0);
    }
  }

  const Blocks& blocks_;
  const std::vector<bool>& alive_;
  std::vector<bool> seen_;
};

/// The blocks through which control enters: those reached from outside, else the first.
Nodes entries_of(const Blocks& blocks, const Nodes& component) {
  Nodes entries;
  for (const auto node : component)
    if (std::ranges::any_of(blocks.before[node], [&](std::size_t from) {
          return !std::ranges::binary_search(component, from);
        }))
      entries.push_back(node);
  if (entries.empty()) entries.push_back(component.front());
  return entries;
}

}  // namespace

Loops find_loops(const std::vector<Flow>& flow) {
  Loops loops;
  loops.depth.assign(flow.size(), 0);
  loops.innermost.assign(flow.size(), -1);
  if (flow.empty()) return loops;
  const Blocks blocks = blocks_of(flow);
  std::vector<int> depth(blocks.next.size(), 0), inner(blocks.next.size(), -1);
  std::vector<bool> alive(blocks.next.size(), true);
  Nodes all(blocks.next.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<std::pair<int, Nodes>> open{{0, all}};  // loops in so many others
  while (!open.empty()) {
    const auto [level, within] = std::move(open.back());
    open.pop_back();
    // Blocks outside `within` are other components: no cycle leads through them.
    for (auto& component : Components(blocks, alive).find(within)) {
      const auto first = component.front();
      const bool cycle = component.size() > 1 || std::ranges::count(blocks.next[first], first) > 0;
      if (!cycle) continue;
      for (const auto node : component) {
        ++depth[node];
        inner[node] = loops.count;
      }
      ++loops.count;
      if (level + 1 == kDeepest) continue;
      std::ranges::sort(component);
      // A loop that is entered at several blocks is still one loop.
      for (const auto entry : entries_of(blocks, component)) alive[entry] = false;
      open.emplace_back(level + 1, std::move(component));
    }
  }
  for (std::size_t i = 0; i < flow.size(); ++i) {
    loops.depth[i] = depth[blocks.of[i]];
    loops.innermost[i] = inner[blocks.of[i]];
  }
  return loops;
}

}  // namespace ratchet
