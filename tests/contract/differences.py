"""Differences of the emulator (ministack 1.5.33) from AWS's documentation: the suite follows AWS.

The keys are files and tests; a name in brackets is a single case, otherwise all cases of the test differ.
"""

from __future__ import annotations

KNOWN_REFEREE_DIFFERENCES: dict[str, dict[str, str]] = {
    "test_batch.py": {
        "test_gets_beyond_sixteen_megabytes_are_left_unprocessed": "has no such limit (rule 8)",
    },
    "test_capacity.py": {
        "test_a_read_costs_a_unit_for_each_4_kb[4097-2]": "charges every get alike (rule 32)",
        "test_a_read_costs_a_unit_for_each_4_kb[8192-2]": "charges every get alike (rule 32)",
        "test_a_read_costs_a_unit_for_each_4_kb[8193-3]": "charges every get alike (rule 32)",
        "test_a_read_costs_a_unit_for_each_4_kb[400000-98]": "charges every get alike (rule 32)",
        "test_a_projection_does_not_make_a_read_cheaper": "charges every get alike (rule 32)",
        "test_a_query_is_charged_by_the_sum_of_its_items": "charges every query alike (rule 32)",
        "test_filter_projection_and_count_do_not_make_a_query_cheaper": "charges every query alike",
        "test_a_scan_is_charged_by_the_sum_of_its_items": "charges every scan alike (rule 32)",
        "test_a_query_of_an_index_is_charged_to_the_index_by_its_entries": "charges the table",
        "test_a_local_index_charges_what_it_fetches_to_the_table": "fetches nothing (rule 27)",
        "test_a_transaction_doubles_the_tables_part": "does not double (rule 34)",
        "test_a_condition_check_costs_two": "does not charge for it (rule 34)",
        "test_updates_and_deletes_in_a_transaction_cost_double": "does not double (rule 34)",
        "test_a_replayed_transaction_is_charged_as_reads": "charges writes again (rule 34)",
        "test_a_transactional_get_costs_two_for_each_4_kb": "charges every get alike (rule 34)",
        "test_a_batch_costs_what_its_parts_cost": "reports no capacity of a batch of gets",
    },
    "test_conditions.py": {
        "test_a_literal_without_an_order_is_refused": "compares anything (rule 13)",
        "test_a_comparison_with_itself_is_refused": "compares an attribute with itself (rule 17)",
        "test_a_missing_attribute_differs_from_a_missing_one": "missing <> missing is false (rule 12)",
        "test_a_part_that_need_not_be_evaluated_is_validated[right of a true or]": "rule 13",
        "test_an_invalid_condition_is_refused_though_there_is_no_item": "rule 13",
        "test_between_with_an_end_without_order_is_refused": "rule 13",
        "test_between_with_ends_of_two_types_is_refused": "rule 13",
        "test_more_than_a_hundred_options_are_refused": "accepts any number of options",
    },
    "test_functions.py": {
        "test_a_type_that_is_not_text_is_refused": "accepts any type name (rule 14)",
        "test_an_unknown_type_is_refused": "accepts any type name (rule 14)",
        "test_the_type_of_a_value_may_be_asked_too": "accepts a value for a path",
        "test_begins_with[text for bytes]": "compares any type as text; first a path",
        "test_begins_with[a number]": "compares any type as text; first a path",
        "test_begins_with[a path as prefix]": "compares any type as text; first a path",
        "test_contains[bytes]": "no binaries; number texts (rule 4)",
        "test_contains[number set member]": "no binaries; number texts (rule 4)",
        "test_what_has_no_size_compares_as_false[N]": "gives scalars a size",
        "test_what_has_no_size_compares_as_false[BOOL]": "gives scalars a size",
        "test_what_has_no_size_compares_as_false[NULL]": "gives scalars a size",
    },
    "test_get.py": {
        "test_a_key_has_no_inside": "looks into keys",
        "test_conflicting_projections_are_refused": "confuses a conflict with an overlap (rule 23)",
    },
    "test_index_gsi.py": {
        "test_a_query_may_not_filter_by_what_the_index_does_not_project": "filters by the item (rule 27)",
        "test_a_scan_of_an_index_sees_only_what_it_projects": "filters by the item (rule 27)",
        "test_a_filter_on_the_indexs_own_keys_is_refused": "filters on keys",
        "test_a_bad_index_key_refuses_the_write[too long for a partition]": "index keys may have any length (rule 6)",
        "test_a_bad_index_key_refuses_the_write[too long for a range]": "index keys may have any length (rule 6)",
        "test_a_global_index_never_fetches_what_it_does_not_project": "leaves it out (rule 27)",
        "test_filling_an_index_skips_items_that_do_not_fit": "fills in everything (rule 28)",
    },
    "test_index_lsi.py": {
        "test_a_query_may_not_filter_by_what_the_local_index_does_not_project": "filters by the item",
        "test_a_local_index_fetches_from_the_table_what_it_does_not_project": "rule 27",
    },
    "test_numbers.py": {
        "test_arithmetic_is_exact[to 38 digits]": "rounds to 28 digits (rule 1)",
        "test_arithmetic_that_cannot_be_exact_is_refused[50 digits]": "rounds (rule 1)",
        "test_arithmetic_that_cannot_be_exact_is_refused[39 digits]": "rounds (rule 1)",
        "test_equal_numbers_are_one_key[1.0]": "keys are texts (rule 4)",
        "test_equal_numbers_are_one_key[10e-1]": "keys are texts (rule 4)",
    },
    "test_paging.py": {
        "test_a_start_key_of_an_index_must_be_complete[one attribute too many]": "rule 26",
        "test_a_start_key_on_a_hash_only_table_is_refused": "rule 26",
        "test_a_start_key_that_is_not_of_the_query_is_refused[one attribute too many]": "rule 26",
        "test_a_start_key_that_is_not_of_the_query_is_refused[wrong type]": "rule 26",
        "test_a_start_key_that_is_not_of_the_query_is_refused[empty]": "rule 26",
    },
    "test_query.py": {
        "test_a_filter_on_the_primary_key_is_refused": "filters on keys",
        "test_a_key_condition_that_is_refused[ends of two types]": "rule 13",
        "test_options_are_validated_though_nothing_matches[operand type]": "validates what it evaluates (rule 15)",
        "test_options_are_validated_though_nothing_matches[same operand]": "validates what it evaluates (rule 15)",
    },
    "test_returns.py": {
        "test_an_update_returns_what_was_asked_for[touched list elements old]": "gives the whole list (rule 21)",
        "test_an_update_returns_what_was_asked_for[touched list elements new]": "gives the whole list (rule 21)",
    },
    "test_scan.py": {
        "test_a_start_key_of_another_segment_is_refused": "accepts it",
    },
    "test_sizes_limits.py": {
        "test_a_path_may_have_32_parts": "accepts any number of parts (rule 7)",
        "test_an_attribute_name_too_long_is_refused": "rule 6",
        "test_an_empty_attribute_name_is_refused": "rule 6",
    },
    "test_streams.py": {
        "test_disabling_what_is_disabled_is_refused": "rule 42",
        "test_enabling_what_is_enabled_is_refused": "rule 42",
    },
    "test_tables.py": {
        "test_items_are_counted_and_measured": "estimates the size of a table",
        "test_a_schema_that_is_refused[key name too long]": "has no such limit (rules 6, 30)",
        "test_a_schema_that_is_refused[local index without a range]": "has no such limit (rules 6, 30)",
        "test_a_schema_that_is_refused[six local indexes]": "has no such limit (rules 6, 30)",
        "test_a_schema_that_is_refused[twenty-one global indexes]": "has no such limit (rules 6, 30)",
        "test_a_schema_that_is_refused[five hash attributes]": "has no such limit (rules 6, 30)",
        "test_a_schema_that_is_refused[five range attributes]": "has no such limit (rules 6, 30)",
        "test_a_schema_that_is_refused[projected name too long]": "has no such limit (rules 6, 30)",
    },
    "test_tokens.py": {
        "test_the_same_token_runs_once": "charges a replay as writes, so it cannot be recognised (rule 34)",
        "test_two_first_calls_at_once_do_not_both_run": "charges a replay as writes (rule 34)",
        "test_a_token_has_1_to_36_characters[empty]": "takes an empty token for none (rule 38)",
    },
    "test_transact_get.py": {
        "test_a_wrongly_typed_key_is_a_reason": "refuses the request (rule 37)",
        "test_overlapping_projections_refuse_the_request": "rule 23",
    },
    "test_transact_write.py": {
        "test_an_action_that_is_wrong_in_itself_refuses_the_request[invalid condition]": "a reason (rule 37)",
        "test_an_action_that_is_wrong_in_itself_refuses_the_request[overlapping paths]": "a reason (rule 37)",
        "test_an_action_that_is_wrong_in_itself_refuses_the_request[operand type]": "a reason (rule 37)",
        "test_an_action_that_is_wrong_in_itself_refuses_the_request[same operands]": "a reason (rule 37)",
        "test_an_action_that_the_table_or_item_refuses_is_a_reason[a key too few]": "rule 37",
        "test_with_a_validation_error_no_condition_is_evaluated": "evaluates them (rule 36)",
    },
    "test_ttl.py": {
        "test_switching_ttl_off_twice_is_refused": "accepts it",
        "test_switching_ttl_on_twice_is_refused": "accepts it",
        "test_the_ttl_attribute_has_1_to_255_bytes[too long]": "rule 6",
    },
    "test_update_clauses.py": {
        "test_update[REMOVE by the old positions]": "uses the new positions (rule 18)",
        "test_update[REMOVE all elements]": "uses the new positions (rule 18)",
        "test_update[ADD an equal number to a set]": "compares number texts (rule 4)",
        "test_update[DELETE from a number set]": "compares number texts (rule 4)",
        "test_update_refused[REMOVE below a missing attribute]": "is not validated (rule 19)",
        "test_update_refused[REMOVE overlapping paths]": "is not validated (rule 19)",
        "test_update_refused[ADD below a missing map]": "is not validated (rule 19)",
        "test_update_refused[the same path in two clauses]": "is not validated (rule 19)",
        "test_update_refused[overlap between clauses]": "is not validated (rule 19)",
        "test_taking_away_from_a_missing_item_does_not_create_it": "creates it (rule 20)",
    },
    "test_update_set.py": {
        "test_set[several past the end append in index order]": "appends in textual order (rule 18)",
        "test_set_refused[member of a text]": "is not validated (rules 17, 19)",
        "test_set_refused[element of a map]": "is not validated (rules 17, 19)",
        "test_set_refused[member of a list]": "is not validated (rules 17, 19)",
        "test_set_refused[sum with a text]": "is not validated (rules 17, 19)",
        "test_set_refused[sum of literal texts]": "is not validated (rules 17, 19)",
        "test_set_refused[append to a text]": "is not validated (rules 17, 19)",
        "test_set_refused[append a literal that is not a list]": "is not validated (rules 17, 19)",
        "test_set_refused[same path twice]": "is not validated (rules 17, 19)",
        "test_set_refused[map and its member]": "is not validated (rules 17, 19)",
        "test_set_refused[append in append]": "is not validated (rules 17, 19)",
    },
}

HIDDEN_BY_THE_REMOTE_STORE: frozenset[str] = frozenset(
    (
        "test_a_condition_check_costs_two",
        "test_a_replayed_transaction_is_charged_as_reads",
        "test_a_transaction_doubles_the_tables_part",
        "test_contains[number set member]",
        "test_equal_numbers_are_one_key[1.0]",
        "test_equal_numbers_are_one_key[10e-1]",
        "test_the_same_token_runs_once",
        "test_two_first_calls_at_once_do_not_both_run",
        "test_update[ADD an equal number to a set]",
        "test_update[DELETE from a number set]",
        "test_updates_and_deletes_in_a_transaction_cost_double",
    )
)
"""Differences that the remote store hides, as it sends numbers in one form and reports capacity as received."""

MADE_BY_A_PREFIX: dict[str, str] = {
    "test_a_schema_that_is_refused[empty name]": "the prefix is the name",
    "test_a_schema_that_is_refused[name too short]": "with the prefix it is long enough",
    "test_a_name_that_is_accepted[longest]": "with the prefix it is too long",
}
"""Differences of a store with other names of tables: the prefix is a part of the name."""
