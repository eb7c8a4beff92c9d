#include "python/src/node.h"

#include <exception>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "compiler/internal_error.h"
#include "compiler/pipeline.h"
#include "compiler/set_limit.h"
#include "driver/base/installation.h"
#include "frontend/deep_stack.h"
#include "frontend/render.h"

namespace rml::python {
namespace {

void set_limits(Limits& limits, const std::vector<std::string>& given) {
  for (const std::string& text : given)
    if (const std::string wrong = set_limit(limits, text); !wrong.empty())
      throw std::invalid_argument("limits: " + wrong);
}

CompileOptions options_of(const CompileRequest& request) {
  CompileOptions options;
  options.definitions = request.definitions;
  for (const std::string& folder : request.import_folders) options.import_folders.emplace_back(folder);
  options.node = request.node;
  options.watches = request.watches;
  options.frozen = request.frozen;
  options.tunable = request.tunable;
  options.gathered = request.gathered;
  options.parameters = request.parameters;
  options.stabilise = request.stabilise;
  options.whole_segment = request.whole_segment;
  options.model = request.model;
  options.target.cpu = request.cpu;
  options.target.optimization = request.optimization;
  options.target.threads = request.threads;
  options.target.fast_math = request.fast_math;
  options.target.strict_math = request.strict_math;
  // Instance::is_settled needs a schedule to determine whether a sum of gradients is complete.
  if (!request.gathered.empty()) options.on_demand = OnDemand::never;
  set_limits(options.limits, request.limits);
  return options;
}

// Returns whether reading and checking give the same result for both requests.
bool read_alike(const CompileRequest& a, const CompileRequest& b) {
  const auto all = [](const CompileRequest& r) {
    const ModelOptions& m = r.model;
    return std::tie(r.file, r.text, r.definitions, r.import_folders, r.limits, m.dimensions, m.fixed, m.states,
                    m.trainable, m.streams, m.all_values);
  };
  return all(a) == all(b);
}

}  // namespace

class Source {
 public:
  explicit Source(const CompileRequest& r) : session(own_resources()), request(r) {
    session.options = options_of(r);
    front.emplace(r.text.empty() ? check(session, r.file) : check_text(session, r.file, r.text));
  }

  Session session;
  std::optional<Front> front;
  CompileRequest request;
};

std::shared_ptr<Source> SourceOnce::take(const CompileRequest& asked) {
  if (source == nullptr || !read_alike(source->request, asked)) return nullptr;
  // The definitions give values to inputs of that entry.
  if (source->front->specialised && source->request.node != asked.node) return nullptr;
  return std::exchange(source, nullptr);
}

namespace {

std::unique_ptr<LoadedProgram> load(Session& session, const Front& front, const CompileRequest& request) {
  const auto entry = session.failed() ? std::nullopt : find_entry(session, front);
  if (!entry) return nullptr;
  const auto elaborated = elaborate(session, front, *entry, {}, session.diagnostics);
  if (!elaborated) return nullptr;
  if (request.reference) return load_reference(session, elaborated->core, request.libraries);
  const auto arranged = arrange(session, *elaborated, session.diagnostics);
  if (!arranged) return nullptr;
  return load_compiled(session, lower(session, *arranged), request.libraries, {.run = true});
}

struct Task {
  const CompileRequest& request;
  std::shared_ptr<Source> source;
  Compilation result = {};
  std::exception_ptr failed = nullptr;
};

void work(Task& task) try {
  if (task.source == nullptr) task.source = std::make_shared<Source>(task.request);
  Session& session = task.source->session;
  const Front& front = *task.source->front;
  Compilation& result = task.result;
  if (!session.failed())
    for (const NodeId n : front.program->modules[0].nodes)
      result.nodes.emplace_back(front.program->names.text((*front.program)[n].name), signature(front.checked, n));
  if (!task.request.check_only) {
    session.options = options_of(task.request);
    auto program = load(session, front, task.request);
    if (program && !session.failed()) result.node = std::make_shared<Node>(std::move(program));
  }
  result.text = render_human(session.diagnostics, session.sources, false);
  result.json = render_json(session.diagnostics, session.sources);
  result.told = session.told;
  result.files = session.files_read();
  if (task.request.check_only && !session.failed()) result.source = std::move(task.source);
  task.source.reset();
} catch (...) {
  task.failed = std::current_exception();
}

}  // namespace

Compilation compile_node(const CompileRequest& request, std::shared_ptr<Source> source) {
  Task task{request, std::move(source)};
  run_with_deep_stack([](void* argument) { work(*static_cast<Task*>(argument)); }, &task);
  if (task.failed) std::rethrow_exception(task.failed);
  return std::move(task.result);
}

}  // namespace rml::python
