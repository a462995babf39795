"""Spec 002, MCB ADR-043. In our words: what proves each, or which step will."""

from contracts.manifest.entry import Requirement, planned, proved

REQUIREMENTS: tuple[Requirement, ...] = (
    proved(
        "002-ARCH",
        "text, vectors and graph are fused into one ranking with provenance",
        "tests/contracts/test_mcb.py::test_text_and_vectors_are_fused_by_weighted_rrf",
        "tests/ranking/test_fuse.py::test_every_combination_of_weights_adds_up_by_the_formula",
    ),
    proved(
        "002-Q-TEXT",
        "a query is text in any language, prose or code",
        "tests/contracts/test_mcb.py::test_a_search_by_text_returns_twenty_nodes_unless_told",
    ),
    proved(
        "002-Q-EMBEDDING",
        "a query may bring its vector",
        "tests/contracts/test_mcb.py::test_a_precomputed_embedding_takes_the_place_of_the_embedder",
        "tests/contracts/test_mcb.py::test_an_embedding_that_is_no_list_of_numbers_is_refused",
        "tests/contracts/test_mcb.py::test_an_embedding_of_another_length_is_refused",
    ),
    proved(
        "002-Q-GRAPH",
        "a query may ask for one of three graph strategies, or none",
        "tests/contracts/test_mcb.py::test_each_graph_strategy_can_be_asked_for",
        "tests/contracts/test_mcb.py::test_a_graph_strategy_that_means_nothing_is_refused",
    ),
    proved(
        "002-Q-SCOPE",
        "a query may be held to project, package, module or file",
        "tests/contracts/test_mcb.py::test_scope_holds_on_every_leg",
    ),
    proved(
        "002-Q-FLOOR",
        "a query may set the stalest class it wants",
        "tests/contracts/test_mcb.py::test_a_freshness_floor_of_an_unknown_class_is_refused",
        "tests/ranking/test_rank.py::test_the_freshness_floor_drops_what_lies_below_it",
    ),
    proved(
        "002-Q-K",
        "twenty results unless told",
        "tests/contracts/test_mcb.py::test_a_search_by_text_returns_twenty_nodes_unless_told",
    ),
    proved(
        "002-R-NODE",
        "a result is a code node",
        "tests/contracts/test_mcb.py::test_results_nodes_and_provenance_have_exactly_their_keys",
        "tests/ranking/test_rank.py::test_chunks_of_one_node_are_merged_before_ranks_are_counted",
    ),
    proved(
        "002-R-SCORE",
        "the final score lies in [0, 1]",
        "tests/contracts/test_mcb.py::test_text_and_vectors_are_fused_by_weighted_rrf",
        "tests/ranking/test_fuse.py::test_the_most_an_mcb_result_can_reach_is_four_hundredths_which_is_shown_as_one",
    ),
    proved(
        "002-R-BM25-RANK",
        "the place in the text list, as a share",
        "tests/contracts/test_mcb.py::test_ranks_are_shares_of_their_list_and_zero_when_absent",
    ),
    proved(
        "002-R-SEMANTIC-RANK",
        "the place in the vector list, as a share",
        "tests/contracts/test_mcb.py::test_ranks_are_shares_of_their_list_and_zero_when_absent",
    ),
    proved(
        "002-R-GRAPH-RANK",
        "the place in the graph list, as a share",
        "tests/contracts/test_mcb.py::test_the_projection_shows_graph_evidence_and_freshness",
    ),
    proved(
        "002-R-FRESHNESS",
        "the freshness class is shown",
        "tests/contracts/test_mcb.py::test_results_nodes_and_provenance_have_exactly_their_keys",
        "tests/contracts/test_mcb.py::test_the_projection_shows_graph_evidence_and_freshness",
    ),
    proved(
        "002-R-PENALTY",
        "so is its factor",
        "tests/contracts/test_mcb.py::test_the_projection_shows_graph_evidence_and_freshness",
        "tests/ranking/test_rank.py::test_each_freshness_class_multiplies_the_score_by_its_factor",
    ),
    proved(
        "002-R-PROVENANCE",
        "which signals matched is shown",
        "tests/contracts/test_mcb.py::test_results_nodes_and_provenance_have_exactly_their_keys",
        "tests/contracts/test_mcb.py::test_ranks_are_shares_of_their_list_and_zero_when_absent",
        "tests/contracts/test_mcb_graph.py::test_expansion_finds_code_that_neither_text_nor_vectors_find",
    ),
    proved(
        "002-R-DISTANCE",
        "and how far away in the graph",
        "tests/contracts/test_mcb.py::test_the_projection_shows_graph_evidence_and_freshness",
        "tests/ranking/test_rank.py::test_a_graph_hit_keeps_its_distance",
        "tests/contracts/test_mcb_graph.py::test_expansion_finds_code_that_neither_text_nor_vectors_find",
    ),
    proved(
        "002-STEP-1",
        "full text brings k candidates",
        "tests/contracts/test_mcb.py::test_each_leg_brings_k_candidates",
    ),
    proved(
        "002-STEP-2",
        "vectors bring k candidates, or the leg is skipped without an embedding",
        "tests/contracts/test_mcb.py::test_each_leg_brings_k_candidates",
        "tests/contracts/test_mcb.py::test_a_precomputed_embedding_takes_the_place_of_the_embedder",
        "tests/contracts/test_mcb.py::test_without_a_query_embedding_the_leg_is_skipped",
    ),
    proved(
        "002-STEP-3",
        "the graph is walked from the best results",
        "tests/contracts/test_mcb_graph.py::test_callers_up_to_a_depth_join_the_ranking",
        "tests/contracts/test_mcb_graph.py::test_the_search_is_one_service_over_three_ports_and_walks_from_the_best_of_two",
    ),
    proved(
        "002-STEP-4",
        "the lists are fused by RRF",
        "tests/contracts/test_mcb.py::test_text_and_vectors_are_fused_by_weighted_rrf",
        "tests/contracts/test_mcb_graph.py::test_a_node_of_the_graph_alone_weighs_six_tenths",
    ),
    proved(
        "002-STEP-5",
        "scores are multiplied by freshness",
        "tests/ranking/test_rank.py::test_a_stale_result_falls_behind_a_fresh_one_that_matched_less",
    ),
    proved(
        "002-STEP-6",
        "scope and floor filter before the cut to k",
        "tests/contracts/test_mcb.py::test_scope_holds_on_every_leg",
    ),
    proved(
        "002-GRAPH-CALLERS",
        "callers of a result up to a depth",
        "tests/contracts/test_mcb_graph.py::test_callers_up_to_a_depth_join_the_ranking",
        "tests/contracts/test_mcb_graph.py::test_scope_and_filters_hold_on_the_graph_leg",
    ),
    proved(
        "002-GRAPH-DEPENDENCIES",
        "what a result depends on up to a depth",
        "tests/contracts/test_mcb_graph.py::test_dependencies_up_to_a_depth_join_the_ranking",
    ),
    proved(
        "002-GRAPH-RELATED",
        "everything around a result within a radius",
        "tests/contracts/test_mcb_graph.py::test_related_code_is_found_both_ways",
        "tests/contracts/test_mcb_graph.py::test_a_circle_of_calls_ends",
    ),
    proved(
        "002-RRF-FORMULA",
        "a place counted from 0 is worth weight over 60 plus the place",
        "tests/contracts/test_mcb.py::test_text_and_vectors_are_fused_by_weighted_rrf",
        "tests/ranking/test_fuse.py::test_mcb_counts_ranks_from_zero_and_weighs_each_signal",
    ),
    proved(
        "002-RRF-SORT",
        "results fall by their final score",
        "tests/ranking/test_rank.py::test_a_stale_result_falls_behind_a_fresh_one_that_matched_less",
    ),
    proved(
        "002-WEIGHTS",
        "text 1.0, vectors 0.8, graph 0.6",
        "tests/ranking/test_fuse.py::test_mcb_weighs_text_over_vectors_over_graph",
        "tests/contracts/test_mcb_graph.py::test_a_node_of_the_graph_alone_weighs_six_tenths",
    ),
    proved(
        "002-FRESH-PENALTY",
        "factors 1.0, 0.9, 0.7 and 0.5",
        "tests/ranking/test_rank.py::test_each_freshness_class_multiplies_the_score_by_its_factor",
    ),
    proved(
        "002-FRESH-RESORT",
        "the order is made after the factors",
        "tests/ranking/test_rank.py::test_a_stale_result_falls_behind_a_fresh_one_that_matched_less",
    ),
    proved(
        "002-FRESH-FLOOR",
        "what lies below the floor is dropped",
        "tests/ranking/test_rank.py::test_the_freshness_floor_drops_what_lies_below_it",
    ),
    proved(
        "002-FRESH-CLASSES",
        "classes follow from how far the index lags behind the file",
        "tests/contracts/test_mcb_freshness.py::test_a_changed_file_shows_its_class_and_loses_by_its_factor",
        "tests/ingest/test_freshness.py::test_a_change_from_the_future_is_no_lag",
        "tests/ingest/test_freshness.py::test_a_changed_file_is_as_fresh_as_the_change_is_young",
        "tests/ingest/test_freshness.py::test_a_file_that_is_gone_or_no_file_any_more_is_a_risk",
        "tests/ingest/test_freshness.py::test_a_touched_file_with_the_same_content_is_no_change",
        "tests/ingest/test_freshness.py::test_an_uncommitted_change_is_a_risk_however_young",
    ),
    proved(
        "002-FRESH-REFILL",
        "what the floor drops is filled up from further candidates",
        "tests/contracts/test_mcb_freshness.py::test_the_search_for_fresh_results_is_bounded_and_says_so",
        "tests/contracts/test_mcb_freshness.py::test_what_the_floor_drops_is_filled_up_from_further_candidates",
        "tests/contracts/test_mcb_freshness.py::test_without_a_floor_nothing_is_fetched_further",
    ),
    proved(
        "002-SCOPE",
        "scope holds on every leg, before retrieval",
        "tests/contracts/test_mcb.py::test_scope_holds_on_every_leg",
        "tests/contracts/test_mcb.py::test_scope_applies_before_retrieval",
        "tests/contracts/test_mcb_graph.py::test_scope_and_filters_hold_on_the_graph_leg",
    ),
    proved(
        "002-PORT-K",
        "the text port is asked for k results",
        "tests/contracts/test_mcb.py::test_each_leg_brings_k_candidates",
    ),
    proved(
        "002-PORT-MIN-SCORE",
        "the text port has a least score",
        "tests/contracts/test_mcb.py::test_a_least_score_cuts_the_text_leg",
    ),
    proved(
        "002-PORT-FIELD-WEIGHTS",
        "the text port weighs fields",
        "tests/contracts/test_mcb.py::test_field_weights_decide_which_field_counts",
    ),
    proved(
        "002-PORT-MATCHED-FIELDS",
        "results name the fields that matched",
        "tests/contracts/test_mcb.py::test_field_weights_decide_which_field_counts",
    ),
    proved(
        "002-PORT-INDEX",
        "the text port takes documents in",
        "tests/contracts/test_mcb.py::test_a_changed_file_is_found_by_its_new_words_only",
    ),
    proved(
        "002-PORT-CLEAR",
        "the text port can be cleared",
        "tests/contracts/test_mcb_graph.py::test_a_cleared_index_finds_nothing_and_can_be_filled_again",
    ),
    proved(
        "002-PORT-ERRORS",
        "failures of the text port are errors of our tree",
        "tests/contracts/test_mcb.py::test_a_query_that_the_text_index_cannot_read_is_a_usage_error",
    ),
    proved(
        "002-SERVICE",
        "the search is one service over the ports of text, vectors and graph",
        "tests/contracts/test_mcb_graph.py::test_the_search_is_one_service_over_three_ports_and_walks_from_the_best_of_two",
    ),
    proved(
        "002-UNIFIED-CODE",
        "unified search answers with code",
        "tests/memory/test_search_all.py::test_the_code_of_a_unified_answer_is_what_mcb_answers",
    ),
    proved(
        "002-UNIFIED-MEMORY",
        "unified search answers with memories",
        "tests/memory/test_search_all.py::test_the_memory_of_a_unified_answer_is_what_recall_answers",
    ),
    proved(
        "002-UNIFIED-RANK",
        "and with both lists merged",
        "tests/memory/test_search_all.py::test_both_lists_are_merged_by_reciprocal_rank",
    ),
    proved(
        "002-T-FTS-1",
        "text: what is indexed anew is found anew",
        "tests/contracts/test_mcb.py::test_a_changed_file_is_found_by_its_new_words_only",
    ),
    proved(
        "002-T-FTS-2",
        "text: parts of identifiers are found",
        "tests/contracts/test_mcb.py::test_the_parts_of_an_identifier_are_found",
    ),
    proved(
        "002-T-FTS-3", "text: places follow bm25", "tests/contracts/test_mcb.py::test_text_ranks_follow_bm25"
    ),
    proved(
        "002-T-FTS-4",
        "text: a least score cuts",
        "tests/contracts/test_mcb.py::test_a_least_score_cuts_the_text_leg",
    ),
    proved(
        "002-T-FTS-5",
        "text: field weights change the order",
        "tests/contracts/test_mcb.py::test_field_weights_decide_which_field_counts",
    ),
    proved(
        "002-T-SEM-1",
        "vectors: a precomputed query vector ranks",
        "tests/contracts/test_mcb.py::test_a_precomputed_embedding_takes_the_place_of_the_embedder",
    ),
    proved(
        "002-T-SEM-2",
        "vectors: what is no vector is refused",
        "tests/contracts/test_mcb.py::test_an_embedding_that_is_no_list_of_numbers_is_refused",
    ),
    proved(
        "002-T-SEM-3",
        "vectors: a wrong length is refused",
        "tests/contracts/test_mcb.py::test_an_embedding_of_another_length_is_refused",
    ),
    proved(
        "002-T-SEM-4",
        "vectors: a missing embedding skips the leg",
        "tests/contracts/test_mcb.py::test_without_a_query_embedding_the_leg_is_skipped",
    ),
    proved(
        "002-T-SEM-5",
        "vectors: alone they find what no word matches",
        "tests/contracts/test_mcb.py::test_vectors_alone_find_what_no_word_matches",
    ),
    proved(
        "002-T-GRAPH-1",
        "graph: breadth first from the seeds",
        "tests/stores/test_graph.py::test_the_order_is_distance_then_best_seed_then_path_then_line",
    ),
    proved(
        "002-T-GRAPH-2",
        "graph: depth is held",
        "tests/stores/test_graph.py::test_no_neighbour_is_farther_away_than_asked",
    ),
    proved(
        "002-T-GRAPH-3",
        "graph: distances are the shortest",
        "tests/stores/test_graph.py::test_a_distance_is_that_of_the_shortest_way_from_any_seed",
    ),
    proved(
        "002-T-GRAPH-4",
        "graph: cycles end",
        "tests/stores/test_graph.py::test_a_circle_ends_and_a_seed_is_not_its_own_neighbour",
        "tests/contracts/test_mcb_graph.py::test_a_circle_of_calls_ends",
    ),
    proved(
        "002-T-GRAPH-5",
        "graph: order by distance, seed, path and line",
        "tests/stores/test_graph.py::test_the_order_is_distance_then_best_seed_then_path_then_line",
        "tests/contracts/test_mcb_graph.py::test_the_order_of_indexing_does_not_show",
    ),
    proved(
        "002-T-RRF-1",
        "fusion: the formula with ranks from 0",
        "tests/ranking/test_fuse.py::test_mcb_counts_ranks_from_zero_and_weighs_each_signal",
    ),
    proved(
        "002-T-RRF-2",
        "fusion: the maximum",
        "tests/ranking/test_fuse.py::test_the_most_an_mcb_result_can_reach_is_four_hundredths_which_is_shown_as_one",
    ),
    proved(
        "002-T-RRF-3",
        "fusion: the weights",
        "tests/ranking/test_fuse.py::test_mcb_weighs_text_over_vectors_over_graph",
    ),
    proved(
        "002-T-RRF-4",
        "fusion: every combination of weights",
        "tests/ranking/test_fuse.py::test_every_combination_of_weights_adds_up_by_the_formula",
    ),
    proved(
        "002-T-RRF-5",
        "fusion: one list alone keeps its order",
        "tests/ranking/test_fuse.py::test_with_one_signal_alone_rrf_keeps_its_order",
    ),
    proved(
        "002-T-RRF-6",
        "fusion: raw scores have no say",
        "tests/ranking/test_fuse.py::test_rrf_never_looks_at_the_scores",
    ),
    proved(
        "002-T-RRF-7",
        "fusion: no list dominates",
        "tests/ranking/test_fuse.py::test_no_single_signal_dominates",
    ),
    proved(
        "002-T-RRF-8",
        "fusion: chunks of one node count once",
        "tests/ranking/test_rank.py::test_chunks_of_one_node_are_merged_before_ranks_are_counted",
    ),
    proved(
        "002-T-FRESH-1",
        "freshness: each factor",
        "tests/ranking/test_rank.py::test_each_freshness_class_multiplies_the_score_by_its_factor",
    ),
    proved(
        "002-T-FRESH-2",
        "freshness: stale falls behind fresh",
        "tests/ranking/test_rank.py::test_a_stale_result_falls_behind_a_fresh_one_that_matched_less",
    ),
    proved(
        "002-T-FRESH-3",
        "freshness: the floor",
        "tests/ranking/test_rank.py::test_the_freshness_floor_drops_what_lies_below_it",
    ),
    proved(
        "002-T-E2E-1",
        "whole search: by text, with the default k",
        "tests/contracts/test_mcb.py::test_a_search_by_text_returns_twenty_nodes_unless_told",
    ),
    proved(
        "002-T-E2E-2",
        "whole search: the shape of a result",
        "tests/contracts/test_mcb.py::test_results_nodes_and_provenance_have_exactly_their_keys",
    ),
    proved(
        "002-T-E2E-3",
        "whole search: fused scores",
        "tests/contracts/test_mcb.py::test_text_and_vectors_are_fused_by_weighted_rrf",
    ),
    proved(
        "002-T-E2E-4",
        "whole search: shown ranks and provenance",
        "tests/contracts/test_mcb.py::test_ranks_are_shares_of_their_list_and_zero_when_absent",
    ),
    proved(
        "002-T-E2E-5",
        "whole search: every scope",
        "tests/contracts/test_mcb.py::test_scope_holds_on_every_leg",
    ),
    proved(
        "002-T-E2E-6",
        "whole search: scope before retrieval",
        "tests/contracts/test_mcb.py::test_scope_applies_before_retrieval",
    ),
    proved(
        "002-T-E2E-7",
        "whole search: every graph strategy is understood",
        "tests/contracts/test_mcb.py::test_each_graph_strategy_can_be_asked_for",
    ),
    proved(
        "002-T-E2E-8",
        "whole search: the floor's default and its errors",
        "tests/contracts/test_mcb.py::test_a_freshness_floor_of_an_unknown_class_is_refused",
    ),
    proved(
        "002-T-E2E-9",
        "whole search: there are no modes",
        "tests/contracts/test_mcb.py::test_mcb_has_no_modes",
    ),
    proved(
        "002-T-E2E-10",
        "whole search: a node's lines and name",
        "tests/contracts/test_mcb.py::test_a_node_names_its_lines_and_itself",
    ),
    proved(
        "002-T-TOTAL",
        "at least 36 tests serve this specification",
        "tests/contracts/test_requirements.py::test_at_least_thirty_six_tests_serve_the_search_engine_of_mcb",
    ),
    proved(
        "002-S-LATENCY",
        "under half a second over 100,000 nodes",
        "tests/contracts/test_mcb_latency.py::test_recorded_searches_over_a_hundred_thousand_nodes_end_within_half_a_second",
    ),
    proved(
        "002-S-BALANCE",
        "no single signal dominates",
        "tests/contracts/test_mcb_balance.py::test_no_single_signal_has_more_than_twice_the_say_of_all_others",
        "tests/ranking/test_fuse.py::test_no_single_signal_dominates",
    ),
    planned("002-S-TOP3", "the first three results are relevant", step=7),
    proved(
        "002-S-FRESHNESS",
        "stale results are demoted",
        "tests/ranking/test_rank.py::test_a_stale_result_falls_behind_a_fresh_one_that_matched_less",
    ),
    proved(
        "002-S-GRAPH",
        "expansion finds related code",
        "tests/contracts/test_mcb_graph.py::test_expansion_finds_code_that_neither_text_nor_vectors_find",
    ),
)
