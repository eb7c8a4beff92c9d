// Print, read, print is the identity for every program of the tree, at every stage.
//
//   forms_of_the_tree ROOT [PATTERN]     programs of ROOT/{tests,examples,benchmarks,docs} whose path has PATTERN
//
// The entry (or else each node that can be run) is compiled as it is, with whole segments, and as networks of either
// grain. What is refused is no program of interest here.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/pipeline.h"
#include "frontend/parse.h"
#include "lowering/add_in_place.h"
#include "lowering/build_steps.h"
#include "lowering/drop_unused.h"
#include "lowering/fuse.h"
#include "lowering/fuse_pools.h"
#include "lowering/schedule/passes.h"
#include "lowering/schedule_text.h"
#include "lowering/segment/assign_homes.h"
#include "lowering/segment/batch_in_time.h"
#include "lowering/segment/defer.h"
#include "lowering/segment/segments_text.h"
#include "lowering/segment/sink.h"
#include "lowering/steps_text.h"
#include "semantics/core_text.h"
#include "semantics/instantiate.h"

namespace rml {
namespace {

struct Variant {
  const char* name;
  Grain grain = Grain::none;
  bool whole_segment = false;
};
constexpr Variant variants[] = {{"as it is", Grain::none, false},
                                {"whole segments", Grain::none, true},
                                {"passes", Grain::pass, false},
                                {"stages", Grain::stage, false},
                                {"operations", Grain::op, false}};

// The line in which two texts differ first.
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
    std::printf("texts=%zu files=%zu cores=%d schedules=%d segments=%d steps=%d wrong=%d\n", compared_.size(),
                files.size(), cores_, schedules_, segments_, steps_, wrong_);
    return wrong_ == 0 && (!pattern.empty() || steps_ > 1000) ? 0 : 1;
  }

 private:
  void file(const std::filesystem::path& path) {
    Session session({root_ / "stdlib"});
    session.options.limits.equations = 20'000;  // some are there to be too large
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
    same_core(core);
    session.options.grain = Grain::none;
    const auto watched = elaborate(session, front, node, {.keep_watches = true, .productivity = false}, found);
    if (watched) same_core(*watched->core);
    const auto elaborated = elaborate(session, front, node, {}, found);
    if (!elaborated) return;
    same_core(*elaborated->core);
    for (const Variant& variant : variants) {
      session.options.grain = variant.grain;
      session.options.whole_segment = variant.whole_segment;
      if (variant.grain == Grain::none || variant.grain == Grain::op) units(*elaborated->core, variant.grain);
      const auto arranged = arrange(session, *elaborated, found);
      if (arranged) schedule(session, *arranged);
    }
  }

  // The passes of scheduling, one by one.
  void units(const Core& elaborated, Grain grain) {
    Core core = elaborated;
    for (Core (*pass)(Core) : {prune_undemanded, undo_delays, give_constants_streams, retime, prune_undemanded}) {
      core = pass(std::move(core));
      same_core(core);
    }
    Diagnostics found;
    const auto shared = std::make_shared<const Core>(std::move(core));
    if (!check_order(*shared, found)) return;
    const ScheduleFacts facts(*shared);
    auto s = group_units(shared, facts, found);
    if (!s) return;
    same_schedule(*s);
    for (Schedule (*pass)(Schedule, const ScheduleFacts&) :
         {absorb, split_units, sort_units, complete_units, order_values}) {
      s = pass(std::move(*s), facts);
      same_schedule(*s);
    }
    if (grain == Grain::op || grain == Grain::stage) same_schedule(s.emplace(partition(std::move(*s), facts, grain)));
    for (Schedule (*pass)(Schedule) : {mark_straight, add_zeros, add_cuts}) {
      s = pass(std::move(*s));
      same_schedule(*s);
    }
  }

  void schedule(Session& session, const Arranged& arranged) {
    Segments segments = plan_segments(arranged.schedule);
    same_segments(segments);
    const Deferral deferral{.products = true, .whole_segment = session.options.whole_segment};
    const std::function<Segments(Segments)> segment_passes[] = {
        [&](Segments s) { return defer(std::move(s), deferral); }, [](Segments s) { return sink(std::move(s)); },
        [](Segments s) { return batch_in_time(std::move(s)); }, [](Segments s) { return sink(std::move(s)); },
        [](Segments s) { return assign_homes(std::move(s)); }};
    for (const auto& pass : segment_passes) {
      segments = pass(std::move(segments));
      same_segments(segments);
    }
    steps::Program p = build_steps(segments, session.options.grain != Grain::none);
    same_steps(p);
    for (const auto& pass :
         std::initializer_list<std::function<void(steps::Program&)>>{drop_unused, add_in_place, fuse, fuse_pools}) {
      pass(p);
      same_steps(p);
    }
    same_steps(lower(session, arranged));
  }

  void same_core(const Core& core) {
    ++cores_;
    compare(core_text(core), [](std::string_view text, TextFault& fault) { return read_core(text, fault); }, core_text);
    // What `rmlc show core` prints is read as well.
    const std::string shown = print_core(core);
    compare(shown, [](std::string_view text, TextFault& fault) { return read_core(text, fault); }, print_core);
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

  template <class Read, class Write>
  void compare(const std::string& text, Read read, Write write) {
    if (!compared_.insert(std::hash<std::string>()(text)).second) return;  // most passes leave most programs alone
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
  int cores_ = 0, schedules_ = 0, segments_ = 0, steps_ = 0, wrong_ = 0;
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
