// Checks a nest element by element, then access by access.
//
// The steps of an access determine which elements of its buffer it reaches: along each axis, the index is least or
// greatest at one of the ends. Two rounds write different elements if, from the smallest step on, each step is larger
// than the sum of all distances that the smaller steps can cover:
//
//   store %5[12*i + 4*j + k], i:2 j:3 k:4      1 * 3 < 4,  1 * 3 + 4 * 2 < 12
#include "lowering/loops/verify_nest.h"

#include <algorithm>
#include <optional>

#include "lowering/loops/operations.h"
#include "lowering/loops/scope.h"
#include "semantics/core/core_text.h"
#include "semantics/values/overloaded.h"

namespace rml::loops {

namespace {

// The result of a passed check on an index: 0 <= element < bound, for an i64.
struct Range {
  std::uint32_t element;
  std::int64_t bound;
};

template <class T>
const T* element_at(const Nest& nest, std::uint32_t e) {
  return e < nest.body.size() ? std::get_if<T>(&nest.body[e]) : nullptr;
}
const Operation* operation_at(const Nest& nest, std::uint32_t e, ScalarOp op, DType dtype) {
  const auto* o = element_at<Operation>(nest, e);
  return o != nullptr && o->op == op && o->dtype == dtype && o->operands.size() == 2 ? o : nullptr;
}
std::optional<std::int64_t> number_at(const Nest& nest, std::uint32_t e) {
  const auto* n = element_at<Number>(nest, e);
  if (n == nullptr || n->value.dtype() != DType::i64) return std::nullopt;
  return *n->value.as<std::int64_t>();
}
// The range, if the check is for `x < 0 or x >= bound`.
std::optional<Range> found_in_range(const Nest& nest, std::size_t check) {
  const auto* c = std::get_if<Check>(&nest.body[check]);
  const Operation* either = c == nullptr ? nullptr : operation_at(nest, c->bad, ScalarOp::logical_or, DType::boolean);
  const Operation* below =
      either == nullptr ? nullptr : operation_at(nest, either->operands[0], ScalarOp::lt, DType::i64);
  const Operation* above =
      below == nullptr ? nullptr : operation_at(nest, either->operands[1], ScalarOp::ge, DType::i64);
  if (above == nullptr || above->operands[0] != below->operands[0]) return std::nullopt;
  const auto bound = number_at(nest, above->operands[1]);
  if (number_at(nest, below->operands[1]) != std::int64_t{0} || !bound) return std::nullopt;
  return Range{below->operands[0], *bound};
}

class NestVerifier {
 public:
  NestVerifier(const Program& p, const Nest& nest, const CheckedIndices& checked, std::size_t sites)
      : p_(p), nest_(nest), checked_(checked), sites_(sites), dtypes_(dtypes(p, nest)) {}

  std::string run() {
    for (const Axis& a : nest_.axes)
      if (a.extent < 1) fail("an axis has the extent " + std::to_string(a.extent));
    each_access(nest_, [&](const Access& a, bool) { refers(a); });
    for (at_ = 0; at_ < nest_.body.size() && violation_.empty(); ++at_)
      std::visit([&](const auto& e) { element(e); }, nest_.body[at_]);
    if (violation_.empty()) independence();
    return violation_;
  }

 private:
  void fail(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }
  std::string here() const { return "t" + std::to_string(at_); }

  void refers(const Access& a) {
    if (a.buffer.index >= p_.buffers.size()) fail("an access names a buffer that does not exist");
    if (a.steps.size() != nest_.axes.size())
      fail("an access has steps for " + std::to_string(a.steps.size()) + " axes");
  }

  bool yields(std::uint32_t e) const {
    const Element& x = nest_.body[e];
    return !std::holds_alternative<Store>(x) && !std::holds_alternative<Sum>(x) && !std::holds_alternative<Check>(x);
  }
  void operand(std::uint32_t e, DType dtype) {
    if (e >= at_ || !yields(e)) return fail(here() + " has no operand t" + std::to_string(e));
    if (dtypes_[e] != dtype)
      fail(here() + ": t" + std::to_string(e) + " is " + std::string(name(dtypes_[e])) + ", not " +
           std::string(name(dtype)));
  }
  void may_be(DTypeSet set, DType dtype, const std::string& what) {
    if ((set & bit(dtype)) == 0) fail(here() + ": " + what + " of " + std::string(name(dtype)));
  }

  void element(const Number& e) {
    if (!e.value.shape().empty() || e.value.bytes() == 0) fail(here() + " is not a number");
  }
  void element(const Index& e) {
    if (e.axis >= nest_.axes.size()) fail(here() + " is the index of an axis that does not exist");
  }
  void element(const Load& e) {
    bounds(e.from);
    if (p_.buffers[e.from.buffer.index].space == Space::output) fail(here() + " reads an output");
  }
  void element(const Operation& e) {
    const OperationFacts facts = facts_of(e.op);
    if (facts.name.empty() || e.operands.size() != facts.operands) return fail(here() + " is not an operation");
    may_be(facts.allowed, e.dtype, std::string(facts.name));
    for (std::size_t k = 0; k < e.operands.size(); ++k)
      operand(e.operands[k], e.op == ScalarOp::select && k == 0 ? DType::boolean : e.dtype);
  }
  void element(const Convert& e) { operand(e.operand, e.from); }
  void element(const LibraryCall& e) {
    may_be(dtypes::real, e.dtype, e.function);
    if (e.operands.empty()) fail(here() + ": a function has no operands");
    for (const std::uint32_t o : e.operands) operand(o, e.dtype);
  }
  void element(const IsNan& e) {
    may_be(dtypes::floating, e.dtype, "isnan");
    operand(e.operand, e.dtype);
  }
  void element(const Store& e) {
    writes(e.to);
    operand(e.element, p_.buffers[e.to.buffer.index].dtype);
  }
  void element(const Sum& e) {
    writes(e.onto);
    const bool combines =
        e.op == ScalarOp::add || e.op == ScalarOp::mul || e.op == ScalarOp::logical_and || e.op == ScalarOp::logical_or;
    if (!combines) fail(here() + ": this operation cannot combine elements");
    may_be(facts_of(e.op).allowed, e.dtype, "a sum");
    if (e.dtype != p_.buffers[e.onto.buffer.index].dtype)
      fail(here() + ": a sum is added to elements of another dtype");
    operand(e.element, e.dtype);
  }
  void element(const Check& e) {
    operand(e.bad, DType::boolean);
    for (const std::uint32_t told : {e.value, e.bound})
      if (told != UINT32_MAX) operand(told, DType::i64);
    if (e.site != UINT32_MAX && e.site >= sites_) fail(here() + ": there is no site " + std::to_string(e.site));
  }

  void writes(const Access& to) {
    bounds(to);
    const Space space = p_.buffers[to.buffer.index].space;
    if (space != Space::value && space != Space::scratch && space != Space::cell)
      fail(here() + " writes a buffer that it must not write");
  }

  // The least bound from the checks before this element; -1 if there is none.
  std::int64_t bound_of(std::uint32_t e) const {
    std::int64_t least = checked_.bound(p_, nest_, e);
    for (std::size_t k = 0; k < at_; ++k) {
      const std::optional<Range> found = found_in_range(nest_, k);
      if (found && found->element == e) least = least < 0 ? found->bound : std::min(least, found->bound);
    }
    return least;
  }

  void bounds(const Access& a) {
    std::int64_t least = a.start, most = a.start;
    for (std::size_t k = 0; k < a.steps.size(); ++k) {
      const std::int64_t reach = a.steps[k] * (nest_.axes[k].extent - 1);
      (reach < 0 ? least : most) += reach;
    }
    for (const auto& [e, step] : a.computed) {
      operand(e, DType::i64);
      if (!violation_.empty()) return;
      const std::int64_t bound = bound_of(e);
      if (bound < 0 || step < 0) return fail(here() + ": an index was not checked");
      if (bound == 0) return;  // the check always fails, so the run has stopped
      most += step * (bound - 1);
    }
    if (least < 0 || most >= elements(p_.buffers[a.buffer.index].shape))
      fail(here() + " reaches [" + std::to_string(least) + ", " + std::to_string(most) +
           "] of a buffer with the size " + std::to_string(elements(p_.buffers[a.buffer.index].shape)));
  }

  // ---- rounds

  void independence() {
    std::map<BufferId, const Access*> written;
    each_access(nest_, [&](const Access& a, bool writes) {
      if (!writes) return;
      const auto [at, is_new] = written.emplace(a.buffer, &a);
      if (!is_new && !same(*at->second, a)) fail("two accesses write one buffer");
      if (is_new && !apart(a)) fail("several rounds write one element");
    });
    each_access(nest_, [&](const Access& a, bool) {
      const auto at = written.find(a.buffer);
      if (at != written.end() && !same(*at->second, a) && !in_order())
        fail("a round reads an element that another round writes");
    });
  }
  static bool same(const Access& a, const Access& b) {
    return a.start == b.start && a.steps == b.steps && a.computed == b.computed;
  }
  bool in_order() const {
    return std::ranges::all_of(nest_.axes, [](const Axis& a) { return a.role == Role::sum; });
  }

  // True if rounds that differ along an axis that is `each` write different elements.
  bool apart(const Access& a) const {
    std::vector<std::size_t> axes;
    for (std::size_t k = 0; k < a.steps.size(); ++k) {
      if (nest_.axes[k].extent == 1) continue;
      if (a.steps[k] == 0 && nest_.axes[k].role == Role::each) return false;
      if (a.steps[k] != 0) axes.push_back(k);
    }
    const auto size = [&](std::size_t k) { return a.steps[k] < 0 ? -a.steps[k] : a.steps[k]; };
    std::ranges::sort(axes, {}, size);
    std::int64_t reach = 0;
    bool only_sums = true;  // rounds of sums run in order, so they may reach the same element
    for (const std::size_t k : axes) {
      only_sums = only_sums && nest_.axes[k].role == Role::sum;
      if (!only_sums && size(k) <= reach) return false;
      reach += size(k) * (nest_.axes[k].extent - 1);
    }
    return true;
  }

  const Program& p_;
  const Nest& nest_;
  const CheckedIndices& checked_;
  std::size_t sites_;
  std::vector<DType> dtypes_;
  std::size_t at_ = 0;
  std::string violation_;
};

// The computation of the element as text, and the buffers that it reads; empty if it contains something for which no
// checks are recorded.
std::string expression(const Nest& nest, std::uint32_t e, std::set<BufferId>& of) {
  if (e >= nest.body.size()) return {};
  if (const auto* convert = std::get_if<Convert>(&nest.body[e])) {
    const std::string inner = convert->operand < e ? expression(nest, convert->operand, of) : "";
    return inner.empty() ? "" : "convert " + std::string(name(convert->from)) + " " + inner;
  }
  if (const auto* number = std::get_if<Number>(&nest.body[e])) return "number " + constant_text(number->value);
  const auto* load = std::get_if<Load>(&nest.body[e]);
  const bool one = load != nullptr && load->from.computed.empty() &&
                   std::ranges::all_of(load->from.steps, [](std::int64_t s) { return s == 0; });
  if (!one) return {};
  of.insert(load->from.buffer);
  return "load " + std::to_string(load->from.buffer.index) + " " + std::to_string(load->from.start);
}

}  // namespace

void CheckedIndices::learn(const Program&, const Nest& nest) {
  for (std::size_t k = 0; k < nest.body.size(); ++k) {
    const std::optional<Range> range = found_in_range(nest, k);
    if (!range) continue;
    Found found{range->bound, {}};
    const std::string what = expression(nest, range->element, found.of);
    if (what.empty()) continue;
    const auto [at, is_new] = found_.emplace(what, found);
    if (!is_new) at->second.bound = std::min(at->second.bound, found.bound);
  }
}

void CheckedIndices::forget(BufferId b) {
  std::erase_if(found_, [&](const auto& entry) { return entry.second.of.contains(b); });
}

std::int64_t CheckedIndices::bound(const Program&, const Nest& nest, std::uint32_t element) const {
  std::set<BufferId> of;
  const auto at = found_.find(expression(nest, element, of));
  return at == found_.end() ? -1 : at->second.bound;
}

std::string find_violation(const Program& p, const Nest& nest, const CheckedIndices& checked, std::size_t sites) {
  return NestVerifier(p, nest, checked, sites).run();
}

}  // namespace rml::loops
