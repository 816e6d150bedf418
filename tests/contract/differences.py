"""Differences of the emulator (ministack 1.5.33) from AWS's documentation: the suite follows AWS.

The keys are files and tests; a name in brackets is a single case, otherwise all cases of the test differ.
"""

from __future__ import annotations

KNOWN_REFEREE_DIFFERENCES: dict[str, dict[str, str]] = {
    "test_batch.py": {
        "test_gets_beyond_sixteen_megabytes_are_left_unprocessed": "does not limit a batch of gets (rule 8)",
    },
    "test_capacity.py": {
        "test_a_read_costs_a_unit_for_each_4_kb[4097-2]": "charges the same for every get (rule 32)",
        "test_a_read_costs_a_unit_for_each_4_kb[8192-2]": "charges the same for every get (rule 32)",
        "test_a_read_costs_a_unit_for_each_4_kb[8193-3]": "charges the same for every get (rule 32)",
        "test_a_read_costs_a_unit_for_each_4_kb[400000-98]": "charges the same for every get (rule 32)",
        "test_a_projection_does_not_make_a_read_cheaper": "charges the same for every get (rule 32)",
        "test_a_query_is_charged_by_the_sum_of_its_items": "charges the same for every query (rule 32)",
        "test_filter_projection_and_count_do_not_make_a_query_cheaper": "charges the same for every query",
        "test_a_scan_is_charged_by_the_sum_of_its_items": "charges the same for every scan (rule 32)",
        "test_a_query_of_an_index_is_charged_to_the_index_by_its_entries": "charges the same for every query",
        "test_a_local_index_charges_what_it_fetches_to_the_table": "does not fetch from the table (rule 27)",
        "test_a_transaction_doubles_the_tables_part": "reports no capacity of the table (rule 34)",
        "test_a_condition_check_costs_two": "reports no capacity of the table (rule 34)",
        "test_updates_and_deletes_in_a_transaction_cost_double": "reports no capacity of the table (rule 34)",
        "test_a_replayed_transaction_is_charged_as_reads": "reports no capacity of the table (rule 34)",
        "test_a_transactional_get_costs_two_for_each_4_kb": "charges the same for every get (rule 34)",
        "test_a_batch_costs_what_its_parts_cost": "reports no capacity for a batch of gets",
    },
    "test_conditions.py": {
        "test_a_literal_without_an_order_is_refused": "compares values of any type (rule 13)",
        "test_a_comparison_with_itself_is_refused": "accepts such a comparison (rule 17)",
        "test_a_missing_attribute_differs_from_a_missing_one": "treats missing attributes as equal (rule 12)",
        "test_a_part_that_need_not_be_evaluated_is_validated[right of a true or]": "does not validate it (rule 13)",
        "test_an_invalid_condition_is_refused_though_there_is_no_item": "compares values of any type (rule 13)",
        "test_between_with_an_end_without_order_is_refused": "compares values of any type (rule 13)",
        "test_between_with_ends_of_two_types_is_refused": "accepts bounds of two types (rule 13)",
        "test_more_than_a_hundred_options_are_refused": "accepts any number of options for IN",
    },
    "test_functions.py": {
        "test_a_type_that_is_not_text_is_refused": "accepts a type name that is not a string (rule 14)",
        "test_an_unknown_type_is_refused": "accepts any type name (rule 14)",
        "test_the_type_of_a_value_may_be_asked_too": "requires a path as the first operand",
        "test_begins_with[text for bytes]": "refuses a prefix of another type",
        "test_begins_with[a number]": "refuses a prefix of another type",
        "test_begins_with[a path as prefix]": "requires a path as the first operand",
        "test_contains[bytes]": "does not search binaries",
        "test_contains[number set member]": "compares numbers as text (rule 4)",
        "test_what_has_no_size_compares_as_false[N]": "returns a size for scalars",
        "test_what_has_no_size_compares_as_false[BOOL]": "returns a size for scalars",
        "test_what_has_no_size_compares_as_false[NULL]": "returns a size for scalars",
    },
    "test_get.py": {
        "test_a_key_has_no_inside": "accepts paths into keys",
        "test_conflicting_projections_are_refused": "accepts conflicting projections (rule 23)",
    },
    "test_index_gsi.py": {
        "test_a_query_may_not_filter_by_what_the_index_does_not_project": "filters by the whole item (rule 27)",
        "test_a_scan_of_an_index_sees_only_what_it_projects": "filters by the whole item (rule 27)",
        "test_a_filter_on_the_indexs_own_keys_is_refused": "accepts filters on key attributes",
        "test_a_bad_index_key_refuses_the_write[too long for a partition]": "accepts index keys of any length (rule 6)",
        "test_a_bad_index_key_refuses_the_write[too long for a range]": "accepts index keys of any length (rule 6)",
        "test_a_global_index_never_fetches_what_it_does_not_project": "leaves the attribute out (rule 27)",
        "test_filling_an_index_skips_items_that_do_not_fit": "adds all items to the index (rule 28)",
    },
    "test_index_lsi.py": {
        "test_a_query_may_not_filter_by_what_the_local_index_does_not_project": "filters by the whole item (rule 27)",
        "test_a_local_index_fetches_from_the_table_what_it_does_not_project": "does not fetch (rule 27)",
    },
    "test_numbers.py": {
        "test_arithmetic_is_exact[to 38 digits]": "rounds to 28 digits (rule 1)",
        "test_arithmetic_that_cannot_be_exact_is_refused[50 digits]": "rounds the result (rule 1)",
        "test_arithmetic_that_cannot_be_exact_is_refused[39 digits]": "rounds the result (rule 1)",
        "test_equal_numbers_are_one_key[1.0]": "compares keys as text (rule 4)",
        "test_equal_numbers_are_one_key[10e-1]": "compares keys as text (rule 4)",
    },
    "test_paging.py": {
        "test_a_start_key_of_an_index_must_be_complete[one attribute too many]": "accepts such a key (rule 26)",
        "test_a_start_key_on_a_hash_only_table_is_refused": "accepts such a key (rule 26)",
        "test_a_start_key_that_is_not_of_the_query_is_refused[one attribute too many]": "accepts such a key (rule 26)",
        "test_a_start_key_that_is_not_of_the_query_is_refused[wrong type]": "accepts such a key (rule 26)",
        "test_a_start_key_that_is_not_of_the_query_is_refused[empty]": "accepts such a key (rule 26)",
    },
    "test_query.py": {
        "test_a_filter_on_the_primary_key_is_refused": "accepts filters on key attributes",
        "test_a_key_condition_that_is_refused[ends of two types]": "accepts bounds of two types (rule 13)",
        "test_options_are_validated_though_nothing_matches[operand type]": "validates only what it evaluates (rule 15)",
        "test_options_are_validated_though_nothing_matches[same operand]": "validates only what it evaluates (rule 15)",
    },
    "test_returns.py": {
        "test_an_update_returns_what_was_asked_for[touched list elements old]": "returns the whole list (rule 21)",
        "test_an_update_returns_what_was_asked_for[touched list elements new]": "returns the whole list (rule 21)",
    },
    "test_scan.py": {
        "test_a_scan_of_an_index_is_in_the_order_of_its_own_hashes": "scans in the order of the table's keys (rule 46)",
        "test_a_start_key_of_another_segment_is_refused": "accepts such a start key",
        "test_partitions_are_in_the_order_of_their_hashes": "scans a table in the order of its keys (rule 46)",
    },
    "test_sizes_limits.py": {
        "test_a_path_may_have_32_parts": "accepts any number of parts (rule 7)",
        "test_an_attribute_name_too_long_is_refused": "accepts names of any length (rule 6)",
        "test_an_empty_attribute_name_is_refused": "accepts empty names (rule 6)",
    },
    "test_streams.py": {
        "test_disabling_what_is_disabled_is_refused": "accepts it (rule 42)",
        "test_enabling_what_is_enabled_is_refused": "accepts it (rule 42)",
    },
    "test_tables.py": {
        "test_items_are_counted_and_measured": "estimates the size of a table",
        "test_a_schema_that_is_refused[key name too long]": "accepts such a schema (rules 6, 30)",
        "test_a_schema_that_is_refused[local index without a range]": "accepts such a schema (rules 6, 30)",
        "test_a_schema_that_is_refused[six local indexes]": "accepts such a schema (rules 6, 30)",
        "test_a_schema_that_is_refused[twenty-one global indexes]": "accepts such a schema (rules 6, 30)",
        "test_a_schema_that_is_refused[five hash attributes]": "accepts such a schema (rules 6, 30)",
        "test_a_schema_that_is_refused[five range attributes]": "accepts such a schema (rules 6, 30)",
        "test_a_schema_that_is_refused[projected name too long]": "accepts such a schema (rules 6, 30)",
    },
    "test_tokens.py": {
        "test_the_same_token_runs_once": "reports no capacity of the table, which shows a replay (rule 34)",
        "test_two_first_calls_at_once_do_not_both_run": "reports no capacity of the table (rule 34)",
        "test_a_token_has_1_to_36_characters[empty]": "ignores an empty token (rule 38)",
    },
    "test_transact_get.py": {
        "test_a_wrongly_typed_key_is_a_reason": "accepts such a key (rule 37)",
        "test_overlapping_projections_refuse_the_request": "accepts overlapping projections (rule 23)",
    },
    "test_transact_write.py": {
        "test_an_action_that_is_wrong_in_itself_refuses_the_request[invalid condition]": "cancels instead (rule 37)",
        "test_an_action_that_is_wrong_in_itself_refuses_the_request[overlapping paths]": "cancels instead (rule 37)",
        "test_an_action_that_is_wrong_in_itself_refuses_the_request[operand type]": "cancels instead (rule 37)",
        "test_an_action_that_is_wrong_in_itself_refuses_the_request[same operands]": "accepts it (rule 37)",
        "test_an_action_that_the_table_or_item_refuses_is_a_reason[a key too few]": "accepts such a key (rule 37)",
        "test_with_a_validation_error_no_condition_is_evaluated": "gives every invalid action a reason (rule 36)",
    },
    "test_ttl.py": {
        "test_switching_ttl_off_twice_is_refused": "accepts the second call",
        "test_switching_ttl_on_twice_is_refused": "accepts the second call",
        "test_the_ttl_attribute_has_1_to_255_bytes[too long]": "accepts names of any length (rule 6)",
    },
    "test_update_clauses.py": {
        "test_update[REMOVE by the old positions]": "uses the new positions (rule 18)",
        "test_update[REMOVE all elements]": "uses the new positions (rule 18)",
        "test_update[ADD an equal number to a set]": "compares numbers as text (rule 4)",
        "test_update[DELETE from a number set]": "compares numbers as text (rule 4)",
        "test_update_refused[REMOVE below a missing attribute]": "does not validate paths (rule 19)",
        "test_update_refused[REMOVE overlapping paths]": "does not validate paths (rule 19)",
        "test_update_refused[ADD below a missing map]": "does not validate paths (rule 19)",
        "test_update_refused[the same path in two clauses]": "does not validate paths (rule 19)",
        "test_update_refused[overlap between clauses]": "does not validate paths (rule 19)",
        "test_taking_away_from_a_missing_item_does_not_create_it": "creates the item (rule 20)",
    },
    "test_update_set.py": {
        "test_set[several past the end append in index order]": "appends in textual order of the indexes (rule 18)",
        "test_set_refused[member of a text]": "refuses it with another message (rule 19)",
        "test_set_refused[element of a map]": "does not validate this (rules 17, 19)",
        "test_set_refused[member of a list]": "refuses it with another message (rule 19)",
        "test_set_refused[sum with a text]": "does not validate this (rules 17, 19)",
        "test_set_refused[sum of literal texts]": "does not validate this (rules 17, 19)",
        "test_set_refused[append to a text]": "does not validate this (rules 17, 19)",
        "test_set_refused[append a literal that is not a list]": "does not validate this (rules 17, 19)",
        "test_set_refused[same path twice]": "does not validate this (rules 17, 19)",
        "test_set_refused[map and its member]": "does not validate this (rules 17, 19)",
        "test_set_refused[append in append]": "does not validate this (rules 17, 19)",
    },
    "test_vectors.py": {
        "test_a_search_is_charged_for_the_vectors_that_it_compares": "charges less than 1,024 bytes (rule 69)",
        "test_a_vector_index_is_neither_queried_nor_scanned": "says that there is no such index (rule 68)",
        "test_an_index_that_is_added_has_the_items_that_fit": "refuses updates of items that do not fit (rule 66)",
        "test_an_item_without_vector_or_partition_is_not_in_the_index": "returns ties in the order of writing",
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
    "test_a_schema_that_is_refused[empty name]": "with the prefix, the name is not empty",
    "test_a_schema_that_is_refused[name too short]": "with the prefix, the name is long enough",
    "test_a_name_that_is_accepted[longest]": "with the prefix, the name is too long",
}
"""Differences of a store with other names of tables: the prefix is a part of the name."""
