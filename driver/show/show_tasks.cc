// Collects the writer and the readers of each ring from the units. The host counts as one more unit, which writes the
// inputs and reads the outputs.
#include "driver/show/show_tasks.h"

#include <algorithm>
#include <map>
#include <set>

#include "lowering/steps/mentions.h"
#include "runtime/scheduler/network.h"

namespace rml {
namespace {

constexpr std::size_t most_names = 4;

struct Ring {
  std::uint32_t writer = UINT32_MAX;   // number of the unit that writes the ring; UINT32_MAX: the host
  std::vector<std::uint32_t> readers;  // numbers of the units that read it, or the host
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
          "task " + std::to_string(u) + ": " + names(program_.units[u], {}, program_.units[u].name) + "\n  clock " +
          clock_string(core_, program_.units[u].clock) +
          (program_.units[u].segmented ? ", segments of " + program_.cuts[program_.units[u].cut_index].condition : "") +
          "\n" + rings_of(u);
      for (const std::uint32_t owner : program_.units[u].after)
        out += "  reads the memory of task " + std::to_string(owner) + "\n";
    }
    return out + "host\n" + rings_of(UINT32_MAX);
  }

  Picture picture() const {
    Picture picture{.core = core_, .noun = "tasks", .labels = "", .boxes = {}, .arrows = {}};
    picture.labels = "a value (where it has a name), its type, and how many of it may wait";
    for (std::uint32_t u = 0; u < program_.units.size(); ++u) {
      const steps::Unit& unit = program_.units[u];
      const std::string clock = clock_string(core_, unit.clock);
      const InstanceId home = home_of(unit);
      picture.boxes.push_back({.name = std::to_string(u) + ": " + names(unit, home, operators_of(unit)),
                               .rest = ":: " + clock,
                               .clock = clock,
                               .instance = home,
                               .kind = unit.segmented ? BoxKind::segment : BoxKind::plain,
                               .part_of = {}});
      for (const std::uint32_t owner : unit.after)
        picture.arrows.push_back({.from = owner, .to = u, .kind = ArrowKind::keeps, .label = ""});
    }
    const auto host_box = [&](std::optional<std::size_t>& at, const char* name) {
      if (!at) {
        at = picture.boxes.size();
        picture.boxes.push_back(host(name));
      }
      return *at;
    };
    std::optional<std::size_t> in, out;
    for (const Ring& ring : rings_)
      for (const std::uint32_t reader : ring.readers) {
        picture.arrows.push_back({.from = ring.writer == UINT32_MAX ? host_box(in, "input") : ring.writer,
                                  .to = reader == UINT32_MAX ? host_box(out, "output") : reader,
                                  .kind = ArrowKind::data,
                                  .label = label(ring)});
      }
    return picture;
  }

 private:
  void note_writes(const steps::Block& block, std::uint32_t unit) {
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s))
        note_writes(*b->then_block, unit), note_writes(*b->else_block, unit);
      if (const auto* p = std::get_if<steps::Push>(&s)) rings_[p->queue.index].writer = unit;
    }
  }

  void note_values(const steps::Block& block, std::vector<ValueId>& all) const {
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s))
        note_values(*b->then_block, all), note_values(*b->else_block, all);
      ValueId v;
      if (const auto* c = std::get_if<steps::Compute>(&s)) v = c->value;
      if (const auto* c = std::get_if<steps::Copy>(&s)) v = c->to;
      if (const auto* p = std::get_if<steps::Push>(&s)) v = p->value;
      if (v.valid()) all.push_back(v);
    }
  }
  std::vector<ValueId> values(const steps::Unit& unit) const {
    std::vector<ValueId> all;
    each_block(unit, [&](const steps::Block& b) { note_values(b, all); });
    return all;
  }

  std::string operators_of(const steps::Unit& unit) const {
    std::vector<std::string> all;
    for (const ValueId v : values(unit))
      if (const auto* a = std::get_if<core::Apply>(&core_[v].rhs))
        if (const std::string name(operators()[a->op].name); all.empty() || all.back() != name) all.push_back(name);
    return all.empty() ? unit.name : all.size() > 1 ? all.front() + ", …" : all.front();
  }

  // Names without the path of `home`; `nameless` for a task without names.
  std::string names(const steps::Unit& unit, InstanceId home, const std::string& nameless) const {
    std::vector<std::string> all;
    for (const ValueId v : values(unit)) {
      const std::string name = name_within(core_, home, core_[v].name);
      if (!name.empty() && std::ranges::find(all, name) == all.end()) all.push_back(name);
    }
    std::string text;
    for (std::size_t k = 0; k < std::min(all.size(), most_names); ++k) text += (k > 0 ? ", " : "") + all[k];
    return all.empty() ? nameless : all.size() > most_names ? text + ", …" : text;
  }

  // The innermost instance that contains the whole task.
  InstanceId home_of(const steps::Unit& unit) const {
    std::optional<std::vector<InstanceId>> shared;  // instances that contain all values so far, outermost first
    for (const ValueId v : values(unit)) {
      std::vector<InstanceId> path;
      for (InstanceId i = core_[v].instance; i.valid(); i = core_.instances[i.index].parent)
        path.insert(path.begin(), i);
      if (!shared) shared = path;
      const auto differs = std::ranges::mismatch(*shared, path);
      shared->erase(differs.in1, shared->end());
    }
    return shared && !shared->empty() ? shared->back() : InstanceId{};
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
  static Box host(const char* name) {
    return {.name = name, .rest = "", .clock = "", .instance = {}, .kind = BoxKind::host, .part_of = {}};
  }
  // The label of a ring without a name has no number, because users do not know it.
  static std::string label(const Ring& ring) {
    const bool named = ring.name.find_first_not_of("0123456789") != std::string::npos;
    return (named ? ring.name + " : " : "") + ring.type + " ≤ " + std::to_string(ring.capacity);
  }

  const steps::Program& program_;
  const Core& core_;
  std::vector<Ring> rings_;
  // Rings that each unit or the host reads, and writes.
  std::map<std::uint32_t, std::vector<std::uint32_t>> read_by_, written_by_;
};

}  // namespace

std::string tasks_text(const steps::Program& network) { return Network(network).text(); }
Picture tasks_picture(const steps::Program& network) { return Network(network).picture(); }

}  // namespace rml
