// Changes programs of the language tests to loops that violate an invariant. `verify` must refuse
// each mutant.
//
// A mutant changes one thing: the begin of an access, the element that is an operand, the order
// of two statements, or the space that is written. The change is undone before the next mutant.
#include "lowering/loops/loops.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "compiler/pipeline.h"
#include "lowering/loops/make_loops.h"
#include "lowering/loops/verify_nest.h"
#include "semantics/values/strides.h"

namespace rml {
namespace {

using loops::BufferId, loops::Space;

struct Subject {
  std::string name;
  std::shared_ptr<const steps::Program> steps;
  loops::Program program;
};

Subject subject(const std::string& name) {
  Session session({RML_STDLIB});
  session.options.target.strict_math = true;
  auto lowered = compile(session, std::string(RML_LANGUAGE_TESTS) + "/" + name + ".rml");
  EXPECT_TRUE(lowered.has_value()) << name;
  if (!lowered) return {name, nullptr, {}};
  auto steps = std::make_shared<const steps::Program>(std::move(lowered->program));
  loops::Made made = loops::make_loops(steps);
  EXPECT_TRUE(made.refused.empty()) << name;
  EXPECT_EQ(loops::verify(made.program), "") << name;
  return {name, steps, std::move(made.program)};
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> list;
    for (const char* name :
         {"delay/counter", "clocks/merge", "future/backfill", "iterators/elements", "tensors/matmul",
          "tensors/indexing", "tensors/slices", "tensors/reductions", "tensors/argmax", "tensors/moving",
          "tensors/gathering", "kernels/convolutions", "operators/integer_arithmetic", "half/stored"})
      list.push_back(subject(name));
    return list;
  }();
  return all;
}

// ---- parts that can be changed

void each_block(loops::Block& b, const std::function<void(loops::Block&)>& f) {
  f(b);
  for (loops::Statement& s : b.statements) {
    if (auto* branch = std::get_if<loops::Branch>(&s)) {
      each_block(*branch->then_block, f);
      each_block(*branch->else_block, f);
    }
    if (auto* rounds = std::get_if<loops::Rounds>(&s)) each_block(*rounds->block, f);
  }
}
void each_block(loops::Program& p, const std::function<void(loops::Block&)>& f) {
  for (loops::Unit& u : p.units) {
    each_block(u.before, f), each_block(u.instant, f);
    for (loops::Sweep& pass : u.sweeps) each_block(pass.prologue, f), each_block(pass.body, f);
    each_block(u.commit, f);
  }
}
void each_nest(loops::Program& p, const std::function<void(loops::Nest&)>& f) {
  each_block(p, [&](loops::Block& b) {
    for (loops::Statement& s : b.statements)
      if (auto* nest = std::get_if<loops::Nest>(&s)) f(*nest);
  });
}
loops::Access* access_of(loops::Element& e) {
  if (auto* load = std::get_if<loops::Load>(&e)) return &load->from;
  if (auto* store = std::get_if<loops::Store>(&e)) return &store->to;
  auto* sum = std::get_if<loops::Sum>(&e);
  return sum != nullptr ? &sum->onto : nullptr;
}

class Mutants {
 public:
  // Replaces `was`, expects that the program is refused, and restores it.
  template <class T>
  void refused(Subject& s, T& was, T becomes, const std::string& what) {
    std::swap(was, becomes);
    ++count;
    EXPECT_NE(loops::verify(s.program), "") << s.name << ": " << what;
    std::swap(was, becomes);
  }
  int count = 0;
};

void of_each_subject(const std::function<void(Mutants&, Subject&)>& mutate) {
  Mutants mutants;
  for (const Subject& known : subjects()) {
    ASSERT_NE(known.steps, nullptr);
    Subject mine{known.name, known.steps, loops::make_loops(known.steps).program};
    mutate(mutants, mine);
    EXPECT_EQ(loops::verify(mine.program), "") << mine.name;
  }
  EXPECT_GE(mutants.count, 20);
}

TEST(Loops, AnAccessOutOfBoundsIsRefused) {
  of_each_subject([](Mutants& m, Subject& s) {
    each_nest(s.program, [&](loops::Nest& nest) {
      for (loops::Element& e : nest.body) {
        loops::Access* a = access_of(e);
        if (a == nullptr) continue;
        const std::int64_t size = elements(s.program.buffers[a->buffer.index].shape);
        m.refused(s, a->start, a->start + size, "begins behind its buffer");
        m.refused(s, a->start, a->start - size, "begins in front of its buffer");
        for (std::int64_t& step : a->steps)
          if (step != 0) m.refused(s, step, step * (size + 1), "steps out of its buffer");
        if (!a->computed.empty()) m.refused(s, a->computed[0].second, size + 1, "computed out of its buffer");
      }
    });
  });
}

TEST(Loops, AnOperandOfTheFutureOrOfAnotherTypeIsRefused) {
  of_each_subject([](Mutants& m, Subject& s) {
    each_nest(s.program, [&](loops::Nest& nest) {
      for (std::uint32_t k = 0; k < nest.body.size(); ++k) {
        loops::Element& e = nest.body[k];
        if (auto* o = std::get_if<loops::Operation>(&e)) {
          m.refused(s, o->operands[0], k, "operates on itself");
          m.refused(s, o->operands, {}, "operates on nothing");
          m.refused(s, o->dtype, o->dtype == DType::f16 ? DType::bf16 : DType::f16, "operates on another dtype");
        }
        if (auto* c = std::get_if<loops::Convert>(&e)) {
          m.refused(s, c->operand, k, "converts itself");
          m.refused(s, c->from, c->from == DType::u16 ? DType::u8 : DType::u16, "converts another dtype");
        }
        if (auto* store = std::get_if<loops::Store>(&e)) m.refused(s, store->element, k, "stores itself");
        if (auto* sum = std::get_if<loops::Sum>(&e)) {
          m.refused(s, sum->element, k, "sums itself up");
          m.refused(s, sum->op, ScalarOp::sub, "sums by differences");
        }
        if (auto* check = std::get_if<loops::Check>(&e)) m.refused(s, check->bad, k, "checks itself");
      }
    });
  });
}

// Mutants: an index beyond its axis by one, and an index that is not checked.
TEST(Loops, AnIndexThatIsNotCheckedIsRefused) {
  of_each_subject([](Mutants& m, Subject& s) {
    each_nest(s.program, [&](loops::Nest& nest) {
      bool is_used = false;  // true if an access of this nest uses the index; otherwise a later nest does
      loops::each_access(nest, [&](const loops::Access& a, bool) { is_used = is_used || !a.computed.empty(); });
      if (!is_used) return;
      for (loops::Element& e : nest.body) {
        auto* check = std::get_if<loops::Check>(&e);
        if (check == nullptr || check->bound == UINT32_MAX) continue;
        auto* either = std::get_if<loops::Operation>(&nest.body[check->bad]);
        if (either->op != ScalarOp::logical_or) continue;
        auto& bound = std::get<loops::Number>(nest.body[check->bound]);
        const std::int64_t extent = *bound.value.as<std::int64_t>();
        m.refused(s, bound.value, Tensor::scalar(DType::i64, extent + 1), "lets an index through");
        if (extent > 0) m.refused(s, either->op, ScalarOp::logical_and, "checks nothing");
      }
    });
  });
}

// Returns the number of statements that write each buffer.
std::map<BufferId, int> writers(loops::Program& p) {
  std::map<BufferId, int> count;
  each_block(p, [&](loops::Block& b) {
    for (loops::Statement& s : b.statements) {
      if (const auto* nest = std::get_if<loops::Nest>(&s))
        loops::each_access(*nest, [&](const loops::Access& a, bool writes) { count[a.buffer] += writes ? 1 : 0; });
      if (const auto* copy = std::get_if<loops::Copy>(&s)) ++count[copy->to];
      if (const auto* rounds = std::get_if<loops::Rounds>(&s)) {
        for (const auto& x : rounds->taken) ++count[x.element];
        for (const auto& x : rounds->stacked) ++count[x.whole];
      }
    }
  });
  for (const loops::Unit& u : p.units)
    for (const BufferId o : u.operands) ++count[o];
  return count;
}

// True if the statement reads a buffer, which only one statement writes.
bool needs(const loops::Statement& s, BufferId written) {
  bool found = false;
  if (const auto* nest = std::get_if<loops::Nest>(&s))
    loops::each_access(*nest, [&](const loops::Access& a, bool writes) { found |= !writes && a.buffer == written; });
  if (const auto* copy = std::get_if<loops::Copy>(&s)) found |= copy->from == written;
  if (const auto* branch = std::get_if<loops::Branch>(&s)) found |= branch->condition == written;
  if (const auto* push = std::get_if<loops::Push>(&s)) found |= push->from == written;
  return found;
}
BufferId written_by(const loops::Statement& s) {
  BufferId to;
  if (const auto* nest = std::get_if<loops::Nest>(&s))
    loops::each_access(*nest, [&](const loops::Access& a, bool writes) {
      if (writes) to = a.buffer;
    });
  if (const auto* copy = std::get_if<loops::Copy>(&s)) to = copy->to;
  return to;
}

TEST(Loops, AUseInFrontOfWhatItUsesIsRefused) {
  of_each_subject([](Mutants& m, Subject& s) {
    const std::map<BufferId, int> count = writers(s.program);
    each_block(s.program, [&](loops::Block& b) {
      for (std::size_t i = 0; i < b.statements.size(); ++i) {
        const BufferId to = written_by(b.statements[i]);
        if (!to.valid() || count.at(to) != 1) continue;
        const Space space = s.program.buffers[to.index].space;
        if (space != Space::value && space != Space::scratch) continue;
        for (std::size_t j = i + 1; j < b.statements.size(); ++j) {
          if (!needs(b.statements[j], to)) continue;
          std::swap(b.statements[i], b.statements[j]);
          ++m.count;
          EXPECT_NE(loops::verify(s.program), "") << s.name << ": statements " << i << " and " << j;
          std::swap(b.statements[i], b.statements[j]);
          break;
        }
      }
    });
  });
}

TEST(Loops, AWriteToWhatIsNotWrittenIsRefused) {
  of_each_subject([](Mutants& m, Subject& s) {
    const std::size_t buffers = s.program.buffers.size();
    const Core& core = *s.steps->core;
    const auto ports = [&](const std::vector<Port>& all, Space space) {
      for (std::uint32_t k = 0; k < all.size(); ++k)
        s.program.buffers.push_back({space, core[all[k].value].dtype, core[all[k].value].shape, {}, k, UINT32_MAX});
    };
    ports(core.inputs, Space::input);
    ports(core.outputs, Space::output);
    const auto each_like = [&](BufferId like, const std::function<void(BufferId, Space)>& f) {
      for (std::size_t k = 0; k < s.program.buffers.size(); ++k) {
        const loops::Buffer &a = s.program.buffers[k], &b = s.program.buffers[like.index];
        if (a.dtype == b.dtype && a.shape == b.shape) f(BufferId(k), a.space);
      }
    };
    each_nest(s.program, [&](loops::Nest& nest) {
      for (loops::Element& e : nest.body) {
        loops::Access* a = access_of(e);
        if (a == nullptr) continue;
        const bool loads = std::holds_alternative<loops::Load>(e);
        each_like(a->buffer, [&](BufferId other, Space space) {
          const bool wrong = loads ? space == Space::output
                                   : space == Space::input || space == Space::output || space == Space::constant;
          if (wrong) m.refused(s, a->buffer, other, loads ? "loads of an output" : "stores where nothing is stored");
        });
      }
    });
    each_block(s.program, [&](loops::Block& b) {
      for (loops::Statement& statement : b.statements) {
        auto* copy = std::get_if<loops::Copy>(&statement);
        if (copy == nullptr) continue;
        each_like(copy->to, [&](BufferId other, Space space) {
          if (space == Space::input || space == Space::constant)
            m.refused(s, copy->to, other, "copies to where nothing is written");
          if (space == Space::output) m.refused(s, copy->from, other, "copies an output");
        });
      }
    });
    s.program.buffers.resize(buffers);
  });
}

// Two rounds of independent loops write the same element.
TEST(Loops, AnElementWithTwoWritersIsRefused) {
  of_each_subject([](Mutants& m, Subject& s) {
    each_nest(s.program, [&](loops::Nest& nest) {
      for (loops::Element& e : nest.body) {
        if (std::holds_alternative<loops::Load>(e)) continue;
        loops::Access* a = access_of(e);
        if (a == nullptr) continue;
        for (std::size_t k = 0; k < nest.axes.size(); ++k)
          if (nest.axes[k].role == loops::Role::each) m.refused(s, a->steps[k], std::int64_t{0}, "writes one place");
      }
    });
  });
}

TEST(Loops, ABufferOfAnotherSizeIsRefused) {
  of_each_subject([](Mutants& m, Subject& s) {
    for (loops::Buffer& b : s.program.buffers) {
      if (b.space == Space::scratch) continue;
      Shape longer = b.shape;
      longer.push_back(2);
      m.refused(s, b.shape, std::move(longer), "has another shape than what it is of");
      m.refused(s, b.dtype, b.dtype == DType::u16 ? DType::u8 : DType::u16, "has another dtype than what it is of");
    }
  });
}

}  // namespace
}  // namespace rml
