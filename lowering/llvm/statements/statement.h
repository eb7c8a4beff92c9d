// Emits simple statements, one function for each form (lowering/steps/steps.h says what each means).
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Code that follows belongs to v: sets the places in the source and in the header.
void begin_statement(Function&, ValueId v);

void emit(Function&, const steps::Compute&);
void emit(Function&, const steps::Copy&);
void emit(Function&, const steps::LoadCell&);
void emit(Function&, const steps::StoreCell&);
void emit(Function&, const steps::MoveCell&);
void emit(Function&, const steps::LoadArray&);
void emit(Function&, const steps::StoreArray&);
void emit(Function&, const steps::Push&);
void emit(Function&, const steps::LoadInput&);
void emit(Function&, const steps::StoreOutput&);
void emit(Function&, const steps::Expect&);
void emit(Function&, const steps::Assert&);
void emit(Function&, const steps::SideCell&);
void emit(Function&, const steps::MarkLast&);
void emit(Function&, const steps::SegmentProduct&);

}  // namespace rml::codegen
