// Content of files is not trusted: the reader checks the header, and a tensor must have a type,
// rank and size that the language allows.
#include "compiler/loaded_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "compiler/read_file.h"
#include "frontend/diagnostic.h"
#include "runtime/base/failure.h"
#include "runtime/checkpoint/safetensors.h"

namespace rml {

namespace fs = std::filesystem;

struct LoadedFiles::File {
  explicit File(const fs::path& path) : view(path) {}
  FileView view;
  rt::Safetensors content;
  LoadError error;  // has a message if the file cannot be used
};

LoadedFiles::LoadedFiles(const SourceMap& sources) : sources_(sources) {}
LoadedFiles::~LoadedFiles() = default;

std::vector<std::string> LoadedFiles::paths() const {
  std::vector<std::string> all = noted_;
  for (const auto& file : files_) all.push_back(file.first);
  return all;
}

const LoadedFiles::File& LoadedFiles::opened(const std::string& path) {
  auto& place = files_[path];
  if (place) return *place;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool regular = fs::is_regular_file(status);
  place = std::make_unique<File>(regular ? fs::path(path) : fs::path());
  if (!regular) {
    const bool there = fs::exists(status);
    place->error = {true, "cannot read `" + path + "`: " +
                              (there   ? "not a regular file"
                               : error ? error.message()
                                       : "No such file or directory")};
    return *place;
  }
  if (place->view.bytes().empty()) {
    place->error = {true, "cannot read `" + path + "`, or it is empty"};
    return *place;
  }
  try {
    place->content = rt::read_safetensors(path, place->view.bytes());
  } catch (const rt::Failure& failure) {
    place->error = {false, failure.what()};
  }
  return *place;
}

namespace {

// Returns the tensor as a value of the language, or the reason why it cannot be one.
std::variant<std::shared_ptr<const Tensor>, LoadError> converted(const std::string& path, const rt::TensorIn& in) {
  const auto refused = [&](const std::string& why) {
    return LoadError{false, "'" + in.name + "' in `" + path + "` " + why};
  };
  if (in.dtype == rt::foreign_dtype)
    return refused("is of type " + in.dtype_text + ", which the language does not have");
  if (in.shape.size() > max_rank) return refused("has more than " + std::to_string(max_rank) + " axes");
  Shape shape;
  for (const std::uint64_t extent : in.shape) {
    if (extent > static_cast<std::uint64_t>(max_constant_elements)) return refused("is too large for a constant");
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  const auto elements = element_count(shape);
  if (!elements || *elements > max_constant_elements) return refused("is too large for a constant");
  const auto dtype = static_cast<DType>(in.dtype);
  if (dtype == DType::boolean && !std::ranges::all_of(in.data, [](char c) { return c == 0 || c == 1; }))
    return refused("holds a Boolean that is neither true nor false");
  auto tensor = std::make_shared<Tensor>(dtype, shape);
  if (!in.data.empty()) std::memcpy(tensor->data(), in.data.data(), in.data.size());
  tensor->freeze();
  return tensor;
}

}  // namespace

std::variant<std::shared_ptr<const Tensor>, LoadError> LoadedFiles::find(Span from, const std::string& file,
                                                                         const std::string& name) {
  if (const auto given = given_.find({file, name}); given != given_.end()) return given->second;
  const std::string path = (fs::path(sources_.path(from.file)).parent_path() / file).string();
  const auto met = read_.find({path, name});
  if (met != read_.end()) return met->second;
  const File& opened = this->opened(path);
  if (!opened.error.message.empty()) return opened.error;
  const rt::TensorIn* in = opened.content.find(name);
  if (in == nullptr) {
    std::vector<std::string> names;
    for (const rt::TensorIn& t : opened.content.tensors) names.push_back(t.name);
    const std::string near = did_you_mean(name, names);
    return LoadError{
        false, "`" + path + "` has no tensor '" + name + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?")};
  }
  auto tensor = converted(path, *in);
  if (const auto* good = std::get_if<std::shared_ptr<const Tensor>>(&tensor)) read_[{path, name}] = *good;
  return tensor;
}

}  // namespace rml
