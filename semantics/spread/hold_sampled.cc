// Replaces the right-hand sides of the values one after the other.
#include "semantics/spread/hold_sampled.h"

#include "semantics/core/queries.h"
#include "semantics/spread/padding.h"

namespace rml::mapped {

namespace {

class Holder {
 public:
  Holder(Core& body, const Elements& elements) : body_(body), elements_(elements), padding_(body) {}

  void run() {
    const std::size_t count = body_.values.size();
    for (std::size_t v = 0; v < count; ++v) hold(ValueId{v});
    for (CoreAssert& check : body_.asserts) {
      const ClockId clock = body_[check.condition].clock;
      if (body_.is_const(check.condition) || !elements_.differs(clock)) continue;
      const ValueId yes = padding_.constant(Tensor::boolean(true));
      check.condition = padding_.padded(check.condition, clock, elements_.home(clock), yes);
    }
  }

 private:
  void hold(ValueId v) {
    const ClockId clock = body_[v].clock;
    if (!elements_.differs(clock)) return;
    if (const auto* f = std::get_if<core::Fby>(&body_[v].rhs)) return hold(v, core::Fby(*f));
    const core::Apply* apply = apply_of(body_, v);
    if (apply != nullptr && operators()[apply->op].random) sample(v, outside(v, core::Apply(*apply)));
  }

  void hold(ValueId v, const core::Fby& f) {
    const bool is_constant = body_.is_const(f.init);
    const ValueId zero = padding_.constant(Tensor(body_[v].dtype, body_[v].shape));
    const ValueId held = outside(v, core::Fby{is_constant ? f.init : zero, {}});
    std::get<core::Fby>(body_[held].rhs).next = padding_.padded(f.next, body_[v].clock, body_[held].clock, held);
    if (is_constant) return sample(v, held);
    const Clock first = body_[body_[f.init].clock];
    const ClockId later = padding_.on(first.parent, first.condition, false);
    body_[v].rhs = core::Merge{first.condition, f.init, padding_.sampled(held, later)};
  }

  // A value like v, on the enclosing clock that is the same for all elements.
  ValueId outside(ValueId v, core::Rhs rhs) {
    rml::Value made = body_[v];
    made.rhs = std::move(rhs);
    made.clock = elements_.home(made.clock);
    body_.values.push_back(std::move(made));
    return ValueId{body_.values.size() - 1};
  }

  void sample(ValueId v, ValueId from) {
    const Clock c = body_[body_[v].clock];
    const ValueId above = padding_.sampled(from, c.parent);
    body_[v].rhs = core::When{above, c.condition, c.positive};
  }

  Core& body_;
  const Elements& elements_;
  Padding padding_;
};

}  // namespace

void hold_sampled(Core& body, const Elements& elements) { Holder(body, elements).run(); }

}  // namespace rml::mapped
