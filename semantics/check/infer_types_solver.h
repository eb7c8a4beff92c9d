// Dtype unification: variables that range over sets of dtypes.
//
// A variable is a class of a union-find forest, with the set of dtypes that it may still become.
// Unifying two classes intersects their sets; a class with one dtype is decided. For messages,
// each class stores the place that narrowed its set. The amortised cost per operation is near
// constant (path halving, union by size). Example: unify({i32, f32, …}, {f32}) is {f32}, because
// of the second place.
#pragma once

#include <bit>
#include <vector>

#include "frontend/ast.h"
#include "semantics/operators/operator.h"

namespace rml {

using TypeId = Id<struct TypeVariableTag>;

// The reason why a set of possible dtypes is narrow.
enum class Why : std::uint8_t { unknown, annotation, literal, use, condition, call, constant };

struct Reason {
  Why why = Why::unknown;
  Span span;
};

inline bool decided(DTypeSet set) { return std::popcount(set) == 1; }
inline DType only(DTypeSet set) { return static_cast<DType>(std::countr_zero(set)); }

class TypeSolver {
 public:
  std::size_t size() const { return classes_.size(); }

  TypeId fresh(DTypeSet set = dtypes::element, Reason reason = {}) {
    TypeId t{classes_.size()};
    classes_.push_back({t, 1, set, reason, DType::i32, false});
    return t;
  }

  TypeId find(TypeId t) {
    while (classes_[t.index].parent != t) {
      TypeId up = classes_[t.index].parent;
      classes_[t.index].parent = classes_[up.index].parent;
      t = classes_[t.index].parent;
    }
    return t;
  }

  DTypeSet set(TypeId t) { return classes_[find(t).index].set; }
  // The dtype that t gets if no use decides it.
  DType fallback(TypeId t) {
    const Class& c = classes_[find(t).index];
    if (c.has_fallback && (c.set & bit(c.fallback))) return c.fallback;
    for (DType d : {DType::i32, DType::f32, DType::boolean})
      if (c.set & bit(d)) return d;
    return only(c.set);
  }
  void set_fallback(TypeId t, DType fallback) {
    Class& c = classes_[find(t).index];
    c.fallback = fallback;
    c.has_fallback = true;
  }
  Reason reason(TypeId t) { return classes_[find(t).index].reason; }

  // Merges a and b into one class. False, without a change, if no dtype fits both.
  bool unify(TypeId a, TypeId b) {
    a = find(a);
    b = find(b);
    if (a == b) return true;
    auto both = static_cast<DTypeSet>(classes_[a.index].set & classes_[b.index].set);
    if (both == 0) return false;
    Reason reason = classes_[a.index].set == both ? classes_[a.index].reason : classes_[b.index].reason;
    if (classes_[a.index].size < classes_[b.index].size) std::swap(a, b);
    classes_[b.index].parent = a;
    classes_[a.index].size += classes_[b.index].size;
    classes_[a.index].set = both;
    classes_[a.index].reason = reason;
    if (classes_[b.index].has_fallback && (!classes_[a.index].has_fallback || !is_float(classes_[a.index].fallback)))
      set_fallback(a, classes_[b.index].fallback);
    return true;
  }

  // Narrows t's set to the allowed dtypes. False, without a change, if none is left.
  bool restrict(TypeId t, DTypeSet allowed, Reason reason) {
    Class& c = classes_[find(t).index];
    auto both = static_cast<DTypeSet>(c.set & allowed);
    if (both == 0) return false;
    if (both != c.set) c.reason = reason;
    c.set = both;
    return true;
  }

 private:
  struct Class {
    TypeId parent;
    std::uint32_t size;
    DTypeSet set;
    Reason reason;
    DType fallback = DType::i32;
    bool has_fallback = false;
  };
  std::vector<Class> classes_;
};

}  // namespace rml
