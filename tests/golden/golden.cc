// Runs the golden tests of all passes in the compiler's list (compiler/passes.h).
//
//   golden FOLDER [--bless] [PASS …]
//
// FOLDER/PASS/NAME.in is the input of the pass, in the text form of `rmlc opt`; for `import` it
// is a model in protobuf's text format. For passes that take trees, NAME.rml is a program, to
// which the passes before are applied. NAME.expected is the output: each diagnostic on a line,
// and the form, or the facts that the pass found; of a module, one function. Lines that begin
// with `--` describe the test; one may set options:
//     -- options: whole_segment grain=op define=n=3 function=main_step
// Each pass has at least three tests. If it takes and makes the same form, one of them must leave
// its input unchanged. `--bless` writes the outputs as the expected ones; check them by reading.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/passes.h"
#include "compiler/translation.h"
#include "frontend/deep_stack.h"
#include "frontend/parse.h"
#include "frontend/print_source.h"
#include "semantics/core/core_text.h"

namespace rml {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The options of a test; files are in its folder.
struct Asked {
  CompileOptions options;
  std::string function;  // the function of a module that is shown
  bool optimised = false;
};

Asked what_is_asked(const std::string& text, const std::filesystem::path& folder) {
  Asked asked;
  CompileOptions& options = asked.options;
  constexpr std::string_view key = "-- options:";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return asked;
  std::istringstream words(text.substr(at + key.size(), text.find('\n', at) - at - key.size()));
  for (std::string word; words >> word;) {
    if (word.starts_with("function=")) asked.function = word.substr(9);
    if (word == "optimised") asked.optimised = true;
    if (word == "whole_segment") options.whole_segment = true;
    if (word == "grain=pass") options.grain = Grain::sweep;
    if (word == "grain=stage") options.grain = Grain::stage;
    if (word == "grain=op") options.grain = Grain::op;
    if (word.starts_with("define=")) options.definitions.push_back(word.substr(7));
    if (word.starts_with("dim=")) options.model.dimensions.push_back(word.substr(4));
    if (word.starts_with("state=")) options.model.states.push_back(word.substr(6));
    if (word.starts_with("watch=")) options.watches.push_back(word.substr(6));
    if (word.starts_with("frozen=")) options.frozen.push_back(word.substr(7));
    if (word.starts_with("gathered=")) options.gathered.push_back(word.substr(9));
    if (word.starts_with("parameters=")) options.parameters.file = folder / word.substr(11);
  }
  return asked;
}

// ---- results of the first passes

std::string what_is(const Program& program, const Reference& reference, const ResolvedNode& in) {
  if (const auto* v = std::get_if<VariableRef>(&reference))
    return "variable " + program.text(in.variables[v->variable].name);
  if (const auto* c = std::get_if<ConstRef>(&reference))
    return "constant " + program.text(program.consts[c->constant.index].name);
  if (const auto* d = std::get_if<DTypeRef>(&reference)) return "dtype " + std::string(name(d->dtype));
  if (const auto* n = std::get_if<NodeRef>(&reference)) return "node " + program.text(program[n->node].name);
  if (const auto* o = std::get_if<OperatorRef>(&reference)) return "operator " + std::string(operators()[o->op].name);
  if (std::holds_alternative<ParamRef>(reference)) return "param";
  if (std::holds_alternative<StopGradientRef>(reference)) return "stop_gradient";
  if (std::holds_alternative<LoadRef>(reference)) return "load";
  return "";
}

// Lists the references in the main file, in the order of the text.
std::string references_text(const Translation& t) {
  const Program& program = *t.program;
  const std::uint32_t file = program.modules[0].file;
  std::vector<std::pair<Span, std::string>> lines;
  for (const NodeId n : program.modules[0].nodes) {
    const Span whole = program[n].span;
    for (std::size_t e = 0; e < t.checked.names.references.size(); ++e) {
      const Span span = program.span(ExprId{e});
      if (span.file != file || span.begin < whole.begin || span.end > whole.end) continue;
      const std::string what = what_is(program, t.checked.names.references[e], t.checked.names.nodes[n.index]);
      if (what.empty()) continue;
      const LineColumn at = t.session.sources.line_column(file, span.begin);
      lines.emplace_back(span, std::to_string(at.line) + ":" + std::to_string(at.column) + " " +
                                   std::string(t.session.sources.text(span)) + ": " + what + "\n");
    }
  }
  std::ranges::sort(lines, {},
                    [](const auto& line) { return std::tuple(line.first.begin, line.first.end, line.second); });
  std::string text;
  for (const auto& [span, line] : lines) text += line;
  return text;
}

// Lists the dtypes of variables, in the type variables of their nodes.
std::string types_text(const Translation& t) {
  std::string text;
  const Program& program = *t.program;
  for (const NodeId n : program.modules[0].nodes) {
    text += "node " + program.text(program[n].name) + "\n";
    const std::vector<Variable>& variables = t.checked.names.nodes[n.index].variables;
    const TypedNode& typed = t.checked.types.nodes[n.index];
    for (std::size_t v = 0; v < variables.size() && v < typed.variable_types.size(); ++v) {
      const TypeTerm term = typed.variable_types[v];
      text += "  " + program.text(variables[v].name) + ": " +
              (term.variable < 0 ? std::string(name(term.dtype))
                                 : "'" + std::string(1, static_cast<char>('a' + term.variable))) +
              "\n";
    }
  }
  return text;
}

std::string signatures_text(const Translation& t) {
  std::string text;
  for (const NodeId n : t.program->modules[0].nodes)
    if (!t.checked.clocks.nodes[n.index].has_errors) text += signature(t.checked, n) + "\n";
  return text;
}

// Prints the nodes of the main file, and the nodes that `diff` derived, as source text.
std::string sources_text(const Translation& t) {
  std::string text;
  const Program& program = *t.program;
  for (const ast::Node& node : program.nodes)
    if (node.derived_from.valid() || program.modules[node.module.index].file == program.modules[0].file)
      text += print_source(program, node);
  return text;
}

// Drops places, which the tests of diagnostics check.
std::string bare_text(Core core) {
  for (Value& v : core.values) v.span = {};
  for (Instance& i : core.instances) i.call = {};
  for (auto* ports : {&core.inputs, &core.outputs})
    for (Port& p : *ports) p.span = {};
  for (CoreAssert& a : core.asserts) a.span = {};
  for (ExternalNode& e : core.externals) e.span = {};
  core.watches.clear();
  return core_text(core);
}

// Prints one function of a module, without debug locations and alias information.
std::string function_text(const std::string& module, const std::string& name) {
  std::istringstream lines(module);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (text.empty() && !(line.starts_with("define ") && line.find("@" + name + "(") != std::string::npos)) continue;
    if (line.starts_with("define ")) line.replace(line.find(" #"), std::string::npos, " {");
    line.erase(std::min(line.find(", !"), line.size()));
    if (line.find("@llvm.experimental.noalias.scope.decl(") == std::string::npos) text += line + "\n";
    if (line == "}") break;
  }
  return text;
}

// ---- runs

// The diagnostics and the form that a pass made, and its input printed again.
struct Made {
  std::string reported, form, before;
};

std::string reported(const Translation& t) {
  std::string text = t.violation.empty() ? "" : t.violation + "\n";
  for (const auto& found : {t.session.diagnostics.all(), t.diagnostics.all()})
    for (const Diagnostic& d : found) text += std::string(code_name(d.code)) + ": " + d.message + "\n";
  return text;
}

std::string form_text(const Pass& pass, Translation& t) {
  if (pass.name == "resolve_names") return references_text(t);
  if (pass.name == "instantiate" && !t.session.failed() && !t.diagnostics.has_errors()) return bare_text(t.core());
  if (pass.name == "differentiate") return sources_text(t);
  if (pass.name == "infer_types") return types_text(t);
  if (pass.name == "infer_clocks") return signatures_text(t);
  return print(pass, t);
}

bool takes_model(const Pass& pass) { return pass.takes == Form::text && pass.makes == Form::text; }
bool takes_program(const Pass& pass) { return !reads_back(pass.takes) && !takes_model(pass); }

// Changes to a temporary folder, which is deleted at the end.
class Scratch {
 public:
  Scratch() : before_(std::filesystem::current_path()) {
    std::string name = (std::filesystem::temp_directory_path() / "golden.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
    folder_ = name;
    std::filesystem::current_path(folder_);
  }
  ~Scratch() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  std::filesystem::path before_, folder_;
};

Made run_on_model(const Pass& pass, const std::filesystem::path& path, Translation& t) {
  const std::string text = contents(path);
  const Scratch here;
  t.file = path.stem().string() + ".onnx";
  std::size_t begin = 0;
  while (text.compare(begin, 2, "--") == 0) begin = text.find('\n', begin) + 1;
  std::ofstream("words", std::ios::binary) << text.substr(begin);
  const std::string encode =
      RML_PROTOC " --proto_path=" RML_ONNX " --encode=rml.onnx.wire.Model model.proto < words > ";
  if (std::system((encode + "'" + t.file + "'").c_str()) != 0) return {"this is no model in words\n", "", ""};
  run(pass, t);
  return {reported(t), form_text(pass, t), ""};
}

// Applies the passes before this one to a program, in the order of the list.
Made run_on_program(const Pass& pass, const std::filesystem::path& path, Translation& t) {
  Made made;
  t.file = path.filename().string();
  t.text = contents(path);
  const auto go = [&](const Pass& next) { run(next, t); };
  for (const Pass& before : passes()) {
    if (&before == &pass) break;
    if (takes_model(before)) continue;
    // Names are resolved again after derivatives have been written.
    if (before.name == "differentiate" && t.checked.names.diff_calls.empty()) continue;
    go(before);
    if (before.name == "differentiate") go(*find_pass("resolve_names"));
  }
  if (pass.takes == Form::tree && pass.makes == Form::tree && t.program) made.before = form_text(pass, t);
  if (!t.program || t.program->modules.empty()) {
    go(pass);
  } else {
    t.entry = t.program->modules[0].nodes.back();
    go(pass);
  }
  made.reported = reported(t);
  made.form = form_text(pass, t);
  return made;
}

Made run_on_form(const Pass& pass, const std::filesystem::path& path, Translation& t) {
  Made made;
  std::string fault;
  if (!read(pass.takes, contents(path), t, fault)) {
    made.reported = fault + "\n";
    return made;
  }
  const Pass nothing{"", pass.takes, pass.takes, "", "", nullptr};
  made.before = print(nothing, t);
  run(pass, t);
  made.reported = reported(t);
  if (!std::holds_alternative<std::monostate>(t.form)) made.form = form_text(pass, t);
  return made;
}

// Makes the output independent of the machine: unoptimised unless `optimised`, with only the
// functions of the C interface.
void set_up_emission(Translation& t, bool optimised) {
  t.emit.target = {.triple = "x86_64-unknown-linux-gnu", .optimization = optimised ? 1 : 0};
  t.emit.with_program = false;
  t.emit.with_c_interface = true;
}

class Golden {
 public:
  Golden(std::filesystem::path folder, bool bless) : folder_(std::move(folder)), bless_(bless) {}

  void pass(const Pass& pass) {
    const std::filesystem::path folder = folder_ / pass.name;
    const char* const extension = takes_program(pass) ? ".rml" : ".in";
    std::vector<std::filesystem::path> paths;
    if (std::filesystem::is_directory(folder))
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == extension) paths.push_back(entry.path());
    std::ranges::sort(paths);
    bool left_alone = pass.takes != pass.makes || pass.takes == Form::checked || takes_model(pass);
    for (const auto& path : paths) left_alone |= one(pass, path);
    if (paths.size() < 3) wrong(folder, "a pass has at least three golden tests");
    if (!left_alone) wrong(folder, "one of them is left as it is");
  }

  int finish() const {
    std::printf("golden=%d wrong=%d\n", count_, wrong_);
    return wrong_ == 0 && count_ > 0 ? 0 : 1;
  }

 private:
  // Runs one test and returns true if the pass left its input unchanged.
  bool one(const Pass& pass, const std::filesystem::path& path) {
    ++count_;
    const std::string text = contents(path);
    if (!text.starts_with("-- ")) wrong(path, "its first line says what is shown");
    Session session({RML_STDLIB});
    const Asked asked = what_is_asked(text, path.parent_path());
    session.options = asked.options;
    Diagnostics found;
    Translation t(session, found);
    set_up_emission(t, asked.optimised);
    Made made = takes_program(pass) ? run_on_program(pass, path, t)
                : takes_model(pass) ? run_on_model(pass, path, t)
                                    : run_on_form(pass, path, t);
    if (pass.makes == Form::llvm) made.form = function_text(made.form, asked.function);
    if (pass.makes == Form::llvm && made.form.empty()) wrong(path, "there is no function " + asked.function);
    const std::filesystem::path expected = std::filesystem::path(path).replace_extension(".expected");
    const std::string got = made.reported + made.form;
    if (bless_) std::ofstream(expected, std::ios::binary) << got;
    if (contents(expected) != got) wrong(path, "not what is expected but\n" + got);
    return made.reported.empty() && made.form == made.before;
  }

  void wrong(const std::filesystem::path& path, const std::string& what) {
    ++wrong_;
    std::printf("%s: %s\n", path.c_str(), what.c_str());
  }

  std::filesystem::path folder_;
  bool bless_;
  int count_ = 0, wrong_ = 0;
};

struct Arguments {
  std::vector<std::string> words;
  bool bless = false;
  int status = 2;
};

void run_all(Arguments& arguments) {
  if (arguments.words.empty()) {
    std::fprintf(stderr, "usage: golden FOLDER [--bless] [PASS ...]\n");
    return;
  }
  Golden golden(std::filesystem::absolute(arguments.words[0]), arguments.bless);
  const auto begin = arguments.words.begin() + 1, end = arguments.words.end();
  for (const Pass& pass : passes()) {
    if (begin == end || std::find(begin, end, pass.name) != end) golden.pass(pass);
  }
  arguments.status = golden.finish();
}

}  // namespace
}  // namespace rml

int main(int argc, char** argv) {
  rml::Arguments arguments;
  for (int k = 1; k < argc; ++k)
    if (std::string_view(argv[k]) == "--bless")
      arguments.bless = true;
    else
      arguments.words.emplace_back(argv[k]);
  rml::run_with_deep_stack([](void* a) { rml::run_all(*static_cast<rml::Arguments*>(a)); }, &arguments);
  return arguments.status;
}
