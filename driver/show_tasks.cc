// See show_tasks.h. Who writes and reads a ring is collected from the units first; the host is one more of them, which
// writes the inputs and reads the outputs.
#include "driver/show_tasks.h"

#include <algorithm>
#include <map>
#include <set>

#include "lowering/mentions.h"
#include "runtime/scheduler/network.h"

namespace rml {
namespace {

constexpr std::size_t most_names = 4;

struct Ring {
  std::uint32_t writer = UINT32_MAX;   // UINT32_MAX: the host
  std::vector<std::uint32_t> readers;  // likewise
  std::uint64_t element_bytes = 0, capacity = 0;
  std::string name, type;
};

class Network {
 public:
  explicit Network(const steps::Program& program) : program_(program), core_(*program.core) {
    for (const steps::QueueInfo& queue : program.queues) {
      Ring& ring = rings_.emplace_back();
      ring.readers.assign(queue.readers, UINT32_MAX);
      ring.element_bytes =
          std::max<std::uint64_t>(static_cast<std::uint64_t>(*element_count(queue.shape)) * byte_size(queue.dtype), 1);
      ring.capacity = rt::usual_capacity(ring.element_bytes);
      ring.name = queue.name.substr(queue.name.find(' ') + 1);
      ring.type = type_string(queue.dtype, queue.shape);
    }
    for (std::uint32_t u = 0; u < program.units.size(); ++u) {
      const steps::Unit& unit = program.units[u];
      for (const steps::Operand& o : unit.operands) rings_[o.queue.index].readers[o.reader] = u;
      for (const std::uint32_t input : unit.raw_inputs)
        for (const QueueId q : {program.input_flags[input], program.input_queues[input]})
          if (q.valid()) rings_[q.index].readers[0] = u;
      each_block(unit, [&](const steps::Block& b) { note_writes(b, u); });
    }
    for (std::uint32_t q = 0; q < rings_.size(); ++q) {
      for (const std::uint32_t reader : rings_[q].readers)
        if (auto& all = read_by_[reader]; all.empty() || all.back() != q) all.push_back(q);
      if (!rings_[q].readers.empty()) written_by_[rings_[q].writer].push_back(q);
    }
  }

  std::string text() const {
    std::string out = "network " + core_.entry + ": " + std::to_string(program_.units.size()) + " tasks, " +
                      std::to_string(rings_.size()) + " rings\n";
    for (std::uint32_t u = 0; u < program_.units.size(); ++u) {
      out +=
          "task " + std::to_string(u) + ": " + names(program_.units[u]) + "\n  clock " +
          clock_string(core_, program_.units[u].clock) +
          (program_.units[u].segmented ? ", segments of " + program_.cuts[program_.units[u].cut_index].condition : "") +
          "\n" + rings_of(u);
      for (const std::uint32_t owner : program_.units[u].after)
        out += "  looks at what task " + std::to_string(owner) + " keeps\n";
    }
    return out + "host\n" + rings_of(UINT32_MAX);
  }

  std::string graph() const {
    std::string out = "digraph " + quoted(core_.entry) +
                      " {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n"
                      "  edge [fontname=\"monospace\", fontsize=10];\n"
                      "  in [shape=ellipse, label=\"input\"];\n  out [shape=ellipse, label=\"output\"];\n";
    for (std::uint32_t u = 0; u < program_.units.size(); ++u) {
      const steps::Unit& unit = program_.units[u];
      out += "  t" + std::to_string(u) +
             " [label=" + quoted(std::to_string(u) + ": " + names(unit) + "\n" + clock_string(core_, unit.clock)) +
             (unit.segmented ? ", peripheries=2" : "") + "];\n";
      for (const std::uint32_t owner : unit.after)
        out += "  t" + std::to_string(owner) + " -> t" + std::to_string(u) + " [style=dotted];\n";
    }
    for (const Ring& ring : rings_)
      for (const std::uint32_t reader : ring.readers)
        out += "  " + vertex(ring.writer, "in") + " -> " + vertex(reader, "out") +
               " [label=" + quoted(ring.name + "\n" + ring.type + "\n" + std::to_string(ring.capacity)) + "];\n";
    return out + "}\n";
  }

 private:
  void note_writes(const steps::Block& block, std::uint32_t unit) {
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s))
        note_writes(*b->then_block, unit), note_writes(*b->else_block, unit);
      if (const auto* p = std::get_if<steps::Push>(&s)) rings_[p->queue.index].writer = unit;
    }
  }

  void note_names(const steps::Block& block, std::vector<std::string>& all) const {
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s))
        note_names(*b->then_block, all), note_names(*b->else_block, all);
      ValueId v;
      if (const auto* c = std::get_if<steps::Compute>(&s)) v = c->value;
      if (const auto* c = std::get_if<steps::Copy>(&s)) v = c->to;
      if (const auto* p = std::get_if<steps::Push>(&s)) v = p->value;
      if (!v.valid() || core_[v].name.empty()) continue;
      if (std::ranges::find(all, core_[v].name) == all.end()) all.push_back(core_[v].name);
    }
  }

  std::string names(const steps::Unit& unit) const {
    std::vector<std::string> all;
    each_block(unit, [&](const steps::Block& b) { note_names(b, all); });
    std::string text;
    for (std::size_t k = 0; k < std::min(all.size(), most_names); ++k) text += (k > 0 ? ", " : "") + all[k];
    return all.empty() ? unit.name : all.size() > most_names ? text + ", …" : text;
  }

  std::string rings_of(std::uint32_t task) const {
    std::string out;
    const auto of = [&](const auto& rings) {
      const auto at = rings.find(task);
      return at == rings.end() ? std::vector<std::uint32_t>() : at->second;
    };
    for (const std::uint32_t q : of(read_by_))
      out += "  reads  " + rings_[q].name + " from " + place(rings_[q].writer) + "\n";
    for (const std::uint32_t q : of(written_by_)) {
      const Ring& ring = rings_[q];
      out += "  writes " + ring.name + " : " + ring.type + ", at most " + std::to_string(ring.capacity) + ", to ";
      const std::set<std::uint32_t> readers(ring.readers.begin(), ring.readers.end());
      for (auto at = readers.begin(); at != readers.end(); ++at)
        out += (at == readers.begin() ? "" : ", ") + place(*at);
      out += "\n";
    }
    return out;
  }

  static std::string place(std::uint32_t task) {
    return task == UINT32_MAX ? "the host" : "task " + std::to_string(task);
  }
  static std::string vertex(std::uint32_t task, const char* host) {
    return task == UINT32_MAX ? host : "t" + std::to_string(task);
  }
  static std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      if (c == '\n')
        result += "\\n";
      else
        result += c;
    }
    return result + "\"";
  }

  const steps::Program& program_;
  const Core& core_;
  std::vector<Ring> rings_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> read_by_, written_by_;  // rings, by unit or host
};

}  // namespace

std::string tasks_text(const steps::Program& network) { return Network(network).text(); }
std::string tasks_graph(const steps::Program& network) { return Network(network).graph(); }

}  // namespace rml
