# The functions of the runtime that compiled programs may call, except kernels, which are listed
# by their archive.
set(RML_CALLED_BY_PROGRAMS rml_main rml_parallel
  rml_demand_init rml_demand_push rml_demand_finish rml_demand_pop rml_demand_lead rml_demand_destroy
  rml_rank rml_rank_count rml_micro_batch rml_global_row rml_last_here rml_all_sum rml_broadcast
  rml_step_ends rml_step_sum rml_from_first)
