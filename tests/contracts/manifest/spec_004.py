"""Spec 004, CFS-012. In our words: what proves each, or which step will."""

from contracts.manifest.entry import Requirement, planned, proved

REQUIREMENTS: tuple[Requirement, ...] = (
    proved(
        "004-S1",
        "two legs, one fusion",
        "tests/contracts/test_cfs.py::test_hybrid_is_the_default_and_fuses_both_legs",
    ),
    proved(
        "004-S2-CANONICAL",
        "queries are embedded by the canonical path, bit for bit",
        "tests/embed/test_golden.py::test_granite_gives_the_recorded_vectors",
    ),
    proved(
        "004-S2-EVERYWHERE",
        "every device retrieves the very same chunks for a query",
        "tests/receipts/test_everywhere.py::test_two_processes_embed_as_one_does",
        "tests/receipts/test_everywhere.py::test_the_kernels_of_another_processor_do_not_show",
    ),
    proved(
        "004-S2-CANONICAL-NOTE",
        "another embedder is told of",
        "tests/contracts/test_cfs.py::test_an_embedder_that_is_not_canonical_is_told",
    ),
    proved(
        "004-S2-TOKENS",
        "text becomes the model's own tokens",
        "tests/embed/test_local.py::test_the_tokenizer_gives_the_recorded_tokens",
    ),
    proved(
        "004-S2-POOLING",
        "hidden states are pooled as the model was trained",
        "tests/embed/test_exactness.py::test_vectors_point_where_float64_points",
    ),
    proved(
        "004-S2-QUANTISE",
        "the pooled vector is normalised and quantised to int16",
        "tests/embed/test_local.py::test_strange_text_gets_a_vector_of_unit_length",
    ),
    proved(
        "004-S2-INTEGER-SEARCH",
        "vectors are compared by integers",
        "tests/contracts/test_cfs.py::test_vectors_that_differ_less_than_an_integer_step_tie_and_go_by_path",
    ),
    proved(
        "004-S2-SCORE",
        "similarity is shown in [0, 1]",
        "tests/contracts/test_cfs.py::test_semantic_scores_are_cosines_between_zero_and_one_and_fall",
        "tests/ranking/test_normalise.py::test_unit_clamps_a_cosine_to_zero_and_one",
    ),
    proved(
        "004-S2-SORT",
        "semantic results fall by score",
        "tests/contracts/test_cfs.py::test_semantic_scores_are_cosines_between_zero_and_one_and_fall",
    ),
    proved(
        "004-HNSW-EF",
        "an approximate index searches with ef 50",
        "tests/stores/test_hnsw.py::test_its_recall_is_measured_on_the_index_itself_for_both_efs",
    ),
    proved(
        "004-HNSW-K",
        "twenty candidates are fetched",
        "tests/contracts/test_cfs.py::test_each_leg_brings_twenty_candidates",
    ),
    proved(
        "004-S3-SPLIT",
        "a query is split at white space",
        "tests/contracts/test_cfs.py::test_terms_are_alternatives",
    ),
    proved(
        "004-S3-PHRASES",
        "quoted phrases are kept whole and required",
        "tests/contracts/test_cfs.py::test_quoted_phrases_are_required",
    ),
    proved(
        "004-S3-STOP",
        "stop words are left out",
        "tests/contracts/test_cfs.py::test_stop_words_are_left_out_unless_nothing_else_is_left",
    ),
    proved("004-S3-OR", "terms are alternatives", "tests/contracts/test_cfs.py::test_terms_are_alternatives"),
    proved(
        "004-S3-BM25",
        "text is ranked by bm25",
        "tests/contracts/test_cfs.py::test_lexical_scores_are_scaled_with_the_best_at_one",
    ),
    proved(
        "004-S3-NORMALISE",
        "lexical scores are scaled to [0, 1], best 1.0",
        "tests/contracts/test_cfs.py::test_lexical_scores_are_scaled_with_the_best_at_one",
        "tests/contracts/test_cfs.py::test_equal_lexical_scores_are_all_one",
    ),
    proved(
        "004-S4-FORMULA",
        "one over k plus the place from 0 plus 1, summed",
        "tests/contracts/test_cfs.py::test_hybrid_is_the_default_and_fuses_both_legs",
        "tests/ranking/test_fuse.py::test_the_worked_example_of_cfs_ranks_a_c_b_d",
    ),
    proved(
        "004-S4-K60",
        "what a low, a middle and a high k do",
        "tests/ranking/test_fuse.py::test_a_low_rrf_k_lets_first_places_dominate_and_a_high_one_flattens",
    ),
    proved(
        "004-S4-EXAMPLE",
        "the printed example ranks A, C, B, D",
        "tests/ranking/test_fuse.py::test_the_worked_example_of_cfs_ranks_a_c_b_d",
    ),
    proved(
        "004-S5-STEPS",
        "embed, search both, fuse, take top_k, fetch text",
        "tests/contracts/test_cfs.py::test_hybrid_is_the_default_and_fuses_both_legs",
    ),
    proved(
        "004-S5-SEMANTIC-K",
        "semantic_k is 20 and can be set",
        "tests/contracts/test_cfs.py::test_each_leg_brings_twenty_candidates",
        "tests/contracts/test_cfs.py::test_the_depth_of_each_leg_can_be_set",
    ),
    proved(
        "004-S5-LEXICAL-K",
        "lexical_k is 20 and can be set",
        "tests/contracts/test_cfs.py::test_each_leg_brings_twenty_candidates",
        "tests/contracts/test_cfs.py::test_the_depth_of_each_leg_can_be_set",
    ),
    proved(
        "004-S5-RRF-K",
        "rrf_k is 60 and can be set",
        "tests/contracts/test_cfs.py::test_the_rrf_constant_can_be_set",
    ),
    proved(
        "004-S5-TOP-K",
        "top_k is 10 and can be set",
        "tests/contracts/test_cfs.py::test_ten_results_come_back_unless_told",
    ),
    proved(
        "004-S5-RESULT",
        "a result holds chunk, document and score",
        "tests/contracts/test_cfs.py::test_a_result_is_a_chunk_its_document_and_a_score",
    ),
    proved(
        "004-S6-SCORE",
        "results go by score",
        "tests/ranking/test_rank.py::test_cfs_orders_by_score_then_path_then_sequence",
    ),
    proved(
        "004-S6-PATH",
        "then by path",
        "tests/contracts/test_cfs.py::test_equal_scores_go_by_path_then_by_sequence",
        "tests/ranking/test_rank.py::test_cfs_orders_by_score_then_path_then_sequence",
    ),
    proved(
        "004-S6-SEQUENCE",
        "then by place in the document",
        "tests/contracts/test_cfs.py::test_equal_scores_go_by_path_then_by_sequence",
        "tests/ranking/test_rank.py::test_cfs_orders_by_score_then_path_then_sequence",
    ),
    proved(
        "004-S7-SEMANTIC",
        "semantic mode",
        "tests/contracts/test_cfs.py::test_ten_results_come_back_unless_told",
        "tests/contracts/test_cfs.py::test_semantic_scores_are_cosines_between_zero_and_one_and_fall",
    ),
    proved(
        "004-S7-LEXICAL",
        "lexical mode",
        "tests/contracts/test_cfs.py::test_ten_results_come_back_unless_told",
        "tests/contracts/test_cfs.py::test_lexical_scores_are_scaled_with_the_best_at_one",
    ),
    proved(
        "004-S7-HYBRID",
        "hybrid mode, the default",
        "tests/contracts/test_cfs.py::test_hybrid_is_the_default_and_fuses_both_legs",
    ),
    proved(
        "004-S8-PRE",
        "filters narrow both legs before retrieval",
        "tests/contracts/test_cfs.py::test_filters_apply_before_retrieval",
    ),
    proved(
        "004-S8-PATH", "by path glob", "tests/contracts/test_cfs.py::test_each_filter_keeps_what_it_describes"
    ),
    proved(
        "004-S8-MIME",
        "by media type",
        "tests/contracts/test_cfs.py::test_each_filter_keeps_what_it_describes",
    ),
    proved(
        "004-S8-AFTER",
        "by modification after a time",
        "tests/contracts/test_cfs.py::test_each_filter_keeps_what_it_describes",
    ),
    proved(
        "004-S8-BEFORE",
        "by modification before a time",
        "tests/contracts/test_cfs.py::test_each_filter_keeps_what_it_describes",
    ),
    proved(
        "004-S8-CONTAINS",
        "by content",
        "tests/contracts/test_cfs.py::test_each_filter_keeps_what_it_describes",
    ),
    proved(
        "004-S8-AND",
        "several filters must all hold",
        "tests/contracts/test_cfs.py::test_each_filter_keeps_what_it_describes",
    ),
    proved(
        "004-S8-POST",
        "the other form fetches 100 and filters afterwards",
        "tests/contracts/test_cfs.py::test_a_filter_afterwards_keeps_what_passes_of_the_best_hundred",
        "tests/contracts/test_cfs.py::test_a_filter_afterwards_does_not_look_beyond_the_best_hundred",
    ),
    proved(
        "004-S9-DOT",
        "integer dot products are exact",
        "tests/contracts/test_cfs.py::test_integer_dot_products_are_exact_and_do_not_overflow",
    ),
    proved(
        "004-S9-COSINE",
        "the cosine is the product over 32767 squared",
        "tests/contracts/test_cfs.py::test_semantic_scores_are_cosines_between_zero_and_one_and_fall",
        "tests/contracts/test_cfs.py::test_a_vector_scaled_by_anything_is_the_same_vector",
    ),
    proved(
        "004-S9-SCALE",
        "the length of a vector does not matter",
        "tests/contracts/test_cfs.py::test_a_vector_scaled_by_anything_is_the_same_vector",
    ),
    proved(
        "004-S10-CACHE",
        "what the legs returned is cached, up to 1,000 entries",
        "tests/search/test_cache.py::test_the_same_search_is_looked_up_once",
        "tests/search/test_cache.py::test_a_thousand_searches_are_kept_unless_told",
    ),
    proved("004-S10-TTL", "for five minutes", "tests/search/test_cache.py::test_an_entry_lasts_five_minutes"),
    proved(
        "004-S10-SAME-BYTES",
        "hit and miss give the same bytes",
        "tests/search/test_cache.py::test_searches_changes_and_waits_in_any_order_answer_as_without_a_cache",
    ),
    proved(
        "004-S10-APPROXIMATE",
        "approximate search lowers ef to 20 and only for that search",
        "tests/stores/test_hnsw.py::test_a_search_with_a_lower_ef_leaves_the_next_one_as_it_was",
    ),
    proved(
        "004-P1-DETERMINISM",
        "the same query gives the same answer",
        "tests/contracts/test_cfs.py::test_equal_scores_go_by_path_then_by_sequence",
        "tests/contracts/test_determinism.py::test_the_history_of_an_index_does_not_show",
        "tests/contracts/test_determinism.py::test_another_process_gives_the_same_bytes",
        "tests/golden/test_golden.py::test_the_bodies_are_those_of_the_golden_file",
        "tests/receipts/test_everywhere.py::test_hash_seed_time_zone_and_locale_do_not_show",
        "tests/receipts/test_everywhere.py::test_a_killed_run_that_is_completed_does_not_show",
    ),
    planned("004-P2-RELEVANCE", "results are relevant by measure", step=7),
    proved(
        "004-P3-DIVERSITY",
        "both signals are represented among the first results",
        "tests/ranking/test_fuse.py::test_both_signals_have_their_share_of_every_page",
    ),
    planned("004-P4-EFFICIENCY", "under 100 ms below a million vectors", step=7),
    proved(
        "004-M-PRECISION",
        "precision at k",
        "tests/evaluate/test_metrics.py::test_precision_is_the_relevant_share_of_k_places_even_of_a_short_list",
        "tests/evaluate/test_metrics.py::test_trec_eval_gives_the_same_numbers",
    ),
    proved(
        "004-M-RECALL",
        "recall at k",
        "tests/evaluate/test_metrics.py::test_recall_is_the_share_of_all_that_is_relevant",
        "tests/evaluate/test_metrics.py::test_trec_eval_gives_the_same_numbers",
    ),
    proved(
        "004-M-NDCG",
        "normalised discounted cumulative gain",
        "tests/evaluate/test_metrics.py::test_ndcg_is_the_discounted_gain_over_that_of_the_best_order",
        "tests/evaluate/test_metrics.py::test_trec_eval_gives_the_same_numbers",
    ),
    proved(
        "004-V-MERKLE",
        "the printed hybrid vector",
        "tests/ranking/test_fuse.py::test_the_merkle_tree_vector_of_cfs",
    ),
    proved(
        "004-V-EXACT",
        "the printed exact-match vector",
        "tests/contracts/test_cfs.py::test_an_exact_identifier_comes_first_in_hybrid",
        "tests/ranking/test_fuse.py::test_the_exact_match_vector_of_cfs",
    ),
)
