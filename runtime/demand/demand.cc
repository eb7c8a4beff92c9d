// The functions that compiled programs call. An Evaluator exists beside the state, which has a
// pointer to it.
#include <algorithm>
#include <new>

#include "runtime/demand/evaluator.h"
#include "runtime/demand/table.h"

namespace {

using rml::rt::demand::Evaluator;

Evaluator*& evaluator(void* state, const rml_demand* table) {
  return *reinterpret_cast<Evaluator**>(static_cast<char*>(state) + table->evaluator);
}

}  // namespace

Evaluator& rml::rt::demand::evaluator_of(const void* state, const rml_demand& table) {
  return *evaluator(const_cast<void*>(state), &table);
}

void rml_demand_init(void* state, const rml_demand* table) {
  rml_header& header = *static_cast<rml_header*>(state);
  header.pushed = header.popped = header.longest_segment = header.segments = header.buffer_bytes = 0;
  header.fault = RML_OK;
  header.site = 0;
  header.fault_cycle = header.value = header.bound = 0;
  header.waiting = -1;
  header.place = 0;
  for (std::uint32_t k = 0; k < table->n_slots; ++k) {
    void** const slot = reinterpret_cast<void**>(static_cast<char*>(state) + table->slots[k]);
    *slot = static_cast<void*>(slot);
  }
  Evaluator*& own = evaluator(state, table);
  own = new (std::nothrow) Evaluator(header, state, *table);
  if (own == nullptr) header.fault = RML_FAULT_MEMORY;
}

std::int32_t rml_demand_push(void* state, const rml_demand* table, const void* const* in, const std::uint8_t* present) {
  rml_header& header = *static_cast<rml_header*>(state);
  if (header.fault == RML_OK) evaluator(state, table)->push(in, present);
  return header.fault;
}

std::int32_t rml_demand_finish(void* state, const rml_demand* table) {
  rml_header& header = *static_cast<rml_header*>(state);
  if (header.fault == RML_OK) evaluator(state, table)->tell_waiting();
  return header.fault;
}

std::int32_t rml_demand_pop(void* state, const rml_demand* table, void* const* out, std::uint8_t* present) {
  Evaluator* const own = evaluator(state, table);
  return own != nullptr && own->pop(out, present) ? 1 : 0;
}

void rml_demand_lead(void* state, const rml_demand* table, void* const* out, std::uint8_t* present,
                     std::uint8_t* known) {
  std::fill_n(known, table->n_outputs, std::uint8_t{0});
  if (static_cast<const rml_header*>(state)->fault == RML_OK) evaluator(state, table)->lead(out, present, known);
}

void rml_demand_destroy(void* state, const rml_demand* table) {
  delete evaluator(state, table);
  evaluator(state, table) = nullptr;
}
