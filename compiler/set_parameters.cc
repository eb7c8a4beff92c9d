// See set_parameters.h.
#include "compiler/set_parameters.h"

#include <cstring>
#include <deque>
#include <sstream>

#include "runtime/checkpoint/parameter_file.h"
#include "runtime/failure.h"
#include "runtime/monitor/pattern.h"
#include "semantics/queries.h"

namespace rml {

void freeze_parameters(Core& core, const std::vector<std::string>& patterns, Diagnostics& diagnostics) {
  std::vector<std::string> paths;
  for (const Parameter& p : core.parameters)
    if (!p.path.empty()) paths.push_back(p.path);
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (const Parameter& p : core.parameters) {
      if (p.path.empty() || !rt::matches(pattern, p.path)) continue;
      found = true;
      if (auto* memory = std::get_if<core::Fby>(&core[p.value].rhs)) memory->next = p.value;
    }
    if (found) continue;
    auto& d = diagnostics.report(Code::E0201, {}, "no parameter '" + pattern + "' to freeze in '" + core.entry + "'");
    const std::string near = did_you_mean(pattern, paths);
    if (!near.empty()) d.note("did you mean '" + near + "'?");
    if (paths.empty()) d.note("it has no parameters");
  }
}

namespace {

// The `param` operator by which it begins; null where nobody looks at that.
core::Apply* beginning_of(Core& core, const Parameter& p) {
  for (Value& v : core.values) {
    auto* a = std::get_if<core::Apply>(&v.rhs);
    if (a != nullptr && operators()[a->op].lowering == Lowering::parameter && a->key == path_key(p.path)) return a;
  }
  return nullptr;
}

struct Wanted {
  std::vector<rml_parameter> rows;
  std::deque<std::vector<std::uint64_t>> dims;
  std::vector<const Parameter*> of;  // by row

  void add(const Core& core, const Parameter& p) {
    const Value& v = core[p.value];
    const auto& extents = dims.emplace_back(v.shape.begin(), v.shape.end());
    rows.push_back({p.path.c_str(), static_cast<std::uint8_t>(v.dtype), static_cast<std::uint32_t>(extents.size()),
                    extents.data(), static_cast<std::uint64_t>(element_count(v.shape).value_or(0)), 0, UINT32_MAX});
    of.push_back(&p);
  }
};

void give(Core& core, const Parameter& p, std::string_view elements) {
  const Value& held = core[p.value];
  Tensor value(held.dtype, held.shape);
  if (!elements.empty()) std::memcpy(value.data(), elements.data(), elements.size());
  value.freeze();
  Value constant = held;
  constant.rhs = core::Const{std::move(value)};
  constant.clock = base_clock;
  constant.name.clear();
  core.values.push_back(std::move(constant));
  beginning_of(core, p)->operands[0] = ValueId{static_cast<std::uint32_t>(core.values.size() - 1)};
}

}  // namespace

bool give_parameters(Session& session, Core& core, Diagnostics& diagnostics) {
  const rt::ParameterSource& source = session.options.parameters;
  if (source.file.empty()) return false;
  session.files->note(source.file);
  Wanted wanted;
  for (const Parameter& p : core.parameters)
    if (!p.path.empty() && beginning_of(core, p) != nullptr) wanted.add(core, p);
  try {
    rt::LoadedParameters loaded;
    rt::read_parameters(source, core.entry, wanted.rows, loaded);
    for (const auto& each : loaded.given)
      give(core, *wanted.of[static_cast<std::size_t>(each.to - wanted.rows.data())], each.elements);
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
