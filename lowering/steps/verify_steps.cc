// Walks each block once, with the tests on the way to each statement (a path). It records the path of each write of a
// value. At a read, the recorded paths must cover the reader's path, for each class of instants separately. Coverage is
// decided by cases over the tests whose outcome is open:
//
//   if c: %5 := …  else: %5 := …      covers every path
//   if last: %5 := …                  covers a reader under `last`, or under the cut; no other
//
// Implications of conditions at a class of instants (ClassFacts) are used only if the tests alone do not decide. An
// element of a segment array counts as written on the paths on which an earlier sweep stored it.
//
// Three kinds of reads are allowed although they may find no value, because they have no visible effect:
//
// - the condition of a branch that contains only loads;
// - an element that no sweep stored, if it is copied to a cell: a memory that begins anew with the next segment is
//   updated like the others;
// - a value that is pushed at all instants of its clock, but needed and computed only at some of them.
#include "lowering/steps/verify_steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lowering/steps/mentions.h"
#include "semantics/core/queries.h"
#include "semantics/time/class_facts.h"
#include "semantics/values/overloaded.h"

namespace rml {

namespace {

// A test, or its negation: twice the number of the letter, plus one if negated. `first` and `last` precede the values.
using Literals = std::vector<std::uint32_t>;
constexpr std::uint32_t first_letter = 0, last_letter = 1, value_letters = 2;
constexpr std::uint32_t literal(std::uint32_t letter, bool positive) { return 2 * letter + (positive ? 0 : 1); }

enum class Decided : std::uint8_t { open, yes, no };

class StepsVerifier {
 public:
  explicit StepsVerifier(const steps::Program& program)
      : program_(program),
        core_(*program.core),
        results_(core_.values.size()),
        decided_(core_.values.size() + value_letters, Decided::open) {
    for (std::uint32_t v = 0; v < core_.values.size(); ++v)
      if (const auto* r = std::get_if<core::Result>(&core_.values[v].rhs)) results_[r->call.index].emplace_back(v);
  }

  std::string run() {
    for (const steps::Unit& unit : program_.units) check_unit(unit);
    unit_ = nullptr;
    begin_block();
    walk(program_.lead);
    return std::move(error_);
  }

 private:
  // ---- units

  void check_unit(const steps::Unit& unit) {
    unit_ = &unit;
    marked_.reset();
    cut_.reset();
    facts_.reset();
    only_at_cut_.clear();
    stored_.clear();
    find_cut(unit);
    begin_block();
    take_operands(unit, true);
    walk(unit.before);
    begin_block();
    take_operands(unit, false);
    walk(unit.instant);
    for (const steps::Sweep& sweep : unit.sweeps) {
      begin_block();
      walk(sweep.prologue);
      walk(sweep.body);
    }
    begin_block();
    walk(unit.commit);
  }

  // Finds the cut, and the conditions that hold only where the cut does. These are stored if the segment continues, and
  // read an instant later.
  void find_cut(const steps::Unit& unit) {
    std::vector<steps::SideCell> sides;
    const auto look = [&](const steps::Statement& s) {
      if (const auto* mark = std::get_if<steps::MarkLast>(&s)) marked_ = Literal{mark->condition, mark->positive};
      if (const auto* side = std::get_if<steps::SideCell>(&s)) sides.push_back(*side);
    };
    each_statement(unit.before, look);
    each_statement(unit.instant, look);
    if (marked_) cut_ = stripped(*marked_);
    each_statement(unit.instant, [&](const steps::Statement& s) {
      const auto* store = std::get_if<steps::StoreCell>(&s);
      if (store == nullptr) return;
      const auto side = std::ranges::find(sides, store->cell, &steps::SideCell::cell);
      if (side != sides.end()) only_at_cut_.push_back({store->value, !side->positive});
    });
  }

  void take_operands(const steps::Unit& unit, bool belated) {
    for (const steps::Operand& o : unit.operands) {
      if (o.belated != belated) continue;
      for (const auto& [condition, positive] : o.when) path_.push_back(letter_of({condition, positive}));
      write(o.value);
      path_.clear();
    }
  }

  void begin_block() {
    written_.clear();
    loaded_.clear();
    path_.clear();
  }

  // ---- statements

  void walk(const steps::Block& block) {
    for (const steps::Statement& s : block.statements) {
      if (!error_.empty()) return;
      if (!reads_nothing(s))
        for (const ValueId condition : conditions_) read(condition);
      std::visit(Overloaded{
                     [&](const steps::Compute& x) { compute(x.value); },
                     [&](const steps::Copy& x) { read(x.from), write(x.to); },
                     [&](const steps::LoadCell& x) { write(x.value); },
                     [&](const steps::LoadInput& x) { write(x.value); },
                     [&](const steps::LoadArray& x) { load(x); },
                     [&](const steps::StoreArray& x) { read(x.value), stored_[x.array].push_back(path_); },
                     [&](const steps::StoreCell& x) { copy_to_cell(x.value); },
                     [&](const steps::Push& x) { hand_out(x.value); },
                     [&](const steps::StoreOutput& x) { read(x.value); },
                     [&](const steps::Assert& x) { read(x.condition); },
                     [&](const steps::MarkLast& x) { read(x.condition); },
                     [&](const steps::SegmentProduct& x) { multiply(x); },
                     [&](const steps::Branch& x) { branch(x); },
                     [](const steps::MoveCell&) {},
                     [](const steps::Expect&) {},
                     [](const steps::SideCell&) {},
                 },
                 s);
    }
  }

  // True for a branch, whose statements are checked one by one, and for a load, which may happen where its value is not
  // needed.
  static bool reads_nothing(const steps::Statement& s) {
    return std::holds_alternative<steps::Branch>(s) || std::holds_alternative<steps::LoadCell>(s) ||
           std::holds_alternative<steps::LoadArray>(s);
  }

  void compute(ValueId v) {
    for_each_operand(core_[v].rhs, [&](ValueId o) { read(o); });
    write(v);
    for (const ValueId result : results_[v.index]) write(result);
  }

  void copy_to_cell(ValueId v) {
    const auto at = loaded_.find(v);
    if (at == loaded_.end() || !is_covered(at->second)) read(v);
  }

  void hand_out(ValueId v) {
    if (!written_.contains(v)) read(v);
  }

  void load(const steps::LoadArray& x) {
    const Literals here = path_;
    loaded_[x.value].push_back(here);
    for (const Literals& where : stored_[x.array]) {
      path_.insert(path_.end(), where.begin(), where.end());
      write(x.value);
      path_ = here;
    }
  }

  void multiply(const steps::SegmentProduct& x) {
    for (const ValueId held : {x.a.held, x.b.held})
      if (held.valid()) read(held);
    if (x.rows.valid()) stored_[x.rows].push_back(path_);
  }

  void branch(const steps::Branch& x) {
    if (x.test.kind == steps::Test::value) conditions_.push_back(x.test.condition);
    for (const bool holds : {true, false}) {
      path_.push_back(letter_of(x.test, holds));
      walk(holds ? *x.then_block : *x.else_block);
      path_.pop_back();
    }
    if (x.test.kind == steps::Test::value) conditions_.pop_back();
  }

  std::uint32_t letter_of(const steps::Test& test, bool holds) const {
    const bool positive = test.positive == holds;
    if (test.kind == steps::Test::first) return literal(first_letter, positive);
    if (test.kind == steps::Test::last) return literal(last_letter, positive);
    return letter_of({test.condition, positive});
  }
  std::uint32_t letter_of(Literal l) const {
    l = stripped(l);
    return literal(l.condition.index + value_letters, l.positive);
  }

  // The literal without negations and samplings. Wherever those are present, they equal their operand or its negation.
  Literal stripped(Literal l) const {
    for (std::size_t most = core_.values.size(); most > 0; --most) {
      const auto* when = std::get_if<core::When>(&core_[l.condition].rhs);
      const auto* negation = apply_of(core_, l.condition, "logical_not");
      if (when == nullptr && negation == nullptr) break;
      l = {when != nullptr ? when->operand : negation->operands[0], l.positive != (negation != nullptr)};
    }
    return l;
  }

  // ---- values

  void write(ValueId v) {
    std::vector<Literals>& paths = written_[v];
    const auto is_here = [&](const Literals& known) {
      return std::ranges::all_of(known, [&](std::uint32_t l) { return std::ranges::find(path_, l) != path_.end(); });
    };
    if (std::ranges::none_of(paths, is_here)) paths.push_back(path_);
  }

  void read(ValueId v) {
    if (!error_.empty() || core_.is_const(v)) return;
    const auto at = written_.find(v);
    if (is_covered(at == written_.end() ? std::vector<Literals>() : at->second)) return;
    const std::string text = "%" + std::to_string(v.index) + " `" + describe(core_, v) + "`";
    error_ = text + " is read where it was not computed" + (unit_ != nullptr ? ", in unit `" + unit_->name + "`" : "");
  }

  bool is_covered(const std::vector<Literals>& paths) {
    if (std::ranges::any_of(paths, [](const Literals& l) { return l.empty(); })) return true;
    if (unit_ == nullptr || !unit_->segmented) return is_covered_at(0, paths);
    return std::ranges::all_of(std::array{first_instant, interior_instant, last_instant, single_instant},
                               [&](std::uint8_t c) { return is_covered_at(c, paths); });
  }

  // Like is_covered, but only at instants of the given class; 0: outside segments.
  bool is_covered_at(std::uint8_t instant_class, const std::vector<Literals>& paths) {
    instant_class_ = instant_class;
    if (instant_class != 0) {
      decide(first_letter, (instant_class & (first_instant | single_instant)) != 0);
      decide(last_letter, (instant_class & (last_instant | single_instant)) != 0);
    }
    bool covered = false;
    for (const bool thorough : {false, true}) {
      thorough_ = thorough;
      evaluations_ = 0;
      covered = covered || !follow_path() || is_covered_by(paths);
      for (; followed_ > 0; --followed_) decided_[path_[followed_ - 1] / 2] = before_[followed_ - 1];
    }
    decided_[first_letter] = decided_[last_letter] = Decided::open;
    return covered;
  }

  void decide(std::uint32_t letter, bool truth) { decided_[letter] = truth ? Decided::yes : Decided::no; }

  // Fixes the outcomes of the tests on the path. Returns false if no instant of the class takes it.
  bool follow_path() {
    before_.resize(path_.size());
    for (followed_ = 0; followed_ < path_.size(); ++followed_) {
      const std::uint32_t letter = path_[followed_] / 2;
      const bool truth = path_[followed_] % 2 == 0;
      if (decided_[letter] == (truth ? Decided::no : Decided::yes) || !can_be(letter, truth)) return false;
      before_[followed_] = decided_[letter];
      decide(letter, truth);
    }
    return true;
  }

  // True if one of the paths is taken, for all outcomes of the open tests.
  bool is_covered_by(const std::vector<Literals>& paths) {
    if (++evaluations_ > most_evaluations) return true;  // gives up without an error, because there are too many cases
    std::vector<Literals> left;
    for (const Literals& path : paths) {
      Literals open;
      bool taken = true;
      for (const std::uint32_t l : path) {
        const Decided known = decided_[l / 2];
        if (known == Decided::open) open.push_back(l);
        taken = taken && known != (l % 2 == 0 ? Decided::no : Decided::yes);
      }
      if (taken && open.empty()) return true;
      if (taken) left.push_back(std::move(open));
    }
    if (left.empty()) return false;
    const std::uint32_t letter = left[0][0] / 2;
    bool covered = true;
    for (const bool truth : {true, false}) {
      if (!covered || !can_be(letter, truth)) continue;
      decide(letter, truth);
      covered = is_covered_by(left);
    }
    decided_[letter] = Decided::open;
    return covered;
  }

  // True if the letter can have this truth value at instants of the current class.
  bool can_be(std::uint32_t letter, bool truth) {
    if (letter < value_letters) return true;
    const ValueId condition{letter - value_letters};
    if (const auto constant = constant_truth(core_, condition)) return *constant == truth;
    if (instant_class_ == 0 || !cut_) return true;
    const bool ends = (instant_class_ & (last_instant | single_instant)) != 0;
    if (condition == cut_->condition && (ends || core_[condition].clock == unit_->clock))
      return truth == (cut_->positive == ends);
    if (!thorough_) return true;
    if (!graph_) graph_.emplace(core_);
    if (!facts_) facts_.emplace(*graph_, unit_->clock, *marked_, only_at_cut_);
    const Truth known = facts_->truth(condition, instant_class_);
    return !is_known(known) || known == truth_of(truth);
  }

  static constexpr std::uint32_t most_evaluations = 2000;

  const steps::Program& program_;
  const Core& core_;
  std::vector<std::vector<ValueId>> results_;  // indexed by call: its results
  std::string error_;

  // Members for the current unit.
  const steps::Unit* unit_ = nullptr;  // the unit that is being checked; null: none
  std::optional<Literal> marked_;      // the cut as the unit marks it: its clock says what else holds at the cut
  std::optional<Literal> cut_;         // the cut without negations and samplings
  std::vector<Literal> only_at_cut_;
  // For each array: paths on which an earlier sweep stored an element.
  std::map<ArrayId, std::vector<Literals>> stored_;
  std::optional<DependenceGraph> graph_;  // dependences of the core
  std::optional<ClassFacts> facts_;

  std::map<ValueId, std::vector<Literals>> written_;  // for each value: paths on which it was written
  std::map<ValueId, std::vector<Literals>> loaded_;   // paths on which an element of an array was loaded, stored or not
  Literals path_;
  std::vector<ValueId> conditions_;  // conditions of the enclosing branches

  // Members for the current query.
  std::uint8_t instant_class_ = 0;
  bool thorough_ = false;
  std::uint32_t evaluations_ = 0;
  std::size_t followed_ = 0;      // number of literals of the path that are decided
  std::vector<Decided> before_;   // state of their letters before the query
  std::vector<Decided> decided_;  // indexed by letter: its decided value, if any
};

}  // namespace

std::string verify(const steps::Program& program) {
  std::string error = StepsVerifier(program).run();
  for (const auto& body : program.bodies)
    if (error.empty() && body != nullptr) error = verify(*body);
  return error;
}

}  // namespace rml
