// The stamp of a C interface, which ensures that header and object were made together.
//
// Callers are compiled with a header and linked with an object, and nothing else checks that the two come from one
// build. So the function that initialises a state has a second name, which contains the version of the interface and a
// hash of everything on which a caller and the object must agree. The header's NODE_init calls it by that name. If they
// disagree, there is no such function, and the linker, the loader of a shared library, or dlsym reports that. The check
// costs nothing at run time.
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/xxhash.h>

#include "lowering/llvm/interface/buffer_needs.h"
#include "lowering/llvm/interface/faults.h"
#include "lowering/llvm/interface/parameters.h"
#include "lowering/llvm/interface/stamp.h"
#include "lowering/llvm/toolchain/versions.h"
#include "lowering/steps/settings.h"

namespace rml::codegen {

namespace {

struct Text {
  const steps::Program& program;
  const Core& core = *program.core;
  std::string all = {};

  void number(std::uint64_t value) { all += std::to_string(value) + ' '; }
  void memory(const char* kind, const std::string& name, DType dtype, const Shape& shape, std::uint64_t at) {
    all += std::string(kind) + ' ' + name + ' ' + type_string(dtype, shape) + ' ' + std::to_string(at) + '\n';
  }
  // Roles say which ports have flags, and thereby which clocks a caller sees.
  void parameters(const char* kind, const std::vector<InterfaceParameter>& list) {
    for (const InterfaceParameter& p : list) {
      const bool in = p.role == InterfaceParameter::input || p.role == InterfaceParameter::input_present;
      const Port& port = in ? core.inputs[p.port] : core.outputs[p.port];
      memory(kind, port.name, core[port.value].dtype, core[port.value].shape, p.role);
    }
  }
  void layout(const StateLayout&);
};

void Text::layout(const StateLayout& layout) {
  for (std::size_t k = 0; k < program.cells.size(); ++k) {
    const steps::CellInfo& cell = program.cells[k];
    if (!cell.local) memory("cell", cell.name, cell.dtype, cell.shape, layout.cells[k] - layout.bias);
  }
  for (std::size_t k = 0; k < program.queues.size(); ++k) {
    const steps::QueueInfo& queue = program.queues[k];
    memory("queue", queue.name, queue.dtype, queue.shape, layout.queues[k].data);
  }
  for (std::size_t k = 0; k < program.arrays.size(); ++k) {
    const steps::ArrayInfo& array = program.arrays[k];
    memory("array", array.name, array.dtype, array.shape, layout.arrays[k]);
  }
}

}  // namespace

std::vector<StateStruct::SettingPlace> setting_places(const Emission& module) {
  const StateLayout& layout = module.layout;
  std::vector<StateStruct::SettingPlace> places;
  for (const c99::Setting& s : c99::settings(module.program)) {
    StateStruct::SettingPlace& place = places.emplace_back();
    place.at = layout.cells[s.cell.index] - layout.bias;
    for (std::size_t k = 0; k < module.packs.list.size(); ++k)
      if (module.packs.list[k].cell == s.cell) place.pack_flags.push_back(layout.pack_flags[k] - layout.bias);
  }
  return places;
}

std::uint64_t interface_hash(const Emission& module, const StateStruct& state) {
  const steps::Program& program = module.program;
  Text text{program};
  text.all = module.options.program_name + '\n';
  for (const bool fact : {program.straight, can_fault(program), draws(program), has_advance(*program.core)})
    text.number(fact ? 1 : 0);
  text.number(state.size);
  for (const std::uint64_t at : state.outputs) text.number(at);
  if (state.lanes > 0) text.number(state.lanes), text.number(state.group_bytes);
  if (state.has_step_many) text.all += "many\n";
  if (!program.straight) {
    const BufferNeeds needs = buffer_needs(program);
    text.number(needs.bytes_per_cycle);
    text.number(needs.buffers);
  }
  text.parameters("in", input_parameters(*program.core));
  text.parameters("out", output_parameters(*program.core));
  if (program.straight) text.parameters("lead", leading_parameters(program));
  const std::vector<c99::Setting> settings = c99::settings(program);
  for (std::size_t k = 0; k < state.settings.size(); ++k)
    text.memory("setting", settings[k].path, settings[k].dtype, settings[k].shape, state.settings[k].at);
  text.layout(module.layout);
  return llvm::xxh3_64bits(llvm::StringRef(text.all));
}

std::string stamped_init(const std::string& name, std::uint64_t hash) {
  return name + "_init_abi" + std::to_string(c_interface_version) + "_layout_" + llvm::utohexstr(hash, true, 16);
}

void emit_stamped_init(Emission& module, std::uint64_t hash) {
  const std::string& name = module.options.program_name;
  llvm::GlobalAlias::create(stamped_init(name, hash), module.module.getFunction(name + "_init"));
}

}  // namespace rml::codegen
