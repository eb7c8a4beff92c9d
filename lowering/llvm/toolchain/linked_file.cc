// Reads and writes object files and archives with LLVM, in every format and for every processor that it supports.
#include "lowering/llvm/toolchain/linked_file.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ObjCopy/CommonConfig.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/Archive.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <vector>

#include "lowering/llvm/module/emit_options.h"

namespace rml {
namespace {

using llvm::object::SymbolRef;

// True if the symbol is a function. Data is refused, because a call would execute it.
bool is_function(const SymbolRef& symbol) {
  auto flags = symbol.getFlags();
  auto type = symbol.getType();
  if (!flags || !type) {
    if (!flags) llvm::consumeError(flags.takeError());
    if (!type) llvm::consumeError(type.takeError());
    return false;
  }
  const bool defined = (*flags & (SymbolRef::SF_Undefined | SymbolRef::SF_Common | SymbolRef::SF_Absolute)) == 0;
  const bool data = *type == SymbolRef::ST_Data || *type == SymbolRef::ST_Debug || *type == SymbolRef::ST_File;
  return defined && (*flags & SymbolRef::SF_Global) != 0 && !data;
}

template <class Symbols>
void collect(const Symbols& symbols, const std::set<std::string>& wanted, std::set<std::string>& found) {
  for (const SymbolRef& symbol : symbols) {
    auto name = symbol.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (const std::string text = name->str(); wanted.contains(text) && is_function(symbol)) found.insert(text);
  }
}

void collect_of_members(const llvm::object::Archive& archive, const std::set<std::string>& wanted,
                        std::set<std::string>& found) {
  llvm::Error failed = llvm::Error::success();
  for (const auto& child : archive.children(failed)) {
    auto member = child.getAsBinary();
    if (!member) {
      llvm::consumeError(member.takeError());
      continue;
    }
    if (const auto* object = llvm::dyn_cast<llvm::object::ObjectFile>(member->get()))
      collect(object->symbols(), wanted, found);
  }
  llvm::consumeError(std::move(failed));
}

void rename(const llvm::objcopy::MultiFormatConfig& config, llvm::object::Binary& in, llvm::raw_ostream& out,
            std::string& error) {
  if (auto failed = llvm::objcopy::executeObjcopyOnBinary(config, in, out)) error = llvm::toString(std::move(failed));
}

// The members of a thin archive are files of the user, whose bytes the copy contains.
std::string rename_members(const llvm::objcopy::MultiFormatConfig& config, const llvm::object::Archive& archive,
                           const std::string& copy) {
  std::vector<llvm::NewArchiveMember> members;
  std::string error;
  llvm::Error failed = llvm::Error::success();
  for (const auto& child : archive.children(failed)) {
    auto member = child.getAsBinary();
    auto name = child.getName();
    if (!member || !name) {
      if (!member) error = llvm::toString(member.takeError());
      if (!name) error = llvm::toString(name.takeError());
      break;
    }
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    rename(config, **member, out, error);
    if (!error.empty()) break;
    members.emplace_back();
    members.back().Buf = llvm::MemoryBuffer::getMemBufferCopy({bytes.data(), bytes.size()}, *name);
    members.back().MemberName = members.back().Buf->getBufferIdentifier();
  }
  if (failed) return llvm::toString(std::move(failed));
  if (!error.empty()) return error;
  auto written = llvm::writeArchive(copy, members, llvm::SymtabWritingMode::NormalSymtab, archive.kind(), true, false);
  return written ? llvm::toString(std::move(written)) : "";
}

}  // namespace

std::optional<LinkedFile> read_linked_file(const std::string& path, const std::set<std::string>& wanted,
                                           std::string& error) {
  // Refuses devices, which may have no end.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
    error = path + ": not a regular file";
    return std::nullopt;
  }
  auto binary = llvm::object::createBinary(path);
  if (!binary) {
    error = path + ": " + llvm::toString(binary.takeError());
    return std::nullopt;
  }
  LinkedFile file;
  if (const auto* archive = llvm::dyn_cast<llvm::object::Archive>(binary->getBinary())) {
    file.kind = LinkedKind::archive;
    collect_of_members(*archive, wanted, file.functions);
    return file;
  }
  const auto* object = llvm::dyn_cast<llvm::object::ObjectFile>(binary->getBinary());
  if (object == nullptr) {
    error = path + ": no object, archive or shared library";
    return std::nullopt;
  }
  const auto* elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(object);
  if (object->isRelocatableObject()) {
    collect(object->symbols(), wanted, file.functions);
  } else {
    file.kind = LinkedKind::shared;
    if (elf != nullptr) {
      collect(elf->getDynamicSymbolIterators(), wanted, file.functions);
    } else {
      collect(object->symbols(), wanted, file.functions);
    }
  }
  return file;
}

std::string copy_renamed(const std::string& path, const std::set<std::string>& names, const std::string& copy) {
  auto binary = llvm::object::createBinary(path);
  if (!binary) return llvm::toString(binary.takeError());
  std::vector<std::string> made;
  made.reserve(names.size());
  llvm::objcopy::ConfigManager config;
  config.Common.InputFilename = path;
  config.Common.OutputFilename = copy;
  for (const std::string& name : names) config.Common.SymbolsToRename[name] = made.emplace_back(external_symbol(name));
  if (const auto* archive = llvm::dyn_cast<llvm::object::Archive>(binary->getBinary()))
    return rename_members(config, *archive, copy);
  std::error_code refused;
  llvm::raw_fd_ostream out(copy, refused, llvm::sys::fs::OF_None);
  if (refused) return refused.message();
  std::string error;
  rename(config, *binary->getBinary(), out, error);
  return error;
}

}  // namespace rml
