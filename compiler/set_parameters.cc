// See set_parameters.h.
#include "compiler/set_parameters.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <sstream>
#include <unordered_map>

#include "runtime/checkpoint/parameter_file.h"
#include "runtime/failure.h"
#include "runtime/monitor/pattern.h"
#include "semantics/queries.h"

namespace rml {

namespace {

// Every parameter whose path a pattern matches; patterns that match none are reported.
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
    if (paths.empty()) d.note("it has no parameters");
  }
}

// p = e fby %1    %1 = merge act %2 (p when not act)    %2 = add (p when act) step: the step, or nothing. An act that
// is always true has left no merge.
ValueId step_of(const Core& core, const Parameter& p) {
  ValueId next = std::get<core::Fby>(core[p.value].rhs).next;
  if (const auto* merge = std::get_if<core::Merge>(&core[next].rhs)) next = merge->on_true;
  const auto* moved = std::get_if<core::Apply>(&core[next].rhs);
  return moved != nullptr && moved->operands.size() == 2 ? moved->operands[1] : ValueId{};
}

}  // namespace

void freeze_parameters(Core& core, const std::vector<std::string>& patterns, Diagnostics& diagnostics) {
  for_each_named(core, patterns, "freeze", diagnostics, [&](const Parameter& p) {
    if (auto* memory = std::get_if<core::Fby>(&core[p.value].rhs)) memory->next = p.value;
  });
}

void open_parameters(Core& core, const std::vector<std::string>& patterns, Diagnostics& diagnostics) {
  std::vector<std::string> opened;
  for_each_named(core, patterns, "open", diagnostics, [&](const Parameter& p) {
    Value& held = core[p.value];
    if (!std::holds_alternative<core::Fby>(held.rhs)) return;
    if (held.clock != base_clock) {
      diagnostics.report(Code::E0806, held.span,
                         "the parameter '" + p.path + "' is not present at every cycle, so it cannot be an input");
      return;
    }
    const ValueId step = step_of(core, p);
    const Span span = held.span;
    held.rhs = core::Input{static_cast<std::uint32_t>(core.inputs.size())};
    core.inputs.push_back({p.path, p.value, span});
    if (step.valid()) core.outputs.push_back({"d " + p.path, step, span});
    opened.push_back(p.path);
  });
  std::erase_if(core.parameters, [&](const Parameter& p) { return std::ranges::find(opened, p.path) != opened.end(); });
}

namespace {

// By path_key: the `param` operator by which a parameter begins; none where nobody looks at that.
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

bool give_parameters(Session& session, Core& core, Diagnostics& diagnostics) {
  const rt::ParameterSource& source = session.options.parameters;
  if (source.file.empty()) return false;
  session.files->note(source.file);
  Wanted wanted;
  const auto begins = beginnings(core);
  for (const Parameter& p : core.parameters) {
    const auto found = begins.find(path_key(p.path));
    if (!p.path.empty() && found != begins.end()) wanted.add(core, p, found->second);
  }
  try {
    rt::LoadedParameters loaded;
    rt::read_parameters(source, core.entry, wanted.rows, loaded);
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
  return true;
}

}  // namespace rml
