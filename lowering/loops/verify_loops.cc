// Verifies a program of loops: buffers match the steps, statements fit their buffers, and elements are written before
// they are read.
//
// A value or scratch counts as written once an earlier statement of the instant has written it, on any branch; the
// verifier of steps checks under which conditions. Cells and arrays were written at other instants. A branch may read a
// buffer that no statement writes, because steps contain such reads under conditions that never hold.
#include <algorithm>
#include <set>
#include <utility>

#include "lowering/loops/scope.h"
#include "lowering/loops/verify_nest.h"
#include "semantics/core/core_text.h"
#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml::loops {

namespace {

class Verifier {
 public:
  explicit Verifier(const Program& p) : p_(p) {}

  std::string run() {
    if (p_.steps == nullptr) return "the loops have no steps";
    for (std::size_t i = 0; i < p_.buffers.size(); ++i) buffer(i);
    if (!violation_.empty()) return violation_;
    if (p_.units.size() != p_.steps->units.size())
      return "the loops have " + std::to_string(p_.units.size()) + " units";
    for (std::size_t u = 0; u < p_.units.size(); ++u) unit(p_.units[u], p_.steps->units[u]);
    operands(p_.rows, p_.steps->emitter.operands);
    return violation_;
  }

 private:
  void fail(const std::string& what) {
    if (!violation_.empty()) return;
    violation_ = what;
    if (of_.valid()) violation_ += ", of " + std::string(body_ == UINT32_MAX ? "" : "a body's ") + id_text(of_);
  }

  // ---- buffers

  const steps::Program* steps_of(std::uint32_t body) const {
    if (body == UINT32_MAX) return p_.steps.get();
    return body < p_.bodies.size() ? p_.bodies[body].get() : nullptr;
  }

  void buffer(std::size_t i) {
    const Buffer& b = p_.buffers[i];
    const std::string what = "buffer " + std::to_string(i);
    const steps::Program* steps = steps_of(b.body);
    if (steps == nullptr) return fail(what + " belongs to a body that does not exist");
    const auto is = [&](const auto& all, auto&& type_of) {
      if (b.index >= all.size()) return fail(what + " of nothing");
      const auto& x = type_of(all[b.index]);
      if (x.dtype != b.dtype || x.shape != b.shape) fail(what + " has a different type from its element");
    };
    const auto itself = [](const auto& x) -> const auto& { return x; };
    const auto of_port = [&](const Port& port) -> const Value& { return (*steps->core)[port.value]; };
    switch (b.space) {
      case Space::constant:
      case Space::value:
        if (b.space == Space::constant && !b.value.valid()) return is(steps->cells, itself);
        if (b.value.index >= steps->core->values.size()) return fail(what + " belongs to no value");
        if (steps->core->is_const(b.value) != (b.space == Space::constant)) fail(what + " is in the wrong space");
        if ((*steps->core)[b.value].dtype != b.dtype || (*steps->core)[b.value].shape != b.shape)
          fail(what + " has a different type from its value");
        return;
      case Space::scratch:
        return;
      case Space::cell:
        return is(steps->cells, itself);
      case Space::array:
        return is(steps->arrays, itself);
      case Space::input:
        return is(steps->core->inputs, of_port);
      case Space::output:
        return is(steps->core->outputs, of_port);
    }
  }

  bool known(BufferId b) {
    if (b.index >= p_.buffers.size()) fail("a statement uses a buffer that does not exist");
    return b.index < p_.buffers.size();
  }
  const Buffer& at(BufferId b) const { return p_.buffers[b.index]; }

  // ---- units

  void operands(const std::vector<BufferId>& all, const std::vector<steps::Operand>& of) {
    if (all.size() != of.size()) return fail("a unit has different operands");
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!known(all[k]) || at(all[k]).space != Space::value || at(all[k]).value != of[k].value)
        fail("an operand is put into a buffer of another value");
  }

  void unit(const Unit& u, const steps::Unit& steps) {
    operands(u.operands, steps.operands);
    if (u.sweeps.size() != steps.sweeps.size()) return fail("the number of sweeps differs");
    if (!violation_.empty()) return;
    const auto at_once = [&](std::initializer_list<const Block*> blocks, const std::vector<BufferId>& given) {
      written_.clear();
      written_.insert(given.begin(), given.end());
      sometime_.clear();
      for (const Block* b : blocks) note_writes(*b);
      checked_.forget();
      for (const Block* b : blocks) block(*b);
    };
    at_once({&u.before}, u.operands);
    at_once({&u.instant}, u.operands);
    for (const Sweep& sweep : u.sweeps) at_once({&sweep.prologue, &sweep.body}, {});
    at_once({&u.commit}, {});
  }

  // Notes the buffers that the block's statements write, on any branch.
  void note_writes(const Block& b) {
    const auto note = [&](BufferId to) { sometime_.insert(to); };
    for (const Statement& s : b.statements)
      std::visit(Overloaded{[&](const Nest& x) {
                              each_access(x, [&](const Access& a, bool writes) {
                                if (writes) note(a.buffer);
                              });
                            },
                            [&](const Copy& x) { note(x.to); }, [&](const Kernel& x) { note(x.result); },
                            [&](const ExternalCall& x) { sometime_.insert(x.results.begin(), x.results.end()); },
                            [&](const Rounds& x) {
                              for (const Rounds::Slice& t : x.taken) note(t.element);
                              for (const Rounds::Slice& t : x.stacked) note(t.whole);
                              note_writes(*x.block);
                            },
                            [&](const Branch& x) { note_writes(*x.then_block), note_writes(*x.else_block); },
                            [](const Push&) {}, [](const Expect&) {}, [](const Assert&) {}, [](const SideCell&) {},
                            [](const MarkLast&) {}},
                 s);
  }

  void block(const Block& b) {
    for (const Statement& s : b.statements) {
      of_ = {};
      if (!violation_.empty()) return;
      std::visit([&](const auto& x) { statement(x); }, s);
    }
  }

  // ---- statements

  void look_at(BufferId b) {
    if (!known(b)) return;
    const Space space = at(b).space;
    if (space == Space::output) fail("an output is read");
    const bool made_here = space == Space::value || space == Space::scratch;
    const bool needed = elements(at(b).shape) > 0 && (branches_ == 0 || sometime_.contains(b));
    if (made_here && needed && !written_.contains(b))
      fail((at(b).value.valid() ? id_text(at(b).value) : "scratch") + " is read before it is written");
  }
  void write(BufferId b) {
    written_.insert(b);
    checked_.forget(b);
  }
  // Notes that a statement other than a nest writes the whole buffer.
  void fill(BufferId b, bool may_be_output = false) {
    if (!known(b)) return;
    const Space space = at(b).space;
    const bool may = space == Space::value || space == Space::scratch || space == Space::cell ||
                     space == Space::array || (may_be_output && space == Space::output);
    if (!may) fail("a statement writes a buffer that it must not write");
    write(b);
  }
  void truth(BufferId b) {
    look_at(b);
    if (known(b) && (at(b).dtype != DType::boolean || !at(b).shape.empty()))
      fail("a tested value is not a Boolean scalar");
  }
  void site(std::uint32_t s) {
    if (s >= p_.steps->sites.size()) fail("there is no site " + std::to_string(s));
  }

  void statement(const Nest& nest) {
    of_ = nest.of;
    std::set<BufferId> own;
    if (std::string wrong = find_violation(p_, nest, checked_, p_.steps->sites.size()); !wrong.empty()) fail(wrong);
    if (!violation_.empty()) return;
    for (const Element& e : nest.body) {
      if (const auto* load = std::get_if<Load>(&e); load != nullptr && !own.contains(load->from.buffer))
        look_at(load->from.buffer);
      if (const auto* sum = std::get_if<Sum>(&e)) look_at(sum->onto.buffer);
      if (const auto* store = std::get_if<Store>(&e)) own.insert(store->to.buffer);
    }
    each_access(nest, [&](const Access& a, bool writes) {
      if (writes) write(a.buffer);
    });
    checked_.learn(p_, nest);
  }
  void statement(const Copy& s) {
    look_at(s.from);
    fill(s.to, true);
    if (!violation_.empty()) return;
    if (s.to == s.from) fail("a buffer is copied to itself");
    if (at(s.to).dtype != at(s.from).dtype || elements(at(s.to).shape) != elements(at(s.from).shape))
      fail("a copy has a different type");
  }
  void statement(const Kernel& s) {
    of_ = s.of;
    const steps::Program& steps = *steps_of(body_);
    const core::Apply* a = s.of.index < steps.core->values.size() ? apply_of(*steps.core, s.of) : nullptr;
    if (a == nullptr || operators()[a->op].kernel != s.symbol) return fail("the kernel belongs to another operator");
    result(s.result, (*steps.core)[s.of].dtype, (*steps.core)[s.of].shape);
    if (a->operands.size() != s.operands.size()) return fail("the kernel has a wrong number of operands");
    for (std::size_t k = 0; k < s.operands.size(); ++k)
      passed(s.operands[k], (*steps.core)[a->operands[k]].dtype, (*steps.core)[a->operands[k]].shape);
  }
  void passed(BufferId b, DType dtype, const Shape& shape) {
    look_at(b);
    if (known(b) && (at(b).dtype != dtype || at(b).shape != shape)) fail("an operand has a wrong type");
  }
  void result(BufferId b, DType dtype, const Shape& shape) {
    fill(b);
    if (known(b) && (at(b).dtype != dtype || at(b).shape != shape)) fail("a result has a wrong type");
  }
  void statement(const ExternalCall& s) {
    of_ = s.of;
    const Core& core = *steps_of(body_)->core;
    if (s.external >= core.externals.size() || !core.externals[s.external].in_c())
      return fail("a call names no external node");
    const ExternalNode& node = core.externals[s.external];
    if (node.inputs.size() != s.operands.size() || node.outputs.size() != s.results.size())
      return fail("a call has a wrong number of operands or results");
    for (std::size_t k = 0; k < s.operands.size(); ++k)
      passed(s.operands[k], node.inputs[k].first, node.inputs[k].second);
    for (std::size_t k = 0; k < s.results.size(); ++k)
      result(s.results[k], node.outputs[k].first, node.outputs[k].second);
  }
  void statement(const Rounds& s) {
    of_ = s.of;
    if (s.body >= p_.bodies.size() || p_.bodies[s.body] == nullptr) return fail("an iteration has no body");
    const steps::Program& outer = *steps_of(body_);
    const auto* call =
        s.of.index < outer.core->values.size() ? std::get_if<core::Call>(&(*outer.core)[s.of].rhs) : nullptr;
    const Iteration* it = call == nullptr ? nullptr : outer.core->externals[call->external].iteration.get();
    if (it == nullptr || it->length != s.length || it->reverse != s.reverse)
      return fail("an iteration has the body of another one");
    for (const Rounds::Slice& x : s.taken) slice(x, s.length, true);
    if (!violation_.empty()) return;
    const std::uint32_t body = std::exchange(body_, s.body);
    checked_.forget();
    block(*s.block);
    checked_.forget();
    body_ = body;
    of_ = s.of;
    for (const Rounds::Slice& x : s.stacked) slice(x, s.length, false);
  }
  void slice(const Rounds::Slice& x, std::int64_t length, bool taken) {
    look_at(taken ? x.whole : x.element);
    fill(taken ? x.element : x.whole);
    if (!violation_.empty()) return;
    Shape whole = at(x.element).shape;
    whole.insert(whole.begin(), length);
    if (at(x.whole).shape != whole || at(x.whole).dtype != at(x.element).dtype) fail("a slice has a wrong type");
  }
  void statement(const Branch& s) {
    if (s.then_block == nullptr || s.else_block == nullptr) return fail("a branch lacks a side");
    if (s.kind == steps::Test::value) truth(s.condition);
    checked_.forget();
    ++branches_;
    block(*s.then_block);
    checked_.forget();
    block(*s.else_block);
    --branches_;
    checked_.forget();
  }
  void statement(const Push& s) {
    look_at(s.from);
    if (!violation_.empty()) return;
    if (s.queue.index >= p_.steps->queues.size()) return fail("there is no such queue");
    const steps::QueueInfo& q = p_.steps->queues[s.queue.index];
    if (q.dtype != at(s.from).dtype || q.shape != at(s.from).shape) fail("a queue has a wrong type");
  }
  void statement(const Expect& s) {
    if (s.input >= p_.steps->core->inputs.size()) fail("there is no input " + std::to_string(s.input));
  }
  void statement(const Assert& s) {
    truth(s.condition);
    site(s.site);
  }
  void statement(const SideCell& s) {
    if (s.cell.index >= p_.steps->cells.size()) return fail("there is no such cell");
    const steps::CellInfo& cell = p_.steps->cells[s.cell.index];
    if (cell.dtype != DType::boolean || !cell.shape.empty()) fail("an assumption is not a Boolean scalar");
    site(s.site);
  }
  void statement(const MarkLast& s) { truth(s.condition); }

  const Program& p_;
  std::set<BufferId> written_, sometime_;  // written so far; written by any statement of this instant
  std::size_t branches_ = 0;               // number of branches around the statement
  CheckedIndices checked_;
  std::uint32_t body_ = UINT32_MAX;  // the body whose statements are checked
  ValueId of_;
  std::string violation_;
};

}  // namespace

std::string verify(const Program& p) { return Verifier(p).run(); }

}  // namespace rml::loops
