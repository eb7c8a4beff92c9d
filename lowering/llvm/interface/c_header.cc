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
#include "lowering/steps/settings.h"

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
  std::string setting_functions(const codegen::StateStruct&) const;
  std::string groups(const std::string& result, const std::vector<InterfaceParameter>& all,
                     const codegen::StateStruct&) const;
};

// Writes NODE_advance, and the functions that read its outputs from the state.
std::string Header::advance(const std::string& result, const std::vector<InterfaceParameter>& inputs,
                            const codegen::StateStruct& state) const {
  std::string text =
      "/* A step whose outputs stay in the state. The functions below read them from there, so an output that is\n"
      " * not read costs nothing. They return the outputs of the last cycle, no matter which function computed it,\n"
      " * and 0 or false before the first cycle. */\n" +
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
      "/* NAME_step of n different states. Every port is an array over states, as it is an array over cycles for\n"
      " * NAME_run: if it has m elements, those of state k begin at k * m." +
      std::string(faults ? " All states are stepped. The result is 0, or the\n"
                           " * fault of the first state that has one. Its next NAME_step returns the fault again."
                         : "") +
      (in_object ? "\n * The states are stepped in vector lanes." : "") + " */\n";
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

std::string Header::setting_functions(const codegen::StateStruct& state) const {
  std::vector<c99::SettingPlace> places;
  for (const auto& [at, pack_flags] : state.settings) {
    const std::string place = "char*)state + " + std::to_string(at);
    std::string after;  // the copies for products are made again
    for (const std::uint64_t flag : pack_flags) after += "  ((char*)state)[" + std::to_string(flag) + "] = 0;\n";
    places.push_back({"(const " + place, "(" + place, after});
  }
  return c99::settings_text(c99::settings(program), places);
}

// Writes NODE_group and the functions on it.
std::string Header::groups(const std::string& result, const std::vector<InterfaceParameter>& all,
                           const codegen::StateStruct& state) const {
  const std::string lanes = std::to_string(state.lanes);
  return "/* States stored side by side: n states in NAME_GROUPS(n) groups. NAME_group_step computes one cycle\n"
         " * of all states, " +
         lanes +
         " at a time in vector lanes, with the results of NAME_step. Every port is an array over its\n"
         " * elements, and for each element over the states: element e of state k is at e * n + k. The flag of\n"
         " * state k is at k. Groups that are aligned to 64 bytes are fastest. NAME_group_init prepares n states.\n"
         " * NAME_group_put copies state k into its group, and NAME_group_get copies it out of the group." +
         (result == "void "
              ? ""
              : "\n * All states are stepped. The result is 0, or the fault of the first state that has one.") +
         " */\n#define NAME_LANES " + lanes + "\n#define NAME_GROUPS(n) (((n) + " + std::to_string(state.lanes - 1) +
         ") / " + lanes + ")\ntypedef struct NAME_group { uint64_t words[" + std::to_string(state.group_bytes / 8) +
         "]; } NAME_group;\nvoid NAME_group_init(NAME_group* groups, int64_t n);\nvoid NAME_group_put(NAME_group* "
         "groups, "
         "int64_t k, const NAME_state* state);\nvoid NAME_group_get(const NAME_group* groups, int64_t k, NAME_state* "
         "state);\n" +
         result + "NAME_group_step(NAME_group* groups, int64_t n" + c99::parameter_list(all, true) + ");\n";
}

// Finds the layout of NODE_state by emitting a temporary module.
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
    " * NAME_init prepares a state, and NAME_reset returns it to the first cycle. NAME_step computes\n"
    " * one cycle. NAME_run computes n cycles in one call, faster than n steps: every port is an array\n"
    " * over cycles, and the elements of a tensor are contiguous, in row-major order.\n";
constexpr const char* buffered_text =
    " * Rows can wait for later inputs. The caller passes memory for all buffers to NAME_init; it must\n"
    " * outlive the state. NAME_BYTES(n) bytes are enough for segments of n cycles. NAME_init returns 0,\n"
    " * or 6 if the memory is too small for any segment. NAME_push reads one cycle. It returns 6 if a\n"
    " * segment is longer than the memory allows. NAME_pop writes the next row, in the order of cycles,\n"
    " * and returns 1; it returns 0 if no row is complete.\n";

// The stamped function, and NODE_init, which calls it.
std::string checked_init(std::uint64_t hash, bool straight) {
  const std::string symbol = codegen::stamped_init("NAME", hash);
  const std::string result = straight ? "void " : "int32_t ";
  const std::string parameters = straight ? "(NAME_state* state)" : "(NAME_state* state, void* memory, uint64_t bytes)";
  return "/* NAME_ABI is the version of this interface. NAME_LAYOUT is a hash of the functions' parameters and of\n"
         " * the layout of a state. An object defines its init under a name that contains both, and NAME_init\n"
         " * calls that function. So the linker, the loader or dlsym reports a missing symbol if the object does\n"
         " * not belong to this header. Then compile with the header of the object. */\n"
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
                     ", compiled from R(ML)2. The caller owns the state; no memory is allocated.\n *\n" +
                     c99::ports_text(*program.core) + " *\n";
  text += program.straight ? straight_text : buffered_text;
  text += " * Scalars are passed by value, and tensors as pointers to their elements. A bool is a byte, 0 or 1.\n";
  text += " * A port that is not present at every cycle has a second argument, the flag PORT_present. Memory\n";
  text += " * that a function writes must not overlap with any other argument.";
  if (options.target.threads > 1)
    text += "\n * Loops over large tensors run in up to " + std::to_string(options.target.threads) +
            " threads (link librmlrt.a; see rml_limit_threads in parallel.h).";
  if (faults || !program.straight) {
    text +=
        "\n * A result other than 0 is a fault. The state keeps the fault until NAME_reset. The faults are\n"
        " * 1 division by zero, 2 index out of range, 3 assertion, 4 input present or absent against its\n"
        " * clock, 5 segment too long, 6 memory, 7 numeric, 8 a value that depends on itself.";
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
          "/* Sets the seed, between NAME_init and the first cycle. The default is 0. */\n"
          "void NAME_seed(NAME_state* state, uint64_t seed);\n";
    text += result + "NAME_step(NAME_state* state" + c99::parameter_list(all, false) + ");\n";
    if (const auto leading = codegen::leading_parameters(program); !leading.empty())
      text +=
          "/* Call it before NAME_step of the same cycle: it computes the outputs that need no input of the cycle.\n"
          " * NAME_step will give the same values. */\n" +
          result + "NAME_lead(NAME_state* state" + c99::parameter_list(leading, false) + ");\n";
    text += result + "NAME_run(NAME_state* state, int64_t n" + c99::parameter_list(all, true) + ");\n";
    text += header.step_many(faults, all, state.has_step_many);
    if (state.lanes > 0) text += header.groups(result, all, state);
    if (codegen::has_advance(*program.core)) text += header.advance(result, inputs, state);
    text += header.setting_functions(state);
  } else {
    const codegen::BufferNeeds needs = codegen::buffer_needs(program);
    text += "/* Bytes for segments of n cycles; n must be a power of two. */\n#define NAME_BYTES(n) ((uint64_t)(n) * " +
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
