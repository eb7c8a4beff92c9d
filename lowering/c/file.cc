// Names fields first, so that no variable of a function hides them.
#include "lowering/c/file.h"

#include <algorithm>

#include "lowering/c/literals.h"
#include "lowering/signature.h"

namespace rml::c99 {

File::File(const loops::Program& p, const SourceMap& s, std::string node)
    : program(p), steps(*p.steps), sources(s), name(std::move(node)) {
  for (const std::string_view what : interface_names) names.take(name + std::string(what));
  for (const std::string_view what : interface_macros) {
    names.take(name + std::string(what));
    of_state_.take(name + std::string(what));
  }
  for (const std::string_view own : file_functions) names.take(own);
  for (const std::string_view own : file_variables) names.take(own);
  for (const std::vector<InterfaceParameter>& ports : {input_parameters(*steps.core), output_parameters(*steps.core)})
    for (const InterfaceParameter& port : ports) from_outside_.push_back(port.name);
  name_externals();
  for (const char* const field : {"seed", "fault", "site", "fault_cycle", "value", "bound", "cycles", "rows"})
    of_state_.take(field);
  for (const steps::CellInfo& cell : steps.cells) cells_.push_back(cell.local ? "" : of_state_.unique(cell.name));
  arrays_.resize(steps.arrays.size());
  for (std::uint32_t k = 0; k < program.buffers.size(); ++k) {
    const loops::Buffer& b = program.buffers[k];
    if (b.space != loops::Space::constant || b.shape.empty()) continue;
    std::string& symbol = tables_[key(b)].name;
    const bool named = b.value.valid() && !core(b.body)[b.value].name.empty();
    if (symbol.empty()) symbol = names.unique(named ? core(b.body)[b.value].name : "constant");
  }
}

std::string File::symbol(std::string_view wanted) {
  for (;;) {
    std::string result = names.unique(wanted);
    if (std::ranges::none_of(from_outside_, [&](const std::string& other) { return other.starts_with(result); }))
      return result;
  }
}

std::string File::add_field(const std::string& wanted, Field field) {
  field.name = of_state_.unique(wanted);
  fields_.push_back(field);
  return field.name;
}

std::string File::zeros(DType dtype, std::int64_t n) {
  std::string& symbol = zeros_[{dtype, n}];
  if (symbol.empty()) {
    symbol = this->symbol("zeros");
    const std::string elements = std::to_string(std::max<std::int64_t>(n, 1));
    constants_.line("static const " + type_name(dtype) + " " + symbol + "[" + elements + "] = {0};");
  }
  return symbol;
}

std::string File::table(const std::string& wanted, const Tensor& tensor) {
  const std::string symbol = this->symbol(wanted);
  write_table(symbol, tensor);
  return symbol;
}

void File::write_table(const std::string& symbol, const Tensor& tensor) {
  std::vector<std::string> numbers;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) numbers.push_back(literal(tensor, i));
  const auto* bytes = static_cast<const char*>(tensor.data());
  const bool zero = std::all_of(bytes, bytes + tensor.bytes(), [](char c) { return c == 0; });
  const std::string head = "static const " + type_name(tensor.dtype()) + " " + symbol + "[" +
                           std::to_string(std::max<std::size_t>(numbers.size(), 1)) + "]";
  if (zero) return constants_.line(head + " = {0};");
  constants_.table(head, numbers);
}

const Tensor& File::elements(loops::BufferId b) const {
  const loops::Buffer& buffer = (*this)[b];
  if (buffer.value.valid()) return std::get<core::Const>(core(buffer.body)[buffer.value].rhs).value;
  const steps::Program& part = buffer.body == UINT32_MAX ? steps : *program.bodies[buffer.body];
  return part.cells[buffer.index].initial;
}

std::string File::constant(loops::BufferId b) {
  Table& table = tables_[key((*this)[b])];
  if (!table.written) write_table(table.name, elements(b));
  table.written = true;
  return table.name;
}

std::size_t File::site(const loops::Program& of, std::uint32_t body, std::uint32_t site) {
  const steps::Program& part = body == UINT32_MAX ? *of.steps : *of.bodies[body];
  constexpr std::size_t named_faults = 2;  // number of faults that have names in the file (print_c.cc)
  if (site >= part.sites.size()) return 0;
  const auto [at, added] = sites_.try_emplace({body, site}, messages_.size() + named_faults);
  if (added) {
    const std::string path = sources.place(part.sites[site].span);
    messages_.push_back(path.substr(path.rfind('/') + 1) + ": " + part.sites[site].message);
  }
  return at->second;
}

// Variables avoid the name of an external function. If every function has a variable of that name, the external
// function is called through a pointer of another name.
void File::name_externals() {
  const auto is_hidden = [](const std::string& symbol) {
    const auto has = [&](const auto& list) { return std::ranges::find(list, symbol) != list.end(); };
    return has(own_words) || has(file_variables);
  };
  for (const ExternalNode& node : steps.core->externals) {
    if (!node.in_c()) continue;
    names.take(node.symbol);
    from_outside_.push_back(node.symbol);
  }
  for (const ExternalNode& node : steps.core->externals)
    if (node.in_c() && is_hidden(node.symbol) && !external_names_.contains(node.symbol))
      external_names_[node.symbol] = symbol(node.symbol);
}

std::string File::declare_external(const ExternalNode& node) {
  const auto pointer = external_names_.find(node.symbol);
  const std::string& called = pointer == external_names_.end() ? node.symbol : pointer->second;
  if (!declared_.insert(node.symbol).second) return called;
  std::string parameters;
  for (const auto& [dtype, shape] : node.inputs)
    parameters +=
        (parameters.empty() ? "" : ", ") + (shape.empty() ? port_type(dtype) : "const " + port_type(dtype) + "*");
  for (const auto& [dtype, shape] : node.outputs)
    parameters += (parameters.empty() ? "" : ", ") + port_type(dtype) + "*";
  const std::string taken = "(" + (parameters.empty() ? "void" : parameters) + ")";
  externals_.line("extern void " + node.symbol + taken + ";");
  if (called != node.symbol) externals_.line("static void (*const " + called + ")" + taken + " = " + node.symbol + ";");
  return called;
}

std::string File::place(Span span) const {
  const std::string& path = sources.path(span.file);
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(sources.line_column(span.file, span.begin).line);
}

std::string File::equation(const Core& of, ValueId v) const {
  const Value& value = of[v];
  if (value.span.file == 0) return "";
  const std::string head = value.name.empty() ? "" : value.name + " = ", tail = "  (" + place(value.span) + ")";
  constexpr std::size_t around = 16;  // columns for comment delimiters and indentation
  const std::size_t most = page_columns - std::min(page_columns / 2, around + head.size() + tail.size());
  std::string text;
  for (const char c : sources.text(value.span)) {
    if (text.size() > most) break;  // of a long sum, each part is an equation of its own
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (text.size() > most) {
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    text = text.substr(0, end) + "…";
  }
  return head + text + tail;
}

}  // namespace rml::c99
