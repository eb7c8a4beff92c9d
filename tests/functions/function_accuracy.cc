// Measures the accuracy and the speed of the inlined mathematical functions.
//
//   function_accuracy [--all] [--time] [--cpu NAME]… [FUNCTION…]
//
// Each function is compiled as an operator on a tensor and compared with the C library's function
// of the next wider type: floats with double, doubles with long double. The inputs are about a
// million floats that are evenly spaced among all bit patterns (with --all all 2^32 of them), a
// million doubles of all magnitudes, and the neighbourhoods of zero and of the largest, smallest
// and infinite numbers. Errors are in units in the last place for floats and relative for
// doubles. The exit status is 1 if an error exceeds its bound, or if NaN, an infinity or the sign
// of zero is wrong.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "compiler/engines.h"
#include "driver/base/installation.h"
#include "frontend/render.h"
#include "semantics/operators/operator.h"

namespace rml {
namespace {

constexpr std::int64_t block = 1024;

struct Tested {
  const char* name;
  double (*of_double)(double);
  long double (*of_long)(long double);
  double float_bound;  // largest error, in units in the last place
};

template <class T>
T logistic(T x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
template <class T>
T soft_plus(T x) {
  return std::fmax(x, T(0)) + std::log1p(std::exp(-std::fabs(x)));
}

const std::vector<Tested> functions = {
    {"exp", std::exp, std::exp, 2},
    {"exp2", std::exp2, std::exp2, 2},
    {"expm1", std::expm1, std::expm1, 2},
    {"log", std::log, std::log, 2},
    {"log2", std::log2, std::log2, 2},
    {"log10", std::log10, std::log10, 2},
    {"log1p", std::log1p, std::log1p, 2},
    {"tanh", std::tanh, std::tanh, 4.5},
    {"sigmoid", logistic<double>, logistic<long double>, 2},
    {"softplus", soft_plus<double>, soft_plus<long double>, 2},
    {"erf", std::erf, std::erf, 2},
    {"sin", std::sin, std::sin, 2},
    {"cos", std::cos, std::cos, 2},
};
constexpr double double_bound = 1e-15;

// A program that applies the function to `block` elements in each cycle.
class Applied {
 public:
  Applied(const std::string& function, const char* type, const std::string& cpu) {
    const std::string shape = std::string(type) + "[" + std::to_string(block) + "]";
    session_.options.target.cpu = cpu;
    const Front front = check_text(session_, "function.rml",
                                   "node f(x: " + shape + ") -> (y: " + shape + ")\n  y = " + function + "(x);\n");
    const auto entry = session_.failed() ? std::nullopt : find_entry(session_, front);
    const auto elaborated = entry ? elaborate(session_, front, *entry, {}, session_.diagnostics) : std::nullopt;
    const auto arranged = elaborated ? arrange(session_, *elaborated, session_.diagnostics) : std::nullopt;
    if (arranged) program_ = load_compiled(session_, lower(session_, *arranged), {});
    if (program_ == nullptr) {
      std::fputs(render_human(session_.diagnostics, session_.sources, false).c_str(), stderr);
      std::exit(2);
    }
    const rml_program& table = program_->table();
    state_ = std::aligned_alloc(table.state_align,
                                (table.state_bytes + table.state_align - 1) / table.state_align * table.state_align);
    std::memset(state_, 0, table.state_bytes);
    static_cast<rml_header*>(state_)->grow = [](void*, void* old, std::uint64_t, std::uint64_t bytes) -> void* {
      if (bytes != 0) return std::realloc(old, bytes);
      std::free(old);
      return nullptr;
    };
    table.init(state_);
  }
  Applied(const Applied&) = delete;
  ~Applied() {
    program_->table().destroy(state_);
    std::free(state_);
  }
  void operator()(const void* x, void* y) {
    const rml_program& table = program_->table();
    const std::uint8_t present[1] = {1};
    std::uint8_t got[1];
    const void* in[] = {x};
    void* out[] = {y};
    if (table.push(state_, in, present) != 0 || table.pop(state_, out, got) != 1) std::abort();
  }

 private:
  Session session_ = Session(own_resources());
  std::unique_ptr<LoadedProgram> program_;
  void* state_ = nullptr;
};

struct Worst {
  double error = 0;
  double at = 0;
};

// The error in units in the last place of the result; infinite if rounding cannot explain it.
double float_error(double exact, float y) {
  const double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(y)) return std::isnan(exact) && std::isnan(y) ? 0 : wrong;
  if (exact == 0) return y == 0 && std::signbit(y) == std::signbit(exact) ? 0 : wrong;
  const float nearest = static_cast<float>(exact);
  if (nearest == y)
    return std::isinf(y) ? 0 : std::fabs(exact - y) / std::ldexp(1, std::max(std::ilogb(exact), -126) - 23);
  const double finite = std::isinf(y) ? std::copysign(0x1p128, y) : y;
  if (std::isinf(exact)) return wrong;
  return std::fabs(exact - finite) / std::ldexp(1, std::min(std::max(std::ilogb(exact), -126), 127) - 23);
}

// The relative error; for subnormal results, relative to the smallest normal number.
double double_error(long double exact, double y) {
  const double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(y)) return std::isnan(exact) && std::isnan(y) ? 0 : wrong;
  if (exact == 0) return y == 0 && std::signbit(y) == std::signbit(exact) ? 0 : wrong;
  if (static_cast<double>(exact) == y) return 0;
  if (std::isinf(y)) return std::fabs(exact) > 0x1.fffffffffffffp1023L * (1 - 1e-15L) ? 0 : wrong;
  const long double scale = std::fmax(std::fabs(exact), static_cast<long double>(std::numeric_limits<double>::min()));
  return static_cast<double>(std::fabs(exact - y) / scale);
}

template <class T, class Next, class Error>
Worst compare(Applied& f, std::uint64_t count, Next next, Error error) {
  alignas(64) T x[block], y[block];
  Worst worst;
  for (std::uint64_t done = 0; done < count;) {
    std::int64_t n = 0;
    for (; n < block && done < count; ++n) x[n] = next(done++);
    for (std::int64_t k = n; k < block; ++k) x[k] = T(1);
    f(x, y);
    for (std::int64_t k = 0; k < n; ++k) {
      const double e = error(x[k], y[k]);
      if (e > worst.error) worst = {e, static_cast<double>(x[k])};
    }
  }
  return worst;
}

std::uint64_t mixed(std::uint64_t i) {  // a random number, by the finaliser of splitmix64
  i = (i + 1) * 0x9E3779B97F4A7C15u;
  i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9u;
  i = (i ^ (i >> 27)) * 0x94D049BB133111EBu;
  return i ^ (i >> 31);
}

// Special values and their neighbours, with both signs.
template <class T>
std::vector<T> edges() {
  using L = std::numeric_limits<T>;
  std::vector<T> all;
  for (T x : {T(0),
              L::denorm_min(),
              L::min(),
              L::max(),
              L::infinity(),
              L::quiet_NaN(),
              L::epsilon(),
              T(1),
              T(2),
              T(0.5),
              T(9.02),
              T(3.95),
              T(0.92),
              T(5.95),
              T(20),
              T(88.722839),
              T(87.3365),
              T(103.97208),
              T(104),
              T(709.782712893384),
              T(708.39641853226),
              T(745.1332191),
              T(1e6),
              T(128),
              T(149),
              T(1024),
              T(1074),
              T(0.70710678),
              T(1.41421356)})
    for (int side = -1; side <= 1; ++side) {
      const T y = side == 0 ? x : std::nextafter(x, side * L::infinity());
      all.push_back(y), all.push_back(-y);
    }
  return all;
}

// Returns a double, mostly of a magnitude at which the function is not yet constant.
double sample(std::uint64_t i) {
  const std::uint64_t r = mixed(i);
  if (i % 4 == 0) return std::bit_cast<double>(r);
  const double u = static_cast<double>(r >> 11) * 0x1p-52 - 1;
  return i % 4 == 1 ? u * 750 : i % 4 == 2 ? u * 12 : u * 1.5;
}

double nanoseconds(Applied& f, const std::vector<char>& in) {
  using Clock = std::chrono::steady_clock;
  std::vector<char> out(in.size());
  double best = 1e30;
  for (int k = 0; k < 400; ++k) {
    const auto begin = Clock::now();
    for (int i = 0; i < 50; ++i) f(in.data(), out.data());
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / 50 / block * 8);
  }
  return best;
}

struct Options {
  bool all = false, time = false;
  std::vector<std::string> cpus, names;
};

bool check_float(const Tested& t, const std::string& cpu, const Options& options) {
  Applied f(t.name, "f32", cpu);
  const auto error = [&](float x, float y) { return float_error(t.of_double(x), y); };
  const std::uint64_t step = options.all ? 1 : 4099;
  const auto bits = [&](std::uint64_t i) { return std::bit_cast<float>(static_cast<std::uint32_t>(i * step)); };
  Worst worst = compare<float>(f, (std::uint64_t{1} << 32) / step, bits, error);
  const std::vector<float> at = edges<float>();
  const Worst edge = compare<float>(f, at.size(), [&](std::uint64_t i) { return at[i]; }, error);
  if (edge.error > worst.error) worst = edge;
  const bool good = worst.error <= t.float_bound;
  std::printf("%-9s f32 %-8s %7.3f ulp at %-13.9g (at most %g)%s", t.name, cpu.c_str(), worst.error, worst.at,
              t.float_bound, good ? "" : "  FAILED");
  if (options.time) {
    std::vector<char> in(block * sizeof(float));
    for (std::int64_t i = 0; i < block; ++i) {
      const float x =
          std::fabs(static_cast<float>(static_cast<double>(mixed(static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53 * 4));
      std::memcpy(in.data() + static_cast<std::size_t>(i) * sizeof x, &x, sizeof x);
    }
    std::printf("  %6.2f ns per 8", nanoseconds(f, in));
  }
  std::printf("\n");
  return good;
}

bool check_double(const Tested& t, const std::string& cpu, const Options& options) {
  Applied f(t.name, "f64", cpu);
  const auto error = [&](double x, double y) { return double_error(t.of_long(x), y); };
  Worst worst = compare<double>(f, options.all ? 100'000'000 : 1'000'000, sample, error);
  const std::vector<double> at = edges<double>();
  const Worst edge = compare<double>(f, at.size(), [&](std::uint64_t i) { return at[i]; }, error);
  if (edge.error > worst.error) worst = edge;
  const bool good = worst.error <= double_bound;
  std::printf("%-9s f64 %-8s %9.3g at %-20.17g (at most %g)%s", t.name, cpu.c_str(), worst.error, worst.at,
              double_bound, good ? "" : "  FAILED");
  if (options.time) {
    std::vector<char> in(block * sizeof(double));
    for (std::int64_t i = 0; i < block; ++i) {
      const double x = static_cast<double>(mixed(static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53 * 4;
      std::memcpy(in.data() + static_cast<std::size_t>(i) * sizeof x, &x, sizeof x);
    }
    std::printf("  %6.2f ns per 8", nanoseconds(f, in));
  }
  std::printf("\n");
  return good;
}

int run(const Options& options) {
  bool good = true;
  for (const Tested& t : functions) {
    if (!options.names.empty() && std::find(options.names.begin(), options.names.end(), t.name) == options.names.end())
      continue;
    if (!operators().find(t.name)) continue;
    for (const std::string& cpu : options.cpus) {
      good &= check_float(t, cpu, options);
      good &= check_double(t, cpu, options);
      std::fflush(stdout);
    }
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace rml

int main(int argc, char** argv) {
  rml::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--all")
      options.all = true;
    else if (word == "--time")
      options.time = true;
    else if (word == "--cpu" && i + 1 < argc)
      options.cpus.emplace_back(argv[++i]);
    else
      options.names.push_back(word);
  }
  if (options.cpus.empty()) options.cpus = {"generic", "native"};
  return rml::run(options);
}
