// With threads, every loop that can be divided among threads is divided, however little work it
// has.
#include "fuzz/check_threads.h"

#include <cmath>
#include <cstring>
#include <functional>

#include "compiler/engines.h"
#include "compiler/pipeline.h"
#include "driver/base/installation.h"
#include "driver/checks/compare_chronograms.h"
#include "driver/programs/drive_program.h"
#include "frontend/render.h"
#include "runtime/base/parallel.h"

namespace rml::fuzz {

namespace {

template <class T>
bool both_nan(const Tensor& a, const Tensor& b, std::int64_t i) {
  return std::isnan(a.as<T>()[i]) && std::isnan(b.as<T>()[i]);
}

// Compares bits, except that all NaNs are equal.
bool same(const Cell& a, const Cell& b) {
  if (a.presence != b.presence || a.presence != Presence::present) return a.presence == b.presence;
  const std::size_t size = byte_size(a.value.dtype());
  const auto* x = static_cast<const std::byte*>(a.value.data());
  const auto* y = static_cast<const std::byte*>(b.value.data());
  for (std::int64_t i = 0; i < a.value.elements(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    if (std::memcmp(x + at, y + at, size) == 0) continue;
    if (a.value.dtype() == DType::f32 && both_nan<float>(a.value, b.value, i)) continue;
    if (a.value.dtype() == DType::f64 && both_nan<double>(a.value, b.value, i)) continue;
    return false;
  }
  return true;
}

std::string difference(const Driven& want, const Driven& got) {
  if (want.stop != got.stop || want.stop_cycle != got.stop_cycle)
    return "stops `" + want.stop + "` at " + std::to_string(want.stop_cycle) + " against `" + got.stop + "` at " +
           std::to_string(got.stop_cycle);
  for (std::size_t o = 0; o < want.outputs.size(); ++o)
    for (std::size_t k = 0; k < want.outputs[o].cells.size(); ++k) {
      if (!want.stop.empty() && k >= static_cast<std::size_t>(want.stop_cycle))
        break;  // stops, because an incomplete row is not compared
      if (!same(want.outputs[o].cells[k], got.outputs[o].cells[k]))
        return want.outputs[o].name + " differs at cycle " + std::to_string(k) + ":\n" +
               rml::difference(want.outputs, got.outputs, 0);
    }
  return "";
}

// Runs a comparison on the cycles of a program or, for some seeds, with whole segments. `compare`
// returns the difference.
using Compare = std::function<std::string(Session&, const Elaborated&, const steps::Program&, const DriveOptions&)>;

Report check_bits(const GeneratedProgram& g, std::uint64_t seed, bool strict_math, const Compare& compare) {
  Session session(own_resources());
  session.options.on_demand = OnDemand::never;
  TargetOptions& target = session.options.target;
  target.cpu = seed % 5 == 0 ? "generic" : "native";
  target.strict_math = strict_math;
  const Front front = check_text(session, "generated.rml", g.source);
  const auto errors = [&](Outcome o) { return Report{o, render_human(session.diagnostics, session.sources, false)}; };
  if (session.failed()) return errors(failed);
  const auto entry = find_entry(session, front);
  const auto elaborated = entry ? elaborate(session, front, *entry, {}, session.diagnostics) : std::nullopt;
  if (!elaborated || session.failed()) return errors(is_unproductive(session.diagnostics) ? rejected : failed);
  const auto arranged = arrange(session, *elaborated, session.diagnostics);
  if (!arranged) return errors(refused);
  session.options.whole_segment = seed / 4 % 2 == 0;
  const std::string found =
      compare(session, *elaborated, lower(session, *arranged),
              {.cycles = g.cycles, .seed = seed, .horizon = 0, .restarts = false, .workers = 0, .capacity = 0});
  if (session.failed()) return errors(failed);
  if (!found.empty()) return {differs, found};
  return {};
}

}  // namespace

Report check_threads(const GeneratedProgram& g, std::uint64_t seed) {
  const auto compare = [&](Session& session, const Elaborated&, const steps::Program& program,
                           const DriveOptions& options) {
    TargetOptions& target = session.options.target;
    target.threads = 1;
    const auto alone = load_compiled(session, program, {});
    target.threads = 8, target.work_of_thread = 0;
    const auto together = load_compiled(session, program, {});
    if (!alone || !together) return std::string("does not compile");
    const Driven want = drive(alone->table(), g.inputs, options);
    for (const std::uint32_t threads : {1u, 2u, 3u, 8u}) {
      rml_limit_threads(threads);
      const std::string found = difference(want, drive(together->table(), g.inputs, options));
      if (!found.empty()) return std::to_string(threads) + " threads: " + found;
    }
    return std::string();
  };
  return check_bits(g, seed, seed % 7 == 0, compare);
}

// Repeats the inputs once, so that rows that do not depend on later input values become known.
Chronogram going_on(Chronogram inputs) {
  for (ChronogramRow& row : inputs) {
    const std::vector<Cell> cells = row.cells;
    row.cells.insert(row.cells.end(), cells.begin(), cells.end());
  }
  return inputs;
}

// True if `got` contains all rows of `want`, and its further rows are those of the reference
// engine on the repeated input. `exactly` demands equal bits.
bool goes_further(const Driven& want, const Driven& got, const Driven& reference, bool exactly) {
  if (want.stop != got.stop || want.stop_cycle != got.stop_cycle) return false;
  for (std::size_t o = 0; o < want.outputs.size(); ++o)
    for (std::size_t k = 0; k < want.outputs[o].cells.size(); ++k) {
      const Cell &cell = got.outputs[o].cells[k], &expected = want.outputs[o].cells[k];
      const Cell& further = reference.outputs[o].cells[k];
      if (cell.presence == expected.presence ? !same(expected, cell)
                                             : cell.presence != further.presence || (exactly && !same(further, cell)))
        return false;
    }
  return true;
}

Report check_network(const GeneratedProgram& g, std::uint64_t seed) {
  const auto compare = [&](Session& session, const Elaborated& elaborated, const steps::Program& program,
                           DriveOptions options) {
    session.options.target.optimization = seed % 3 == 0 ? 0 : 2;
    const auto one = load_compiled(session, program, {});
    if (!one) return std::string("does not compile");
    const Driven want = drive(one->table(), g.inputs, options);
    std::unique_ptr<LoadedProgram> reference;
    for (const Grain grain : {Grain::sweep, Grain::stage, Grain::op}) {
      session.options.grain = grain;
      const auto arranged = arrange(session, elaborated, session.diagnostics);
      const auto network = arranged ? load_compiled(session, lower(session, *arranged), {}) : nullptr;
      if (!network) return std::string("the network does not compile");
      for (const std::uint64_t capacity : {1u, 2u, 64u, 0u}) {
        options.capacity = capacity;
        options.restarts = capacity == 2;
        options.workers = capacity == 64 ? 8 : 1 + static_cast<unsigned>((seed + capacity) % 2);
        const Driven got = drive(network->table(), g.inputs, options);
        std::string found = difference(want, got);
        // At the end of a run, components may determine rows that whole units leave open.
        if (!found.empty() && grain != Grain::sweep) {
          if (!reference) reference = load_reference(session, elaborated.core, {});
          DriveOptions twice = options;
          twice.cycles *= 2, twice.restarts = false;
          if (!goes_further(want, got, drive(reference->table(), going_on(g.inputs), twice),
                            session.options.target.strict_math))
            return found;
          found.clear();
        }
        if (!found.empty())
          return std::string(grain == Grain::op ? "grain op" : "grain pass") + ", capacity " +
                 std::to_string(capacity) + ", " + std::to_string(options.workers) + " workers: " + found;
      }
    }
    return std::string();
  };
  // Strict math for the seeds that compute whole segments: otherwise deferred products add in another order.
  return check_bits(g, seed, seed % 8 == 1 || seed % 7 == 0, compare);
}

Report check_parts(const GeneratedProgram& g, std::uint64_t seed) {
  const auto compare = [&](Session& session, const Elaborated&, const steps::Program& program,
                           const DriveOptions& options) {
    TargetOptions& target = session.options.target;
    target.optimization = seed % 3 == 0 ? 0 : 2;
    target.threads = seed % 11 == 0 ? 2 : 1, target.work_of_thread = 0;
    target.part = TargetOptions().part;
    const auto one = load_compiled(session, program, {});
    if (!one) return std::string("does not compile");
    const Driven want = drive(one->table(), g.inputs, options);
    for (const std::uint32_t part : {1u, 2 + static_cast<std::uint32_t>(seed % 8)}) {
      target.part = part;
      const auto parts = load_compiled(session, program, {});
      if (!parts) return "does not compile in parts of " + std::to_string(part);
      const std::string found = difference(want, drive(parts->table(), g.inputs, options));
      if (!found.empty()) return "in parts of " + std::to_string(part) + ": " + found;
    }
    return std::string();
  };
  // Strict math for all seeds: otherwise LLVM adds in an order that depends on the vectors of the function.
  return check_bits(g, seed, true, compare);
}

}  // namespace rml::fuzz
