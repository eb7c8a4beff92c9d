// Prints how elements are pushed, and checks that a push does not overwrite elements that are still needed.
#include "lowering/c/queues.h"

#include <algorithm>

#include "lowering/c/interface.h"
#include "lowering/c/literals.h"
#include "runtime/base/rmlrt.h"

namespace rml::c99 {

namespace {

std::int64_t room_for(const Shape& shape) { return std::max<std::int64_t>(element_count(shape).value_or(0), 1); }

bool skips(const steps::QueueInfo& queue) {
  return queue.overtaken || std::ranges::any_of(queue.skips, [](std::uint32_t n) { return n > 0; });
}

}  // namespace

Queues::Queues(File& file) : file_(file), names_(file.steps.queues.size()) {
  for (std::size_t q = 0; q < names_.size(); ++q) {
    const steps::QueueInfo& queue = file.steps.queues[q];
    if (queue.readers == 0) continue;
    Ring& ring = names_[q];
    const std::string wanted = queue.name.starts_with("queue") ? queue.name : "queue " + queue.name;
    const std::int64_t n = room_for(queue.shape);
    const std::string room = (n == 1 ? "" : std::to_string(n) + " * ") + file.name + "_SEGMENT";
    if (!queue.passing) ring.elements = file.add_field(wanted, {type_name(queue.dtype), "", room, ""});
    ring.pushed = file.add_field(wanted + " pushed", {"int64_t", "", "", ""});
    ring.taken = file.add_field(wanted + " taken", {"int64_t", "", std::to_string(queue.readers), "by each reader"});
  }
  const std::vector<Port> inputs = input_ports(*file.steps.core);
  for (std::size_t k = 0; k < file.steps.input_queues.size(); ++k)
    if (const QueueId q = file.steps.input_queues[k]; q.valid()) {
      Ring& ring = names_[q.index];
      ring.given = ring.passed = inputs[k].value;
      if (file.names.taken(ring.given)) ring.passed = file.names.unique(ring.given + "_in");
    }
}

Source Queues::front(QueueId q, std::uint32_t reader) const {
  const steps::QueueInfo& queue = file_.steps.queues[q.index];
  const Ring& ring = names_[q.index];
  const std::string cursor = "state->" + ring.taken + "[" + std::to_string(reader) + "]";
  if (queue.passing) return {queue.dtype == DType::boolean ? ring.passed + " != 0" : ring.passed, ring.passed, cursor};
  const std::int64_t n = room_for(queue.shape);
  const std::string at = cursor + " % " + file_.name + "_SEGMENT";
  const std::string element =
      "state->" + ring.elements + "[" + (n == 1 ? at : std::to_string(n) + " * (" + at + ")") + "]";
  return {element, "&" + element, cursor};
}

std::string Queues::waiting(QueueId q, std::uint32_t reader) const {
  return "state->" + names_[q.index].pushed + " > " + front(q, reader).cursor;
}

void Queues::set_initial(Code& code) const {
  for (std::size_t q = 0; q < names_.size(); ++q) {
    const std::vector<std::uint32_t>& list = file_.steps.queues[q].skips;
    for (std::size_t reader = 0; reader < list.size() && reader < file_.steps.queues[q].readers; ++reader)
      if (list[reader] > 0)
        code.line("state->" + names_[q].taken + "[" + std::to_string(reader) + "] = " + std::to_string(list[reader]) +
                  ";");
  }
}

std::string Queues::push(QueueId q) {
  const steps::QueueInfo& queue = file_.steps.queues[q.index];
  Ring& ring = names_[q.index];
  if (queue.readers == 0) return "";
  if (ring.function.empty()) {
    ring.function = file_.symbol("push " + ring.pushed.substr(0, ring.pushed.size() - 7));
    write_function(queue, ring);
  }
  return ring.function;
}

std::string Queues::slowest(const steps::QueueInfo& queue, const Ring& ring) const {
  std::string least = "state->" + ring.taken + "[0]";
  if (queue.readers == 1) return least;
  for (std::uint32_t reader = 1; reader < queue.readers; ++reader)
    least = "least(" + least + ", state->" + ring.taken + "[" + std::to_string(reader) + "])";
  return least;
}

void Queues::write_function(const steps::QueueInfo& queue, const Ring& ring) {
  if (queue.readers > 1 && !queue.passing && !has_least_) {
    functions_.line("static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }");
    has_least_ = true;
  }
  const bool scalar = queue.shape.empty();
  const std::string type = type_name(queue.dtype), room = file_.name + "_SEGMENT", pushed = "state->" + ring.pushed;
  functions_.open("static int32_t " + ring.function + "(" + file_.name + "_state* state, " +
                  (scalar ? type + " value" : "const " + type + "* value") + ")");
  if (queue.passing) {
    functions_.line("(void)value; /* its readers take it in the cycle that brings it */");
  } else {
    functions_.line("const int64_t slowest = " + slowest(queue, ring) + ";");
    if (skips(queue)) functions_.open("if (" + pushed + " >= slowest)");
    functions_.line("if (" + pushed + " - slowest >= " + room + ") return fail(state, " +
                    std::to_string(RML_FAULT_MEMORY) + ", 1, state->cycles, 0, 0);");
    const std::string n = std::to_string(room_for(queue.shape)), at = pushed + " % " + room;
    if (scalar)
      functions_.line("state->" + ring.elements + "[" + at + "] = value;");
    else
      functions_.line("memcpy(state->" + ring.elements + " + " + n + " * (" + at + "), value, " + n + " * sizeof(" +
                      type + "));");
    if (skips(queue)) functions_.close();
  }
  functions_.line("++" + pushed + ";");
  functions_.line("return 0;");
  functions_.close();
}

}  // namespace rml::c99
