// Decides which buffers of a C function become variables, and where they are declared.
//
// Before: a block of loops, in which every value has a buffer of its own. After, each buffer of a value, or of scratch,
// is one of
//
//   alias    another name of a buffer that it is copied from, or to, and that does not change meanwhile: no copy
//   inlined  a scalar with one use, in the same block: its expression becomes part of the one that uses it
//   local    a variable, declared in the innermost block around all statements that name it
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"

namespace rml::c99 {

// The position before statement `at` of a block; -1: before the first one, where rounds take their arguments.
struct Place {
  const loops::Block* block = nullptr;
  std::ptrdiff_t at = 0;
  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Reference {
  std::vector<Place> path = {};  // the nested blocks around the statement, from the function's own to the innermost one
  bool reads = false, writes = false;
  bool alone = false;      // true if the statement is not within the loops of a nest
  bool stores = false;     // true if it writes the whole buffer, by a store or a copy
  std::size_t rounds = 0;  // number of rounds around the statement
  std::size_t position = 0;
  loops::BufferId copied_from = {}, copied_to = {};  // for a copy: its source and its target
};

struct Fate {
  enum Kind : std::uint8_t { local, inlined, alias } kind = local;
  loops::BufferId of;          // for an alias: the buffer that it names
  bool at_definition = false;  // for a local variable: its first statement declares it
  bool constant = false;       // for a local variable: it is declared by its only write
  bool conditional = false;    // for a local variable: it is set on one side of a branch
};

class Plan {
 public:
  // Plans a block. `given` are buffers that are defined before the block is entered.
  Plan(const loops::Program&, const loops::Block&, const std::vector<loops::BufferId>& given);

  const Fate& of(loops::BufferId b) const;
  loops::BufferId root(loops::BufferId) const;  // the buffer at the end of a chain of aliases
  bool names(loops::BufferId b) const { return references_.contains(b); }
  const std::vector<loops::BufferId>& declared_before(Place) const;
  bool is_read(loops::BufferId) const;
  // The scalar, if the branch does no more than choose between two expressions for it; otherwise invalid.
  loops::BufferId choice(const loops::Branch&) const;
  // The variables, in the order in which they are first named, and the tensors among them.
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
  std::map<BufferId, std::vector<BufferId>> members_;  // indexed by root: all aliases of the buffer
  std::map<BufferId, std::vector<BufferId>> read_by_;  // indexed by scalar: the buffers that the nest storing it reads
  std::map<BufferId, Fate> fates_;
  std::map<Place, std::vector<BufferId>> declared_;
  // Indexed by root: positions of its writes; complete once aliases are known.
  std::map<BufferId, std::vector<std::size_t>> writes_;
  // For an inlined scalar: the next write of a buffer that its expression reads.
  std::map<BufferId, std::size_t> stands_until_;
  std::vector<BufferId> locals_, tensors_;
  std::vector<std::pair<Place, const loops::Branch*>> branches_;
  struct Side {
    BufferId condition;  // the tested Boolean; invalid: the test is about the instant's place in its segment
    bool holds = false;
  };
  std::map<const loops::Block*, Side> sides_;
  std::map<const loops::Branch*, BufferId> choices_;
  std::vector<Place> path_;
  std::size_t rounds_ = 0, position_ = 0;
};

}  // namespace rml::c99
