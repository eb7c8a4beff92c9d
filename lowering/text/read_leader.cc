// The places of the leader's memories precede its program, so they are compared with its cells at the end.
#include "lowering/text/read_leader.h"

namespace rml {

namespace {

using Memory = steps::Leader::Memory;

// The number of a cell, queue or output of the whole program.
std::uint32_t read_index(TextLines& lines, const char* what, std::size_t size) {
  const auto index = lines.integer<std::uint32_t>((std::string("the number of ") + what).c_str());
  if (lines.ok() && index >= size) lines.fail("the program has fewer such numbers");
  return lines.ok() ? index : 0;
}

Memory read_memory(TextLines& lines, const steps::Program& whole) {
  if (lines.take("cell")) return {CellId{read_index(lines, "a cell", whole.cells.size())}, {}};
  if (lines.take("queue")) return {{}, QueueId{read_index(lines, "a queue", whole.queues.size())}};
  lines.expect("none");
  return {};
}

bool fits(const steps::Program& whole, const Memory& memory, const steps::CellInfo& own) {
  const auto same = [&](const auto& there) { return there.dtype == own.dtype && there.shape == own.shape; };
  if (memory.cell.valid()) return same(whole.cells[memory.cell.index]);
  return !memory.queue.valid() || same(whole.queues[memory.queue.index]);
}

bool all_fit(const steps::Program& whole, const steps::Leader& leader) {
  if (leader.memories.size() != leader.program.cells.size()) return false;
  for (std::size_t k = 0; k < leader.memories.size(); ++k)
    if (!fits(whole, leader.memories[k], leader.program.cells[k])) return false;
  return true;
}

}  // namespace

std::shared_ptr<const steps::Leader> read_leader(TextLines& lines, const steps::Program& whole,
                                                 const ReadInnerSteps& read) {
  const std::size_t begin = lines.place();
  auto leader = std::make_shared<steps::Leader>();
  Core like = *whole.core;
  like.outputs.clear();
  while (lines.ok() && !lines.take("memories")) {
    leader->outputs.push_back(read_index(lines, "an output", whole.core->outputs.size()));
    if (lines.ok()) like.outputs.push_back(whole.core->outputs[leader->outputs.back()]);
  }
  while (lines.ok() && !lines.at_end()) leader->memories.push_back(read_memory(lines, whole));
  const std::shared_ptr<steps::Program> program = lines.ok() ? read(like, "the leader") : nullptr;
  if (program == nullptr) return nullptr;
  leader->program = std::move(*program);
  if (!all_fit(whole, *leader)) lines.fail_at(begin, "the memories are not those of the leader's cells");
  return lines.ok() ? leader : nullptr;
}

}  // namespace rml
