// Prediction tries the last value, the line through the last two values, the value some steps ago
// (which is right for repeated patterns), and a linear combination of the last four values (which
// is right for sums of two oscillations or decays). The best of them counts.
#include "runtime/monitor/smoothing.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rml::rt {
namespace {

constexpr std::size_t order = 4;  // of the linear combination

double drawn(double value, bool logarithmic) { return logarithmic ? std::log(value) : value; }

// The value below which this share of the numbers is; 0 if there are none.
double quantile(std::vector<double>& numbers, double share) {
  if (numbers.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(numbers.size() - 1) + 0.5);
  std::nth_element(numbers.begin(), numbers.begin() + at, numbers.end());
  return numbers[static_cast<std::size_t>(at)];
}

// The error that three quarters of the predictions stay below; predictions begin at `from`.
template <class Predict>
double error_of(const std::vector<double>& y, std::size_t from, Predict predict) {
  std::vector<double> errors;
  for (std::size_t t = from; t < y.size(); ++t) errors.push_back(std::fabs(y[t] - predict(t)));
  return quantile(errors, 0.75);
}

// Coefficients of the values one to `order` steps before, by least squares.
using Coefficients = std::array<double, order>;

// Solves the normal equations by Gaussian elimination. A small diagonal keeps them regular where
// fewer coefficients suffice.
Coefficients solve(std::array<std::array<double, order + 1>, order> rows) {
  double trace = 0;
  for (std::size_t i = 0; i < order; ++i) trace += rows[i][i];
  for (std::size_t i = 0; i < order; ++i) rows[i][i] += 1e-12 * trace + 1e-300;
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t k = i + 1; k < order; ++k) {
      const double factor = rows[k][i] / rows[i][i];
      for (std::size_t j = i; j <= order; ++j) rows[k][j] -= factor * rows[i][j];
    }
  }
  Coefficients x{};
  for (std::size_t i = order; i-- > 0;) {
    double rest = rows[i][order];
    for (std::size_t j = i + 1; j < order; ++j) rest -= rows[i][j] * x[j];
    x[i] = rest / rows[i][i];
  }
  return x;
}

Coefficients fitted(const std::vector<double>& y) {
  std::array<std::array<double, order + 1>, order> rows{};
  for (std::size_t t = order; t < y.size(); ++t) {
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = 0; j < order; ++j) rows[i][j] += y[t - 1 - i] * y[t - 1 - j];
      rows[i][order] += y[t - 1 - i] * y[t];
    }
  }
  return solve(rows);
}

double unpredictable(std::vector<double> y) {
  double mean = 0;
  for (const double value : y) mean += value / static_cast<double>(y.size());
  for (double& value : y) value -= mean;
  double least = std::min(error_of(y, 1, [&](std::size_t t) { return y[t - 1]; }),
                          error_of(y, 2, [&](std::size_t t) { return 2 * y[t - 1] - y[t - 2]; }));
  for (std::size_t lag = 2; lag <= y.size() / 2; ++lag)
    least = std::min(least, error_of(y, lag, [&](std::size_t t) { return y[t - lag]; }));
  const Coefficients c = fitted(y);
  const double linear = error_of(y, order, [&](std::size_t t) {
    double sum = 0;
    for (std::size_t i = 0; i < order; ++i) sum += c[i] * y[t - 1 - i];
    return sum;
  });
  return std::isfinite(linear) ? std::min(least, linear) : least;
}

// The trend of a piece: at each bucket, the value of a straight line through its neighbours, which
// are weighted by distance and count.
class Window {
 public:
  Window(const Piece& piece, bool logarithmic) : piece_(piece) {
    for (const Bucket* b : piece) values_.push_back(drawn(b->mean(), logarithmic));
  }

  double value(std::size_t i) const { return values_[i]; }
  // The value of the line through at most `reach` neighbours on each side, without bucket i itself
  // if `without` is true. NaN if there are none. At the steep start of a curve, the window is
  // narrow.
  double trend(std::size_t i, std::size_t reach, bool without) const {
    const std::size_t here = std::min(reach, 2 * i + 3);
    const std::size_t end = std::min(i + here, values_.size() - 1);
    // Sums of weight, of weight times distance and its square, of weight times value, and so on.
    double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
    for (std::size_t k = i - std::min(here, i); k <= end; ++k) {
      if (without && k == i) continue;
      const double x = static_cast<double>(k) - static_cast<double>(i);
      const double weight = (static_cast<double>(here + 1) - std::fabs(x)) * piece_[k]->count;
      w += weight;
      wx += weight * x;
      wxx += weight * x * x;
      wy += weight * values_[k];
      wxy += weight * x * values_[k];
    }
    const double determinant = w * wxx - wx * wx;
    return determinant > 1e-9 * w * wxx ? (wy * wxx - wx * wxy) / determinant : wy / w;
  }

 private:
  const Piece& piece_;
  std::vector<double> values_;
};

// The widest window whose predictions are as good as the best ones, except for 2 %.
std::size_t best_reach(const std::vector<Window>& windows, const std::vector<Piece>& pieces, std::size_t widest) {
  struct Tried {
    std::size_t reach;
    double error;
  };
  std::vector<Tried> tried;
  double least = HUGE_VAL;
  for (std::size_t reach = 1; reach <= widest; reach += (reach + 2) / 3) {
    double error = 0;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      for (std::size_t i = 0; i < pieces[p].size(); ++i) {
        const double predicted = windows[p].trend(i, reach, true);
        if (std::isfinite(predicted)) error += std::fabs(windows[p].value(i) - predicted);
      }
    }
    tried.push_back({reach, error});
    least = std::min(least, error);
  }
  std::size_t best = 1;
  for (const Tried& t : tried)
    if (t.error <= 1.02 * least) best = t.reach;
  return best;
}

}  // namespace

double unpredictable_part(const Excerpts& excerpts, bool logarithmic) {
  constexpr std::size_t fewest = 12;  // with fewer values, every curve looks predictable
  double squares = 0, count = 0;
  for (const std::vector<double>& excerpt : excerpts.all()) {
    std::vector<double> y;
    for (const double value : excerpt)
      if (!logarithmic || value > 0) y.push_back(drawn(value, logarithmic));
    if (y.size() < fewest) continue;
    const double part = unpredictable(std::move(y));
    squares += part * part;
    count += 1;
  }
  return count == 0 ? 0 : std::sqrt(squares / count);
}

std::vector<std::vector<Smooth>> smoothed(const std::vector<Piece>& pieces, bool logarithmic) {
  std::vector<Window> windows;
  std::size_t count = 0;
  for (const Piece& piece : pieces) {
    windows.emplace_back(piece, logarithmic);
    count += piece.size();
  }
  const std::size_t reach = best_reach(windows, pieces, std::max<std::size_t>(count / 30, 2));
  const std::size_t around = std::max<std::size_t>({reach, count / 40, 3});
  std::vector<std::vector<Smooth>> all;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Piece& piece = pieces[p];
    std::vector<double> line;
    for (std::size_t i = 0; i < piece.size(); ++i) line.push_back(windows[p].trend(i, reach, false));
    std::vector<Smooth>& smooth = all.emplace_back();
    for (std::size_t i = 0; i < piece.size(); ++i) {
      std::vector<double> apart;  // of values around here from the trend
      for (std::size_t k = i - std::min(around, i); k <= std::min(i + around, piece.size() - 1); ++k) {
        for (std::size_t s = 0; s < piece[k]->sampled(); ++s) {
          const double sample = piece[k]->samples[s];
          apart.push_back(logarithmic && sample <= 0 ? -HUGE_VAL : drawn(sample, logarithmic) - line[k]);
        }
      }
      Smooth here{line[i], line[i] + quantile(apart, 0.1), line[i] + quantile(apart, 0.9)};
      if (logarithmic) here = {std::exp(here.line), std::exp(here.low), std::exp(here.high)};
      smooth.push_back(here);
    }
  }
  return all;
}

}  // namespace rml::rt
