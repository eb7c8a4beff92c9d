// Builds a program from the main file, the prelude, and all files that they import.
//
// Imports are followed depth first. Each file is loaded once; files are identified by their
// canonical path. If a file is imported again while its own imports are being followed, the
// imports form a cycle, which is reported link by link.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "frontend/deep_stack.h"
#include "frontend/parse.h"
#include "frontend/parse_module.h"

namespace rml {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t prelude_index = 1;

constexpr std::size_t longest_source = std::size_t{1} << 28;

// Returns the reason why a path cannot be a source, or an empty text. An imported source must be
// a regular file, because the text of a program must not make the compiler wait for a pipe. The
// main file may be a pipe.
std::string unfit(const fs::path& path, bool imported) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return "it is a folder";
  if (fs::exists(status) && !fs::is_regular_file(status) && (imported || fs::is_block_file(status)))
    return "it is not a regular file";
  return "";
}

// Returns the text of the file. On failure returns nothing and sets `reason`.
std::optional<std::string> read_file(const fs::path& path, bool imported, std::string& reason) {
  reason = unfit(path, imported);
  if (!reason.empty()) return std::nullopt;
  std::error_code error;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    reason = fs::exists(path, error) ? "permission denied" : "no such file";
    return std::nullopt;
  }
  std::string text;
  char block[1 << 14];
  while (in.read(block, sizeof block), in.gcount() > 0 && text.size() <= longest_source)
    text.append(block, static_cast<std::size_t>(in.gcount()));
  if (in.bad() || text.size() > longest_source) {
    reason = in.bad() ? "reading failed" : "it is larger than 256 MB";
    return std::nullopt;
  }
  return text;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path from = path.lexically_normal().lexically_relative(folder.empty() ? "." : folder.lexically_normal());
  return !from.empty() && *from.begin() != "..";
}

std::string key_of(const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path.string() : canonical.string();
}

class Loader {
 public:
  Loader(const ParseOptions& options, SourceMap& sources, Diagnostics& diagnostics)
      : options_(options), sources_(sources), diagnostics_(diagnostics) {}

  Program load_file(const fs::path& path) {
    std::string reason;
    std::optional<std::string> text = read_file(path, false, reason);
    if (!text) diagnostics_.report(Code::E0801, {}, "cannot read `" + path.string() + "`: " + reason);
    return load_text(path.string(), text.value_or(""));
  }

  Program load_text(const std::string& name, std::string text) {
    const ModuleId main = add_module(name, std::move(text));
    loaded_[key_of(name)] = main;
    load_prelude();
    follow_imports(main);
    follow_imports(ModuleId{prelude_index});
    load_steps();
    return std::move(program_);
  }

 private:
  ModuleId add_module(const fs::path& path, std::string text) {
    const ModuleId id{program_.modules.size()};
    folders_.push_back(path.parent_path());
    following_.push_back(Following::not_yet);
    program_.modules.emplace_back();
    const std::uint32_t file = sources_.add(path.string(), std::move(text));
    program_.modules[id.index] = parse_module(file, id, program_, sources_, diagnostics_).module;
    program_.modules[id.index].of_library = path.parent_path() == options_.stdlib_dir;
    return id;
  }

  void load_prelude() {
    const fs::path path = options_.stdlib_dir / "prelude.rml";
    const auto [entry, is_new] = loaded_.try_emplace(key_of(path), ModuleId{prelude_index});
    std::string reason;
    std::optional<std::string> text;
    if (is_new) text = read_file(path, true, reason);
    if (text) {
      add_module(path, std::move(*text));
      return;
    }
    // If the prelude itself is being compiled, or is missing, an empty module replaces it.
    if (is_new) {
      diagnostics_.report(Code::E0802, {}, "the prelude `" + path.string() + "` cannot be read: " + reason)
          .note("the installation is incomplete, or the path of the standard library is wrong");
    }
    folders_.emplace_back();
    following_.push_back(Following::done);
    program_.modules.emplace_back();
  }

  // Loads the module that defines `all_sum` and the gradients of nodes with dealt inputs, if
  // there are such nodes.
  void load_steps() {
    const auto dealt = std::ranges::find_if(program_.nodes, [](const ast::Node& node) { return node.deal(); });
    if (dealt == program_.nodes.end()) return;
    const Span span = dealt->deal()->span;
    const fs::path path = options_.stdlib_dir / "steps.rml";
    if (const auto known = loaded_.find(key_of(path)); known != loaded_.end()) {
      program_.steps = known->second;
      return;
    }
    std::string reason;
    if (std::optional<std::string> text = read_file(path, true, reason))
      program_.steps = add_module(path, std::move(*text));
    else
      diagnostics_.report(Code::E0802, span, "the library's `" + path.string() + "` cannot be read: " + reason)
          .note("the installation is incomplete, or the path of the standard library is wrong");
  }

  void follow_imports(ModuleId importer) {
    if (following_[importer.index] != Following::not_yet) return;
    following_[importer.index] = Following::now;
    for (std::size_t i = 0; i < program_.modules[importer.index].imports.size(); ++i) {
      const ast::Import import = program_.modules[importer.index].imports[i];
      path_.push_back({importer, import.span});
      const ModuleId target = resolve(importer, import);
      if (target.valid()) follow_imports(target);
      program_.modules[importer.index].imports[i].module = target;
      path_.pop_back();
    }
    following_[importer.index] = Following::done;
  }

  // Returns the imported module and loads it if necessary. On failure reports an error and
  // returns an invalid id.
  ModuleId resolve(ModuleId importer, const ast::Import& import) {
    const fs::path file_name = file_of(import);
    const std::vector<fs::path> folders = search_folders(importer, import);
    std::error_code error;
    const auto found = std::find_if(folders.begin(), folders.end(),
                                    [&](const fs::path& folder) { return fs::exists(folder / file_name, error); });
    if (file_name.empty() || found == folders.end()) {
      report_not_found(import, folders);
      return {};
    }
    const fs::path path = (*found / file_name).lexically_normal();
    const auto known = loaded_.find(key_of(path));
    if (known != loaded_.end()) {
      if (following_[known->second.index] != Following::now) return known->second;
      report_cycle(known->second, import);
      return {};
    }
    std::string reason;
    std::optional<std::string> text = read_file(path, true, reason);
    if (!text) {
      diagnostics_.report(Code::E0801, import.target_span, "cannot read `" + path.string() + "`: " + reason);
      return {};
    }
    if (!may_be_quoted(path) && is_no_source(path, *text, import)) return {};
    const ModuleId id = add_module(path, std::move(*text));
    loaded_[key_of(path)] = id;
    return id;
  }

  // True if messages may quote lines of the file: it must be below the folder of the program, a
  // folder of imports or the library. An import in an untrusted source may name any file of the
  // machine, and its content must not be shown.
  bool may_be_quoted(const fs::path& path) const {
    std::vector<fs::path> folders = options_.import_dirs;
    folders.push_back(folders_[0]);
    folders.push_back(options_.stdlib_dir);
    return std::ranges::any_of(folders, [&](const fs::path& folder) {
      return lies_in(path, folder) || lies_in(key_of(path), key_of(folder.empty() ? "." : folder));
    });
  }

  // Checks a file outside of these folders. If it has a syntax error, only the line number is
  // reported.
  bool is_no_source(const fs::path& path, const std::string& text, const ast::Import& import) {
    Program program;
    SourceMap sources;
    Diagnostics found;
    program.modules.emplace_back();
    const std::uint32_t file = sources.add(path.string(), text);
    parse_module(file, ModuleId{0}, program, sources, found);
    if (!found.has_errors()) return false;
    const auto first =
        std::ranges::find_if(found.all(), [](const Diagnostic& d) { return severity(d.code) == Severity::error; });
    const LineColumn place = sources.line_column(first->primary.span.file, first->primary.span.begin);
    diagnostics_
        .report(Code::E0801, import.target_span,
                "`" + path.string() + "` is not an R(ML)² source: line " + std::to_string(place.line) +
                    " has an error (" + std::string(code_name(first->code)) + ")")
        .note(
            "the file is outside the folders of the program and of `-I`, so its lines are not quoted; run `rmlc check` "
            "on the file itself to see the error");
    return true;
  }

  static bool is_in_folder(const ast::Import& import) {
    return !import.is_path && import.target.find('.') != std::string::npos;
  }

  // Returns the file of a module: `filters.audio` is audio.rml in the folder `filters`.
  static fs::path file_of(std::string module) {
    std::ranges::replace(module, '.', '/');
    return module + ".rml";
  }
  static fs::path file_of(const ast::Import& import) {
    return import.is_path ? fs::path(import.target) : file_of(import.target);
  }

  // Modules of one library import each other by the name of its folder. That folder is beside the
  // main file or in a folder of imports.
  std::vector<fs::path> search_folders(ModuleId importer, const ast::Import& import) const {
    std::vector<fs::path> result = {folders_[importer.index]};
    if (is_in_folder(import) && folders_[0] != result[0]) result.push_back(folders_[0]);
    result.insert(result.end(), options_.import_dirs.begin(), options_.import_dirs.end());
    result.push_back(options_.stdlib_dir);
    return result;
  }

  void report_not_found(const ast::Import& import, const std::vector<fs::path>& folders) {
    const fs::path file = file_of(import);
    std::vector<std::string> candidates;
    std::string searched;
    for (const fs::path& folder : folders) {
      searched += (searched.empty() ? "`" : ", `") + (folder.empty() ? std::string(".") : folder.string()) + "`";
      add_candidates(import, folder.empty() ? "." : folder, candidates);
    }
    std::sort(candidates.begin(), candidates.end());
    Diagnostic& d =
        diagnostics_.report(Code::E0802, import.target_span, "no file found for the import `" + import.target + "`");
    d.note("searched " + (is_in_folder(import) ? "for `" + file.string() + "` " : "") + "in " + searched);
    std::error_code error;
    const std::size_t dot = is_in_folder(import) ? import.target.rfind('.') : 0;
    const std::string module = import.target.substr(0, dot);
    const auto has_module = [&](const fs::path& folder) { return fs::exists(folder / file_of(module), error); };
    if (dot > 0 && std::ranges::any_of(folders, has_module))
      d.note("`" + module + "` is a module: write `import " + module + ";`, and `" +
             module.substr(module.rfind('.') + 1) + import.target.substr(dot) + "` for a node in it");
    const std::string near = did_you_mean(import.target, candidates);
    if (near.empty()) return;
    d.fix(import.target_span, import.is_path ? "\"" + near + "\"" : near, "did you mean `" + near + "`?");
  }

  // Adds candidates for a misspelled name: the files in the named folder, and files of the same
  // name in folders beside it.
  static void add_candidates(const ast::Import& import, const fs::path& folder, std::vector<std::string>& candidates) {
    std::error_code error;
    if (!is_in_folder(import)) {
      for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        if (entry.path().extension() == ".rml")
          candidates.push_back((import.is_path ? entry.path().filename() : entry.path().stem()).string());
      return;
    }
    const std::size_t last = import.target.rfind('.'), before = import.target.rfind('.', last - 1);
    const std::string of_folder = import.target.substr(0, last + 1), name = import.target.substr(last + 1);
    const std::string outer = before == std::string::npos ? "" : import.target.substr(0, before + 1);
    const fs::path beside = (folder / file_of(import)).parent_path();
    for (const fs::directory_entry& entry : fs::directory_iterator(beside, error))
      if (entry.path().extension() == ".rml") candidates.push_back(of_folder + entry.path().stem().string());
    for (const fs::directory_entry& entry : fs::directory_iterator(beside.parent_path(), error))
      if (fs::exists(entry.path() / (name + ".rml"), error))
        candidates.push_back(outer + entry.path().filename().string() + "." + name);
  }

  // path_ contains the links from the main file to `import`, which names a file on this path.
  void report_cycle(ModuleId target, const ast::Import& import) {
    const auto name = [&](ModuleId m) { return "`" + sources_.path(program_.modules[m.index].file) + "`"; };
    const auto begin =
        std::find_if(path_.begin(), path_.end(), [&](const Link& link) { return link.importer == target; });
    if (path_.end() - begin == 1) {
      diagnostics_.report(Code::E0803, import.span, "the file imports itself");
      return;
    }
    Diagnostic& d = diagnostics_.report(Code::E0803, import.span, "files import each other in a circle",
                                        "imports " + name(target) + ", where the circle began");
    for (auto link = begin; link + 1 != path_.end(); ++link) {
      d.label(link->span, name(link->importer) + " imports " + name((link + 1)->importer));
    }
    d.note("move the definitions that both files need to a third file, which both import");
  }

  enum class Following : std::uint8_t { not_yet, now, done };
  struct Link {
    ModuleId importer;
    Span span;
  };

  const ParseOptions& options_;
  SourceMap& sources_;
  Diagnostics& diagnostics_;
  Program program_;
  std::map<std::string, ModuleId> loaded_;
  std::vector<fs::path> folders_;     // folder of each module's file
  std::vector<Following> following_;  // state of each module's imports
  std::vector<Link> path_;            // imports that are being followed
};

template <class F>
void on_deep_stack(F f) {
  run_with_deep_stack([](void* task) { (*static_cast<F*>(task))(); }, &f);
}

}  // namespace

Program parse_program(const std::filesystem::path& file, const ParseOptions& options, SourceMap& sources,
                      Diagnostics& diagnostics) {
  Program result;
  on_deep_stack([&] { result = Loader(options, sources, diagnostics).load_file(file); });
  return result;
}

Program parse_text(const std::string& name, const std::string& text, const ParseOptions& options, SourceMap& sources,
                   Diagnostics& diagnostics) {
  Program result;
  on_deep_stack([&] { result = Loader(options, sources, diagnostics).load_text(name, text); });
  return result;
}

}  // namespace rml
