// Makes an LLVM target machine from a triple and a processor's name.
//
// The host's own target always works; others are those linked in: x86, AArch64, ARM, RISC-V. Floating-point operations
// are fused only under fast_math, so that results are the same on every target.
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <cstdlib>
#include <iterator>
#include <mutex>

#include "lowering/llvm/toolchain/module_state.h"
#include "lowering/llvm/toolchain/versions.h"

namespace rml::codegen {

namespace {

// Limits how many earlier loads and stores of a block LLVM compares with each load or store. The cost grows with the
// square of the limit. LLVM's own limit, 1,000, is too slow for thousands of ports or streams in one list.
void bound_schedules() {
  const char* const arguments[] = {"rmlc", "-dag-maps-huge-region=200"};
  llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(arguments)), arguments);
}

void initialize_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo(), LLVMInitializeX86Target(), LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter(), LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo(), LLVMInitializeAArch64Target(), LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter(), LLVMInitializeAArch64AsmParser();
    LLVMInitializeARMTargetInfo(), LLVMInitializeARMTarget(), LLVMInitializeARMTargetMC();
    LLVMInitializeARMAsmPrinter(), LLVMInitializeARMAsmParser();
    LLVMInitializeRISCVTargetInfo(), LLVMInitializeRISCVTarget(), LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter(), LLVMInitializeRISCVAsmParser();
    bound_schedules();
  });
}

// The features that C compilers assume for a plain RISC-V or ARM Linux triple.
std::string default_features(const llvm::Triple& triple) {
  if (triple.isRISCV() && triple.isOSLinux()) return "+m,+a,+f,+d,+c";
  if (triple.isARM() && triple.getEnvironment() == llvm::Triple::GNUEABIHF) return "+vfp3d16";
  return "";
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetOptions& options, std::string& error) {
  initialize_targets();
  const std::string name = options.triple.empty() ? llvm::sys::getDefaultTargetTriple() : options.triple;
  const llvm::Triple triple(llvm::Triple::normalize(name));
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple.str(), error);
  if (target == nullptr) {
    error =
        "no target '" + name +
        "'; targets are triples such as x86_64-linux-gnu, aarch64-linux-gnu, arm-linux-gnueabihf, riscv64-linux-gnu, "
        "thumbv7em-none-eabi (Cortex-M4 and M7) and thumbv6m-none-eabi (Cortex-M0)";
    return nullptr;
  }
  std::string cpu = options.cpu, features = default_features(triple);
  const char* const instead = cpu == "native" ? std::getenv("RMLC_NATIVE") : nullptr;
  if (instead != nullptr && *instead != '\0') {
    cpu = instead;
  } else if (cpu == "native") {
    cpu = llvm::sys::getHostCPUName().str();
    llvm::SubtargetFeatures host(features);
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) host.AddFeature(feature.first(), feature.second);
    features = host.getString();
  } else if (cpu == "generic") {
    if (triple.isRISCV())
      cpu = triple.isArch64Bit() ? "generic-rv64" : "generic-rv32";
    else if (triple.getArch() == llvm::Triple::x86_64)
      cpu = "x86-64";
  }
  std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple.str(), "", ""));
  if (known == nullptr || !known->isCPUStringValid(cpu)) {
    const bool chosen = instead != nullptr && cpu == instead;
    error = "no processor '" + cpu + "'" + (chosen ? " (RMLC_NATIVE)" : "") + " for target '" + triple.str() + "'";
    if (known != nullptr && known->isCPUStringValid("cortex-" + cpu)) error += "; did you mean 'cortex-" + cpu + "'?";
    return nullptr;
  }
  llvm::TargetOptions target_options;
  target_options.AllowFPOpFusion = options.fast_math ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Standard;
  if (triple.isRISCV() && triple.isOSLinux())
    target_options.MCOptions.ABIName = triple.isArch64Bit() ? "lp64d" : "ilp32d";
  static constexpr llvm::CodeGenOptLevel levels[] = {llvm::CodeGenOptLevel::None, llvm::CodeGenOptLevel::Less,
                                                     llvm::CodeGenOptLevel::Default, llvm::CodeGenOptLevel::Aggressive};
  const auto level = levels[options.optimization < 0 ? 0 : options.optimization > 3 ? 3 : options.optimization];
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple.str(), cpu, features, target_options, llvm::Reloc::PIC_, std::nullopt, level));
}

// LLVM prefers 256-bit vectors on all Intel processors with 512-bit ones, because the first of these ran slower with
// wide vectors. Later ones, recognised by VBMI2, slow down little or not at all: products take half the time.
bool has_wider_vectors(const llvm::TargetMachine& machine) {
  return machine.getTargetTriple().isX86() &&
         machine.getMCSubtargetInfo()->checkFeatures("+prefer-256-bit,+avx512vbmi2");
}

std::pair<Target, Numeric> describe(const TargetOptions& options, llvm::Module& module,
                                    const llvm::TargetMachine& machine) {
  Target target = target_for(options);
  Numeric numeric = numeric_for(options);
  auto* probe = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), false),
                                       llvm::GlobalValue::InternalLinkage, "probe", module);
  const llvm::TargetTransformInfo costs = machine.getTargetTransformInfo(*probe);
  const auto bits = costs.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector);
  auto* real = llvm::Type::getFloatTy(module.getContext());
  const llvm::IntrinsicCostAttributes fma(llvm::Intrinsic::fma, real, {real, real, real});
  const auto cost = costs.getIntrinsicInstrCost(fma, llvm::TargetTransformInfo::TCK_RecipThroughput);
  probe->eraseFromParent();
  constexpr int of_call = 10;
  const llvm::Triple& triple = machine.getTargetTriple();
  target.loop_bits = static_cast<unsigned>(bits.getFixedValue());
  target.vector_bits = has_wider_vectors(machine) ? 2 * target.loop_bits : target.loop_bits;
  target.guesses = triple.isX86() || triple.isAArch64();
  numeric.fused = cost.isValid() && cost < of_call;
  return {target, numeric};
}

}  // namespace rml::codegen

std::string rml::llvm_version() { return LLVM_VERSION_STRING; }
