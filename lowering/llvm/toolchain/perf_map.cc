// A plugin of ORC's linker, which sees the functions of an object at their final addresses (perf_map.h).
#include "lowering/llvm/toolchain/perf_map.h"

#include <fcntl.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace rml {

namespace {

std::string path_of_map() { return "/tmp/perf-" + std::to_string(getpid()) + ".map"; }

class PerfMap final : public llvm::orc::ObjectLinkingLayer::Plugin {
 public:
  void modifyPassConfig(llvm::orc::MaterializationResponsibility&, llvm::jitlink::LinkGraph&,
                        llvm::jitlink::PassConfiguration& passes) override {
    passes.PrePrunePasses.emplace_back([](llvm::jitlink::LinkGraph& graph) { return keep_names(graph); });
    passes.PostFixupPasses.emplace_back([](llvm::jitlink::LinkGraph& graph) { return write(graph); });
  }
  llvm::Error notifyFailed(llvm::orc::MaterializationResponsibility&) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey, llvm::orc::ResourceKey) override {}

 private:
  static bool is_code(const llvm::jitlink::Symbol& symbol) {
    const auto protection = static_cast<unsigned>(symbol.getBlock().getSection().getMemProt());
    return (protection & static_cast<unsigned>(llvm::orc::MemProt::Exec)) != 0;
  }
  // Keeps names that the linker would drop, because the code refers to functions by their places in the section.
  static llvm::Error keep_names(llvm::jitlink::LinkGraph& graph) {
    for (llvm::jitlink::Symbol* symbol : graph.defined_symbols())
      if (symbol->hasName() && is_code(*symbol)) symbol->setLive(true);
    return llvm::Error::success();
  }
  static llvm::Error write(llvm::jitlink::LinkGraph& graph) {
    const std::string path = path_of_map();
    // All users may write in the folder, so a link is not followed.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fdopen(descriptor, "a"), std::fclose);
    if (!file) return llvm::createStringError(llvm::errnoAsErrorCode(), "cannot write '%s'", path.c_str());
    for (const llvm::jitlink::Symbol* symbol : graph.defined_symbols())
      if (symbol->hasName() && is_code(*symbol))
        std::fprintf(file.get(), "%" PRIx64 " %" PRIx64 " %s\n", symbol->getAddress().getValue(),
                     static_cast<std::uint64_t>(symbol->getSize()), symbol->getName().str().c_str());
    return llvm::Error::success();
  }
};

}  // namespace

void write_perf_map(llvm::orc::LLJIT& jit) {
  const char* const wanted = std::getenv("RMLC_PERF_MAP");
  if (wanted == nullptr || std::string_view(wanted) != "1") return;
  // Removes the file of an earlier process with the same number.
  static const int removed = std::remove(path_of_map().c_str());
  static_cast<void>(removed);
  if (auto* layer = llvm::dyn_cast<llvm::orc::ObjectLinkingLayer>(&jit.getObjLinkingLayer()))
    layer->addPlugin(std::make_unique<PerfMap>());
}

}  // namespace rml
