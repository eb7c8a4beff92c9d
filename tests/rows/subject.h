// A program with its denotation and every way in which the compiler runs it. Rows are compared
// after each row of input.
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

// A network runs ahead of its host, so only the rows that it has written at the end are compared.
struct Way {
  const char* name;
  bool compiled = true;
  int level = 0;
  std::uint32_t part = TargetOptions().part;  // number of statements per function
  std::int64_t restart_every = 0;             // number of rows after which the state is saved and loaded; 0: never
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
    {.name = "network of passes", .level = 2, .grain = Grain::sweep},
    {.name = "network of operations", .level = 0, .grain = Grain::op},
    {.name = "network of operations, saved and loaded after every row", .restart_every = 1, .grain = Grain::op}};
inline constexpr std::size_t cheap_ways = 5;  // number of ways, from the beginning of the list, that are cheap

// The rows that a program determines, and the rows that it determines after constants are folded
// and conditions simplified, which may need fewer values. A row must be written at the latest by
// `rows` and not before `at_most`.
struct Due {
  Determined rows;
  Determined at_most;
};

// From worst to best. assumes: the run stops because an assumption of the schedule is false;
// misled: it does so after a wrong row; stops: it stops for another reason.
enum class Verdict : std::uint8_t { wrong, misled, early, stops, assumes, withheld, agrees };
inline constexpr std::size_t verdicts = 7;
const char* name(Verdict);

struct Finding {
  Verdict verdict = Verdict::agrees;
  std::string text;
  // For `assumes`: all rows that these inputs determine are written, and the message says that no
  // later row ever will be.
  bool says_over = false;
};

class Subject {
 public:
  enum Source : std::uint8_t { text, file };
  Subject(Source, const std::string& text_or_path, const std::string& node = "");
  Subject(const Subject&) = delete;

  // The instantiated core; null if the program is refused before.
  const Core* core() const { return core_ ? &*core_ : nullptr; }
  // The code of the first error; empty if the program compiles.
  const std::string& refusal() const { return refusal_; }
  std::string messages() const;

  Chronogram read_inputs(const std::string& text, std::string& error) const;
  Due determine(const Chronogram& inputs, std::int64_t cycles) const;
  // Compares the rows that a way writes for these inputs with the determined rows.
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
