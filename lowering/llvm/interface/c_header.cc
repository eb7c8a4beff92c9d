// Prints the C header of the C interface: plain C99, usable from C++.
//
// Sizes come from emitting the program once more without optimising it, so they equal the emitter's. Outputs and arrays
// must not overlap with each other, with inputs, or with the state.
#include <llvm/ADT/StringExtras.h>

#include "lowering/llvm/interface/buffer_needs.h"
#include "lowering/llvm/interface/buffered.h"
#include "lowering/llvm/interface/c_header.h"
#include "lowering/llvm/interface/faults.h"
#include "lowering/llvm/interface/parameters.h"
#include "lowering/llvm/interface/stamp.h"
#include "lowering/llvm/interface/step.h"
#include "lowering/llvm/operators/compute.h"
#include "lowering/llvm/program/program.h"
#include "lowering/llvm/toolchain/module_state.h"
#include "lowering/llvm/toolchain/versions.h"

namespace rml {

namespace {

using c99::InterfaceParameter;

struct Header {
  const steps::Program& program;
  const Core& core = *program.core;
  std::string name;

  std::string advance(const std::string& result, const std::vector<InterfaceParameter>& inputs,
                      const codegen::StateStruct&) const;
  std::string step_many(bool faults, const std::vector<InterfaceParameter>& all, bool in_object) const;
  std::string groups(const std::string& result, const std::vector<InterfaceParameter>& all,
                     const codegen::StateStruct&) const;
};

// NODE_advance, and the functions that read its outputs from the state.
std::string Header::advance(const std::string& result, const std::vector<InterfaceParameter>& inputs,
                            const codegen::StateStruct& state) const {
  std::string text =
      "/* A step whose outputs stay in the state, where the functions below find them: what is not\n"
      " * looked at costs nothing. They tell of the last cycle, of whichever function; 0 or false before the first. "
      "*/\n" +
      result + "NAME_advance(NAME_state* state" + c99::parameter_list(inputs, false) + ");\n";
  for (std::size_t k = 0; k < core.outputs.size(); ++k) {
    const Port& port = core.outputs[k];
    const std::string type = c99::port_type(core[port.value].dtype);
    text += "static inline " + type + " NAME_get_" + port.name + "(const NAME_state* state) {\n  " + type +
            " value;\n  memcpy(&value, (const char*)state + " + std::to_string(state.outputs[k]) +
            ", sizeof value);\n  return value;\n}\n";
  }
  return text;
}

// NODE_step_many, in terms of NODE_step if the object does not define it.
std::string Header::step_many(bool faults, const std::vector<InterfaceParameter>& all, bool in_object) const {
  const std::string about =
      "/* NAME_step of n states, none of which is there twice. Every port is an array over states, as it is one "
      "over\n * cycles for NAME_run: the elements of state k begin at k times their number." +
      std::string(faults ? " All states are stepped; the result\n * is 0, or the fault of the first one that has any: "
                           "NAME_step of a state that has one says it again."
                         : "") +
      (in_object ? "\n * They are stepped in vector lanes." : "") + " */\n";
  const std::string declared = std::string(faults ? "int32_t " : "void ") +
                               "NAME_step_many(NAME_state* const* states_, int64_t n" + c99::parameter_list(all, true) +
                               ")";
  if (in_object) return about + declared + ";\n";
  std::string arguments;
  for (const InterfaceParameter& p : all) arguments += ", " + c99::row_of(p, "k_");
  const std::string call = "NAME_step(states_[k_]" + arguments + ");\n";
  return about + "static inline " + declared + " {\n" + (faults ? "  int32_t fault_ = 0;\n" : "") +
         "  for (int64_t k_ = 0; k_ < n; ++k_) {\n    " +
         (faults ? "const int32_t now_ = " + call + "    if (fault_ == 0) fault_ = now_;\n" : call) + "  }\n" +
         (faults ? "  return fault_;\n" : "") + "}\n";
}

// NODE_group and the functions on it.
std::string Header::groups(const std::string& result, const std::vector<InterfaceParameter>& all,
                           const codegen::StateStruct& state) const {
  const std::string lanes = std::to_string(state.lanes);
  return "/* States side by side: n of them lie in NAME_GROUPS(n) groups, and NAME_group_step is a cycle of all, " +
         lanes +
         "\n * at a time in vector lanes. Every port is an array over elements, and of each over states: element e of "
         "state k\n * is at e * n + k; so is a flag, at k. Groups that are aligned to 64 bytes are fastest. "
         "NAME_group_init prepares n "
         "states,\n * NAME_group_put and NAME_group_get copy state k into a group, and out of one. Rows are those of "
         "NAME_step." +
         (result == "void " ? ""
                            : "\n * All states are stepped; the result is 0, or the fault of the first that has one.") +
         " */\n#define NAME_LANES " + lanes + "\n#define NAME_GROUPS(n) (((n) + " + std::to_string(state.lanes - 1) +
         ") / " + lanes + ")\ntypedef struct NAME_group { uint64_t words[" + std::to_string(state.group_bytes / 8) +
         "]; } NAME_group;\nvoid NAME_group_init(NAME_group* groups, int64_t n);\nvoid NAME_group_put(NAME_group* "
         "groups, "
         "int64_t k, const NAME_state* state);\nvoid NAME_group_get(const NAME_group* groups, int64_t k, NAME_state* "
         "state);\n" +
         result + "NAME_group_step(NAME_group* groups, int64_t n" + c99::parameter_list(all, true) + ");\n";
}

// The layout of NODE_state, from a temporary module.
codegen::StateStruct state_struct(const steps::Program& program, const EmitOptions& options) {
  std::string error;
  auto machine = codegen::make_target_machine(options.target, error);
  if (machine == nullptr) return {};
  llvm::LLVMContext context;
  llvm::Module scratch("size", context);
  scratch.setDataLayout(machine->createDataLayout());
  const SourceMap none;
  codegen::Emission module(program, none, options, scratch, codegen::describe(options.target, scratch, *machine),
                           codegen::compute);
  codegen::StateStruct found;
  if (program.straight) {
    found = codegen::emit_step_interface(module);
  } else {
    found = codegen::emit_buffered_interface(module, codegen::emit_program(module));
  }
  module.debug.finish();
  return found;
}

constexpr const char* straight_text =
    " * NAME_init prepares a state and NAME_reset returns it to the first cycle. NAME_step is one\n"
    " * cycle; NAME_run is n cycles in one call, faster than n steps: every port is an array over\n"
    " * cycles (a tensor's elements lie together, row-major).\n";
constexpr const char* buffered_text =
    " * Rows can wait for later inputs. NAME_init takes the memory of all buffers, which must\n"
    " * outlive the state: NAME_BYTES(n) is enough for segments of n cycles. It returns 0, or 6 if\n"
    " * the memory is too small for any. NAME_push reads one cycle; NAME_pop returns 1 and a row, in\n"
    " * cycle order, as long as one is complete, else 0. NAME_push returns 6 where a segment is longer\n"
    " * than the memory allows.\n";

// The stamped function, and NODE_init, which calls it.
std::string checked_init(std::uint64_t hash, bool straight) {
  const std::string symbol = codegen::stamped_init("NAME", hash);
  const std::string result = straight ? "void " : "int32_t ";
  const std::string parameters = straight ? "(NAME_state* state)" : "(NAME_state* state, void* memory, uint64_t bytes)";
  return "/* The version of this interface, and a hash of the functions' parameters and of what lies where in a "
         "state.\n"
         " * Objects have an init by the name that holds both, and it is the one called here: linker, loader or dlsym\n"
         " * find none in an object that this header does not belong to. Then compile with the object's header. */\n"
         "#define NAME_ABI " +
         std::to_string(c_interface_version) + "\n#define NAME_LAYOUT UINT64_C(0x" + llvm::utohexstr(hash, true, 16) +
         ")\n" + "#define NAME_INIT_SYMBOL \"" + symbol + "\"\n" + result + symbol + parameters + ";\n" +
         "static inline " + result + "NAME_init" + parameters + " {\n  " + (straight ? "" : "return ") + symbol +
         (straight ? "(state)" : "(state, memory, bytes)") + ";\n}\n";
}

}  // namespace

std::string c_header(const steps::Program& program, const EmitOptions& asked) {
  EmitOptions options = asked;
  if (options.program_name.empty()) options.program_name = program.core->entry;
  const Header header{program, *program.core, options.program_name};
  const bool faults = codegen::can_fault(program);
  const codegen::StateStruct state = state_struct(program, options);
  const std::uint64_t words = std::max<std::uint64_t>((state.size + 7) / 8, 1);
  const auto inputs = c99::input_parameters(*program.core), outputs = c99::output_parameters(*program.core);
  std::string text = "/* " + program.core->entry +
                     ", compiled from R(ML)2. The caller owns the state; nothing is allocated.\n *\n" +
                     c99::ports_text(*program.core) + " *\n";
  text += program.straight ? straight_text : buffered_text;
  text += " * Scalars are passed by value, tensors as pointers to their elements; bool is a byte, 0 or 1.\n";
  text += " * A flag PORT_present comes with every port that is not present at each cycle. Memory that is\n";
  text += " * written must not overlap with any other argument.";
  if (options.target.threads > 1)
    text += "\n * Loops over large tensors run in up to " + std::to_string(options.target.threads) +
            " threads (link librmlrt.a; rml_limit_threads of parallel.h).";
  if (faults || !program.straight) {
    text +=
        " A result other than 0 is a fault, which stays:\n"
        " * 1 division by zero, 2 index out of range, 3 assertion, 4 presence against the clock, 5 horizon,\n"
        " * 6 memory, 7 numeric, 8 a value that needs itself.";
  }
  text +=
      " */\n#ifndef NAME_H\n#define NAME_H\n\n#include <stdint.h>\n#include <string.h>\n\n#ifdef __cplusplus\nextern "
      "\"C\" {\n#endif\n\n";
  text += "typedef struct NAME_state { uint64_t words[" + std::to_string(words) + "]; } NAME_state;\n\n";
  if (program.straight) {
    const std::string result = faults ? "int32_t " : "void ";
    auto all = inputs;
    all.insert(all.end(), outputs.begin(), outputs.end());
    text += checked_init(state.hash, true) + "void NAME_reset(NAME_state* state);\n";
    if (codegen::draws(program))
      text +=
          "/* Between init and the first cycle; 0 if not called. */\nvoid NAME_seed(NAME_state* state, uint64_t "
          "seed);\n";
    text += result + "NAME_step(NAME_state* state" + c99::parameter_list(all, false) + ");\n";
    if (const auto leading = codegen::leading_parameters(program); !leading.empty())
      text +=
          "/* Before NAME_step, of the same cycle: what needs none of its inputs. It is what NAME_step will say. */\n" +
          result + "NAME_lead(NAME_state* state" + c99::parameter_list(leading, false) + ");\n";
    text += result + "NAME_run(NAME_state* state, int64_t n" + c99::parameter_list(all, true) + ");\n";
    text += header.step_many(faults, all, state.has_step_many);
    if (state.lanes > 0) text += header.groups(result, all, state);
    if (codegen::has_advance(*program.core)) text += header.advance(result, inputs, state);
  } else {
    const codegen::BufferNeeds needs = codegen::buffer_needs(program);
    text += "/* n: a power of two. */\n#define NAME_BYTES(n) ((uint64_t)(n) * " +
            std::to_string(std::max<std::uint64_t>(needs.bytes_per_cycle, 1)) + "u + " +
            std::to_string(64 * (needs.buffers + 1)) + "u)\n";
    text += checked_init(state.hash, false) + "void NAME_reset(NAME_state* state);\n";
    text += "int32_t NAME_push(NAME_state* state" + c99::parameter_list(inputs, false) + ");\n";
    text += "int32_t NAME_pop(NAME_state* state" + c99::parameter_list(outputs, false) + ");\n";
  }
  text += "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return c99::named_after(options.program_name, text);
}

}  // namespace rml
