#pragma once

namespace ratchet::bench {

/// What a sweep by successive halving loses: the best point dropped, and winners that are none.
void sweeps(int trials);

/// How often the intervals of what methods contribute alone, and together, hold the truth.
void ablations(int trials);

}  // namespace ratchet::bench
