// Rows that leave before the inputs of their cycle are read, since they need none of them: a plant and its controller
// would wait for each other otherwise.
//
// Only peers get them so, and only while inputs come from peers, who may wait for them: a file has a row for each cycle
// that was read, no more. A peer has one more at the end of the run, and the state says so.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/monitor/finite_check.h"
#include "runtime/pipeline/write_behind.h"
#include "runtime/stream_io/endpoints.h"

namespace rml::rt {

class LeadingRows {
 public:
  // row: what sinks write.
  LeadingRows(const rml_program& program, Row& row, WriteBehind& sinks) : program_(program), row_(row), sinks_(sinks) {}

  // The outputs that the sinks were made for, in their order, and which of them have had the next row.
  void begin(const std::vector<Endpoint>& outputs, const std::vector<std::string>& led);
  // Whether there may ever be one.
  bool possible() const { return program_.lead != nullptr && !peers_.empty(); }
  // Between two cycles, all rows before the next one being out. A value that is not finite waits for its cycle if
  // that is to be told.
  void send(void* state, const FiniteCheck* finite);
  // The next row, to the outputs that have not had it.
  void write() { any_ ? write_rest() : sinks_.write(); }
  // Those that have.
  std::vector<std::string> led() const;
  // What to tell before the first row: a peer that feeds the program may wait for a row that leaves late.
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
  std::vector<std::uint8_t> known_;  // by output
  std::vector<bool> had_;            // by sink: the next row
  bool any_ = false;
};

}  // namespace rml::rt
