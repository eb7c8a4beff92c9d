// Resolves names and infers types and clocks of a program in memory, for the tests of these passes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "frontend/parse.h"
#include "semantics/check/checked.h"

namespace rml {

struct CheckedProgram {
  SourceMap sources;
  Diagnostics diagnostics;
  Program program;
  Checked checked;

  explicit CheckedProgram(const std::string& text) {
    ParseOptions options;
    options.stdlib_dir = RML_TESTS "/../stdlib";
    program = parse_text("test.rml", text, options, sources, diagnostics);
    checked.program = &program;
    checked.names = resolve_names(program, diagnostics);
    checked.types = infer_types(program, checked.names, diagnostics);
    checked.clocks = infer_clocks(program, checked.names, checked.types, diagnostics);
  }
  CheckedProgram(const CheckedProgram&) = delete;
  CheckedProgram& operator=(const CheckedProgram&) = delete;

  // Returns the reported codes in order, for example "E0201 E0401".
  std::string codes() const {
    std::string out;
    for (const Diagnostic& d : diagnostics.all()) out += (out.empty() ? "" : " ") + std::string(code_name(d.code));
    return out;
  }
  // Returns the source text at the first diagnostic.
  std::string place() const {
    return diagnostics.all().empty() ? "" : std::string(sources.text(diagnostics.all()[0].primary.span));
  }
  const Diagnostic& first() const { return diagnostics.all().at(0); }
  NodeId node(const std::string& name) const {
    for (NodeId n : program.modules[0].nodes)
      if (program.text(program.nodes[n.index].name) == name) return n;
    return NodeId{};
  }
  std::string signature_of(const std::string& name) const { return signature(checked, node(name)); }
};

// A refused program, with the reported codes and the source text at the first one.
struct Rejected {
  const char* text;
  const char* codes;
  const char* place;
};

inline void expect_rejected(const Rejected& wanted) {
  const CheckedProgram p(wanted.text);
  EXPECT_EQ(p.codes(), wanted.codes) << wanted.text;
  EXPECT_EQ(p.place(), wanted.place) << wanted.text;
}

}  // namespace rml
