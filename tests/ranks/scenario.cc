// Draws a scenario from the number of its case and makes the calls of one rank.
#include "tests/ranks/scenario.h"

#include <cmath>
#include <cstring>

#include "runtime/kernels/half_float.h"
#include "runtime/stream_io/row.h"

namespace rml::rt::test {
namespace {

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Numbers of many magnitudes, so that every order of additions rounds differently.
double number_of(std::uint64_t x) {
  return std::ldexp(static_cast<double>(x >> 11) * 0x1p-52 - 1.0, static_cast<int>(x & 15) - 8);
}

template <class T>
void store(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string value(const Scenario::Site& site, std::uint64_t key) {
  std::string bytes;
  for (std::uint64_t i = 0; i < site.count; ++i) {
    const std::uint64_t x = mixed(key + i);
    const auto f = static_cast<float>(number_of(x));
    switch (site.dtype) {
      case RML_F32:
        store(bytes, f);
        break;
      case RML_F64:
        store(bytes, number_of(x));
        break;
      case RML_F16:
        store(bytes, f16_from_float(f));
        break;
      case RML_BF16:
        store(bytes, bf16_from_float(f));
        break;
      case RML_I32:
        store(bytes, static_cast<std::uint32_t>(x));
        break;
      default:
        store(bytes, x);
    }
  }
  return bytes;
}

}  // namespace

Scenario::Scenario(std::uint64_t number) : number(number) {
  std::uint64_t draws = 0;
  const auto draw = [&](std::uint64_t below) { return mixed(mixed(number) + draws++) % below; };
  constexpr std::uint8_t dtypes[] = {RML_F32, RML_F64, RML_F16, RML_BF16, RML_I32, RML_I64};
  constexpr std::uint64_t counts[] = {0, 1, 2, 3, 17, 250};
  per_step = static_cast<std::uint32_t>(1 + draw(16));
  steps = static_cast<std::uint32_t>(1 + draw(4));
  in_last_step = static_cast<std::uint32_t>(1 + draw(per_step));
  sites.resize(1 + draw(3));
  for (Site& site : sites) site = {dtypes[draw(6)], counts[draw(6)]};
}

Totals run_scenario(const Scenario& scenario, Ranks& ranks, const std::function<void()>& delay) {
  rml_ranks* const handle = ranks.handle();
  Totals totals;
  for (std::uint32_t step = 0; step < scenario.steps; ++step) {
    const std::uint32_t present = scenario.in_step(step);
    const TreeShape shape{scenario.per_step, present, rml_rank_count(handle)};
    for (const Scenario::Site& site : scenario.sites) {
      totals.messages += shape.messages();
      totals.sent += shape.bytes(site.count * dtype_bytes(site.dtype));
    }
    for (std::uint32_t slot = rml_rank(handle); slot < present; slot += rml_rank_count(handle)) {
      const std::uint64_t micro_batch = std::uint64_t{step} * scenario.per_step + slot;
      ranks.set_position({static_cast<std::int64_t>(micro_batch), micro_batch, present});
      for (std::uint32_t s = 0; s < scenario.sites.size(); ++s) {
        const Scenario::Site& site = scenario.sites[s];
        delay();
        const std::string in = value(site, mixed(mixed(mixed(scenario.number) ^ micro_batch) ^ s));
        std::string out(in.size(), '\0');
        const bool last = rml_last_here(handle, scenario.per_step, micro_batch) != 0;
        rml_all_sum(handle, s, site.dtype, site.count, in.data(), scenario.per_step, micro_batch, last ? 1 : 0,
                    out.data());
        if (last) totals.bytes.push_back(out);
      }
    }
  }
  ranks.rethrow();
  return totals;
}

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr const char* digits = "0123456789abcdef";
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

}  // namespace rml::rt::test
