// The stamp of a C interface: which header goes with which object.
#pragma once

#include <string>
#include <vector>

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// NODE_state, which is without rml_header where no cycle can fault or draw.
struct StateStruct {
  std::uint64_t size = 0;
  std::vector<std::uint64_t> outputs;  // where NODE_advance leaves them
  std::uint64_t hash = 0;              // interface_hash
  std::uint32_t lanes = 0;             // of NODE_group; 0: there is none
  std::uint64_t group_bytes = 0;
  bool has_step_many = false;  // else it is the header's
};

// Of all that callers and object must agree on: signature, sizes, where the state's parts lie.
std::uint64_t interface_hash(const Emission&, const StateStruct&);
// The second name of NODE_init, which holds the stamp; and NODE_init under it.
std::string stamped_init(const std::string& name, std::uint64_t hash);
void emit_stamped_init(Emission&, std::uint64_t hash);

}  // namespace rml::codegen
