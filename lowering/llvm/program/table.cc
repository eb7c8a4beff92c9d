// Emits the rml_program table: constants that describe ports, sites, cuts and the state to the host.
#include "lowering/llvm/program/table.h"

#include <cstddef>
#include <map>
#include <stdexcept>

#include "lowering/demand/on_demand.h"
#include "lowering/llvm/program/caller.h"
#include "lowering/llvm/program/flow.h"
#include "lowering/llvm/program/origins.h"
#include "lowering/llvm/program/sites.h"
#include "lowering/steps/leader.h"
#include "runtime/base/rmlrt.h"
#include "semantics/core/queries.h"

namespace rml::codegen {

namespace {

llvm::Constant* integer(llvm::Type* type, std::uint64_t value) { return llvm::ConstantInt::get(type, value); }

llvm::Constant* dims(Emission& module, const Shape& shape) {
  std::vector<llvm::Constant*> extents;
  for (const std::int64_t extent : shape) extents.push_back(integer(module.i64(), static_cast<std::uint64_t>(extent)));
  return module.table("dims", module.i64(), extents);
}

llvm::Constant* port_row(Emission& module, const Port& port, bool late) {
  const Value& value = module.core[port.value];
  auto* i8 = llvm::Type::getInt8Ty(module.context);
  return llvm::ConstantStruct::get(
      module.abi.port,
      {module.text(port.name), module.text(clock_string(module.core, value.clock)),
       integer(i8, static_cast<std::uint8_t>(value.dtype)), integer(i8, module.always_present(port.value) ? 1 : 0),
       integer(i8, late ? 1 : 0), integer(module.i32(), value.shape.size()), dims(module, value.shape),
       integer(module.i64(), static_cast<std::uint64_t>(elements(value.shape)))});
}

llvm::Constant* input_ports(Emission& module) {
  std::vector<llvm::Constant*> rows;
  for (const Port& port : module.core.inputs) rows.push_back(port_row(module, port, false));
  return module.table("inputs", module.abi.port, rows);
}

llvm::Constant* output_ports(Emission& module) {
  const std::vector<bool> late = late_outputs(module.program);
  std::vector<llvm::Constant*> rows;
  for (std::size_t k = 0; k < late.size(); ++k) rows.push_back(port_row(module, module.core.outputs[k], late[k]));
  return module.table("outputs", module.abi.port, rows);
}

// The parts of a state, in the order cells, queues, units, arrays.
class MemoryTable {
 public:
  explicit MemoryTable(Emission& module) : module_(module) {}

  std::vector<std::uint32_t> row_of_cell;
  std::uint32_t first_queue = 0, first_unit = 0;  // numbers of the first rows of queues and of units

  // The row of the cell that keeps a parameter.
  std::uint32_t row_of(const steps::ParameterInfo& p) const {
    if (p.cell.valid()) return row_of_cell[p.cell.index];
    const auto found = row_of_origin_.find(p.path);
    return found == row_of_origin_.end() ? UINT32_MAX : found->second;
  }

  std::vector<llvm::Constant*> rows() {
    const steps::Program& program = module_.program;
    if (program.on_demand != nullptr) add_origins(*program.on_demand);
    row_of_cell.assign(program.cells.size(), UINT32_MAX);
    for (std::size_t k = 0; k < program.cells.size(); ++k) {
      const steps::CellInfo& cell = program.cells[k];
      if (cell.local) continue;
      row_of_cell[k] = static_cast<std::uint32_t>(rows_.size());
      const int kind = module_.window_of(CellId(k)) != nullptr ? RML_WINDOW : RML_CELL;
      add(cell.name, kind, cell.dtype, cell.shape, module_.layout.cells[k], 0);
    }
    first_queue = static_cast<std::uint32_t>(rows_.size());
    for (std::size_t q = 0; q < program.queues.size(); ++q) {
      const steps::QueueInfo& queue = program.queues[q];
      std::uint32_t flags = 0;
      if (queue.overtaken) flags |= RML_OVERTAKEN;
      if (queue.passing) flags |= RML_PASSING;
      add(queue.name, RML_QUEUE, queue.dtype, queue.shape, module_.layout.queues[q].data, queue.readers, flags);
    }
    first_unit = static_cast<std::uint32_t>(rows_.size());
    std::vector<std::size_t> row_of_unit;
    for (std::size_t u = 0; u < program.units.size() && !program.straight; ++u) {
      row_of_unit.push_back(rows_.size());
      add("unit " + std::to_string(u), RML_UNIT, DType::i64, {}, module_.layout.units[u].cycle,
          program.units[u].segmented ? 1 : 0);
    }
    for (std::size_t a = 0; a < program.arrays.size(); ++a) {
      const steps::ArrayInfo& array = program.arrays[a];
      add(array.name, RML_ARRAY, array.dtype, array.shape, module_.layout.arrays[a], row_of_unit[array.unit]);
    }
    return std::move(rows_);
  }

 private:
  void add_origins(const steps::OnDemand& demand) {
    for (const steps::DemandOrigin& o : demand.origins) {
      const Value& v = module_.core[o.value];
      const bool call = std::holds_alternative<core::Call>(v.rhs);
      if (o.looks_back) row_of_origin_[o.name] = static_cast<std::uint32_t>(rows_.size());
      add(o.name, o.looks_back ? RML_LOOKS_BACK : RML_OUTSIDE, call ? DType::boolean : v.dtype,
          call ? Shape{0} : v.shape, o.value.index, 0);
    }
  }

  void add(const std::string& name, int kind, DType dtype, const Shape& shape, std::uint64_t offset,
           std::uint64_t count, std::uint32_t flags = 0) {
    auto* i8 = llvm::Type::getInt8Ty(module_.context);
    rows_.push_back(llvm::ConstantStruct::get(
        module_.abi.memory,
        {module_.text(name), integer(i8, static_cast<std::uint64_t>(kind)),
         integer(i8, static_cast<std::uint64_t>(dtype)), integer(module_.i32(), shape.size()), dims(module_, shape),
         integer(module_.i64(), static_cast<std::uint64_t>(elements(shape))), integer(module_.i64(), offset),
         integer(module_.i32(), count), integer(module_.i32(), flags)}));
  }

  Emission& module_;
  std::map<std::string, std::uint32_t> row_of_origin_;
  std::vector<llvm::Constant*> rows_;
};

llvm::Constant* parameter_row(Emission& module, std::size_t index, const MemoryTable& memories) {
  const steps::ParameterInfo& p = module.program.parameters[index];
  return llvm::ConstantStruct::get(
      module.abi.parameter,
      {module.text(p.path), integer(llvm::Type::getInt8Ty(module.context), static_cast<std::uint64_t>(p.dtype)),
       integer(module.i32(), p.shape.size()), dims(module, p.shape),
       integer(module.i64(), static_cast<std::uint64_t>(elements(p.shape))),
       integer(module.i64(), p.site.valid() ? module.layout.slots[index] : UINT64_MAX),
       integer(module.i32(), memories.row_of(p))});
}

// The name of the variable, if the text is an equation: "x" for "x: f32[3] = 2.0 * y".
std::string defined_by(const std::string& text) {
  const std::string variable = text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
  const std::size_t equals = text.find(" = ");
  const bool typed = text.compare(variable.size(), 1, ":") == 0 && equals != std::string::npos;
  return typed || equals == variable.size() ? variable : "";
}

// The text of an equation with its instance, on one line, such as "loss = mean(error * error)".
std::string equation_text(Emission& module, ValueId v) {
  constexpr std::size_t longest = 60;
  const Value& value = module.core[v];
  const std::string name = value.name.substr(value.name.rfind('.') + 1);
  const bool known = value.span.file > 0 && value.span.file < module.sources.size();
  std::string text;
  for (const char c : known ? module.sources.text(value.span) : std::string_view()) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank || (!text.empty() && text.back() != ' ')) text += blank ? ' ' : c;
  }
  while (text.ends_with(' ') || text.ends_with(';')) text.pop_back();
  if (text.size() > longest) {
    std::size_t end = longest;
    // Moves back, so that no UTF-8 character is split.
    while ((static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
    text = text.substr(0, end) + " …";
  }
  const std::string defined = defined_by(text);
  if (!name.empty() && name != defined)  // an adjoint has no name of its own, so the whole equation is shown
    text = text.empty() || text == name ? name : name + (defined.empty() ? " = " : ", for ") + text;
  const std::string instance = value.instance.valid() ? module.core.instances[value.instance.index].path : "";
  return text + (instance.empty() ? "" : ", in " + instance);
}

std::vector<llvm::Constant*> watch_rows(Emission& module, const MemoryTable& memories) {
  std::vector<llvm::Constant*> rows;
  for (const steps::Watch& w : module.program.watches) {
    const std::uint32_t memory = w.cell.valid()    ? memories.row_of_cell[w.cell.index]
                                 : w.queue.valid() ? memories.first_queue + w.queue.index
                                                   : UINT32_MAX;
    rows.push_back(llvm::ConstantStruct::get(
        module.abi.watch, {integer(module.i32(), w.output), integer(module.i32(), memory),
                           site_row(module, module.core[w.named].span, equation_text(module, w.named))}));
  }
  return rows;
}

// The text of a place, such as "matmul f32[64, 10]: logits = matmul(x, w), in net".
std::string place_text(Emission& module, ValueId v) {
  const Value& value = module.core[v];
  const auto* operation = std::get_if<core::Apply>(&value.rhs);
  const std::string what = operation != nullptr ? std::string(operators()[operation->op].name) + " " : "";
  return what + type_string(value.dtype, value.shape) + ": " + equation_text(module, v);
}

std::vector<llvm::Constant*> place_rows(Emission& module) {
  std::vector<llvm::Constant*> rows;
  for (const Emission::Place& place : module.places())
    rows.push_back(site_row(module, place.span, place.value.valid() ? place_text(module, place.value) : place.text));
  return rows;
}

std::vector<llvm::Constant*> site_rows(Emission& module) {
  std::vector<llvm::Constant*> rows;
  for (const steps::Site& site : module.program.sites) rows.push_back(site_row(module, site.span, site.message));
  return rows;
}

std::vector<llvm::Constant*> cut_rows(Emission& module) {
  std::vector<llvm::Constant*> rows;
  for (const steps::CutInfo& cut : module.program.cuts)
    rows.push_back(llvm::ConstantStruct::get(module.abi.cut,
                                             {module.text(cut.condition), site_row(module, cut.span, cut.condition)}));
  return rows;
}

// A field of rml_program, with its place in the type that the runtime reads.
struct Field {
  std::size_t offset;
  llvm::Constant* value;
};

// Programs for ranks have two fields, per_step and deal_end, which in all other programs are padding between the first
// two fields.
llvm::StructType* with_rare_fields(Emission& module, std::vector<Field>& fields) {
  const auto& deal = module.core.deal;
  if (!deal) return module.abi.program;
  auto* const i16 = llvm::Type::getInt16Ty(module.context);
  fields.insert(fields.begin() + 1, {{offsetof(rml_program, per_step), integer(i16, deal->per_step)},
                                     {offsetof(rml_program, deal_end), integer(i16, deal->end)}});
  std::vector<llvm::Type*> types;
  for (const Field& field : fields) types.push_back(field.value->getType());
  return llvm::StructType::create(module.context, types, "rml_program");
}

// Requires that the fields are where the runtime reads them, if the target has the pointers of this machine.
void verify_offsets(const llvm::DataLayout& layout, llvm::StructType* type, const std::vector<Field>& fields) {
  if (layout.getPointerSize() != sizeof(void*)) return;
  const llvm::StructLayout& places = *layout.getStructLayout(type);
  for (unsigned k = 0; k < fields.size(); ++k)
    if (places.getElementOffset(k) != fields[k].offset)
      throw std::logic_error("field " + std::to_string(k) + " of the table is at byte " +
                             std::to_string(places.getElementOffset(k)) + ", but the runtime reads it at byte " +
                             std::to_string(fields[k].offset));
  if (places.getSizeInBytes() != sizeof(rml_program)) throw std::logic_error("the table lacks fields of the runtime");
}

std::string source_path(Emission& module) {
  const Span span = program_span(module);
  return span.file > 0 && span.file < module.sources.size() ? module.sources.path(span.file) : "";
}

std::vector<Field> table_fields(Emission& module, const ProgramFunctions& functions) {
  const steps::Program& program = module.program;
  const std::vector<llvm::Constant*> sites = site_rows(module), cuts = cut_rows(module);
  MemoryTable table(module);
  const std::vector<llvm::Constant*> memories = table.rows();
  std::vector<llvm::Constant*> parameters;
  for (std::size_t p = 0; p < program.parameters.size(); ++p) parameters.push_back(parameter_row(module, p, table));
  const std::vector<llvm::Constant*> origins = origin_rows(module, table.row_of_cell, table.first_queue);
  const std::vector<llvm::Constant*> watches = watch_rows(module, table);
  const std::vector<llvm::Constant*> places = place_rows(module);
  const std::vector<std::uint64_t>& packs = module.layout.pack_flags;
  const auto or_null = [&](llvm::Constant* value) {
    return value != nullptr ? value : llvm::ConstantPointerNull::get(module.pointer());
  };
  return {
      {offsetof(rml_program, abi), integer(module.i32(), RML_ABI)},
      {offsetof(rml_program, name), module.text(module.core.entry)},
      {offsetof(rml_program, source), module.text(source_path(module))},
      {offsetof(rml_program, n_inputs), integer(module.i32(), module.core.inputs.size())},
      {offsetof(rml_program, n_outputs), integer(module.i32(), module.core.outputs.size())},
      {offsetof(rml_program, n_sites), integer(module.i32(), sites.size())},
      {offsetof(rml_program, n_cuts), integer(module.i32(), cuts.size())},
      {offsetof(rml_program, inputs), input_ports(module)},
      {offsetof(rml_program, outputs), output_ports(module)},
      {offsetof(rml_program, sites), module.table("sites", module.abi.site, sites)},
      {offsetof(rml_program, cuts), module.table("cuts", module.abi.cut, cuts)},
      {offsetof(rml_program, savable), integer(module.i32(), 1)},
      {offsetof(rml_program, n_memories), integer(module.i32(), memories.size())},
      {offsetof(rml_program, n_parameters), integer(module.i32(), parameters.size())},
      {offsetof(rml_program, n_watches), integer(module.i32(), watches.size())},
      {offsetof(rml_program, n_places), integer(module.i32(), places.size())},
      {offsetof(rml_program, n_watched), integer(module.i32(), module.core.watched)},
      {offsetof(rml_program, threads), integer(module.i32(), module.target.threads)},
      {offsetof(rml_program, memories), module.table("memories", module.abi.memory, memories)},
      {offsetof(rml_program, parameters), module.table("parameters", module.abi.parameter, parameters)},
      {offsetof(rml_program, watches), module.table("watches", module.abi.watch, watches)},
      {offsetof(rml_program, places), module.table("places", module.abi.site, places)},
      {offsetof(rml_program, state_bytes), integer(module.i64(), module.layout.state_bytes())},
      {offsetof(rml_program, state_align), integer(module.i64(), StateLayout::state_align)},
      {offsetof(rml_program, init), functions.init},
      {offsetof(rml_program, push), functions.push},
      {offsetof(rml_program, finish), functions.finish},
      {offsetof(rml_program, pop), functions.pop},
      {offsetof(rml_program, destroy), functions.destroy},
      {offsetof(rml_program, network), or_null(functions.network)},
      {offsetof(rml_program, flow), emit_flow(module, table.first_queue, table.first_unit)},
      {offsetof(rml_program, demand), or_null(functions.demand)},
      {offsetof(rml_program, origins), module.table("origins", module.abi.origin, origins)},
      {offsetof(rml_program, n_origins), integer(module.i32(), origins.size())},
      {offsetof(rml_program, repeatable), integer(module.i32(), is_repeatable(module.core) ? 1 : 0)},
      {offsetof(rml_program, lead), or_null(functions.lead)},
      {offsetof(rml_program, run), or_null(functions.run)},
      {offsetof(rml_program, packs), integer(module.i64(), packs.empty() ? 0 : packs.front())},
      {offsetof(rml_program, n_packs), integer(module.i32(), packs.size())},
      {offsetof(rml_program, apart), integer(module.i32(), module.layout.apart)},
      {offsetof(rml_program, lanes), integer(module.i32(), functions.lanes)},
      {offsetof(rml_program, together), or_null(functions.together)},
  };
}

}  // namespace

void emit_table(Emission& module, const ProgramFunctions& functions) {
  std::vector<Field> fields = table_fields(module, functions);
  llvm::StructType* const type = with_rare_fields(module, fields);
  verify_offsets(module.module.getDataLayout(), type, fields);
  std::vector<llvm::Constant*> values;
  for (const Field& field : fields) values.push_back(field.value);
  new llvm::GlobalVariable(module.module, type, true, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantStruct::get(type, values), module.options.program_name + "_program");
}

void emit_main(Emission& module) {
  auto* main = module.function("main", module.i32(), {module.i32(), module.pointer()}, true);
  auto* type = llvm::FunctionType::get(module.i32(), {module.pointer(), module.i32(), module.pointer()}, false);
  auto run = module.module.getOrInsertFunction("rml_main", type);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", main));
  auto* program = module.module.getNamedGlobal(module.options.program_name + "_program");
  ir.CreateRet(ir.CreateCall(run, {program, main->getArg(0), main->getArg(1)}));
}

}  // namespace rml::codegen
