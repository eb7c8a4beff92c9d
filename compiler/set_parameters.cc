// See set_parameters.h.
#include "compiler/set_parameters.h"

#include <cstring>
#include <deque>
#include <sstream>
#include <unordered_map>

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
