// One runner for the golden tests of all passes.
//
//   golden FOLDER [--bless] [PASS …]
//
// FOLDER/PASS/NAME.in is a form as `rmlc opt` takes it, or NAME.rml a program; NAME.expected is what the pass makes of
// it: what it reports, a line each, and the form. Lines that begin with `--` say what is shown; one may set options:
//     -- options: whole_segment grain=op
// Every pass has at least three, and one of them it leaves as it is. `--bless` writes what is made as what is expected:
// read it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "lowering/add_in_place.h"
#include "lowering/build_steps.h"
#include "lowering/drop_unused.h"
#include "lowering/fuse.h"
#include "lowering/fuse_pools.h"
#include "lowering/loop_group.h"
#include "lowering/schedule/passes.h"
#include "lowering/schedule/validate_schedule.h"
#include "lowering/schedule_text.h"
#include "lowering/segment/assign_homes.h"
#include "lowering/segment/batch_in_time.h"
#include "lowering/segment/defer.h"
#include "lowering/segment/segments_text.h"
#include "lowering/segment/sink.h"
#include "lowering/steps_text.h"
#include "semantics/causality.h"
#include "semantics/core_text.h"
#include "semantics/expand.h"
#include "semantics/instantiate.h"
#include "semantics/productivity.h"
#include "semantics/stabilise.h"

namespace rml {
namespace {

struct Options {
  bool whole_segment = false;
  Grain grain = Grain::none;
};

// What a pass made of a text.
struct Made {
  std::string reported;
  std::string form;    // whole
  std::string before;  // the form that was read, written again
};

using Run = std::function<Made(const std::string& text, const Options&)>;

template <class Form, class Read, class Write>
Form read_form(const std::string& text, Read read, Write write, Made& made) {
  TextFault fault;
  auto form = read(text, fault);
  if (!form) throw std::runtime_error(to_string(fault, text));
  made.before = write(*form);
  return std::move(*form);
}
Core read_core_form(const std::string& text, Made& made) {
  return read_form<Core>(text, [](std::string_view t, TextFault& f) { return read_core(t, f); }, core_text, made);
}
Schedule read_schedule_form(const std::string& text, Made& made) {
  return read_form<Schedule>(text, read_schedule, schedule_text, made);
}
Segments read_segments_form(const std::string& text, Made& made) {
  return read_form<Segments>(text, read_segments, segments_text, made);
}
steps::Program read_steps_form(const std::string& text, Made& made) {
  return read_form<steps::Program>(text, read_steps, steps_text, made);
}

std::string reported(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics.all()) text += std::string(code_name(d.code)) + ": " + d.message + "\n";
  return text;
}

// ---- passes by what they take ----

Run on_core(const std::function<void(Core&, Diagnostics&)>& pass) {
  return [pass](const std::string& text, const Options&) {
    Made made;
    Core core = read_core_form(text, made);
    Diagnostics diagnostics;
    pass(core, diagnostics);
    made.reported = reported(diagnostics);
    made.form = core_text(core);
    return made;
  };
}
Run core_to_core(Core (*pass)(Core)) {
  return on_core([pass](Core& core, Diagnostics&) { core = pass(std::move(core)); });
}
Run on_schedule(const std::function<Schedule(Schedule, const Options&)>& pass) {
  return [pass](const std::string& text, const Options& options) {
    Made made;
    made.form = schedule_text(pass(read_schedule_form(text, made), options));
    return made;
  };
}
Run with_facts(Schedule (*pass)(Schedule, const ScheduleFacts&)) {
  return on_schedule([pass](Schedule s, const Options&) {
    const auto core = s.core;
    return pass(std::move(s), ScheduleFacts(*core));
  });
}
Run on_segments(const std::function<Segments(Segments, const Options&)>& pass) {
  return [pass](const std::string& text, const Options& options) {
    Made made;
    made.form = segments_text(pass(read_segments_form(text, made), options));
    return made;
  };
}
Run on_steps(const std::function<void(steps::Program&)>& pass) {
  return [pass](const std::string& text, const Options&) {
    Made made;
    steps::Program program = read_steps_form(text, made);
    pass(program);
    made.form = steps_text(program);
    return made;
  };
}

Made group_units_of(const std::string& text, const Options&) {
  Made made;
  const auto core = std::make_shared<const Core>(read_core_form(text, made));
  Diagnostics diagnostics;
  const auto grouped = group_units(core, ScheduleFacts(*core), diagnostics);
  made.reported = reported(diagnostics);
  if (grouped) made.form = schedule_text(*grouped);
  return made;
}
Made validate_schedule_of(const std::string& text, const Options&) {
  Made made;
  const Schedule schedule = read_schedule_form(text, made);
  made.reported = validate(schedule);
  if (!made.reported.empty()) made.reported += "\n";
  made.form = schedule_text(schedule);
  return made;
}
Made plan_segments_of(const std::string& text, const Options&) {
  Made made;
  made.form = segments_text(plan_segments(read_schedule_form(text, made)));
  return made;
}
Made build_steps_of(const std::string& text, const Options& options) {
  Made made;
  made.form = steps_text(build_steps(read_segments_form(text, made), options.grain != Grain::none));
  return made;
}

const std::map<std::string, Run>& passes() {
  static const std::map<std::string, Run> list = {
      {"check_causality", on_core([](Core& c, Diagnostics& d) { check_causality(c, d); })},
      {"check_productivity", on_core([](Core& c, Diagnostics& d) { check_productivity(c, d); })},
      {"simplify", on_core([](Core& c, Diagnostics&) { c = simplify(std::move(c), {}); })},
      {"prune_iterations", on_core([](Core& c, Diagnostics&) { prune_iterations(c); })},
      {"stabilise", on_core([](Core& c, Diagnostics&) { stabilise(c); })},
      {"expand", on_core([](Core& c, Diagnostics&) { expand(c); })},
      {"flatten_convolutions", on_core([](Core& c, Diagnostics&) { flatten_convolutions(c); })},
      {"prune_undemanded", core_to_core(prune_undemanded)},
      {"undo_delays", core_to_core(undo_delays)},
      {"give_constants_streams", core_to_core(give_constants_streams)},
      {"check_order", on_core([](Core& c, Diagnostics& d) { check_order(c, d); })},
      {"retime", core_to_core(retime)},
      {"group_units", group_units_of},
      {"absorb", with_facts(absorb)},
      {"split_units", with_facts(split_units)},
      {"sort_units", with_facts(sort_units)},
      {"complete_units", with_facts(complete_units)},
      {"order_values", with_facts(order_values)},
      {"partition", on_schedule([](Schedule s, const Options& options) {
         const auto core = s.core;
         return partition(std::move(s), ScheduleFacts(*core), options.grain);
       })},
      {"mark_straight", on_schedule([](Schedule s, const Options&) { return mark_straight(std::move(s)); })},
      {"add_zeros", on_schedule([](Schedule s, const Options&) { return add_zeros(std::move(s)); })},
      {"add_cuts", on_schedule([](Schedule s, const Options&) { return add_cuts(std::move(s)); })},
      {"validate_schedule", validate_schedule_of},
      {"plan_segments", plan_segments_of},
      {"defer", on_segments([](Segments s, const Options& o) { return defer(std::move(s), {true, o.whole_segment}); })},
      {"sink", on_segments([](Segments s, const Options&) { return sink(std::move(s)); })},
      {"batch_in_time", on_segments([](Segments s, const Options&) { return batch_in_time(std::move(s)); })},
      {"assign_homes", on_segments([](Segments s, const Options&) { return assign_homes(std::move(s)); })},
      {"build_steps", build_steps_of},
      {"drop_unused", on_steps(drop_unused)},
      {"add_in_place", on_steps([](steps::Program& p) { add_in_place(p); })},
      {"fuse", on_steps(fuse)},
      {"fuse_pools", on_steps(fuse_pools)},
  };
  return list;
}

// ---- files ----

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Options options_of(const std::string& text) {
  Options options;
  constexpr std::string_view key = "-- options:";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return options;
  const std::string line = text.substr(at, text.find('\n', at) - at);
  options.whole_segment = line.find("whole_segment") != std::string::npos;
  if (line.find("grain=stage") != std::string::npos) options.grain = Grain::stage;
  if (line.find("grain=op") != std::string::npos) options.grain = Grain::op;
  if (line.find("grain=pass") != std::string::npos) options.grain = Grain::pass;
  return options;
}

class Golden {
 public:
  explicit Golden(bool bless) : bless_(bless) {}

  void pass(const std::filesystem::path& folder) {
    const auto run = passes().find(folder.filename().string());
    if (run == passes().end()) return;
    std::vector<std::filesystem::path> paths;
    if (std::filesystem::is_directory(folder))
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".in") paths.push_back(entry.path());
    std::ranges::sort(paths);
    bool left_alone = false;
    for (const auto& path : paths) left_alone |= one(run->second, path);
    if (paths.size() < 3) wrong(folder, "a pass has at least three golden tests");
    if (!left_alone) wrong(folder, "one of them is left as it is");
  }
  int finish() const {
    std::printf("golden=%d wrong=%d\n", count_, wrong_);
    return wrong_ == 0 && count_ > 0 ? 0 : 1;
  }

 private:
  // Whether the pass left it as it is.
  bool one(const Run& run, const std::filesystem::path& path) {
    ++count_;
    const std::string text = contents(path);
    const std::filesystem::path expected = std::filesystem::path(path).replace_extension(".expected");
    try {
      const Made made = run(text, options_of(text));
      const std::string got = made.reported + made.form;
      if (bless_) std::ofstream(expected, std::ios::binary) << got;
      if (!text.starts_with("-- ")) wrong(path, "its first line says what is shown");
      if (contents(expected) != got) wrong(path, "not what is expected but\n" + got);
      // Into another form there is no leaving alone.
      return made.reported.empty() && (made.form == made.before || first_line(made.form) != first_line(made.before));
    } catch (const std::exception& error) {
      wrong(path, error.what());
      return false;
    }
  }
  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  void wrong(const std::filesystem::path& path, const std::string& what) {
    ++wrong_;
    std::printf("%s: %s\n", path.c_str(), what.c_str());
  }

  bool bless_;
  int count_ = 0, wrong_ = 0;
};

}  // namespace
}  // namespace rml

int main(int argc, char** argv) {
  std::filesystem::path folder;
  std::vector<std::string> wanted;
  bool bless = false;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--bless")
      bless = true;
    else if (folder.empty())
      folder = argument;
    else
      wanted.push_back(argument);
  }
  rml::Golden golden(bless);
  for (const auto& [pass, run] : rml::passes())
    if (wanted.empty() || std::ranges::find(wanted, pass) != wanted.end()) golden.pass(folder / pass);
  return golden.finish();
}
