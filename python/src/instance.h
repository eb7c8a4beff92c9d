// A running node: its state and its rows. One thread at a time uses it; who comes meanwhile is told so.
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

// The cycle could not be computed.
struct RunFault : std::runtime_error {
  RunFault(const std::string& text, const rml_program& program, const rml_header& header);
  std::int64_t cycle;
  std::string file, equation;
  std::uint32_t line = 0, column = 0;
};

struct Busy : std::runtime_error {
  Busy() : std::runtime_error("this instance is at work already, in another thread or in a call that led here") {}
};

// Values of an output over rows: the elements one behind the other, and the cycles they are of.
struct Column {
  const rml_port* port = nullptr;
  std::unique_ptr<char, void (*)(void*)> elements{nullptr, std::free};
  std::size_t capacity = 0, size = 0;  // in values
  std::vector<std::int64_t> at;        // where it is not always present
  std::size_t value_bytes() const { return port->elements * rt::dtype_bytes(port->dtype); }
  void reserve(std::size_t values);
  char* value(std::size_t k) const { return elements.get() + k * value_bytes(); }
};

// Rows in the order of cycles.
struct Rows {
  std::int64_t first = 0, count = 0;
  std::vector<Column> columns;  // by output
};

// Inputs over cycles. present is null of those alone that are present at every cycle.
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
  // Keep what the state, or the row that was taken, lies in: for those who look at it.
  std::shared_ptr<const void> state_keeper() const { return std::make_shared<Kept>(Kept{node_, state_}); }
  std::shared_ptr<const void> row_keeper() const { return out_; }
  std::int64_t row() const { return header().popped + rows_again_; }  // the next one to be handed out

  // While it lives the instance is in use; throws Busy if it is already.
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

  // One cycle; in() is what it reads. Then take() as often as there are rows. Throws RunFault.
  rt::Row& in() { return in_; }
  const rt::Row& out() const { return *out_; }
  void push();
  bool take();

  // Many, until `interrupted` says so between two cycles. Returns how many were read. Rows are added.
  std::int64_t run(const Cycles& cycles, Rows& rows, const std::function<bool()>& interrupted);
  // Nothing follows: what no later cycle can change. Returns how many rows will never be known, and why.
  std::int64_t finish(Rows& rows, std::string& why);
  Rows no_rows() const;

  // Nothing that was read waits for later cycles: no segment is open, and every unit is done with every cycle. Of a
  // program that has no units, that all rows are known.
  bool is_settled() const;

  // at_anchor: memories as of a cycle, also where some were changed since.
  std::string save(bool at_anchor = false);
  void load(const std::string& name, std::string bytes, const std::vector<std::string>& map);
  std::vector<std::string> load_parameters(const rt::ParameterSource& source);
  void reset();
  // The elements of the parameter as it begins: given, not the program's own. Throws Failure once it has been looked
  // at.
  bool looked_at(const rml_parameter& p) const;
  void give(const rml_parameter& p, const void* elements) {
    given_.give(table(), block(), p.path, elements);
    changed_ = true;
  }
  const void* given(const rml_parameter& p) const;

  // Somebody outside writes to cells, now or whenever it pleases him.
  void written_outside() { written_outside_ = changed_ = true; }

 private:
  struct Kept {
    std::shared_ptr<const Node> node;  // destroyed after the state, whose code it has
    std::shared_ptr<rt::ProgramState> state;
  };
  void check(std::int32_t fault);
  // Copies of matrices in another order may not be like them any more.
  void forget_copies() const;
  // Of a program whose rows may wait: that a cycle was read, and that its known rows have been handed out.
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
  std::vector<const void*> given_rows_;  // of a cycle among many
  std::vector<std::uint8_t> given_present_;
  bool written_outside_ = false;
  bool changed_ = false;  // the anchor need not be what the state has come from
  std::atomic<bool> busy_{false};
};

}  // namespace rml::python
