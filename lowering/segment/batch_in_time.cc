// Decides which products can leave their loops, and distributes the sweeps around them.
//
// Within a sweep an item depends on operands of its own instant and, through fby and post, of the previous one. The
// strongly connected components of these dependences are the recurrences, which stay whole. Every component gets the
// number of the loop that computes it: that of its operands, or the next number if an operand is a batched product. The
// products of a loop come after it.
#include "lowering/segment/batch_in_time.h"

#include <algorithm>
#include <set>

#include "lowering/steps/index_map.h"
#include "semantics/core/components.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

class Batcher {
 public:
  Batcher(const SegmentFacts& facts, const Segment& segment, const Target& target)
      : core_(facts.core()),
        clock_(facts.unit().clock),
        cut_(facts.cut()),
        facts_(facts),
        target_(target),
        segment_(segment),
        users_(core_) {}

  Segment run() {
    std::vector<std::map<ValueId, Batch>> sums;
    std::set<ValueId> gone;
    for (std::size_t s = 0; s < segment_.sweeps.size(); ++s) {
      batches_.clear();
      if (s > 0) find_sums(segment_.sweeps[s], gone);
      sums.push_back(std::move(batches_));
    }
    for (Sweep& sweep : segment_.sweeps)
      std::erase_if(sweep.items, [&](const SweepItem& i) { return gone.contains(i.value); });
    std::vector<Sweep> result;
    for (std::size_t s = 0; s < segment_.sweeps.size(); ++s) {
      Sweep& sweep = segment_.sweeps[s];
      batches_ = std::move(sums[s]);
      if (s > 0) find_rows(sweep);
      if (batches_.empty())
        result.push_back(std::move(sweep));
      else
        distribute(sweep, result);
    }
    segment_.sweeps = std::move(result);
    return std::move(segment_);
  }

 private:
  Lowering lowering(ValueId v) const {
    const auto* a = apply_of(core_, v);
    return a == nullptr ? Lowering::folded : operators()[a->op].lowering;
  }
  const Shape& shape(ValueId v) const { return core_[v].shape; }
  std::int64_t size(ValueId v) const { return *element_count(shape(v)); }

  // Skips reshapes: the value with the same elements in the same order that is not a reshape of this unit.
  ValueId strip(ValueId v) const {
    while (lowering(v) == Lowering::reshape && facts_.is_here(apply_of(core_, v)->operands[0]))
      v = apply_of(core_, v)->operands[0];
    return v;
  }
  // True if the value is the transposition of a matrix.
  bool exchanges(ValueId v) const {
    if (lowering(v) != Lowering::transpose || shape(v).size() != 2) return false;
    const std::vector<Shape> shapes = {shape(apply_of(core_, v)->operands[0])};
    return transposed_axes(Application{{}, shapes, apply_of(core_, v)->attributes, core_[v].dtype})[0] == 1;
  }
  bool each(ValueId v) const { return core_[v].clock == clock_ && !facts_.is_held(v) && is_everywhere(v); }

  // True if the value is known at all instants, with an element for each.
  bool is_everywhere(ValueId v) const { return facts_.is_here(v) && facts_.known_at_end(v) == any_instant; }

  // ---- sums

  // Large constants are not folded, so a zero may be a scalar that is broadcast.
  bool is_zero(ValueId v) const {
    while (lowering(v) == Lowering::broadcast || lowering(v) == Lowering::fill || lowering(v) == Lowering::reshape)
      v = apply_of(core_, v)->operands[0];
    const auto* constant = std::get_if<core::Const>(&core_[v].rhs);
    return constant != nullptr && constant->value == Tensor(core_[v].dtype, shape(v));
  }

  // True for merge cut zeros ((post v) when not cut) whose parts have no other use than v.
  bool carries(ValueId m, ValueId v, std::set<ValueId>& chain) const {
    const auto* merge = std::get_if<core::Merge>(&core_[m].rhs);
    if (merge == nullptr || merge->condition != cut_.condition) return false;
    const ValueId zero = cut_.positive ? merge->on_true : merge->on_false;
    const ValueId rest = cut_.positive ? merge->on_false : merge->on_true;
    const auto* when = std::get_if<core::When>(&core_[rest].rhs);
    if (!is_zero(zero) || when == nullptr) return false;
    const auto* post = std::get_if<core::Post>(&core_[when->operand].rhs);
    if (post == nullptr || post->operand != v) return false;
    chain = {m, rest, when->operand};
    return users_.of(m).size() == 1 && users_.of(rest).size() == 1 && users_.of(when->operand).size() == 1;
  }

  bool used_first_only(ValueId v, ValueId post) const {
    return !facts_.looked_at(v) && std::ranges::all_of(users_.of(v), [&](ValueId u) {
      const auto* when = std::get_if<core::When>(&core_[u].rhs);
      return u == post ||
             (when != nullptr && when->operand == v && when->positive && facts_.holds_first_only(when->condition));
    });
  }

  // The batch of a b, if a has a single column and b a single row, or a is transposed.
  std::optional<Batch> summed(ValueId product) const {
    const Lowering form = lowering(product);
    if (form != Lowering::outer && form != Lowering::matmul && form != Lowering::elementwise) return std::nullopt;
    if (form == Lowering::elementwise && operators()[apply_of(core_, product)->op].scalar != ScalarOp::mul)
      return std::nullopt;
    ValueId x = apply_of(core_, product)->operands[0], y = apply_of(core_, product)->operands[1];
    const Shape& s = shape(product);
    if (s.size() != 2) return std::nullopt;
    const auto is_row = [&](ValueId v) {
      return shape(v) == Shape{1, s[1]} || (form == Lowering::elementwise && shape(v) == Shape{s[1]});
    };
    if (form == Lowering::elementwise && is_row(x)) std::swap(x, y);
    const bool column = form == Lowering::outer || (shape(x) == Shape{s[0], 1} && is_row(y));
    Batch batch{true, s[0], 1, s[1], {strip(x), false, 1, s[0]}, {strip(y), false, s[1], 1}};
    if (!column) {
      if (form != Lowering::matmul || !exchanges(x) || shape(y).size() != 2) return std::nullopt;
      batch.inner = shape(x)[1];
      batch.a.value = strip(apply_of(core_, x)->operands[0]);
    }
    if (s[0] < target_.fewest_batched || s[1] < target_.fewest_batched || !each(batch.a.value) || !each(batch.b.value))
      return std::nullopt;
    return batch;
  }

  // Finds sums over a segment. `gone` are values of any sweep that are no longer needed.
  void find_sums(const Sweep& sweep, std::set<ValueId>& gone) {
    for (const SweepItem& i : sweep.items) {
      const ValueId v = i.value;
      if (!sweep.backward || core_[v].clock != clock_ || lowering(v) != Lowering::elementwise ||
          size(v) < target_.near_elements || operators()[apply_of(core_, v)->op].scalar != ScalarOp::add)
        continue;
      for (const std::size_t k : {0, 1}) {
        std::set<ValueId> chain;
        const ValueId product = apply_of(core_, v)->operands[k], m = apply_of(core_, v)->operands[1 - k];
        if (core_[product].clock != clock_ || !carries(m, v, chain)) continue;
        const auto* when = std::get_if<core::When>(&core_[*std::ranges::find_if(chain, [&](ValueId c) {
                                                      return std::holds_alternative<core::When>(core_[c].rhs);
                                                    })].rhs);
        const auto batch = used_first_only(v, when->operand) ? summed(product) : std::nullopt;
        if (!batch) continue;
        batches_[v] = *batch;
        gone.insert(chain.begin(), chain.end());
        drop(product, v, gone);
        break;
      }
    }
  }

  // Removes v if the product is its only user, and its views of operands likewise.
  void drop(ValueId v, ValueId user, std::set<ValueId>& gone) const {
    if (users_.of(v).size() != 1 || users_.of(v)[0] != user || facts_.looked_at(v)) return;
    gone.insert(v);
    for_each_operand(core_[v].rhs, [&](ValueId o) {
      if (lowering(o) == Lowering::reshape || lowering(o) == Lowering::transpose) drop(o, v, gone);
    });
  }

  // ---- rows

  std::optional<BatchOperand> held_matrix(ValueId v) const {
    if (exchanges(v) && facts_.is_held(apply_of(core_, v)->operands[0]))
      return BatchOperand{apply_of(core_, v)->operands[0], true, 1, shape(v)[0]};
    if (shape(v).size() != 2 || !facts_.is_held(v)) return std::nullopt;
    return BatchOperand{v, true, shape(v)[1], 1};
  }

  void find_rows(const Sweep& sweep) {
    for (const SweepItem& i : sweep.items) {
      const ValueId v = i.value;
      if (lowering(v) != Lowering::matmul || core_[v].clock != clock_ || i.classes != any_instant) continue;
      const ValueId x = apply_of(core_, v)->operands[0], y = apply_of(core_, v)->operands[1];
      const auto left = held_matrix(x), right = held_matrix(y);
      Batch batch;
      if (left && !right && (shape(y).size() == 1 || shape(y)[1] == 1) && shape(y).size() <= 2) {
        const std::int64_t m = shape(x)[0], k = shape(x)[1];
        batch = {false, 1, k, m, {strip(y), false, k, 1}, {left->value, true, left->column, left->row}};
      } else if (right && !left && shape(x).size() <= 2) {
        const std::int64_t k = shape(y)[0];
        batch = {false, shape(x).size() == 2 ? shape(x)[0] : 1, k, shape(y)[1], {strip(x), false, k, 1}, *right};
      } else {
        continue;
      }
      // Smaller weights stay in the cache anyway, so their products stay in the loops.
      if (batch.n < target_.fewest_batched || batch.n * batch.inner < target_.near_elements ||
          batch.m > target_.most_batched_rows || !each(batch.a.value))
        continue;
      batches_[v] = batch;
    }
  }

  // ---- distribution

  void distribute(const Sweep& sweep, std::vector<Sweep>& result) {
    const std::size_t count = sweep.items.size();
    std::map<ValueId, std::uint32_t> number;
    for (std::uint32_t k = 0; k < count; ++k) number[sweep.items[k].value] = k;
    std::vector<std::vector<std::uint32_t>> needs(count);
    for (std::uint32_t k = 0; k < count; ++k) {
      const ValueId v = sweep.items[k].value;
      const auto need = [&](ValueId o) {
        if (const auto at = number.find(o); at != number.end() && o != v) needs[k].push_back(at->second);
      };
      if (const auto b = batches_.find(v); b != batches_.end()) {
        need(b->second.a.value);
        need(b->second.b.value);
      } else {
        for_each_operand(core_[v].rhs, need);
      }
      for (const ClockId c : ancestors(core_, core_[v].clock)) need(core_[c].condition);
    }
    std::uint32_t found = 0;
    const auto component =
        strong_components(count, [&](std::uint32_t v, const auto& f) { std::ranges::for_each(needs[v], f); }, found);
    std::vector<std::vector<std::uint32_t>> members(found);
    for (std::uint32_t k = 0; k < count; ++k) members[component[k]].push_back(k);
    const auto batched = [&](std::uint32_t k) {
      return batches_.contains(sweep.items[k].value) && members[component[k]].size() == 1;
    };
    std::vector<std::size_t> loop(found, 0);
    for (std::uint32_t c = 0; c < found; ++c)
      for (const std::uint32_t k : members[c])
        for (const std::uint32_t o : needs[k])
          if (component[o] != c) loop[c] = std::max(loop[c], loop[component[o]] + (batched(o) && !batched(k) ? 1 : 0));
    const std::size_t last = *std::ranges::max_element(loop);
    for (std::size_t l = 0; l <= last; ++l) {
      Sweep each{sweep.backward, {}}, products{false, {}};
      for (std::uint32_t k = 0; k < count; ++k)
        if (loop[component[k]] == l) (batched(k) ? products : each).items.push_back(sweep.items[k]);
      // Products follow the order of their components, because a product may read the result of another.
      std::ranges::stable_sort(products.items, {}, [&](const SweepItem& i) { return component[number.at(i.value)]; });
      for (const SweepItem& i : products.items) segment_.products[i.value] = batches_.at(i.value);
      if (!each.items.empty()) result.push_back(std::move(each));
      if (!products.items.empty()) result.push_back(std::move(products));
    }
  }

  const Core& core_;
  ClockId clock_;
  Literal cut_;
  const SegmentFacts& facts_;
  const Target& target_;
  Segment segment_;
  const Uses users_;
  std::map<ValueId, Batch> batches_;  // products of the current sweep
};

}  // namespace

Segment batch_in_time(const Schedule& schedule, const Streams& streams, const Segment& segment, const Target& target) {
  const SegmentFacts facts(schedule, streams, segment);
  return Batcher(facts, segment, target).run();
}

Segments batch_in_time(Segments s, const Target& target) {
  return change_each(std::move(s), [&](const auto&... of) { return batch_in_time(of..., target); });
}

}  // namespace rml
