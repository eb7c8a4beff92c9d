// The rml_program table: constants that describe ports, sites and cuts to the host.
#include "lowering/llvm/emit_program.h"
#include "runtime/rmlrt.h"

namespace rml::codegen {

namespace {

llvm::Constant* integer(llvm::Type* type, std::uint64_t value) { return llvm::ConstantInt::get(type, value); }

llvm::Constant* port_row(Emission& module, const Port& port) {
  const Value& value = module.core[port.value];
  auto* i8 = llvm::Type::getInt8Ty(module.context);
  std::vector<llvm::Constant*> dims;
  for (const std::int64_t extent : value.shape)
    dims.push_back(integer(module.i64(), static_cast<std::uint64_t>(extent)));
  return llvm::ConstantStruct::get(
      module.abi.port,
      {module.text(port.name), module.text(clock_string(module.core, value.clock)),
       integer(i8, static_cast<std::uint8_t>(value.dtype)), integer(i8, module.always_present(port.value) ? 1 : 0),
       integer(module.i32(), value.shape.size()), module.table("dims", module.i64(), dims),
       integer(module.i64(), static_cast<std::uint64_t>(elements(value.shape)))});
}

llvm::Constant* ports(Emission& module, const std::string& name, const std::vector<Port>& ports) {
  std::vector<llvm::Constant*> rows;
  for (const Port& port : ports) rows.push_back(port_row(module, port));
  return module.table(name, module.abi.port, rows);
}

llvm::Constant* site_row(Emission& module, Span span, const std::string& message) {
  const bool known = span.file > 0 && span.file < module.sources.size();
  const LineColumn place = known ? module.sources.line_column(span.file, span.begin) : LineColumn{0, 0};
  return llvm::ConstantStruct::get(
      module.abi.site, {module.text(known ? module.sources.path(span.file) : ""), integer(module.i32(), place.line),
                        integer(module.i32(), place.column), module.text(message)});
}

}  // namespace

void emit_table(Emission& module, const ProgramFunctions& functions) {
  const steps::Program& program = module.program;
  std::vector<llvm::Constant*> sites, cuts;
  for (const steps::Site& site : program.sites) sites.push_back(site_row(module, site.span, site.message));
  for (const steps::CutInfo& cut : program.cuts) {
    cuts.push_back(llvm::ConstantStruct::get(module.abi.cut,
                                             {module.text(cut.condition), site_row(module, cut.span, cut.condition)}));
  }
  const Span span = program_span(module);
  const std::string source = span.file > 0 && span.file < module.sources.size() ? module.sources.path(span.file) : "";
  auto* row = llvm::ConstantStruct::get(
      module.abi.program,
      {integer(module.i32(), RML_ABI), module.text(module.core.entry), module.text(source),
       integer(module.i32(), module.core.inputs.size()), integer(module.i32(), module.core.outputs.size()),
       integer(module.i32(), sites.size()), integer(module.i32(), cuts.size()),
       ports(module, "inputs", module.core.inputs), ports(module, "outputs", module.core.outputs),
       module.table("sites", module.abi.site, sites), module.table("cuts", module.abi.cut, cuts),
       integer(module.i64(), module.layout.state_bytes()), integer(module.i64(), StateLayout::state_align),
       functions.init, functions.push, functions.finish, functions.pop, functions.destroy});
  new llvm::GlobalVariable(module.module, module.abi.program, true, llvm::GlobalValue::ExternalLinkage, row,
                           module.options.program_name + "_program");
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
