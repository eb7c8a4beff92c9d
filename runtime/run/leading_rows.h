// Sends a row before the inputs of its cycle are read, if the row does not depend on them.
// Without this, a plant and its controller would wait for each other.
//
// Only peers get rows early, and only while an input comes from a peer that may wait for them. A
// file gets exactly one row per cycle read. A peer may have received one row more when the run
// ends; the saved state records this.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/monitor/finite_check.h"
#include "runtime/pipeline/write_behind.h"
#include "runtime/stream_io/endpoints/endpoint.h"

namespace rml::rt {

class LeadingRows {
 public:
  // Writes rows early. `row` is the row that the sinks write.
  LeadingRows(const rml_program& program, Row& row, WriteBehind& sinks) : program_(program), row_(row), sinks_(sinks) {}

  // outputs: the outputs that the sinks were made for, in the same order. led: paths of those
  // that already received the next row.
  void begin(const std::vector<Endpoint>& outputs, const std::vector<std::string>& led);
  // True if the program can ever send a row early.
  bool possible() const { return program_.lead != nullptr && !peers_.empty(); }
  // Sends the next row to the peers for which it is known. Call it between two cycles, after all
  // earlier rows were written. If `finite` is given, a row with a value that is not finite is
  // held back until its cycle reports it.
  void send(void* state, const FiniteCheck* finite);
  // Writes the next row to the outputs that have not received it yet.
  void write() { any_ ? write_rest() : sinks_.write(); }
  // Paths of the outputs that already received the next row.
  std::vector<std::string> led() const;
  // Warnings to print before the first row: for each output of a peer that could be known early
  // but leaves late, because the peer that feeds the program may wait for it.
  std::vector<std::string> warnings() const;

 private:
  struct Peer {
    std::size_t sink;
    std::string path;
    Ports ports;
  };

  void write_rest();
  bool known(const Peer& peer, const FiniteCheck* finite) const;

  const rml_program& program_;
  Row& row_;
  WriteBehind& sinks_;
  std::vector<Peer> peers_;
  std::vector<std::uint8_t> known_;  // one per output: true if its value is known
  std::vector<bool> had_;            // one per sink: true if it already received the next row
  bool any_ = false;
};

}  // namespace rml::rt
