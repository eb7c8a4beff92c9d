// Finds presence by running: the reference engine reports the cell that violates its clock.
#include "driver/checks/gradient_inputs.h"

#include <cstring>
#include <random>

#include "runtime/base/failure.h"
#include "runtime/kernels/half_float.h"
#include "runtime/stream_io/endpoints/endpoints.h"
#include "runtime/stream_io/endpoints/open_endpoints.h"
#include "semantics/reference/interpret.h"

namespace rml {
namespace {

std::optional<RunFault> first_fault(const GradientProgram& program, const Chronogram& inputs, std::uint64_t seed) {
  Interpreter interpreter(*program.core, seed, program.call);
  for (std::size_t t = 0; t < inputs[0].cells.size(); ++t) {
    std::vector<Cell> row;
    for (const ChronogramRow& r : inputs) row.push_back(r.cells[t]);
    if (auto fault = interpreter.push(std::move(row))) return fault;
    while (interpreter.pop()) {
    }
  }
  interpreter.finish();
  return std::nullopt;
}

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : random_(seed + 2) {}

  Tensor tensor(const ChronogramPort& port) {
    Tensor t(port.dtype, port.shape);
    for (std::int64_t k = 0; k < t.elements(); ++k) draw(t, k);
    return t;
  }

 private:
  void draw(Tensor& t, std::int64_t k) {
    const double v = std::uniform_real_distribution<double>(-1.25, 1.25)(random_);
    const bool one = v > 0;
    switch (t.dtype()) {
      case DType::f64:
        t.as<double>()[k] = v;
        break;
      case DType::f32:
        t.as<float>()[k] = static_cast<float>(v);
        break;
      case DType::f16:
        t.as<std::uint16_t>()[k] = rt::f16_from_double(v);
        break;
      case DType::bf16:
        t.as<std::uint16_t>()[k] = rt::bf16_from_double(v);
        break;
      default:  // copies the bytes of an integer, which is little-endian
        std::memcpy(static_cast<std::byte*>(t.data()) + static_cast<std::size_t>(k) * byte_size(t.dtype()), &one, 1);
    }
  }

  std::mt19937_64 random_;
};

// The cell that a reader left in a row; f32 is widened if the programs compute in f64.
Cell cell_of(const GradientPrograms& programs, const rt::Row& row, std::uint32_t i) {
  if (!row.is_present(i)) return {Presence::absent, {}};
  const ChronogramPort& port = programs.inputs[i];
  Tensor read(port.dtype, port.shape);
  if (read.bytes() > 0) std::memcpy(read.data(), row.data(i), read.bytes());
  if (programs.computed(port.dtype) == port.dtype) return {Presence::present, std::move(read)};
  Tensor wide(DType::f64, port.shape);
  for (std::int64_t k = 0; k < wide.elements(); ++k) wide.as<double>()[k] = read.as<float>()[k];
  return {Presence::present, std::move(wide)};
}

}  // namespace

bool keep_to_clocks(const GradientProgram& program, Chronogram& inputs, std::uint64_t seed, const NewCell& cell,
                    std::string& error) {
  if (inputs.empty()) return true;
  for (std::size_t changes = inputs.size() * inputs[0].cells.size() + 1; changes > 0; --changes) {
    const auto fault = first_fault(program, inputs, seed);
    // Accepts the inputs, because the run itself reports other faults.
    if (!fault || fault->input == UINT32_MAX) return true;
    const auto cycle = static_cast<std::size_t>(fault->cycle);
    const bool present = fault->fault.bound == 0;
    auto made = cell(fault->input, cycle, present);
    if (!made) {
      error = "input '" + inputs[fault->input].name + "' is " + (present ? "absent" : "present") + " in cycle " +
              std::to_string(cycle) + ", against its clock " +
              clock_string(*program.core, (*program.core)[program.core->inputs[fault->input].value].clock);
      return false;
    }
    inputs[fault->input].cells[cycle] = std::move(*made);
  }
  error = "no random inputs were found that are present and absent as their clocks require";
  return false;
}

std::optional<Chronogram> random_gradient_inputs(const GradientPrograms& programs, std::int64_t cycles,
                                                 std::uint64_t seed, std::string& error) {
  Drawn drawn(seed);
  Chronogram rows;
  for (const ChronogramPort& p : programs.inputs) {
    const ChronogramPort port{p.name, programs.computed(p.dtype), p.shape};
    rows.push_back({p.name, {}});
    for (std::int64_t t = 0; t < cycles; ++t) rows.back().cells.push_back({Presence::present, drawn.tensor(port)});
    if (p.dtype == DType::boolean && p.shape.empty() && cycles > 0)
      rows.back().cells.back().value = Tensor::boolean(true);
  }
  const Chronogram values = rows;
  const NewCell cell = [&](std::size_t input, std::size_t cycle, bool present) -> std::optional<Cell> {
    if (!present) return Cell{Presence::absent, {}};
    return values[input].cells[cycle];
  };
  if (!keep_to_clocks(programs.recorded, rows, seed, cell, error)) return std::nullopt;
  return rows;
}

std::optional<Chronogram> read_gradient_inputs(const GradientPrograms& programs, const std::vector<std::string>& files,
                                               std::int64_t cycles, std::string& error) {
  const rml_program& table = programs.recorded.program->table();
  std::vector<rml_port> ports(table.inputs, table.inputs + programs.inputs.size());
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i].dtype = static_cast<std::uint8_t>(programs.inputs[i].dtype);
  Chronogram rows;
  for (const ChronogramPort& p : programs.inputs) rows.push_back({p.name, {}});
  try {
    rt::Row row(ports.data(), static_cast<std::uint32_t>(ports.size()));
    const auto source = rt::open_sources(rt::plan_endpoints(rt::Direction::in, files, "", row), row, {});
    for (std::int64_t t = 0; (cycles < 0 || t < cycles) && source && source->read(); ++t)
      for (std::uint32_t i = 0; i < row.size(); ++i) rows[i].cells.push_back(cell_of(programs, row, i));
  } catch (const rt::Failure& failure) {
    error = failure.what();
    return std::nullopt;
  }
  return rows;
}

}  // namespace rml
