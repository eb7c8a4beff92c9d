// Which buffers a C function has variables for, and where it declares them.
//
// Before: a block of loops, in which every value has a buffer of its own. After, each buffer that is a value's, or
// between statements, is one of
//
//   alias    of a buffer that it is copied from, or to, and that stands still meanwhile: nothing is copied
//   inlined  a scalar that is looked at once, in the same block: an expression within the one that looks at it
//   local    a variable, declared in the innermost block around all that names it
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"

namespace rml::c99 {

// Before statement `at` of a block; -1: before the first one, where rounds take what they need.
struct Place {
  const loops::Block* block = nullptr;
  std::ptrdiff_t at = 0;
  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Reference {
  std::vector<Place> path = {};  // from the function's block inwards
  bool reads = false, writes = false;
  bool alone = false;      // not within the loops of a nest
  bool stores = false;     // writes, as a whole, by a store or a copy
  std::size_t rounds = 0;  // around it
  std::size_t position = 0;
  loops::BufferId copied_from = {}, copied_to = {};  // by a copy
};

struct Fate {
  enum Kind : std::uint8_t { local, inlined, alias } kind = local;
  loops::BufferId of;          // alias
  bool at_definition = false;  // local: the first statement on it declares it
  bool constant = false;       // … and is the only one that writes it
  bool conditional = false;    // local: set on one side of a branch
};

class Plan {
 public:
  // `given`: defined before the block is entered.
  Plan(const loops::Program&, const loops::Block&, const std::vector<loops::BufferId>& given);

  const Fate& of(loops::BufferId b) const;
  loops::BufferId root(loops::BufferId) const;  // through aliases
  bool names(loops::BufferId b) const { return references_.contains(b); }
  const std::vector<loops::BufferId>& declared_before(Place) const;
  bool is_read(loops::BufferId) const;
  // The scalar that is one of two expressions, as the branch says; invalid: the branch does more.
  loops::BufferId choice(const loops::Branch&) const;
  // The variables, in the order in which they are first named; the tensors among them.
  const std::vector<loops::BufferId>& locals() const { return locals_; }
  const std::vector<loops::BufferId>& tensors() const { return tensors_; }

 private:
  using BufferId = loops::BufferId;

  void visit(const loops::Block&);
  void visit(const loops::Statement&);
  void visit(const loops::Nest&);
  void visit(const loops::Rounds&);
  void note(BufferId, Reference);
  std::vector<const Reference*> of_root(BufferId) const;
  bool in_function(BufferId) const;
  void find_sources(BufferId);
  void find_targets(BufferId);
  bool may_lie_in(BufferId target, const Reference& copy, const std::vector<const Reference*>& all) const;
  bool is_set_before(BufferId target, const Reference& copy, const Reference& write) const;
  bool is_inlined(BufferId);
  std::size_t next_write(BufferId, std::size_t position) const;
  void find_writes();
  void declare(BufferId);
  bool is_silent(const loops::Statement&) const;
  BufferId chosen_by(const loops::Block&) const;
  void find_choice(Place, const loops::Branch&);
  bool written_between(BufferId, std::size_t from, std::size_t to) const;

  const loops::Program& program_;
  std::map<BufferId, std::vector<Reference>> references_;
  std::map<BufferId, std::vector<BufferId>> members_;  // by root
  std::map<BufferId, std::vector<BufferId>> read_by_;  // a scalar: what the nest that stores it reads
  std::map<BufferId, Fate> fates_;
  std::map<Place, std::vector<BufferId>> declared_;
  std::map<BufferId, std::vector<std::size_t>> writes_;  // by root: their positions, once aliases are known
  std::map<BufferId, std::size_t> stands_until_;  // inlined: the first write, behind it, of what its expression reads
  std::vector<BufferId> locals_, tensors_;
  std::vector<std::pair<Place, const loops::Branch*>> branches_;
  struct Side {
    BufferId condition;  // a value's; invalid: what is tested is where the instant lies
    bool holds = false;
  };
  std::map<const loops::Block*, Side> sides_;
  std::map<const loops::Branch*, BufferId> choices_;
  std::vector<Place> path_;
  std::size_t rounds_ = 0, position_ = 0;
};

}  // namespace rml::c99
