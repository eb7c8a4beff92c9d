// The safetensors files from which a program loads tensors. Each file is read once, and each
// tensor is converted at most once.
//
// A relative name is resolved against the folder of the source file that contains the call.
// Tensors may also be given instead of read, so the weights of an imported model need not be on
// disk.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontend/source.h"
#include "semantics/values/tensor_files.h"

namespace rml {

class LoadedFiles : public TensorFiles {
 public:
  explicit LoadedFiles(const SourceMap& sources);
  ~LoadedFiles() override;

  // From now on load(file, name) returns this tensor, in every source file.
  void give(const std::string& file, const std::string& name, std::shared_ptr<const Tensor> tensor) {
    given_[{file, name}] = std::move(tensor);
  }

  std::variant<std::shared_ptr<const Tensor>, LoadError> find(Span from, const std::string& file,
                                                              const std::string& name) override;
  // All files that were read, and all that `note` added because other code reads them.
  std::vector<std::string> paths() const;
  void note(std::string path) { noted_.push_back(std::move(path)); }

 private:
  struct File;
  const File& opened(const std::string& path);

  const SourceMap& sources_;
  std::vector<std::string> noted_;
  // Contents of the files, by path.
  std::map<std::string, std::unique_ptr<File>> files_;
  // Tensors by path and name: those that the caller gave, and those that were read.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Tensor>> given_, read_;
};

}  // namespace rml
