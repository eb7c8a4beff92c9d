// The operator table: the rows of all families in one vector, with an index by name.
//
// OperatorIds are positions in that vector, so they depend on the order of the families below and
// are never written to files; text forms use names. Names and aliases must be unique: a duplicate
// is an internal error, found at the first use.
#include <algorithm>
#include <stdexcept>

#include "semantics/operators/operator.h"

namespace rml {

OperatorTable::OperatorTable() {
  using Family = std::vector<OperatorInfo> (*)();
  constexpr Family families[] = {elementwise_operators,  function_operators,      linear_algebra_operators,
                                 structural_operators,   reduction_operators,     expanded_operators,
                                 construction_operators, random_operators,        indexing_operators,
                                 convolution_operators,  decomposition_operators, transform_operators};
  for (const Family family : families) {
    for (OperatorInfo& row : family()) rows_.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    index_.emplace_back(rows_[i].name, static_cast<OperatorId>(i));
    for (const std::string_view alias : rows_[i].aliases) index_.emplace_back(alias, static_cast<OperatorId>(i));
  }
  std::sort(index_.begin(), index_.end());
  for (std::size_t i = 1; i < index_.size(); ++i) {
    if (index_[i].first == index_[i - 1].first) {
      throw std::logic_error("operator table: two rows named " + std::string(index_[i].first));
    }
  }
}

std::optional<OperatorId> OperatorTable::find(std::string_view name) const {
  const auto at = std::lower_bound(index_.begin(), index_.end(), name,
                                   [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  if (at == index_.end() || at->first != name) return std::nullopt;
  return at->second;
}

OperatorId OperatorTable::require(std::string_view name) const {
  const auto id = find(name);
  if (!id) throw std::logic_error("operator table: no row named " + std::string(name));
  return *id;
}

std::vector<std::string> OperatorTable::names() const {
  std::vector<std::string> names;
  for (const OperatorInfo& row : rows_) names.emplace_back(row.name);
  return names;
}

const OperatorTable& operators() {
  static const OperatorTable table;
  return table;
}

}  // namespace rml
