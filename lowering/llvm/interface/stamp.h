// The stamp of a C interface: a symbol that links only if header and object were made together.
#pragma once

#include <string>
#include <vector>

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// The layout of NODE_state. It has no rml_header if no cycle can fault or draw random numbers.
struct StateStruct {
  std::uint64_t size = 0;
  std::vector<std::uint64_t> outputs;  // offsets at which NODE_advance leaves the outputs
  std::uint64_t hash = 0;              // value of interface_hash for this interface
  std::uint32_t lanes = 0;             // lanes of a NODE_group; 0: there are no groups
  std::uint64_t group_bytes = 0;
  // By setting (lowering/steps/settings.h): its offset, and those of the flags of its packed copies.
  struct SettingPlace {
    std::uint64_t at = 0;
    std::vector<std::uint64_t> pack_flags;
  };
  std::vector<SettingPlace> settings;
  bool has_step_many = false;  // the object defines NODE_step_many; else the header does
};

std::vector<StateStruct::SettingPlace> setting_places(const Emission&);

// A hash of everything on which callers and object must agree: signature, sizes, offsets of the state's parts.
std::uint64_t interface_hash(const Emission&, const StateStruct&);
// The second name of NODE_init, which contains the stamp; and NODE_init under it.
std::string stamped_init(const std::string& name, std::uint64_t hash);
void emit_stamped_init(Emission&, std::uint64_t hash);

}  // namespace rml::codegen
