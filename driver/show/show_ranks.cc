// Estimates the traffic of a sum from the runtime's tree that forms it.
#include "driver/show/show_ranks.h"

#include <algorithm>
#include <vector>

#include "runtime/ranks/tree.h"

namespace rml {
namespace {

struct Traffic {
  std::uint64_t messages = 0, bytes = 0;
  Traffic& operator+=(const Traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
};

std::string text(const Traffic& t) {
  return std::to_string(t.messages) + (t.messages == 1 ? " message, " : " messages, ") + std::to_string(t.bytes) +
         " bytes";
}

// A place where the ranks meet.
struct Meeting {
  Span call;  // the call in the user's source
  std::string what;
  Traffic traffic;
};

// The user's call that leads to an instance of the library, directly or through the library's own calls.
Span call_of(const Program& program, const Core& core, InstanceId i) {
  Span call;
  for (; i.valid(); i = core.instances[i.index].parent) {
    const Instance& instance = core.instances[i.index];
    if (!program.modules[program[instance.node].module.index].of_library) break;
    call = instance.call;
  }
  return call;
}

Meeting meeting_of(const Program& program, const Core& core, const Value& call, const ExternalNode& external,
                   std::uint32_t ranks) {
  const auto& [dtype, shape] = external.outputs[0];
  const std::uint64_t bytes = static_cast<std::uint64_t>(*element_count(shape)) * byte_size(dtype);
  const std::uint32_t per_step = core.deal->per_step;
  const rt::TreeShape tree{per_step, per_step, ranks};
  const bool adds = external.symbol == "rml_step_sum";
  const std::uint64_t others = std::min(ranks, per_step) - 1;
  const std::string path = call.instance.valid() ? core.instances[call.instance.index].path : "";
  return {call_of(program, core, call.instance), path + ": " + type_string(dtype, shape),
          adds ? Traffic{tree.messages(), tree.bytes(bytes)} : Traffic{others, others * bytes}};
}

}  // namespace

std::string ranks_text(const Session& session, const Program& program, const Core& core, std::uint32_t ranks) {
  std::vector<Meeting> meetings;
  for (const Value& value : core.values) {
    const auto* const call = std::get_if<core::Call>(&value.rhs);
    if (call == nullptr || core.externals[call->external].calling != Calling::joins) continue;
    meetings.push_back(meeting_of(program, core, value, core.externals[call->external], ranks));
  }
  const std::uint32_t per_step = core.deal->per_step;
  std::string out = core.entry + ": " + std::to_string(ranks) + (ranks == 1 ? " rank, " : " ranks, ") +
                    std::to_string(per_step) + (per_step == 1 ? " micro-batch" : " micro-batches") +
                    " a step, which end where `" + core.inputs[core.deal->end].name + "` holds\n";
  Traffic all;
  for (const Meeting& m : meetings) {
    out += "  " + session.sources.place(m.call) + ": " + m.what + ": " + text(m.traffic) + "\n";
    all += m.traffic;
  }
  return out + "a step: " + text(all) + "\n";
}

}  // namespace rml
