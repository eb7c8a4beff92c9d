// Where rows come from: the interface of every reader.
//
// A source is made for some of the ports of one Row and fills exactly those, values and
// presence flags, once per read. It reports what is wrong with its input as a Failure that
// names file, line, column and cycle; whether a value may be present at a cycle is the
// program's to say (its clock), so a source can be asked where its last values stood.
#pragma once

#include <cstdint>
#include <string>

namespace rml::rt {

// Numbers from 1, 0: unknown to the format.
struct Place {
  std::int64_t line = 0, column = 0;
};

// "in.csv:4:7".
std::string place_text(const std::string& file, const Place& place);

class RowSource {
 public:
  virtual ~RowSource() = default;
  // The next cycle's values into the row; false at the end of the input.
  virtual bool read() = 0;
  // How many further rows, `most` at most, can be taken without waiting for more than one; 0: read() tells what comes.
  virtual std::uint32_t rows_at_hand(std::uint32_t most) {
    static_cast<void>(most);
    return 0;
  }
  // So many of them, all of whose values are there: of port i one behind the other from to[i] on.
  virtual void take_rows(std::uint32_t rows, char* const* to) {
    static_cast<void>(rows);
    static_cast<void>(to);
  }
  // Where the port's value of the last read stood, in file(port).
  virtual Place where(std::uint32_t port) const = 0;
  // The same at all times.
  virtual const std::string& file(std::uint32_t) const { return name(); }
  // Both: "in.csv:4:7", as far as the format knows.
  std::string place(std::uint32_t port) const { return place_text(file(port), where(port)); }
  // The share of the input already read, in [0, 1]; negative where its size is unknown.
  virtual double fraction() const = 0;
  virtual const std::string& name() const = 0;
};

}  // namespace rml::rt
