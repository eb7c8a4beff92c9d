// The common data of all functions of a C file: its names, the fields of the state, the constants and helper functions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "frontend/source.h"
#include "lowering/c/code.h"
#include "lowering/c/helpers.h"
#include "lowering/c/names.h"
#include "lowering/loops/loops.h"

namespace rml::c99 {

struct Field {
  std::string type, name;
  std::string count;  // number of elements, as a C expression; empty: a scalar
  std::string comment;
};

class File {
 public:
  File(const loops::Program&, const SourceMap&, std::string name);

  const loops::Program& program;
  const steps::Program& steps;
  const SourceMap& sources;
  const std::string name;  // NODE
  Names names;
  Helpers helpers{names};
  std::vector<loops::Refusal> refused;

  const Core& core(std::uint32_t body) const { return body == UINT32_MAX ? *steps.core : *program.bodies[body]->core; }
  const loops::Buffer& operator[](loops::BufferId b) const { return program.buffers[b.index]; }

  // A unique name in the file, also suitable as a prefix of further names: no port and no external node begins with it.
  std::string symbol(std::string_view wanted);

  // The name of a field of the state. The field is added at the first request.
  std::string cell(std::uint32_t index) const { return cells_[index]; }
  std::string array(std::uint32_t index) const { return arrays_[index]; }
  std::string add_field(const std::string& wanted, Field);
  void add_array(std::uint32_t index, Field field) { arrays_[index] = add_field(steps.arrays[index].name, field); }
  const std::vector<Field>& fields() const { return fields_; }

  // Returns the name of a table that has the constant's elements.
  std::string constant(loops::BufferId);
  const Tensor& elements(loops::BufferId) const;
  std::string table(const std::string& wanted, const Tensor&);
  std::string zeros(DType, std::int64_t n);
  const Code& constants() const { return constants_; }

  // Returns the index of the site's text in NODE_message.
  std::size_t site(const loops::Program&, std::uint32_t body, std::uint32_t site);
  const std::vector<std::string>& messages() const { return messages_; }

  // Declares a function of the user, once, and returns the name by which it is called.
  std::string declare_external(const ExternalNode&);
  const Code& externals() const { return externals_; }

  // "y = 0.5 * x + z  (pid.rml:3)": the equation that computes the value; empty if there is no source.
  std::string equation(const Core&, ValueId) const;
  std::string place(Span) const;

 private:
  Names of_state_;
  std::vector<std::string> from_outside_;  // names of ports, which are parameters, and of the user's functions
  std::vector<std::string> cells_, arrays_;
  std::map<std::pair<DType, std::int64_t>, std::string> zeros_;
  std::vector<Field> fields_;
  struct Table {
    std::string name;
    bool written = false;
  };
  void write_table(const std::string& symbol, const Tensor&);
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // identifies a table by body, value and cell
  Key key(const loops::Buffer& b) const { return {b.body, b.value.index, b.value.valid() ? 0 : b.index}; }
  std::map<Key, Table> tables_;  // tables of constants; named at the beginning, so that no variable hides them
  Code constants_, externals_;
  std::vector<std::string> messages_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> sites_;
  void name_externals();
  std::map<std::string, std::string> external_names_;  // names of the user's functions, chosen before all others
  std::set<std::string> declared_;
};

}  // namespace rml::c99
