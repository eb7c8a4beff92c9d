// Each option finds the equation `p = e fby …` of the parameter in the core and replaces its
// operands.
#include "compiler/set_parameters.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/pattern.h"
#include "runtime/checkpoint/parameter_file.h"
#include "semantics/core/queries.h"
#include "semantics/time/places.h"

namespace rml {

namespace {

// Calls `f` for every parameter whose path matches a pattern, and reports patterns that match
// none.
template <class F>
void for_each_named(Core& core, const std::vector<std::string>& patterns, const char* purpose, Diagnostics& diagnostics,
                    F&& f) {
  std::vector<std::string> paths;
  for (const Parameter& p : core.parameters)
    if (!p.path.empty()) paths.push_back(p.path);
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (const Parameter& p : core.parameters) {
      if (p.path.empty() || !rt::matches(pattern, p.path)) continue;
      found = true;
      f(p);
    }
    if (found) continue;
    auto& d = diagnostics.report(Code::E0201, {},
                                 "no parameter '" + pattern + "' to " + purpose + " in '" + core.entry + "'");
    const std::string near = did_you_mean(pattern, paths);
    if (!near.empty()) d.note("did you mean '" + near + "'?");
    if (paths.empty()) d.note("'" + core.entry + "' has no parameters");
  }
}

// The update of a parameter. `moves` and `stays` are the clocks on which the parameter changes
// and does not; `stays` is invalid if it changes at every cycle.
struct Motion {
  ValueId act, step;
  ClockId moves, stays;
};

// Recognises p = e fby %1    %1 = merge act %2 (p when not act)    %2 = add (p when act) step. If
// `act` is always true, there is no merge.
std::optional<Motion> motion_of(const Core& core, const Parameter& p) {
  const auto* memory = std::get_if<core::Fby>(&core[p.value].rhs);
  if (memory == nullptr || memory->next == p.value) return std::nullopt;
  Motion motion;
  ValueId next = memory->next;
  if (const auto* merge = std::get_if<core::Merge>(&core[next].rhs)) {
    motion.act = merge->condition;
    motion.stays = core[merge->on_false].clock;
    next = merge->on_true;
  }
  const core::Apply* moved = apply_of(core, next, "add");
  if (moved == nullptr) return std::nullopt;
  motion.moves = core[next].clock;
  motion.step = moved->operands[1];
  return motion;
}

}  // namespace

Core freeze_parameters(Core core, const std::vector<std::string>& patterns, Diagnostics& diagnostics) {
  for_each_named(core, patterns, "freeze", diagnostics, [&](const Parameter& p) {
    if (auto* memory = std::get_if<core::Fby>(&core[p.value].rhs)) memory->next = p.value;
  });
  return core;
}

namespace {

// Adds d = param(zeros) fby %1    %1 = merge act %2 (d when not act)    %2 = add (d when act)
// step. The values are copies of the parameter's own, which has these equations in the same
// order.
void gather(Core& core, const Parameter& p, const Motion& motion) {
  const Value like = core[p.value];
  const auto add = [&](core::Rhs rhs, ClockId clock) {
    Value v = like;
    v.rhs = std::move(rhs);
    v.clock = clock;
    v.name.clear();
    core.values.push_back(std::move(v));
    return ValueId{static_cast<std::uint32_t>(core.values.size() - 1)};
  };
  const std::string path = "d " + p.path;
  Tensor zeros(like.dtype, like.shape);
  zeros.freeze();
  const ValueId zero = add(core::Const{std::move(zeros)}, base_clock);
  const ClockId begins = core[std::get<core::Fby>(like.rhs).init].clock;
  const OperatorId param = operators().require("param");
  const ValueId init = add(core::Apply{param, {zero}, {}, path_key(path)}, begins);
  const ValueId sum = add(core::Fby{init, init}, like.clock);
  ValueId before = sum;
  if (motion.act.valid()) before = add(core::When{sum, motion.act, true}, motion.moves);
  ValueId next = add(core::Apply{operators().require("add"), {before, motion.step}, {}, 0}, motion.moves);
  if (motion.act.valid()) {
    const ValueId stays = add(core::When{sum, motion.act, false}, motion.stays);
    next = add(core::Merge{motion.act, next, stays}, like.clock);
  }
  std::get<core::Fby>(core[sum].rhs).next = next;
  std::get<core::Fby>(core[p.value].rhs).next = p.value;
  core.parameters.push_back({path, sum});
}

bool stands_still(const Core& core, ValueId v) {
  const auto* memory = std::get_if<core::Fby>(&core[v].rhs);
  return memory != nullptr && memory->next == v;
}

// Recognises the copy v that `param_end` keeps of p: v = merge first (p when first) ((… fby v)
// when not first), where first = true fby …. Returns p if it is constant, since then v always
// equals p.
ValueId held_by(const Core& core, ValueId v) {
  const auto* merge = std::get_if<core::Merge>(&core[v].rhs);
  if (merge == nullptr) return {};
  const auto* begins = std::get_if<core::Fby>(&core[merge->condition].rhs);
  const auto* at_first = std::get_if<core::When>(&core[merge->on_true].rhs);
  const auto* later = std::get_if<core::When>(&core[merge->on_false].rhs);
  if (begins == nullptr || constant_truth(core, begins->init) != true || at_first == nullptr || later == nullptr)
    return {};
  const auto* memory = std::get_if<core::Fby>(&core[later->operand].rhs);
  return memory != nullptr && memory->next == v && stands_still(core, at_first->operand) ? at_first->operand
                                                                                         : ValueId{};
}

// Replaces uses of a copy of a constant value by the value itself, so that no copy is stored for
// each instant of a segment. Of copies of copies the innermost are replaced first.
void look_through_copies(Core& core) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t v = 0; v < core.values.size(); ++v) {
      const ValueId copy{v}, of = held_by(core, copy);
      if (!of.valid()) continue;
      changed = true;
      const auto replace = [&](ValueId& o) { o = o == copy ? of : o; };
      for (Value& user : core.values) for_each_operand(user.rhs, replace);
      for (auto* ports : {&core.outputs, &core.watches})
        for (Port& port : *ports) replace(port.value);
    }
  }
}

}  // namespace

Core gather_gradients(Core core, const std::vector<std::string>& patterns, Diagnostics& diagnostics) {
  std::vector<std::pair<Parameter, Motion>> gathered;
  for_each_named(core, patterns, "gather gradients of", diagnostics, [&](const Parameter& p) {
    const std::optional<Motion> motion = motion_of(core, p);
    const auto same = [&](const auto& known) { return known.first.path == p.path; };
    if (motion && std::ranges::none_of(gathered, same)) gathered.emplace_back(p, *motion);
  });
  for (const auto& [p, motion] : gathered) gather(core, p, motion);
  if (!gathered.empty()) look_through_copies(core);
  return core;
}

namespace {

// The `param` operator of each parameter, by path_key. A parameter without one is never read.
std::unordered_map<std::uint64_t, ValueId> beginnings(const Core& core) {
  std::unordered_map<std::uint64_t, ValueId> found;
  for (std::uint32_t v = 0; v < core.values.size(); ++v)
    if (const auto* a = apply_of(core, ValueId{v}, Lowering::parameter)) found.try_emplace(a->key, ValueId{v});
  return found;
}

struct Wanted {
  std::vector<rml_parameter> rows;
  std::deque<std::vector<std::uint64_t>> dims;
  // By row.
  std::vector<const Parameter*> of;
  std::vector<ValueId> beginning;

  void add(const Core& core, const Parameter& p, ValueId begins) {
    const Value& v = core[p.value];
    const auto& extents = dims.emplace_back(v.shape.begin(), v.shape.end());
    rows.push_back({p.path.c_str(), static_cast<std::uint8_t>(v.dtype), static_cast<std::uint32_t>(extents.size()),
                    extents.data(), static_cast<std::uint64_t>(element_count(v.shape).value_or(0)), 0, UINT32_MAX});
    of.push_back(&p);
    beginning.push_back(begins);
  }
};

void give(Core& core, const Parameter& p, ValueId beginning, std::string_view elements) {
  const Value& held = core[p.value];
  Tensor value(held.dtype, held.shape);
  if (!elements.empty()) std::memcpy(value.data(), elements.data(), elements.size());
  value.freeze();
  Value constant = held;
  constant.rhs = core::Const{std::move(value)};
  constant.clock = base_clock;
  constant.name.clear();
  core.values.push_back(std::move(constant));
  std::get<core::Apply>(core[beginning].rhs).operands[0] = ValueId{static_cast<std::uint32_t>(core.values.size() - 1)};
}

}  // namespace

namespace {

// The names, places and types that a saved state would list for the parameters.
rt::NamedMemories memories_of(const Core& core, const SourceMap& sources) {
  const Places places(core, sources);
  rt::NamedMemories all;
  for (const Parameter& p : core.parameters) {
    const Value& v = core[p.value];
    if (p.path.empty()) continue;
    const std::vector<std::uint64_t> dims(v.shape.begin(), v.shape.end());
    rt::NamedMemory& m = all.emplace_back();
    m.name = p.path;
    m.is_parameter = true;
    if (v.instance.valid()) m.instance = core.instances[v.instance.index].path, m.place = places.of(v.instance);
    m.within = places.within(p.value);
    m.content = "!";
    m.type = rt::tensor_type_text(static_cast<std::uint8_t>(v.dtype), dims.data(), dims.size());
  }
  return all;
}

}  // namespace

Core begin_with_constants(Core core) {
  for (const Parameter& p : core.parameters) {
    auto* memory = std::get_if<core::Fby>(&core[p.value].rhs);
    if (memory == nullptr) continue;
    const core::Apply* begins = apply_of(core, memory->init, Lowering::parameter);
    if (begins != nullptr && core.is_const(begins->operands[0])) memory->init = begins->operands[0];
  }
  return remove_unreachable(std::move(core));
}

Core give_parameters(Core core, Session& session, Diagnostics& diagnostics) {
  const rt::ParameterSource& source = session.options.parameters;
  if (source.file.empty()) return core;
  session.files->note(source.file);
  Wanted wanted;
  const auto begins = beginnings(core);
  for (const Parameter& p : core.parameters) {
    const auto found = begins.find(path_key(p.path));
    if (!p.path.empty() && found != begins.end()) wanted.add(core, p, found->second);
  }
  try {
    rt::LoadedParameters loaded;
    rt::read_parameters(source, core.entry, memories_of(core, session.sources), wanted.rows, loaded);
    for (const auto& each : loaded.given) {
      const auto row = static_cast<std::size_t>(each.to - wanted.rows.data());
      give(core, *wanted.of[row], wanted.beginning[row], each.elements);
    }
    session.told.insert(session.told.end(), loaded.told.begin(), loaded.told.end());
  } catch (const rt::Failure& failure) {
    std::istringstream lines(failure.what());
    std::string line;
    std::getline(lines, line);
    auto& d = diagnostics.report(Code::E0806, {}, line);
    while (std::getline(lines >> std::ws, line)) d.note(line);
  }
  return core;
}

}  // namespace rml
