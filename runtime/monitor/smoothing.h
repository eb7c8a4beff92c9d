// Separates the trend of a noisy curve from its noise.
//
// A curve is noisy if its values cannot be predicted from the values before them. The trend at a
// bucket is the value of a straight line through its neighbours (local regression). The number of
// neighbours is the one with which the line predicts a bucket best from the others (leave-one-out
// cross-validation), so an oscillation beneath the noise is not averaged away.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/monitor/series.h"

namespace rml::rt {

// The size of the errors that prediction of the next value makes: in each excerpt, three quarters of
// them are smaller; over excerpts, the root of the mean square. 0 for a constant, a line, a sine, a decay, a repeated
// pattern, steps. With `logarithmic`, of the logarithms of the positive values.
double unpredictable_part(const Excerpts& excerpts, bool logarithmic);

// Buckets with finite values that follow each other without a gap.
using Piece = std::vector<const Bucket*>;

struct Smooth {
  double line = 0;           // the trend
  double low = 0, high = 0;  // four fifths of the values are between them
};

// The trend at each bucket of each piece.
std::vector<std::vector<Smooth>> smoothed(const std::vector<Piece>& pieces, bool logarithmic);

}  // namespace rml::rt
