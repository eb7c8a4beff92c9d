// Checks for every program of the tree that printing, reading and printing a form again gives the
// same text, after every pass.
//
//   forms_of_the_tree ROOT [PATTERN]     programs of ROOT/{tests,examples,benchmarks,docs} whose path contains PATTERN
//
// The entry node, or else each node that can be run, is compiled in several ways: by default,
// with whole segments, and as networks of both grains. Programs that the compiler refuses are
// skipped.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/passes.h"
#include "compiler/pipeline.h"
#include "compiler/translation.h"
#include "frontend/deep_stack.h"
#include "frontend/parse.h"
#include "lowering/loops/loops_text.h"
#include "lowering/loops/make_loops.h"
#include "lowering/schedule/schedule_text.h"
#include "lowering/segment/segments_text.h"
#include "lowering/text/steps_text.h"
#include "semantics/core/core_text.h"
#include "semantics/instantiate/instantiate.h"

namespace rml {
namespace {

// Returns the first line in which two texts differ.
std::string difference(const std::string& a, const std::string& b) {
  const auto at = std::ranges::mismatch(a, b).in1 - a.begin();
  const std::size_t begin = at == 0 ? 0 : a.rfind('\n', static_cast<std::size_t>(at) - 1) + 1;
  return "    " + a.substr(begin, a.find('\n', begin) - begin) + "\n    " +
         b.substr(begin, b.find('\n', begin) - begin);
}

class Tree {
 public:
  explicit Tree(std::filesystem::path root) : root_(std::move(root)) {}

  int run(const std::string& pattern) {
    std::vector<std::filesystem::path> files;
    for (const char* folder : {"tests", "examples", "benchmarks", "docs", "stdlib"})
      for (const auto& entry : std::filesystem::recursive_directory_iterator(root_ / folder))
        if (entry.path().extension() == ".rml" && entry.path().string().find(pattern) != std::string::npos)
          files.push_back(entry.path());
    std::ranges::sort(files);
    for (const auto& path : files) file(path);
    std::printf("texts=%zu files=%zu cores=%d schedules=%d segments=%d steps=%d loops=%d wrong=%d\n", compared_.size(),
                files.size(), cores_, schedules_, segments_, steps_, loops_, wrong_);
    return wrong_ == 0 && (!pattern.empty() || (steps_ > 1000 && loops_ > 300)) ? 0 : 1;
  }

 private:
  void file(const std::filesystem::path& path) {
    Session session({root_ / "stdlib"});
    session.options.limits.equations = 20'000;  // programs that are too large on purpose exceed this limit
    const Front front = check(session, path);
    if (session.failed()) return;
    const auto entry = find_entry(session, front);
    for (const NodeId node : front.program->modules[0].nodes) {
      if ((*front.program)[node].external() || (entry && node != *entry)) continue;
      name_ = std::filesystem::relative(path, root_).string() + " " + front.program->text((*front.program)[node].name);
      this->node(session, front, node);
    }
  }

  void node(Session& session, const Front& front, NodeId node) {
    Diagnostics found;
    const Core core = instantiate(front.checked, node, {.limits = session.options.limits}, found);
    if (found.has_errors()) return;
    same_shown(core);
    session.options.grain = Grain::none;
    const auto watched = elaborate(session, front, node, {.keep_watches = true, .productivity = false}, found);
    if (watched) same_shown(*watched->core);
    const auto elaborated = elaborate(session, front, node, {}, found);
    if (!elaborated) return;
    same_shown(*elaborated->core);
    session.watch = [&](const Pass& pass, Translation& t) {
      // Networks of whole passes or stages differ from the others only in their tasks.
      const bool known = pass.makes == Form::core || pass.makes == Form::schedule;
      if (known && (session.options.grain == Grain::sweep || session.options.grain == Grain::stage)) return;
      if (t.changed && t.has_form()) same(pass, t);
    };
    for (const Grain grain : {Grain::none, Grain::sweep, Grain::stage, Grain::op}) {
      session.options.grain = grain;
      session.options.on_demand = grain == Grain::none ? OnDemand::where_needed : OnDemand::never;
      const auto arranged = arrange(session, *elaborated, found);
      if (arranged) lowered(session, *arranged);
    }
    session.watch = nullptr;
  }

  void lowered(Session& session, const Arranged& arranged) {
    same_loops(lower(session, arranged));
    const bool segmented = std::ranges::any_of(arranged.schedule.units, &ScheduledUnit::segmented);
    if (!segmented || session.options.grain != Grain::none) return;
    session.options.whole_segment = true;
    same_loops(lower(session, arranged));
    session.options.whole_segment = false;
  }

  // Checks the form after a pass if the pass may have changed it.
  void same(const Pass& pass, Translation& t) {
    if (pass.makes == Form::core) same_core(t.core());
    if (pass.makes == Form::schedule) same_schedule(t.schedule());
    if (pass.makes == Form::segments && (pass.takes == Form::schedule || !t.segments().list.empty()))
      same_segments(t.segments());
    if (pass.makes == Form::steps) same_steps(t.steps());
  }

  void same_core(const Core& core) {
    ++cores_;
    compare(core_text(core), [](std::string_view text, TextFault& fault) { return read_core(text, fault); }, core_text);
  }
  // The output of `rmlc show core` must be readable as well.
  void same_shown(const Core& core) {
    same_core(core);
    compare(
        print_core(core), [](std::string_view text, TextFault& fault) { return read_core(text, fault); }, print_core);
  }
  void same_schedule(const Schedule& s) {
    ++schedules_;
    compare(schedule_text(s), read_schedule, schedule_text);
  }
  void same_segments(const Segments& s) {
    ++segments_;
    compare(segments_text(s), read_segments, segments_text);
  }
  void same_steps(const steps::Program& p) {
    ++steps_;
    compare(steps_text(p), read_steps, steps_text);
  }

  void same_loops(steps::Program steps) {
    const loops::Made made = loops::make_loops(std::make_shared<const steps::Program>(std::move(steps)));
    if (!made.refused.empty()) return;
    ++loops_;
    const std::string violation = loops::verify(made.program);
    if (!violation.empty()) ++wrong_, std::printf("%s:\n    %s\n", name_.c_str(), violation.c_str());
    compare(loops::loops_text(made.program), loops::read_loops, loops::loops_text);
  }

  template <class Read, class Write>
  void compare(const std::string& text, Read read, Write write) {
    // Most passes do not change most programs, so a text is compared once.
    if (!compared_.insert(std::hash<std::string>()(text)).second) return;
    TextFault fault;
    const auto value = read(text, fault);
    const std::string again = value ? write(*value) : "";
    if (again == text) return;
    ++wrong_;
    std::printf("%s:\n%s\n", name_.c_str(), value ? difference(text, again).c_str() : to_string(fault, text).c_str());
    if (value) return;
    const std::size_t begin = text.rfind('\n', fault.offset == 0 ? 0 : fault.offset - 1) + 1;
    std::printf("    %s\n", text.substr(begin, std::min(text.find('\n', begin) - begin, std::size_t{200})).c_str());
  }

  std::filesystem::path root_;
  std::string name_;
  std::unordered_set<std::size_t> compared_;
  int cores_ = 0, schedules_ = 0, segments_ = 0, steps_ = 0, loops_ = 0, wrong_ = 0;
};

}  // namespace
}  // namespace rml

int main(int argc, char** argv) {
  struct Job {
    std::string root, pattern;
    int status = 1;
  } job{argc > 1 ? argv[1] : ".", argc > 2 ? argv[2] : ""};
  rml::run_with_deep_stack(
      [](void* argument) {
        Job& j = *static_cast<Job*>(argument);
        j.status = rml::Tree(j.root).run(j.pattern);
      },
      &job);
  return job.status;
}
