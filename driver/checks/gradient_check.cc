// Draws weights, runs the programs, and takes differences (gradient_check.h).
#include "driver/checks/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "compiler/models/imported_program.h"
#include "driver/checks/gradient_inputs.h"
#include "driver/programs/drive_program.h"

namespace rml {
namespace {

void set_element(Tensor& t, std::int64_t k, double v) {
  if (t.dtype() == DType::f64)
    t.as<double>()[k] = v;
  else
    t.as<float>()[k] = static_cast<float>(v);
}

std::string element_text(const Shape& shape, std::int64_t k) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    text = std::to_string(k % shape[axis]) + (text.empty() ? "" : "," + text);
    k /= shape[axis];
  }
  return text.empty() ? "" : "[" + text + "]";
}

bool is(const Cell& c, Presence p) { return c.presence == p; }

// The change of the objective from one run to another, and the magnitude of its terms.
struct Change {
  double sum = 0, size = 0;
};

class Check {
 public:
  Check(const GradientPrograms& programs, const Chronogram& inputs, std::int64_t cycles, const GradientOptions& options)
      : programs_(programs),
        options_(options),
        inputs_(inputs),
        cycles_(static_cast<std::size_t>(cycles)),
        random_(options.seed + 1) {
    // Allows larger errors, because differences in f32 have few significant digits.
    if (programs.narrow)
      step_ = 1.0 / 32, tolerance_ = std::max(options.tolerance, 2e-2), unit_ = 1e-7;
    else
      tolerance_ = options.tolerance;
  }

  GradientReport run() {
    report_.tolerance = tolerance_;
    recorded_ = drive(programs_.recorded.program->table(), inputs_, drive_options());
    if (!recorded_.stop.empty()) return stopped("'" + programs_.node + "' stops", recorded_);
    replay();
    base_ = drive(programs_.forward.program->table(), inputs_, drive_options());
    if (!base_.stop.empty()) return stopped("'" + programs_.node + "' stops", base_);
    if (const std::string found = not_finite(); !found.empty()) return report_.stop = found, std::move(report_);
    for (const bool always : {true, false})
      if (!differentiate(always)) return std::move(report_);
    for (std::size_t k = 0; k < programs_.inputs.size() + programs_.forward.parameters.size(); ++k)
      if (is_parameter(k) || has_gradient(programs_.inputs[k].dtype)) compare(k);
    return std::move(report_);
  }

 private:
  // One choice of weights, with its gradients.
  struct Objective {
    std::vector<ChronogramRow> weights;       // weights of each float output
    std::vector<const ChronogramRow*> found;  // found gradients, one row per row of inputs_; null: zero
    std::vector<const ChronogramRow*> moved;  // the steps that the parameters of f itself take
    Driven run;
  };

  DriveOptions drive_options() const {
    return {.cycles = static_cast<std::int64_t>(cycles_), .seed = options_.seed, .horizon = 0};
  }

  GradientReport stopped(const std::string& what, const Driven& run) {
    report_.stop = what + " in cycle " + std::to_string(run.stop_cycle) + ": " + run.stop;
    return std::move(report_);
  }

  std::string not_finite() const {
    for (const std::uint32_t j : programs_.float_outputs)
      for (std::size_t t = 0; t < cycles_; ++t) {
        const Cell& c = base_.outputs[j].cells[t];
        for (std::int64_t k = 0; is(c, Presence::present) && k < c.value.elements(); ++k)
          if (!std::isfinite(element(c.value, k)))
            return "output '" + programs_.outputs[j].name + "' is not finite in cycle " + std::to_string(t);
      }
    return "";
  }

  // Adds inputs for parameters, at their initial values, and for results of stop_gradient; zero where these are
  // unknown.
  void replay() {
    const Core& core = *programs_.forward.core;
    for (std::size_t k = programs_.inputs.size(); k < core.inputs.size(); ++k) {
      const std::size_t at = k - programs_.inputs.size();
      const std::vector<Cell>& cells = recorded_.outputs[programs_.outputs.size() + at].cells;
      const Value& value = core[core.inputs[k].value];
      Cell cell{Presence::present, Tensor(value.dtype, value.shape)};
      const auto first = std::ranges::find(cells, Presence::present, &Cell::presence);
      if (is_parameter(k) && first != cells.end()) cell = *first;
      ChronogramRow row{core.inputs[k].name, std::vector<Cell>(cycles_, cell)};
      for (std::size_t t = 0; t < cycles_ && at >= programs_.forward.parameters.size(); ++t)
        if (is(cells[t], Presence::present)) row.cells[t] = cells[t];
      inputs_.push_back(std::move(row));
    }
  }

  bool known(std::size_t t) const {
    const auto unknown = [&](const ChronogramRow& r) { return is(r.cells[t], Presence::undetermined); };
    return std::ranges::none_of(recorded_.outputs, unknown) && std::ranges::none_of(base_.outputs, unknown) &&
           is_replayed(t);
  }

  // False if the row depends on a result of stop_gradient in a later row that was not known.
  bool is_replayed(std::size_t t) const {
    return std::ranges::all_of(programs_.float_outputs, [&](std::uint32_t j) {
      const Cell &a = recorded_.outputs[j].cells[t], &b = base_.outputs[j].cells[t];
      if (a.presence != b.presence) return false;
      for (std::int64_t k = 0; is(a, Presence::present) && k < a.value.elements(); ++k)
        if (difference(element(b.value, k), element(a.value, k)) > tolerance_) return false;
      return true;
    });
  }

  static double difference(double value, double expected) {
    return std::fabs(value - expected) / std::max(std::fabs(expected), 1e-3);
  }

  double weight() {
    const double size = 0.5 + std::uniform_real_distribution<double>(0, 1)(random_);
    return random_() % 2 == 0 ? size : -size;
  }

  // Runs `diff f`. Weights are zero if the run ends before the output is known.
  bool differentiate(bool always) {
    const GradientProgram& program = always ? programs_.always : programs_.sometimes;
    const rml_program& table = program.program->table();
    auto objective = std::make_unique<Objective>();
    Chronogram given(inputs_.begin(), inputs_.begin() + static_cast<std::ptrdiff_t>(programs_.inputs.size()));
    std::vector<bool> active(cycles_, true);
    if (!always) {
      ChronogramRow bp{"bp", {}};
      for (std::size_t t = 0; t < cycles_; ++t) {
        active[t] = t + 1 == cycles_ || random_() % 3 != 0;
        bp.cells.push_back({Presence::present, Tensor::boolean(active[t])});
      }
      given.push_back(std::move(bp));
    }
    for (const std::uint32_t j : programs_.float_outputs) {
      ChronogramRow weights{"d" + programs_.outputs[j].name, {}};
      for (std::size_t t = 0; t < cycles_; ++t) {
        const Cell& y = base_.outputs[j].cells[t];
        Tensor w = zeros(j);
        for (std::int64_t k = 0; k < w.elements(); ++k) set_element(w, k, known(t) ? weight() : 0);
        const bool present = active[t] && is(y, Presence::present);
        weights.cells.push_back(present ? Cell{Presence::present, std::move(w)} : Cell{Presence::absent, {}});
      }
      objective->weights.push_back(weights);
      given.push_back(std::move(weights));
    }
    if (!shapes_fit(program) || !add_unknown(program, given)) return false;
    objective->run = drive(table, given, drive_options());
    if (!objective->run.stop.empty()) return stopped("`diff " + programs_.node + "` stops", objective->run), false;
    compare_values(objective->run);
    find_gradients(program, *objective);
    objectives_.push_back(std::move(objective));
    return true;
  }

  // If the run ends before an output is known, its adjoint is zero, or absent according to its clock. The adjoint of an
  // output that no gradient needs is zero as well, on any clock.
  bool add_unknown(const GradientProgram& program, Chronogram& given) {
    const std::size_t adjoints = given.size() - programs_.float_outputs.size();
    const NewCell cell = [&](std::size_t input, std::size_t cycle, bool present) -> std::optional<Cell> {
      if (input < adjoints || (known(cycle) && is_used(*program.core, input))) return std::nullopt;
      if (!present) return Cell{Presence::absent, {}};
      return Cell{Presence::present, zeros(programs_.float_outputs[input - adjoints])};
    };
    std::string error;
    if (keep_to_clocks(program, given, options_.seed, cell, error)) return true;
    report_.stop = "`diff " + programs_.node + "`: " + error;
    return false;
  }

  // Checks the shapes. A `diff f` that the user wrote may have other ones.
  bool shapes_fit(const GradientProgram& program) {
    std::size_t output = programs_.outputs.size();
    for (const std::uint32_t i : programs_.float_inputs) {
      const Shape& shape = (*program.core)[program.core->outputs[output++].value].shape;
      const ChronogramPort& p = programs_.inputs[i];
      if (shape == p.shape) continue;
      report_.stop = "the gradient of input '" + p.name + "', which is of shape " + to_string(p.shape) +
                     ", is of shape " + to_string(shape);
      return false;
    }
    return true;
  }

  static bool is_used(const Core& core, std::size_t input) {
    const ValueId v = core.inputs[input].value;
    bool used = false;
    for (const Value& value : core.values)
      for_each_operand(value.rhs, [&](ValueId operand) { used = used || operand == v; });
    return used || std::ranges::any_of(core.outputs, [&](const Port& p) { return p.value == v; });
  }

  Tensor zeros(std::uint32_t output) const {
    return {programs_.computed(programs_.outputs[output].dtype), programs_.outputs[output].shape};
  }

  void find_gradients(const GradientProgram& program, Objective& o) const {
    const Chronogram& out = o.run.outputs;
    std::size_t next = programs_.outputs.size();
    for (const ChronogramPort& p : programs_.inputs) o.found.push_back(has_gradient(p.dtype) ? &out[next++] : nullptr);
    o.moved.resize(o.found.size(), nullptr);
    const GradientProgram& forward = programs_.forward;
    for (std::size_t k = 0; k < forward.parameters.size(); ++k) {
      const auto at = std::ranges::find(program.parameters, forward.parameters[k]);
      const std::int32_t port = at == program.parameters.end()
                                    ? -1
                                    : program.step_ports[static_cast<std::size_t>(at - program.parameters.begin())];
      o.found.push_back(port < 0 ? nullptr : &out[static_cast<std::size_t>(port)]);
      const std::int32_t own = forward.step_ports[k];
      o.moved.push_back(own < 0 ? nullptr : &base_.outputs[static_cast<std::size_t>(own)]);
    }
  }

  // The outputs of `diff f` must equal those of f.
  void compare_values(const Driven& run) {
    for (const std::uint32_t j : programs_.float_outputs) {
      GradientRow row{.name = programs_.outputs[j].name, .value = true};
      for (std::size_t t = 0; t < cycles_; ++t) {
        const Cell &want = recorded_.outputs[j].cells[t], &got = run.outputs[j].cells[t];
        if (!is(want, Presence::present) || !is(got, Presence::present)) continue;
        for (std::int64_t k = 0; k < want.value.elements(); ++k) {
          const double a = element(got.value, k), b = element(want.value, k);
          note(row, a, b, difference(a, b), t, want.value.shape(), k);
        }
      }
      row.right = row.error <= tolerance_;
      if (!row.right) report_.rows.push_back(row);
    }
  }

  static void note(GradientRow& row, double found, double expected, double error, std::size_t t, const Shape& shape,
                   std::int64_t k) {
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (row.compared++ > 0 && error <= row.error) return;
    row.error = error;
    row.found = found;
    row.expected = expected;
    row.cycle = static_cast<std::int64_t>(t);
    row.element = element_text(shape, k);
  }

  // ---- differences ----

  struct Place {
    std::size_t cycle;
    std::int64_t element;
  };

  // The change of each objective when the element is moved by h. Nothing if the moved f stops, or the presence of an
  // output changes.
  std::optional<std::vector<Change>> moved(std::size_t input, Place at, double h) {
    Tensor& x = inputs_[input].cells[at.cycle].value;
    const double kept = element(x, at.element);
    set_element(x, at.element, kept + h);
    const Driven run = drive(programs_.forward.program->table(), inputs_, drive_options());
    set_element(x, at.element, kept);
    if (!run.stop.empty()) {
      if (report_.moved_stop.empty())
        report_.moved_stop = "'" + programs_.node + "' stops in cycle " + std::to_string(run.stop_cycle) + " where '" +
                             inputs_[input].name + "' is moved by " + std::to_string(h) + " in cycle " +
                             std::to_string(at.cycle) + ": " + run.stop;
      return std::nullopt;
    }
    std::vector<Change> changes(objectives_.size());
    for (std::size_t j = 0; j < programs_.float_outputs.size(); ++j) {
      const auto& before = base_.outputs[programs_.float_outputs[j]].cells;
      const auto& after = run.outputs[programs_.float_outputs[j]].cells;
      for (std::size_t t = 0; t < cycles_; ++t) {
        if (before[t].presence != after[t].presence) return std::nullopt;
        if (!is(before[t], Presence::present)) continue;
        for (std::size_t o = 0; o < objectives_.size(); ++o) {
          const Cell& w = objectives_[o]->weights[j].cells[t];
          for (std::int64_t k = 0; is(w, Presence::present) && k < w.value.elements(); ++k) {
            const double weight = element(w.value, k), y = element(after[t].value, k);
            changes[o].sum += weight * (y - element(before[t].value, k));
            changes[o].size += std::fabs(weight * y);
          }
        }
      }
    }
    return changes;
  }

  struct Difference {
    double value = 0, noise = 0;
    bool smooth = false;
  };

  std::vector<Difference> differences(std::size_t input, Place at) {
    const double x = element(inputs_[input].cells[at.cycle].value, at.element);
    const double h = step_ * std::max(1.0, std::exp2(std::round(std::log2(std::fabs(x) + 1e-300))));
    const auto up = moved(input, at, h), down = moved(input, at, -h);
    const auto up2 = moved(input, at, h / 2), down2 = moved(input, at, -h / 2);
    std::vector<Difference> result(objectives_.size());
    if (!up || !down || !up2 || !down2) return result;
    for (std::size_t o = 0; o < result.size(); ++o) {
      const double coarse = ((*up)[o].sum - (*down)[o].sum) / (2 * h);
      const double fine = ((*up2)[o].sum - (*down2)[o].sum) / h;
      // One-sided differences differ by h f'' where f is smooth, and by a constant at a kink.
      const double bend = std::fabs((*up)[o].sum + (*down)[o].sum) / h;
      const double bend2 = std::fabs((*up2)[o].sum + (*down2)[o].sum) / (h / 2);
      Difference& d = result[o];
      d.value = (4 * fine - coarse) / 3;
      d.noise = 32 * unit_ * (*up)[o].size / h;
      const double small = 10 * tolerance_ * std::fabs(d.value) + d.noise;
      d.smooth =
          std::isfinite(d.value) && std::fabs(fine - coarse) <= small && (bend2 <= small || bend2 <= 0.75 * bend);
    }
    return result;
  }

  std::optional<double> found(const Objective& o, std::size_t input, Place at) const {
    if (o.found[input] == nullptr) return 0;
    const Cell& c = o.found[input]->cells[at.cycle];
    if (is(c, Presence::undetermined)) return std::nullopt;
    if (is(c, Presence::absent)) return is_parameter(input) ? 0 : std::numeric_limits<double>::quiet_NaN();
    double value = element(c.value, at.element);
    if (o.moved[input] != nullptr && is(o.moved[input]->cells[at.cycle], Presence::present))
      value -= element(o.moved[input]->cells[at.cycle].value, at.element);
    return value;
  }

  bool is_parameter(std::size_t input) const { return input >= programs_.inputs.size(); }

  std::vector<Place> places(std::size_t input) {
    std::vector<Place> list;
    for (std::size_t t = 0; t < cycles_; ++t) {
      const Cell& c = inputs_[input].cells[t];
      for (std::int64_t k = 0; is(c, Presence::present) && k < c.value.elements(); ++k) list.push_back({t, k});
    }
    return list;
  }

  struct Compared {
    Place at;
    std::size_t objective;
    double found;
    Difference difference;
  };

  void compare(std::size_t input) {
    GradientRow row{.name = inputs_[input].name};
    std::vector<Place> all = places(input);
    row.places = static_cast<std::int64_t>(all.size());
    if (row.places > options_.places) {
      std::ranges::shuffle(all, random_);
      all.resize(static_cast<std::size_t>(options_.places));
    }
    std::vector<Compared> list;
    std::vector<double> largest(objectives_.size(), 0);
    for (const Place at : all) {
      std::vector<std::optional<double>> gradients;
      for (const auto& o : objectives_) gradients.push_back(found(*o, input, at));
      if (std::ranges::none_of(gradients, [](const auto& g) { return g.has_value(); })) continue;
      const std::vector<Difference> d = differences(input, at);
      for (std::size_t o = 0; o < objectives_.size(); ++o) {
        if (!gradients[o] || !d[o].smooth) continue;
        list.push_back({at, o, *gradients[o], d[o]});
        largest[o] = std::max(largest[o], std::fabs(d[o].value));
      }
    }
    for (const Compared& c : list) {
      const double a = c.found, b = c.difference.value;
      const double scale = std::max({std::fabs(a), std::fabs(b), 1e-3 * largest[c.objective],
                                     c.difference.noise / tolerance_, std::numeric_limits<double>::min()});
      note(row, a, b, std::fabs(a - b) / scale, c.at.cycle, inputs_[input].cells[c.at.cycle].value.shape(),
           c.at.element);
    }
    row.compared = 0;
    for (std::size_t i = 0; i < list.size(); ++i)
      row.compared +=
          i == 0 || list[i].at.cycle != list[i - 1].at.cycle || list[i].at.element != list[i - 1].at.element;
    row.right = row.error <= tolerance_;
    report_.rows.push_back(std::move(row));
  }

  const GradientPrograms& programs_;
  const GradientOptions& options_;
  Chronogram inputs_;  // rows of inputs of f, then of parameters, then of results of stop_gradient
  std::size_t cycles_;
  std::mt19937_64 random_;
  double step_ = 1.0 / 8192, tolerance_ = 0, unit_ = 0x1p-53;
  Driven recorded_, base_;
  std::vector<std::unique_ptr<Objective>> objectives_;
  GradientReport report_;
};

}  // namespace

bool GradientReport::right() const {
  return stop.empty() && std::ranges::all_of(rows, [](const GradientRow& r) { return r.right; });
}

GradientReport check_gradients(const GradientPrograms& programs, const Chronogram& inputs, std::int64_t cycles,
                               const GradientOptions& options) {
  return Check(programs, inputs, cycles, options).run();
}

}  // namespace rml
