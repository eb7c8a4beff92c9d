// A program, its denotation, and every way in which the compiler runs it: rows after each row of input are compared.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/engines.h"
#include "compiler/pipeline.h"
#include "driver/programs/drive_program.h"
#include "rows/denotation.h"

namespace rml::fuzz {

// Of a network only the rows that it has written in the end are compared: it runs ahead of its host.
struct Way {
  const char* name;
  bool compiled = true;
  int level = 0;
  std::uint32_t part = TargetOptions().part;  // statements of a function
  std::int64_t restart_every = 0;             // saved and loaded after so many rows; 0: never
  Grain grain = Grain::none;
  OnDemand on_demand = OnDemand::where_needed;
};
inline constexpr Way ways[] = {
    {.name = "reference engine", .compiled = false},
    {.name = "-O0"},
    {.name = "-O0, saved and loaded after every row", .restart_every = 1},
    {.name = "on demand", .on_demand = OnDemand::always},
    {.name = "on demand, saved and loaded after every third row", .restart_every = 3, .on_demand = OnDemand::always},
    {.name = "-O1", .level = 1},
    {.name = "-O2 in parts", .level = 2, .part = 3},
    {.name = "-O3", .level = 3},
    {.name = "on demand at -O3", .level = 3, .on_demand = OnDemand::always},
    {.name = "network of passes", .level = 2, .grain = Grain::pass},
    {.name = "network of operations", .level = 0, .grain = Grain::op},
    {.name = "network of operations, saved and loaded after every row", .restart_every = 1, .grain = Grain::op}};
inline constexpr std::size_t cheap_ways = 5;  // the first few

// What a program determines, and at most: what it does once constants are folded and conditions simplified, which may
// need less. A row that is written is due by the one, at the latest, and not before the other.
struct Due {
  Determined rows;
  Determined at_most;
};

// From what is worst. Assumes: the run stops since the schedule assumes what is not so; misled: after a wrong row;
// stops: for another reason.
enum class Verdict : std::uint8_t { wrong, misled, early, stops, assumes, withheld, agrees };
inline constexpr std::size_t verdicts = 7;
const char* name(Verdict);

struct Finding {
  Verdict verdict = Verdict::agrees;
  std::string text;
  bool says_over =
      false;  // assumes: all rows that these inputs determine are written, and no later one, it says, ever will
};

class Subject {
 public:
  enum Source : std::uint8_t { text, file };
  Subject(Source, const std::string& text_or_path, const std::string& node = "");
  Subject(const Subject&) = delete;

  // As instantiated; null where it is refused before.
  const Core* core() const { return core_ ? &*core_ : nullptr; }
  // The code of the first error; empty: it is compiled.
  const std::string& refusal() const { return refusal_; }
  std::string messages() const;

  Chronogram read_inputs(const std::string& text, std::string& error) const;
  Due determine(const Chronogram& inputs, std::int64_t cycles) const;
  // What the way makes of these inputs against what they determine.
  Finding compare(const Way&, const Chronogram& inputs, std::int64_t cycles, const Due&);

 private:
  void instantiate(const Front&, NodeId entry);
  void note_refusal();
  bool leads_exactly(const Way&, const rml_program&) const;
  LoadedProgram& loaded(const Way&);

  Session session_;
  std::optional<Core> core_;
  std::string refusal_;
  std::optional<Elaborated> elaborated_;
  std::optional<Arranged> arranged_;
  std::map<std::string, std::unique_ptr<LoadedProgram>> loaded_;
};

}  // namespace rml::fuzz
