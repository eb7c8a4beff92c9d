// Emits programs that run on demand: a function for every body, and the table of equations (runtime/demand/table.h) by
// which the runtime evaluates them.
#include "lowering/llvm/program/on_demand.h"

#include <llvm/IR/DerivedTypes.h>

#include <algorithm>

#include "lowering/demand/on_demand.h"
#include "lowering/llvm/function/function.h"
#include "lowering/llvm/program/caller.h"
#include "lowering/llvm/statements/initial.h"
#include "lowering/llvm/statements/straight.h"
#include "runtime/demand/table.h"
#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml::codegen {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

class Table {
 public:
  explicit Table(Emission& module) : module_(module), demand_(*module.program.on_demand) {}
  llvm::Constant* emit();

 private:
  llvm::Constant* number(std::uint32_t n) { return llvm::ConstantInt::get(module_.i32(), n); }
  llvm::Constant* wide(std::uint64_t n) { return llvm::ConstantInt::get(module_.i64(), n); }
  llvm::Constant* nothing() { return llvm::ConstantPointerNull::get(module_.pointer()); }
  llvm::Constant* numbers(const std::string& name, const std::vector<ValueId>& values);
  llvm::Constant* row(llvm::StructType*& type, const char* name, const std::vector<llvm::Constant*>& fields);

  llvm::Constant* equation(ValueId v);
  llvm::Constant* clock(const Clock&, std::uint32_t cut);
  llvm::Constant* body(const steps::DemandBody&, std::size_t index);
  llvm::Function* function(const steps::DemandBody&, std::size_t index);
  std::vector<llvm::Constant*> roots();
  llvm::Constant* root(std::uint32_t kind, ValueId v, std::size_t number, std::uint32_t site);
  std::uint32_t rank(ValueId v) const;
  std::uint32_t slot_of(ValueId v) const;

  Emission& module_;
  const steps::OnDemand& demand_;
  llvm::StructType *equation_ = nullptr, *clock_ = nullptr, *body_ = nullptr, *root_ = nullptr, *table_ = nullptr;
  std::uint64_t scratch_ = 0;  // bytes of scratch memory that the bodies need
};

llvm::Constant* Table::numbers(const std::string& name, const std::vector<ValueId>& values) {
  std::vector<llvm::Constant*> all;
  for (const ValueId v : values) all.push_back(number(v.index));
  return module_.table(name, module_.i32(), all);
}

llvm::Constant* Table::row(llvm::StructType*& type, const char* name, const std::vector<llvm::Constant*>& fields) {
  if (type == nullptr) {
    std::vector<llvm::Type*> types;
    for (const llvm::Constant* field : fields) types.push_back(field->getType());
    type = llvm::StructType::create(module_.context, types, name);
  }
  return llvm::ConstantStruct::get(type, fields);
}

// ---- equations ------------------------------------------------------------------------------

// A rank for naming a zero-delay cycle: users know the value best whose name is nearest to the entry node.
std::uint32_t Table::rank(ValueId v) const {
  const std::string& name = module_.core[v].name;
  return name.empty() ? none - 1 : static_cast<std::uint32_t>(std::ranges::count(name, '.'));
}

std::uint32_t Table::slot_of(ValueId v) const {
  const auto& all = module_.program.parameters;
  return static_cast<std::uint32_t>(std::ranges::find(all, v, &steps::ParameterInfo::site) - all.begin());
}

llvm::Constant* Table::equation(ValueId v) {
  const Value& value = module_.core[v];
  std::uint32_t kind = RML_EQ_NOTHING, a = 0, b = 0, c = 0;
  llvm::Constant* elements = nothing();
  std::visit(Overloaded{
                 [&](const core::Const& r) { kind = RML_EQ_CONSTANT, elements = module_.tensor(r.value); },
                 [&](const core::Input& r) { kind = RML_EQ_INPUT, a = r.index; },
                 [&](const core::Apply& r) {
                   const bool parameter = apply_of(module_.core, v, Lowering::parameter) != nullptr;
                   kind = parameter ? RML_EQ_PARAMETER : RML_EQ_BODY;
                   a = parameter ? r.operands[0].index : demand_.body_of[v.index];
                   b = parameter ? slot_of(v) : 0;
                 },
                 [&](const core::Call&) { kind = RML_EQ_BODY, a = demand_.body_of[v.index]; },
                 [&](const core::Result& r) { kind = RML_EQ_RESULT, a = r.call.index; },
                 [&](const core::When& r) { kind = RML_EQ_SAMPLE, a = r.operand.index; },
                 [&](const core::Merge& r) {
                   kind = RML_EQ_MERGE, a = r.condition.index, b = r.on_true.index, c = r.on_false.index;
                 },
                 [&](const core::Fby& r) { kind = RML_EQ_FBY, a = r.init.index, b = r.next.index; },
                 [&](const core::Post& r) { kind = RML_EQ_POST, a = r.operand.index; },
             },
             value.rhs);
  const bool constant = kind == RML_EQ_CONSTANT;
  if (!constant && !demand_.asked[v.index]) kind = RML_EQ_NOTHING;
  const bool call = std::holds_alternative<core::Call>(value.rhs);
  return row(equation_, "rml_equation",
             {number(kind), number(value.clock.valid() ? value.clock.index : base_clock.index), number(a), number(b),
              number(c), number(demand_.knot_site[v.index]), number(demand_.cut_of[v.index]), number(rank(v)),
              wide(call ? 0 : bytes(value.dtype, value.shape)), elements});
}

llvm::Constant* Table::clock(const Clock& c, std::uint32_t cut) {
  const bool sampled = c.parent.valid();
  return row(clock_, "rml_sampled",
             {number(sampled ? c.parent.index : 0), number(sampled ? c.condition.index : 0),
              number(sampled && c.positive ? 1 : 0), number(cut)});
}

// ---- bodies ---------------------------------------------------------------------------------

// Emits i32 body(scratch, header, cycle, operands, results).
llvm::Function* Table::function(const steps::DemandBody& body, std::size_t index) {
  EmitOptions own = module_.options;
  own.with_program = own.with_main = own.with_c_interface = false;
  own.program_name = module_.options.program_name + "." + std::to_string(index);
  Emission inner(*body.steps, own, module_);
  inner.layout.bias = inner.layout.header_bytes;
  auto* f = inner.function(own.program_name, module_.i32(),
                           {module_.pointer(), module_.pointer(), module_.i64(), module_.pointer(), module_.pointer()},
                           false);
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  const Value& value = module_.core[body.value];
  Function code(inner, f, describe(module_.core, body.value), value.span, f->getArg(0));
  code.other_header = f->getArg(1);
  code.cycle = [f]() -> IrValue { return f->getArg(2); };
  for (std::size_t k = 0; k < body.operands.size(); ++k)
    code.ports.inputs.push_back({nullptr, caller_pointer(code, f->getArg(3), k), nullptr});
  for (std::size_t k = 0; k < body.results.size(); ++k)
    code.ports.outputs.push_back({caller_pointer(code, f->getArg(4), k), nullptr});
  if (std::ranges::any_of(body.steps->cells, [](const steps::CellInfo& cell) { return !cell.local; }))
    emit_initial_values(code);
  emit_straight(code);
  code.finish();
  inner.debug.finish();
  scratch_ = std::max(scratch_, inner.layout.state_bytes());
  return f;
}

llvm::Constant* Table::body(const steps::DemandBody& body, std::size_t index) {
  return row(
      body_, "rml_body",
      {function(body, index), number(body.effect ? 1 : 0), number(static_cast<std::uint32_t>(body.operands.size())),
       number(static_cast<std::uint32_t>(body.results.size())), numbers("operands", body.operands),
       numbers("results", body.results)});
}

// ---- roots of evaluation --------------------------------------------------------------------

llvm::Constant* Table::root(std::uint32_t kind, ValueId v, std::size_t of, std::uint32_t site) {
  return row(root_, "rml_root", {number(kind), number(v.index), number(static_cast<std::uint32_t>(of)), number(site)});
}

std::vector<llvm::Constant*> Table::roots() {
  const Core& core = module_.core;
  std::vector<llvm::Constant*> rows;
  for (std::size_t i = 0; i < core.inputs.size(); ++i)
    if (!module_.always_present(core.inputs[i].value))
      rows.push_back(root(RML_ROOT_INPUT, core.inputs[i].value, i, none));
  for (std::size_t i = 0; i < core.asserts.size(); ++i)
    rows.push_back(root(RML_ROOT_ASSERT, core.asserts[i].condition, i, demand_.assert_sites[i]));
  for (const steps::DemandBody& body : demand_.bodies)
    if (body.effect || can_fail(core, body.value)) rows.push_back(root(RML_ROOT_VALUE, body.value, 0, none));
  return rows;
}

llvm::Constant* Table::emit() {
  const Core& core = module_.core;
  std::vector<llvm::Constant*> equations, clocks, bodies, slots;
  for (std::size_t i = 0; i < core.values.size(); ++i) equations.push_back(equation(ValueId{i}));
  for (std::size_t c = 0; c < core.clocks.size(); ++c) clocks.push_back(clock(core.clocks[c], demand_.cut_of_clock[c]));
  for (std::size_t k = 0; k < demand_.bodies.size(); ++k) bodies.push_back(body(demand_.bodies[k], k));
  for (const std::uint64_t slot : module_.layout.slots) slots.push_back(wide(slot));
  const std::vector<llvm::Constant*> all_roots = roots();
  std::vector<ValueId> inputs, outputs;
  for (const Port& port : core.inputs) inputs.push_back(port.value);
  for (const Port& port : core.outputs) outputs.push_back(port.value);
  const std::uint64_t evaluator = module_.layout.scratch_behind_all(sizeof(void*));
  const std::uint64_t scratch = module_.layout.scratch_behind_all(scratch_);
  const auto count = [&](std::size_t n) { return number(static_cast<std::uint32_t>(n)); };
  auto* const table =
      row(table_, "rml_demand",
          {count(equations.size()), count(clocks.size()), count(bodies.size()), count(all_roots.size()),
           count(inputs.size()), count(outputs.size()), count(demand_.memories.size()), count(slots.size()),
           module_.table("equations", equation_, equations), module_.table("clocks", clock_, clocks),
           module_.table("bodies", body_, bodies), module_.table("roots", root_, all_roots), numbers("inputs", inputs),
           numbers("outputs", outputs), numbers("memories", demand_.memories),
           module_.table("slots", module_.i64(), slots), wide(evaluator), wide(scratch)});
  return new llvm::GlobalVariable(module_.module, table->getType(), true, llvm::GlobalValue::PrivateLinkage, table,
                                  "demand");
}

// A function of rml_program that passes its arguments on, with the table after the state.
llvm::Function* handed_on(Emission& module, const char* name, llvm::Type* result, std::size_t pointers,
                          llvm::Constant* table) {
  std::vector<llvm::Type*> parameters(pointers, module.pointer());
  auto* f = module.function(program_symbol(module, name), result, parameters, false);
  parameters.push_back(module.pointer());
  auto callee = module.module.getOrInsertFunction(std::string("rml_demand_") + name,
                                                  llvm::FunctionType::get(result, parameters, false));
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(module.context, "entry", f));
  std::vector<IrValue> arguments = {f->getArg(0), table};
  for (unsigned k = 1; k < pointers; ++k) arguments.push_back(f->getArg(k));
  IrValue value = ir.CreateCall(callee, arguments);
  if (result->isVoidTy())
    ir.CreateRetVoid();
  else
    ir.CreateRet(value);
  return f;
}

}  // namespace

ProgramFunctions emit_on_demand(Emission& module) {
  llvm::Constant* const table = Table(module).emit();
  auto* nothing = llvm::Type::getVoidTy(module.context);
  ProgramFunctions functions;
  functions.demand = table;
  functions.init = handed_on(module, "init", nothing, 1, table);
  functions.push = handed_on(module, "push", module.i32(), 3, table);
  functions.finish = handed_on(module, "finish", module.i32(), 1, table);
  functions.pop = handed_on(module, "pop", module.i32(), 3, table);
  if (!module.core.inputs.empty()) functions.lead = handed_on(module, "lead", nothing, 4, table);
  functions.destroy = handed_on(module, "destroy", nothing, 1, table);
  return functions;
}

}  // namespace rml::codegen
