// `rmlc doc`: a page in Markdown about modules, from their comments and signatures. Examples in the comments are run
// first, and a page with an example that fails is not written.
//
// An example is a part of a comment, indented by four spaces, that begins with `node main(`, followed by a part with
// the rows of its inputs and outputs. Examples run as language tests, in a temporary folder with links to the files
// beside the modules, so that they import the modules as a program beside them would. The imports that an example needs
// are put before it.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>
#include <utility>

#include "driver/base/output_file.h"
#include "driver/commands/commands.h"
#include "driver/show/module_comments.h"
#include "semantics/check/checked.h"

namespace rml {
namespace {

namespace fs = std::filesystem;

// Modules of the path: a file, or all files of a folder and of the folders below it.
void add_modules(const fs::path& path, std::vector<ModuleComments>& modules) {
  if (!fs::is_directory(path)) {
    modules.push_back(read_comments(path, path.stem().string()));
    return;
  }
  std::vector<ModuleComments> found;
  for (const auto& entry : fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied)) {
    if (entry.path().extension() != ".rml" || !entry.is_regular_file()) continue;
    std::string name = entry.path().lexically_relative(path).replace_extension().generic_string();
    std::ranges::replace(name, '/', '.');
    found.push_back(read_comments(entry.path(), std::move(name)));
  }
  // Sorts the modules. The prelude comes first, because its nodes need no import.
  std::ranges::sort(found, {}, [](const ModuleComments& m) { return std::pair(m.name != "prelude", m.name); });
  std::ranges::move(found, std::back_inserter(modules));
}

// A `main` without a comment is a program that uses the module, and no part of the library.
bool is_documented(const NodeComment& node) { return node.name != "main" || !node.comment.empty(); }
// A file with nothing but a program's `main` is a program or a test, and no part of the library.
bool is_library(const ModuleComments& module) {
  return module.nodes.empty() || std::ranges::any_of(module.nodes, is_documented);
}

// The name by which a program calls nodes of the module; empty for the prelude.
std::string prefix_of(const ModuleComments& module) {
  return module.name == "prelude" ? "" : module.name.substr(module.name.rfind('.') + 1) + ".";
}

bool is_program(const CommentPart& part) { return part.code && part.lines.front().starts_with("node "); }
bool is_row(const std::string& line) { return line.find(" | ") != std::string::npos; }
bool is_rows(const CommentPart& part) { return part.code && std::ranges::all_of(part.lines, is_row); }

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether the text calls a node of the module: `signal.ema(` but not `designal.ema(`.
bool uses(const std::string& text, const std::string& prefix) {
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1))
    if (at == 0 || (!is_name_character(text[at - 1]) && text[at - 1] != '.')) return true;
  return false;
}

struct Example {
  std::string node;  // name of the node with its module, such as "signal.ema"
  std::string program;
  std::vector<std::string> rows;
};

class Document {
 public:
  Document(Invocation& invocation, const DocRequest& request) : session_(invocation.session), request_(request) {
    for (const std::string& path : request.paths) add_modules(path, modules_);
    std::erase_if(modules_, [](const ModuleComments& module) { return !is_library(module); });
    for (const ModuleComments& module : modules_) importable_.insert(module.name);
    for (const ModuleComments& module : read_folder(session_.resources.stdlib)) importable_.insert(module.name);
    importable_.erase("prelude");
  }

  int write() {
    if (modules_.empty()) {
      std::cerr << "rmlc doc: no modules (files *.rml) were found in '" << request_.paths.front() << "'\n";
      return exit_fault;
    }
    const std::string page = text();
    if (session_.failed() || !all_have_examples() || !examples_hold()) return exit_fault;
    if (request_.output.empty()) {
      std::cout << page;
      return exit_success;
    }
    return overwrites_none(request_.output, session_.files_read(), session_.diagnostics) &&
                   write_file(request_.output, page, session_.diagnostics)
               ? exit_success
               : exit_fault;
  }

 private:
  std::string text() {
    const fs::path first = fs::path(request_.paths.front());
    const std::string name = first.has_filename() ? first.stem().string() : first.parent_path().filename().string();
    std::string page =
        "# " + (request_.title.empty() ? name : request_.title) +
        "\n\n"
        "`rmlc doc` writes this page from the comments of the modules, and runs its examples.\n\n"
        "The inputs and outputs of an example follow its program, with one row per stream and one column per\n"
        "cycle. Above it is the signature of the node. In a signature, `'a` is any type, or any of the types\n"
        "after `where`. Signatures do not contain shapes, which are given in the text. A stream without `when`\n"
        "is present in every cycle in which its node is called. `at 'k1` marks a stream that need not be\n"
        "present there, such as a static argument.\n";
    for (const ModuleComments& module : modules_) page += section(module);
    return page;
  }

  std::string section(const ModuleComments& module) {
    std::string section = "\n## " + module.name + "\n";
    if (module.name != "prelude") section += "\n`import " + module.name + ";`\n";
    section += body(module.comment);
    const Front front = check(session_, module.file.string());
    for (const NodeComment& node : module.nodes) {
      if (!is_documented(node)) continue;
      const auto id = find_node(front, node.name);
      const std::string header = id ? signature(front.checked, *id) : node.header;
      section +=
          "\n### " + prefix_of(module) + node.name + "\n\n`" + header.substr(std::string_view("node ").size()) + "`\n";
      section += body(node.comment);
      add_example(module, node);
    }
    return section;
  }

  std::string body(const std::vector<std::string>& comment) const {
    std::string text;
    for (const CommentPart& part : parts_of(comment)) text += "\n" + markdown(part);
    return text;
  }

  std::string markdown(const CommentPart& part) const {
    if (!part.code) return joined(part.lines);
    if (is_program(part)) return "```rml\n" + with_imports(joined(part.lines)) + "```\n";
    return (is_rows(part) ? "```chron\n" : "```text\n") + joined(part.lines) + "```\n";
  }

  std::string with_imports(const std::string& program) const {
    std::string imports;
    for (const std::string& module : importable_)
      if (uses(program, module.substr(module.rfind('.') + 1) + ".")) imports += "import " + module + ";\n";
    return imports + (imports.empty() ? "" : "\n") + program;
  }

  void add_example(const ModuleComments& module, const NodeComment& node) {
    const std::vector<CommentPart> parts = parts_of(node.comment);
    const std::string topic = prefix_of(module) + node.name;
    bool found = false;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      if (!parts[i].code || !parts[i].lines.front().starts_with("node main(") || !is_rows(parts[i + 1])) continue;
      examples_.push_back({topic, with_imports(joined(parts[i].lines)), parts[i + 1].lines});
      found = true;
    }
    if (!found) without_example_.push_back(topic);
  }

  bool all_have_examples() const {
    if (!request_.require_examples) return true;
    for (const std::string& node : without_example_) std::cerr << "rmlc doc: " << node << " has no example\n";
    return without_example_.empty();
  }

  bool examples_hold() {
    if (examples_.empty()) return true;
    std::string folder = (fs::temp_directory_path() / "rmlc-doc-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) {
      std::cerr << "rmlc doc: cannot make a folder in '" << fs::temp_directory_path().string() << "'\n";
      return false;
    }
    std::ostringstream said;
    const std::size_t failed = run_examples(folder, said);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    if (failed == 0) return true;
    std::string text = said.str();
    for (std::size_t at = text.find(folder + "/"); at != std::string::npos; at = text.find(folder + "/"))
      text.erase(at, folder.size() + 1);
    std::cerr << text << "rmlc doc: " << failed << " of " << examples_.size()
              << " examples do not give the rows in their comments; the page is not written\n";
    return false;
  }

  std::size_t run_examples(const fs::path& folder, std::ostream& said) {
    link_files(folder);
    std::vector<fs::path> tests;
    std::set<std::string> names;
    for (const Example& example : examples_) {
      std::string name = "example-" + example.node;
      for (int k = 2; !names.insert(name).second; ++k) name = "example-" + example.node + "-" + std::to_string(k);
      tests.push_back(write_test(folder, name, example));
    }
    TestRequest request;
    request.brief = true;
    return run_tests(tests, request, said);
  }

  // Puts a link to each file beside the modules into the folder.
  void link_files(const fs::path& folder) const {
    std::error_code ignored;
    for (const std::string& path : request_.paths) {
      const fs::path beside = fs::absolute(fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path());
      for (const auto& entry : fs::directory_iterator(beside, ignored))
        fs::create_symlink(entry.path(), folder / entry.path().filename(), ignored);
    }
  }

  fs::path write_test(const fs::path& folder, const std::string& name, const Example& example) {
    const std::size_t arrow = example.program.find("->", example.program.find("node main("));
    const std::string inputs = example.program.substr(0, arrow).substr(example.program.find("node main("));
    std::string given, expected;
    for (const std::string& row : example.rows) {
      std::string column = row.substr(0, row.find('|'));
      column.erase(std::min(column.find(' '), column.size()));
      (declares(inputs, column) ? given : expected) += row + "\n";
    }
    const fs::path file = folder / (name + ".rml");
    std::ostringstream head;
    head << "-- tolerance: " << request_.tolerance << "\n-- run: main\n";
    write_file(file, head.str() + example.program, session_.diagnostics);
    if (!given.empty()) write_file(folder / (name + ".in.chron"), given, session_.diagnostics);
    if (!expected.empty()) write_file(folder / (name + ".out.chron"), expected, session_.diagnostics);
    return file;
  }

  // True if a header such as `node main(a: f64, b: i32)` declares the name.
  static bool declares(const std::string& inputs, const std::string& name) {
    for (std::size_t at = inputs.find(name + ":"); at != std::string::npos; at = inputs.find(name + ":", at + 1))
      if (!is_name_character(inputs[at - 1])) return true;
    return false;
  }

  Session& session_;
  const DocRequest& request_;
  std::vector<ModuleComments> modules_;
  std::set<std::string> importable_;
  std::vector<Example> examples_;
  std::vector<std::string> without_example_;
};

}  // namespace

int document(Invocation& invocation, const DocRequest& request) { return Document(invocation, request).write(); }

}  // namespace rml
