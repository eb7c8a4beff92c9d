// The files that a program loads tensors from: safetensors, read once, each tensor at most once.
//
// A relative name begins in the folder of the source file that holds the call. Files may be given
// instead of read: what an imported model brings never needs to be on disk.
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

  // load(file, name) is this tensor, in whatever source file it stands.
  void give(const std::string& file, const std::string& name, std::shared_ptr<const Tensor> tensor) {
    given_[{file, name}] = std::move(tensor);
  }

  std::variant<std::shared_ptr<const Tensor>, LoadError> find(Span from, const std::string& file,
                                                              const std::string& name) override;
  // Those that were read so far, and those that were noted because somebody else reads them.
  std::vector<std::string> paths() const;
  void note(std::string path) { noted_.push_back(std::move(path)); }

 private:
  struct File;
  const File& opened(const std::string& path);

  const SourceMap& sources_;
  std::vector<std::string> noted_;
  std::map<std::string, std::unique_ptr<File>> files_;                                         // by path
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Tensor>> given_, read_;  // by path and name
};

}  // namespace rml
