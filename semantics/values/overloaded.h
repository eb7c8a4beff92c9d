// One lambda per alternative of a variant, for std::visit without a catch-all: a new alternative is a compile error
// wherever it is not handled.
#pragma once

namespace rml {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace rml
