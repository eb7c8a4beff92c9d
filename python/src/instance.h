// A running node for Python: its state and its rows. It wraps the program's functions push, pop
// and run. Only one thread may use an instance at a time, and another call in the meantime throws
// Busy.
//
// A program that is not immediate saves an anchor (a state at an earlier cycle) and the inputs
// since, because its current state may be in the middle of a segment.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "python/src/node.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/state_tensors.h"
#include "runtime/run/program_state.h"
#include "runtime/stream_io/row.h"

namespace rml::python {

// A cycle failed. Holds the data for RunError: the cycle, the place in the source and the equation.
struct RunFault : std::runtime_error {
  RunFault(const std::string& text, const rml_program& program, const rml_header& header);
  std::int64_t cycle;
  std::string file, equation;
  std::uint32_t line = 0, column = 0;
};

struct Busy : std::runtime_error {
  Busy()
      : std::runtime_error(
            "this instance is in use already, in another thread or by a call that led to this one; give each thread an "
            "instance of its own") {}
};

// The values of an output over rows: the elements of all values in succession, and their cycles.
struct Column {
  const rml_port* port = nullptr;
  std::unique_ptr<char, void (*)(void*)> elements{nullptr, std::free};
  std::size_t capacity = 0, size = 0;  // number of values that fit, and of those that are stored
  std::vector<std::int64_t> at;        // cycles of the values; only for an output that may be absent
  std::size_t value_bytes() const { return port->elements * rt::dtype_bytes(port->dtype); }
  void reserve(std::size_t values);
  char* value(std::size_t k) const { return elements.get() + k * value_bytes(); }
};

// Rows of outputs, in the order of cycles.
struct Rows {
  std::int64_t first = 0, count = 0;
  std::vector<Column> columns;  // one column per output
};

// The inputs over cycles. `present` is null exactly for the inputs that are present in every
// cycle.
struct Cycles {
  std::vector<const void*> elements;
  std::vector<const std::uint8_t*> present;
  std::int64_t count = 0;
};

class Instance {
 public:
  Instance(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const Node& node() const { return *node_; }
  const std::shared_ptr<const Node>& shared_node() const { return node_; }
  const rml_program& table() const { return node_->table(); }
  rml_header& header() const { return state_->header(); }
  void* block() const { return state_->block(); }
  // Owners of the memory of the state, or of the last row, for arrays that are views of it.
  std::shared_ptr<const void> state_keeper() const { return std::make_shared<Kept>(Kept{node_, state_}); }
  std::shared_ptr<const void> row_keeper() const { return out_; }
  std::int64_t row() const { return header().popped + rows_again_; }  // the number of the next row

  // Marks the instance as in use during its lifetime. Throws Busy if it is in use already.
  class Use {
   public:
    explicit Use(Instance& instance) : instance_(instance) {
      if (instance.busy_.exchange(true, std::memory_order_acquire)) throw Busy();
    }
    ~Use() { instance_.busy_.store(false, std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Instance& instance_;
  };

  // push() computes one cycle, which reads in(). Then take() moves the next known row to out(),
  // and returns false if there is none. Both throw RunFault.
  rt::Row& in() { return in_; }
  const rt::Row& out() const { return *out_; }
  void push();
  bool take();

  // Computes many cycles, and appends their rows to `rows`. Stops between two cycles if
  // `interrupted` returns true. Returns the number of cycles that were read.
  std::int64_t run(const Cycles& cycles, Rows& rows, const std::function<bool()>& interrupted);
  // Ends the input, and appends the remaining known rows to `rows`. Returns the number of rows
  // that stay unknown, and the reason in `why`.
  std::int64_t finish(Rows& rows, std::string& why);
  Rows no_rows() const;

  // Returns whether no computation waits for later cycles: no segment is open, and every unit has
  // computed every cycle. For a program without units, it returns whether all rows are known.
  bool is_settled() const;

  // at_anchor: save the memories at the cycle of the anchor, even if some were changed since
  // then.
  std::string save(bool at_anchor = false);
  void load(const std::string& name, std::string bytes, const std::vector<std::string>& map);
  std::vector<std::string> load_parameters(const rt::ParameterSource& source);
  void reset();
  // Sets the initial value of a parameter in place of the program's own. This is possible only
  // until the program has read the initial value (looked_at); afterwards it throws Failure.
  bool looked_at(const rml_parameter& p) const;
  void give(const rml_parameter& p, const void* elements) {
    given_.give(table(), block(), p.path, elements);
    changed_ = true;
  }
  const void* given(const rml_parameter& p) const;

  // Records that Python code may write to cells, now or at any later time.
  void written_outside() { written_outside_ = changed_ = true; }

 private:
  struct Kept {
    std::shared_ptr<const Node> node;  // owns the code that destroys the state, so it must be destroyed later
    std::shared_ptr<rt::ProgramState> state;
  };
  void check(std::int32_t fault);
  // Invalidates the copies of matrices in another element order, because the matrices may have
  // changed.
  void forget_copies() const;
  // For a program whose rows may wait: keep() adds a cycle to the anchor's inputs, and look()
  // moves the anchor forward after the known rows were taken.
  void keep(const void* const* in, const std::uint8_t* present);
  void look();
  void run_singly(const Cycles& cycles, std::int64_t from, std::int64_t n, Rows& rows);
  void reserve(Rows& rows, std::int64_t more) const;
  void run_together(const Cycles& cycles, std::int64_t from, std::int64_t n, Rows& rows);
  void drain(Rows& rows);

  std::shared_ptr<const Node> node_;
  std::uint64_t seed_;
  std::int64_t horizon_;
  std::shared_ptr<rt::ProgramState> state_;
  rt::GivenParameters given_;
  std::unique_ptr<rt::Anchor> anchor_;
  std::int64_t rows_again_ = 0;
  rt::Row in_;
  std::shared_ptr<rt::Row> out_;
  std::vector<const void*> given_rows_;  // the inputs of one of many cycles
  std::vector<std::uint8_t> given_present_;
  bool written_outside_ = false;
  bool changed_ = false;  // a value was set, so the state may no longer follow from the anchor
  std::atomic<bool> busy_{false};
};

}  // namespace rml::python
