// Groups of loops, by list scheduling.
//
// Between statements whose order matters (stores of cells, branches, what may fail, …), computations, loads, and
// stores into arrays are ordered by their operands alone. Of those that are ready, one that joins the loop at hand
// comes first; then what is no loop; then the next loop in the order of the text.
#include "lowering/loop_group.h"

#include <algorithm>
#include <map>

#include "lowering/index_map.h"
#include "lowering/mentions.h"

namespace rml {

namespace {

// Smaller tensors are unrolled, and live in registers.
constexpr std::int64_t smallest_loop = 16;

const core::Apply* application(const Core& core, ValueId v) { return std::get_if<core::Apply>(&core[v].rhs); }

bool inlined(const steps::Program& p, ValueId v) { return v.index < p.inlined.size() && p.inlined[v.index]; }

// Through inlined values, down to members: `same` while element i of the loop reads element i.
bool reads_well(const steps::Program& p, const std::set<ValueId>& members, const Shape& shape, ValueId v, bool same) {
  const Core& core = *p.core;
  const core::Apply& a = *application(core, v);
  const Lowering lowering = operators()[a.op].lowering;
  return std::ranges::all_of(a.operands, [&](ValueId o) {
    const bool here = same && (lowering == Lowering::elementwise || is_reduction(lowering)) && core[o].shape == shape;
    if (inlined(p, o)) return application(core, o) == nullptr || reads_well(p, members, shape, o, here);
    if (!members.contains(o)) return true;
    return here && !is_reduction(operators()[application(core, o)->op].lowering);
  });
}

// A product among what the loops of v compute on their way: then they are the loops of the product.
bool has_product(const steps::Program& p, ValueId v) {
  const core::Apply* a = application(*p.core, v);
  return a != nullptr && std::ranges::any_of(a->operands, [&](ValueId o) {
           if (!inlined(p, o)) return false;
           const core::Apply* inner = application(*p.core, o);
           return (inner != nullptr && operators()[inner->op].lowering == Lowering::matmul) || has_product(p, o);
         });
}

class Grouping {
 public:
  explicit Grouping(steps::Program& p) : program_(p), core_(*p.core), mentions_(count_mentions(p)) {}

  void run() {
    for (steps::Unit& u : program_.units) each_block(u, [&](steps::Block& b) { order(b); });
  }

 private:
  bool movable(const steps::Statement& s) const {
    if (std::holds_alternative<steps::LoadCell>(s) || std::holds_alternative<steps::LoadArray>(s) ||
        std::holds_alternative<steps::StoreArray>(s))
      return true;
    const auto* c = std::get_if<steps::Compute>(&s);
    if (c == nullptr) return false;
    return core_.is_const(c->value) || only_computes(core_, c->value);
  }

  void order(steps::Block& block) {
    std::vector<steps::Statement> result, run;
    for (steps::Statement& s : block.statements) {
      if (movable(s)) {
        run.push_back(std::move(s));
        continue;
      }
      flush(run, result);
      if (auto* b = std::get_if<steps::Branch>(&s)) {
        order(*b->then_block);
        order(*b->else_block);
      }
      result.push_back(std::move(s));
    }
    flush(run, result);
    block.statements = std::move(result);
  }

  static ValueId defined(const steps::Statement& s) {
    if (const auto* c = std::get_if<steps::Compute>(&s)) return c->value;
    if (const auto* l = std::get_if<steps::LoadCell>(&s)) return l->value;
    if (const auto* l = std::get_if<steps::LoadArray>(&s)) return l->value;
    return {};
  }

  std::optional<Shape> shape_of(const steps::Statement& s) const {
    const auto* c = std::get_if<steps::Compute>(&s);
    if (c == nullptr || inlined(program_, c->value) || has_product(program_, c->value)) return std::nullopt;
    return loop_shape(core_, c->value);
  }

  void flush(std::vector<steps::Statement>& run, std::vector<steps::Statement>& result) {
    const std::size_t count = run.size();
    std::map<ValueId, std::size_t> definition;
    for (std::size_t k = 0; k < count; ++k)
      if (const ValueId v = defined(run[k]); v.valid()) definition[v] = k;
    std::vector<std::vector<std::size_t>> users(count);
    std::vector<std::size_t> waits(count, 0);
    const auto need = [&](std::size_t k, ValueId o) {
      const auto at = definition.find(o);
      if (at == definition.end() || at->second >= k) return;
      users[at->second].push_back(k);
      ++waits[k];
    };
    for (std::size_t k = 0; k < count; ++k) {
      if (const auto* c = std::get_if<steps::Compute>(&run[k]))
        for_each_operand(core_[c->value].rhs, [&](ValueId o) { need(k, o); });
      if (const auto* s = std::get_if<steps::StoreArray>(&run[k])) need(k, s->value);
    }
    std::vector<std::optional<Shape>> shapes;
    for (const steps::Statement& s : run) shapes.push_back(shape_of(s));
    std::set<std::size_t> loops, others;  // ready
    for (std::size_t k = 0; k < count; ++k)
      if (waits[k] == 0) (shapes[k] ? loops : others).insert(k);
    Shape shape;
    std::set<ValueId> members;
    for (std::size_t done = 0; done < count;) {
      std::size_t next = SIZE_MAX;
      // Inlined values and loads cost nothing here; they make others ready.
      for (const std::size_t k : others)
        if (next == SIZE_MAX && free(run[k])) next = k;
      for (const std::size_t k : loops)
        if (next == SIZE_MAX && !members.empty() && *shapes[k] == shape && joins(program_, members, defined(run[k])))
          next = k;
      if (next == SIZE_MAX) close(members);
      if (next == SIZE_MAX && !others.empty()) next = *others.begin();
      if (next == SIZE_MAX) next = *loops.begin();
      if (shapes[next]) {
        shape = *shapes[next];
        members.insert(defined(run[next]));
      }
      loops.erase(next), others.erase(next);
      for (const std::size_t k : users[next])
        if (--waits[k] == 0) (shapes[k] ? loops : others).insert(k);
      result.push_back(std::move(run[next]));
      ++done;
    }
    close(members);
    run.clear();
  }

  bool free(const steps::Statement& s) const {
    const auto* c = std::get_if<steps::Compute>(&s);
    return c != nullptr ? inlined(program_, c->value) : !std::holds_alternative<steps::StoreArray>(s);
  }

  // Members that only members look at, each through the loop, need no memory.
  void close(std::set<ValueId>& members) {
    std::map<ValueId, std::uint32_t> reads;
    if (members.size() > 1)
      for (const ValueId m : members) count_reads(m, reads);
    for (const auto& [v, count] : reads)
      if (members.contains(v) && count == mentions_[v.index] && is_pointwise(core_, v))
        program_.inlined[v.index] = true;
    members.clear();
  }
  void count_reads(ValueId v, std::map<ValueId, std::uint32_t>& reads) const {
    for (const ValueId o : application(core_, v)->operands) {
      ++reads[o];
      if (inlined(program_, o) && application(core_, o) != nullptr && reads[o] == 1) count_reads(o, reads);
    }
  }

  steps::Program& program_;
  const Core& core_;
  std::vector<std::uint32_t> mentions_;
};

}  // namespace

std::optional<Shape> loop_shape(const Core& core, ValueId v) {
  const core::Apply* a = application(core, v);
  if (a == nullptr || can_fail(core, v)) return std::nullopt;
  const Lowering lowering = operators()[a->op].lowering;
  const Shape& shape = is_reduction(lowering) ? core[a->operands[0]].shape : core[v].shape;
  if (!is_reduction(lowering) && (!is_pointwise(core, v) || lowering == Lowering::reshape)) return std::nullopt;
  if (*element_count(shape) <= smallest_loop || *element_count(core[v].shape) == 0) return std::nullopt;
  return shape;
}

bool joins(const steps::Program& p, const std::set<ValueId>& members, ValueId v) {
  const auto shape = loop_shape(*p.core, v);
  return shape && !has_product(p, v) && reads_well(p, members, *shape, v, true);
}

void group_loops(steps::Program& program) { Grouping(program).run(); }

}  // namespace rml
