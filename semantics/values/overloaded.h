// One lambda per alternative of a variant, for std::visit without a catch-all: a new alternative
// is a compile error until it is handled everywhere.
#pragma once

namespace rml {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace rml
