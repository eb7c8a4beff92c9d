// Prints the parts of the two files in their order.
//
//   header    for callers: ports, rules, NODE_state, functions
//   source    messages, constants, helpers; NODE_reset and NODE_init; the cycle
#include "lowering/c/print_c.h"

#include <algorithm>

#include "lowering/c/interface.h"
#include "lowering/c/literals.h"
#include "lowering/c/print_block.h"
#include "lowering/c/print_straight.h"
#include "lowering/c/print_units.h"
#include "lowering/steps/settings.h"

namespace rml::c99 {

namespace {

constexpr const char* rules_text =
    " * Compile both files with a compiler that follows IEEE 754: no fast math, no contraction of a product and a\n"
    " * sum (-ffp-contract=off), no replacement of functions of math.h (-fno-builtin), float arithmetic in float.\n"
    " * Integers are two's complement and wrap.\n"
    " * Scalars are passed by value, tensors as pointers to their elements, row-major; bool is a byte, 0 or 1.\n"
    " * Every port that may be absent has a flag PORT_present. Memory that is written must not overlap with any\n"
    " * other argument.\n";
constexpr const char* straight_text =
    " * NAME_init prepares a state, and NAME_reset returns it to the first cycle. NAME_step computes one\n"
    " * cycle. NAME_run computes n cycles; every port is then an array over cycles.\n";
constexpr const char* message_text = "const char* NAME_message(const NAME_state* state)";
constexpr const char* fail_text =
    "static int32_t fail(NAME_state* state, int32_t fault, int32_t site, int64_t cycle, int64_t value,\n"
    "    int64_t bound) {\n"
    "  state->fault = fault;\n  state->site = site;\n  state->fault_cycle = cycle;\n  state->value = value;\n"
    "  state->bound = bound;\n  return fault;\n}\n\n";
constexpr const char* waiting_text =
    " * Rows can wait for later inputs. NAME_init prepares a state, and NAME_reset returns it to the first cycle.\n"
    " * NAME_push reads one cycle; NAME_pop returns 1 and a row, in cycle order, as long as one is complete, else 0.\n"
    " * A state has room for segments of NAME_SEGMENT cycles; a longer segment is fault 6. Compile all files that\n"
    " * include this header with the same -DNAME_SEGMENT.\n";
constexpr const char* faults_text =
    " * A result other than 0 is a fault. The state keeps it, and NAME_message says where it occurred: 1 division\n"
    " * by zero, 2 index out of range, 3 assertion, 4 an input whose presence contradicts its clock, 5 a segment\n"
    " * longer than the horizon, 6 not enough memory, 7 a numerical operation failed, 8 a value that needs itself.\n";

bool is_given(const steps::CellInfo& cell) {
  return cell.initial.elements() == element_count(cell.shape).value_or(0) && cell.initial.bytes() > 0 &&
         cell.initial.dtype() == cell.dtype;
}

bool all_zero(const Tensor& t) {
  const auto* bytes = static_cast<const char*>(t.data());
  return std::all_of(bytes, bytes + t.bytes(), [](char c) { return c == 0; });
}

class Printer {
 public:
  Printer(const loops::Program& program, const SourceMap& sources)
      : file_(program, sources, program.steps->core->entry),
        core_(*program.steps->core),
        faults_(can_fault(program) || !program.steps->straight),
        draws_(draws(program)) {}

  Text print(const std::string& header_name);

 private:
  std::string header() const;
  std::string state_struct() const;
  std::string source(const std::string& header_name, const Code& reset, const Units&) const;
  bool core_straight() const { return file_.steps.straight; }
  void print_reset(Code&, const Code& initial);
  std::string cycle_functions() const;
  std::string setting_functions() const;
  std::string messages_text(const Units&) const;
  std::string own(const std::string& text) const { return named_after(file_.name, text); }
  void set_initial(Code&, const steps::CellInfo&, const std::string& field);
  std::string head(const char* what) const;

  File file_;
  const Core& core_;
  const bool faults_, draws_;
};

void field_line(Code& code, const Field& field) {
  const std::string text = field.type + " " + field.name + (field.count.empty() ? "" : "[" + field.count + "]") + ";";
  const std::string comment = field.comment.empty() ? "" : "  " + comment_of(field.comment);
  const bool fits = text.size() + comment.size() <= code.columns_left();
  if (!fits) code.comment(field.comment);
  code.line(fits ? text + comment : text);
}

std::string Printer::state_struct() const {
  Code code;
  code.open("typedef struct " + file_.name + "_state");
  if (faults_) {
    field_line(code, {"int32_t", "fault", "", "number of the fault; 0: none"});
    field_line(code, {"int32_t", "site", "", "place of the fault: " + file_.name + "_message"});
    field_line(code, {"int64_t", "fault_cycle", "", "cycle of the fault"});
    field_line(code, {"int64_t", "value", "", "index that was not in 0 to bound - 1"});
    field_line(code, {"int64_t", "bound", "", ""});
    field_line(code, {"int64_t", "cycles", "", "number of completed cycles"});
    if (!core_straight()) field_line(code, {"int64_t", "rows", "", "number of rows returned"});
  }
  if (draws_) field_line(code, {"uint64_t", "seed", "", ""});
  bool any = faults_ || draws_;
  for (std::size_t k = 0; k < file_.steps.cells.size(); ++k) {
    const steps::CellInfo& cell = file_.steps.cells[k];
    if (cell.local) continue;
    const std::int64_t n = std::max<std::int64_t>(element_count(cell.shape).value_or(0), 1);
    const std::string text = cell.fby.valid() ? file_.equation(core_, cell.fby) : cell.name;
    field_line(code, {type_name(cell.dtype), file_.cell(static_cast<std::uint32_t>(k)),
                      cell.shape.empty() ? "" : std::to_string(n), text});
    any = true;
  }
  for (const Field& field : file_.fields()) field_line(code, field), any = true;
  if (!any) field_line(code, {"uint8_t", "nothing", "", "the program has no memory"});
  code.close("} " + file_.name + "_state;");
  return code.text();
}

std::string Printer::head(const char* what) const {
  return "/* " + core_.entry + ", compiled from R(ML)2. " + what + "\n *\n" + ports_text(core_) + " *\n";
}

// NODE_step, NODE_run and NODE_step_many, or NODE_push and NODE_pop.
std::string Printer::cycle_functions() const {
  const auto inputs = input_parameters(core_), outputs = output_parameters(core_);
  Code code;
  if (!core_straight()) {
    code.line(own("int32_t NAME_push(NAME_state* state") + parameter_list(inputs, false) + ");");
    code.line(own("int32_t NAME_pop(NAME_state* state") + parameter_list(outputs, false) + ");");
    return code.text();
  }
  const std::string result = faults_ ? "int32_t " : "void ";
  auto all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  code.line(result + own("NAME_step(NAME_state* state") + parameter_list(all, false) + ");");
  code.line(result + own("NAME_run(NAME_state* state, int64_t n") + parameter_list(all, true) + ");");
  return code.text() + step_many_text(file_, faults_);
}

std::string Printer::setting_functions() const {
  const std::vector<Setting> list = settings(file_.steps);
  std::vector<SettingPlace> places;
  for (const Setting& s : list) {
    const std::string field = std::string(s.shape.empty() ? "&" : "") + "state->" + file_.cell(s.cell.index);
    places.push_back({field, field, ""});
  }
  return own(settings_text(list, places));
}

std::string Printer::header() const {
  std::string text = head("The caller owns the state; nothing is allocated.");
  text += own(core_straight() ? straight_text : waiting_text) + rules_text + (faults_ ? own(faults_text) : "");
  text += own(" */\n#ifndef NAME_H\n#define NAME_H\n\n#include <stdbool.h>\n#include <stdint.h>\n" +
              std::string(settings(file_.steps).empty() ? "" : "#include <string.h>\n") +
              "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  if (!core_straight()) text += own("#ifndef NAME_SEGMENT\n#define NAME_SEGMENT 256\n#endif\n\n");
  text += state_struct() + own("\nvoid NAME_init(NAME_state* state);\nvoid NAME_reset(NAME_state* state);\n");
  if (draws_)
    text +=
        own("/* Sets the seed, between init and the first cycle. The default is 0. */\nvoid NAME_seed(NAME_state* "
            "state, uint64_t "
            "seed);\n");
  text += cycle_functions() + setting_functions();
  if (faults_)
    text += "/* Describes the fault of this state and its place in the program. */\n" + own(message_text) + ";\n";
  return text + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

// Sets a cell to its initial value. Zeros are not stored, because the state is zero already.
void Printer::set_initial(Code& code, const steps::CellInfo& cell, const std::string& field) {
  if (!is_given(cell) || all_zero(cell.initial)) return;
  if (cell.shape.empty()) return code.line("state->" + field + " = " + literal(cell.initial, 0) + ";");
  bool equal = true;
  for (std::int64_t i = 1; i < cell.initial.elements() && equal; ++i)
    equal = literal(cell.initial, i) == literal(cell.initial, 0);
  const std::string n = std::to_string(cell.initial.elements());
  if (!equal) {
    const std::string table = file_.table(field + " initial", cell.initial);
    return code.line("memcpy(state->" + field + ", " + table + ", sizeof state->" + field + ");");
  }
  code.line("for (int32_t i = 0; i < " + n + "; ++i) state->" + field + "[i] = " + literal(cell.initial, 0) + ";");
}

void Printer::print_reset(Code& code, const Code& initial) {
  code.open("void " + file_.name + "_reset(" + file_.name + "_state* state)");
  if (draws_) code.line("const uint64_t seed = state->seed;");
  code.line("memset(state, 0, sizeof *state);");
  if (draws_) code.line("state->seed = seed;");
  for (std::size_t k = 0; k < file_.steps.cells.size(); ++k)
    if (!file_.steps.cells[k].local) set_initial(code, file_.steps.cells[k], file_.cell(static_cast<std::uint32_t>(k)));
  code.append(initial);
  code.close();
  code.blank();
  code.open("void " + file_.name + "_init(" + file_.name + "_state* state)");
  if (draws_) code.line("state->seed = 0;");
  code.line(file_.name + "_reset(state);");
  code.close();
  if (!draws_) return;
  code.blank();
  code.line("void " + file_.name + "_seed(" + file_.name + "_state* state, uint64_t seed) { state->seed = seed; }");
}

std::string Printer::messages_text(const Units& units) const {
  std::string text =
      own("static const char* const messages[] = {\n    \"an input that is present or absent against its clock\",\n    "
          "\"a segment is longer than NAME_SEGMENT\"");
  for (const std::string& message : file_.messages()) text += ",\n    " + quoted(message);
  text +=
      own("};\n" + std::string(message_text) + " {\n  return state->fault == 0 ? \"\" : messages[state->site];\n}\n\n");
  const bool fails = units.functions.text().find("return fail(") != std::string::npos ||
                     units.of_queues.find("return fail(") != std::string::npos;
  return fails ? text + own(fail_text) : text;
}

std::string Printer::source(const std::string& header_name, const Code& reset, const Units& units) const {
  std::string text = head("See the header.");
  text.replace(text.rfind(" *\n"), 3, " */\n");
  text += "#include \"" + header_name + "\"\n\n#include <math.h>\n#include <string.h>\n\n";
  text += "#if !defined(__GNUC__) || defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n\n";
  if (faults_) text += messages_text(units);
  for (const std::string* part :
       {&file_.externals().text(), &file_.constants().text(), &file_.helpers.text(), &units.of_queues})
    if (!part->empty()) text += *part + "\n";
  return text + reset.text() + "\n" + units.functions.text();
}

Text Printer::print(const std::string& header_name) {
  Units units;
  if (core_straight()) {
    print_step(file_, units.functions);
    print_run(file_, units.functions);
  } else {
    units = print_units(file_);
  }
  Code reset;
  print_reset(reset, units.initial);
  return {header(), source(header_name, reset, units)};
}

}  // namespace

std::vector<loops::Refusal> find_refused(const loops::Program& program) { return refused_statements(program); }

Text print_c(const loops::Program& program, const SourceMap& sources, const std::string& header_name) {
  return Printer(program, sources).print(header_name);
}

}  // namespace rml::c99
