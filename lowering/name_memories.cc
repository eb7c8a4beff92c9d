// Names for what a program keeps from cycle to cycle, as checkpoints and messages use them.
//
// A name is the user's where there is one: a parameter's path, the variable that is the fby, or
// the one whose value the fby delays. It depends on the equations alone, not on their order or
// place in the file. Two memories of one name are numbered.
//
//   net.w                    a parameter             before net.count    x fby count, in passing
//   queue y, presence x      between units           segment y           of a segment, y in every cycle
#include <map>
#include <set>

#include "lowering/step_writer.h"
#include "semantics/queries.h"

namespace rml {

namespace {

std::string in_instance(const Core& core, ValueId v, const std::string& what) {
  const InstanceId i = core[v].instance;
  const std::string path = i.valid() ? core.instances[i.index].path : "";
  return path.empty() ? what : what + " of " + path;
}

}  // namespace

std::string memory_name(const Core& core, ValueId v) {
  for (const Parameter& p : core.parameters)
    if (p.value == v) return p.path;
  if (is_start(core, v)) return "start of " + clock_string(core, core[v].clock);
  const auto* f = std::get_if<core::Fby>(&core[v].rhs);
  if (!core[v].name.empty()) return core[v].name;
  if (f != nullptr && !core[f->next].name.empty()) return "before " + core[f->next].name;
  return in_instance(core, v, "fby");
}

void make_names_unique(steps::Program& program) {
  std::set<std::string> taken;
  // Parameters keep theirs.
  for (const steps::ParameterInfo& p : program.parameters) taken.insert(p.path);
  std::set<std::uint32_t> parameters;
  for (const steps::ParameterInfo& p : program.parameters)
    if (p.cell.valid()) parameters.insert(p.cell.index);
  std::map<std::string, int> count;
  const auto rename = [&](std::string& name) {
    while (name.ends_with(' ')) name.pop_back();
    const std::string wanted = name;
    for (int k = count[wanted] + 1; !taken.insert(name).second; ++k) {
      name = wanted + " " + std::to_string(k + 1);
      count[wanted] = k;
    }
  };
  for (std::size_t k = 0; k < program.cells.size(); ++k)
    if (!program.cells[k].local && !parameters.contains(static_cast<std::uint32_t>(k))) rename(program.cells[k].name);
  for (steps::QueueInfo& queue : program.queues) rename(queue.name);
  for (steps::ArrayInfo& array : program.arrays) rename(array.name);
}

}  // namespace rml
