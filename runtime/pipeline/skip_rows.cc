// The rows are read and their checksum computed as in the run that saved the state.
#include "runtime/pipeline/skip_rows.h"

#include "runtime/base/failure.h"

namespace rml::rt {

void skip_rows(RowSource& source, const Row& row, std::uint32_t ports, std::int64_t rows, std::uint32_t checksum,
               const std::string& path) {
  std::uint32_t found = 0;
  for (std::int64_t read = 0; read < rows; ++read) {
    if (!source.read()) {
      throw Failure(source.name() + " ends after " + std::to_string(read) + " rows, but '" + path +
                    "' was saved after " + std::to_string(rows));
    }
    found = row.checksum(found, ports);
  }
  if (found != checksum) {
    throw Failure("the first " + std::to_string(rows) + " rows of " + source.name() + " are not those that '" + path +
                  "' was saved after; to continue with other rows, use --load");
  }
}

}  // namespace rml::rt
