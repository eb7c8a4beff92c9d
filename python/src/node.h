// A node compiled into memory: immutable, so threads share it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/engines.h"

namespace rml::python {

struct CompileRequest {
  std::string file, text;  // without a text, what is in the file
  std::string node;
  std::vector<std::string> definitions, import_folders, watches, frozen, gathered, libraries, limits;
  rt::ParameterSource parameters;
  ModelOptions model;
  std::string cpu = "native";
  int optimization = 2;
  unsigned threads = 1;
  bool check_only = false;  // no node is made
  bool fast_math = false, strict_math = false, stabilise = true, whole_segment = false, reference = false;
};

class Node {
 public:
  explicit Node(std::unique_ptr<LoadedProgram> program) : program_(std::move(program)) {}
  const rml_program& table() const { return program_->table(); }
  // Each cycle hands out its row. What cannot be saved is the interpreter, which says nothing of when rows leave.
  bool immediate() const {
    const rml_program& p = table();
    return p.flow == nullptr && p.demand == nullptr && p.network == nullptr && p.savable != 0;
  }

 private:
  std::unique_ptr<LoadedProgram> program_;
};

// A file as it was read and checked, which one of its nodes may be compiled from.
class Source;

// Of Python's: given to the first that compiles what was read, so that no two threads share one.
struct SourceOnce {
  std::shared_ptr<Source> source;

  // Null where it is gone, or was read otherwise than `request` says.
  std::shared_ptr<Source> take(const CompileRequest& request);
};

struct Compilation {
  std::shared_ptr<const Node> node;  // null: `json` has an error
  std::shared_ptr<Source> source;    // where nothing but a check was asked for, and nothing is wrong
  std::string text, json;            // what the user is told, rendered
  std::vector<std::string> told, files;
  std::vector<std::pair<std::string, std::string>> nodes;  // of the file: names and signatures
};

// In any thread, on a stack of its own, from `source` or else from what is read anew. Throws InternalError where the
// compiler is at fault.
Compilation compile_node(const CompileRequest& request, std::shared_ptr<Source> source);

}  // namespace rml::python
