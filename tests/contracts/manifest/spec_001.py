"""Spec 001, Context Harness. In our words: what proves each, or which step will."""

from contracts.manifest.entry import Requirement, proved

REQUIREMENTS: tuple[Requirement, ...] = (
    proved(
        "001-TERM-CHUNK",
        "keywords match chunks, results are documents",
        "tests/contracts/test_harness.py::test_keywords_are_matched_in_chunks_and_results_are_documents",
    ),
    proved(
        "001-IN-TABLE",
        "the printed [retrieval] table is read as it stands",
        "tests/contracts/test_harness.py::test_the_printed_retrieval_table_is_read_from_the_settings_file",
    ),
    proved(
        "001-IN-ALPHA",
        "alpha is 0.6 by default",
        "tests/contracts/test_harness.py::test_the_defaults_are_the_printed_ones",
    ),
    proved(
        "001-IN-CANDIDATES",
        "each leg brings 80 chunks by default, and as many as set",
        "tests/contracts/test_harness.py::test_the_defaults_are_the_printed_ones",
        "tests/contracts/test_harness.py::test_the_keyword_leg_brings_its_candidates",
        "tests/contracts/test_harness.py::test_the_vector_leg_brings_its_candidates",
    ),
    proved(
        "001-IN-LIMIT",
        "twelve documents by default",
        "tests/contracts/test_harness.py::test_the_defaults_are_the_printed_ones",
        "tests/contracts/test_harness.py::test_as_many_documents_as_the_limit_says_or_all_there_are",
    ),
    proved(
        "001-IN-GROUP",
        "results are grouped by document by default",
        "tests/contracts/test_harness.py::test_the_defaults_are_the_printed_ones",
    ),
    proved(
        "001-IN-AGG",
        "a document's score is its best chunk's by default",
        "tests/contracts/test_harness.py::test_the_defaults_are_the_printed_ones",
        "tests/contracts/test_harness.py::test_an_average_is_taken_over_candidate_chunks_only",
    ),
    proved(
        "001-IN-AT-LEAST",
        "fewer candidates than results is an error",
        "tests/contracts/test_harness.py::test_fewer_candidates_than_results_is_an_error_naming_both",
    ),
    proved(
        "001-IN-CLAMP",
        "alpha outside [0, 1] is clamped",
        "tests/contracts/test_harness.py::test_alpha_is_clamped_and_that_is_told",
    ),
    proved(
        "001-STEP-1",
        "the keyword leg scores by negated bm25",
        "tests/contracts/test_harness.py::test_a_document_score_is_the_weighted_sum_of_both_scaled_legs",
    ),
    proved(
        "001-STEP-1-TOP",
        "only the best keyword candidates take part",
        "tests/contracts/test_harness.py::test_the_keyword_leg_brings_its_candidates",
    ),
    proved(
        "001-STEP-2",
        "the vector leg scores by cosine",
        "tests/contracts/test_harness.py::test_a_document_score_is_the_weighted_sum_of_both_scaled_legs",
    ),
    proved(
        "001-STEP-2-TOP",
        "only the best vector candidates take part",
        "tests/contracts/test_harness.py::test_the_vector_leg_brings_its_candidates",
    ),
    proved(
        "001-NORM",
        "each leg is min-max scaled per query",
        "tests/contracts/test_harness.py::test_a_document_score_is_the_weighted_sum_of_both_scaled_legs",
        "tests/ranking/test_normalise.py::test_min_max_places_each_score_between_worst_and_best",
    ),
    proved(
        "001-NORM-FLAT",
        "equal scores all become 1.0",
        "tests/contracts/test_harness.py::test_a_zero_query_vector_is_equally_like_every_document",
        "tests/ranking/test_normalise.py::test_a_flat_list_is_all_one",
    ),
    proved(
        "001-CHUNK-SCORE",
        "a chunk's score weighs both legs by alpha, a missing one counts 0",
        "tests/contracts/test_harness.py::test_a_document_score_is_the_weighted_sum_of_both_scaled_legs",
        "tests/ranking/test_fuse.py::test_the_harness_weighs_both_scaled_legs_and_a_missing_one_counts_nothing",
    ),
    proved(
        "001-AGG-MAX",
        "a document scores as its best chunk",
        "tests/contracts/test_harness.py::test_a_document_is_shown_by_its_best_chunk",
        "tests/ranking/test_rank.py::test_a_document_scores_as_its_best_chunk_and_is_shown_by_it",
    ),
    proved(
        "001-TIE-NEWER",
        "of equal documents the newer goes first",
        "tests/contracts/test_harness.py::test_equal_documents_go_by_time_then_by_id",
        "tests/ranking/test_rank.py::test_of_equal_documents_the_newer_comes_first",
    ),
    proved(
        "001-TIE-ID",
        "then the lower document id",
        "tests/contracts/test_harness.py::test_equal_documents_go_by_time_then_by_id",
        "tests/ranking/test_rank.py::test_of_equally_new_documents_the_lower_id_comes_first",
    ),
    proved(
        "001-FINAL-LIMIT",
        "at most final_limit documents come back",
        "tests/contracts/test_harness.py::test_as_many_documents_as_the_limit_says_or_all_there_are",
    ),
    proved(
        "001-FINAL-SCORE",
        "document scores lie in [0, 1]",
        "tests/contracts/test_harness.py::test_document_scores_stay_between_zero_and_one",
        "tests/ranking/test_rank.py::test_scores_promised_in_the_unit_interval_are_in_it",
    ),
    proved(
        "001-FINAL-SNIPPET",
        "the snippet is the best chunk's",
        "tests/contracts/test_harness.py::test_results_have_exactly_their_keys",
        "tests/contracts/test_harness.py::test_a_document_is_shown_by_its_best_chunk",
        "tests/ranking/test_rank.py::test_a_document_scores_as_its_best_chunk_and_is_shown_by_it",
    ),
    proved(
        "001-FINAL-METADATA",
        "documents come with their metadata",
        "tests/contracts/test_harness.py::test_results_have_exactly_their_keys",
        "tests/contracts/test_harness.py::test_front_matter_becomes_the_metadata_of_the_document",
    ),
    proved(
        "001-EDGE-NO-KEYWORD",
        "without keyword hits vectors rank alone",
        "tests/contracts/test_harness.py::test_without_a_keyword_hit_vectors_rank_alone",
        "tests/ranking/test_rank.py::test_with_one_leg_empty_the_other_decides_the_order",
    ),
    proved(
        "001-EDGE-NO-VECTOR",
        "without vector hits keywords rank alone",
        "tests/contracts/test_harness.py::test_without_a_vector_hit_keywords_rank_alone",
        "tests/ranking/test_rank.py::test_with_one_leg_empty_the_other_decides_the_order",
    ),
    proved(
        "001-EDGE-BOTH-EMPTY",
        "without any hit the answer is empty",
        "tests/contracts/test_harness.py::test_two_empty_legs_give_no_documents",
    ),
    proved(
        "001-EDGE-SMALL",
        "fewer candidates than the limit all come back",
        "tests/contracts/test_harness.py::test_as_many_documents_as_the_limit_says_or_all_there_are",
    ),
    proved(
        "001-V1",
        "no score leaves [0, 1]",
        "tests/contracts/test_harness.py::test_document_scores_stay_between_zero_and_one",
        "tests/ranking/test_rank.py::test_scores_promised_in_the_unit_interval_are_in_it",
    ),
    proved(
        "001-V2",
        "alpha 1 gives the vector order",
        "tests/contracts/test_harness.py::test_at_an_extreme_alpha_one_leg_alone_orders",
        "tests/ranking/test_rank.py::test_at_alpha_one_the_vector_order_stands_and_the_rest_follows",
        "tests/ranking/test_rank.py::test_an_extreme_alpha_begins_with_the_order_of_its_leg",
    ),
    proved(
        "001-V3",
        "alpha 0 gives the keyword order",
        "tests/contracts/test_harness.py::test_at_an_extreme_alpha_one_leg_alone_orders",
        "tests/ranking/test_rank.py::test_at_alpha_zero_the_keyword_order_stands_and_the_rest_follows",
        "tests/ranking/test_rank.py::test_an_extreme_alpha_begins_with_the_order_of_its_leg",
    ),
    proved(
        "001-V4",
        "ties break the same way every time",
        "tests/contracts/test_determinism.py::test_the_history_of_an_index_does_not_show",
        "tests/contracts/test_harness.py::test_equal_documents_go_by_time_then_by_id",
        "tests/ranking/test_rank.py::test_of_equal_documents_the_newer_comes_first",
        "tests/ranking/test_rank.py::test_of_equally_new_documents_the_lower_id_comes_first",
    ),
    proved(
        "001-V5",
        "a document that one leg missed can still surface",
        "tests/contracts/test_harness.py::test_without_a_keyword_hit_vectors_rank_alone",
        "tests/contracts/test_harness.py::test_without_a_vector_hit_keywords_rank_alone",
        "tests/ranking/test_rank.py::test_a_document_that_one_signal_missed_can_still_come_first",
    ),
)
