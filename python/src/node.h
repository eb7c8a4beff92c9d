// Compiles a node into memory for Python. A Node is immutable, so threads may share it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/engines.h"

namespace rml::python {

struct CompileRequest {
  std::string file, text;  // if the text is empty, the content of the file is compiled
  std::string node;
  std::vector<std::string> definitions, import_folders, watches, frozen, tunable, gathered, libraries, limits;
  rt::ParameterSource parameters;
  ModelOptions model;
  std::string cpu = "native";
  int optimization = 2;
  unsigned threads = 1;
  bool check_only = false;  // check the file, and compile no node
  bool fast_math = false, strict_math = false, stabilise = true, whole_segment = false, reference = false;
};

class Node {
 public:
  explicit Node(std::unique_ptr<LoadedProgram> program) : program_(std::move(program)) {}
  const rml_program& table() const { return program_->table(); }
  // Returns whether each cycle gives its own row. The interpreter is the engine whose state
  // cannot be saved; it does not know when rows become known, so the result is false.
  bool immediate() const {
    const rml_program& p = table();
    return p.flow == nullptr && p.demand == nullptr && p.network == nullptr && p.savable != 0;
  }

 private:
  std::unique_ptr<LoadedProgram> program_;
};

// A file that was read and checked. One of its nodes can be compiled from it.
class Source;

// A Source owned by a Python object. The first compilation takes it, so that two threads never
// share one.
struct SourceOnce {
  std::shared_ptr<Source> source;

  // Returns null if the source was taken already, or if it was read with other options than those
  // of `request`.
  std::shared_ptr<Source> take(const CompileRequest& request);
};

struct Compilation {
  std::shared_ptr<const Node> node;  // null if `json` contains an error
  std::shared_ptr<Source> source;    // null unless the check found no error
  std::string text, json;            // the messages for the user, as text and as JSON
  std::vector<std::string> told, files;
  std::vector<std::pair<std::string, std::string>> nodes;  // names and signatures of the file's nodes
};

// Compiles a node from `source`, or from the file if that is null. May be called in any thread,
// and uses a stack of its own. Throws InternalError for an error in the compiler itself.
Compilation compile_node(const CompileRequest& request, std::shared_ptr<Source> source);

}  // namespace rml::python
