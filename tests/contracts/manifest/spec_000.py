"""Spec 000, Rifflux. In our words: what proves each, or where it is measured."""

from contracts.manifest.entry import Requirement, measured, proved

REQUIREMENTS: tuple[Requirement, ...] = (
    proved(
        "000-REQ-001",
        "there are three modes: lexical, semantic, hybrid",
        "tests/contracts/test_rifflux.py::test_each_mode_answers_from_its_own_signals",
    ),
    proved(
        "000-REQ-002",
        "lexical mode uses full text only",
        "tests/contracts/test_rifflux.py::test_each_mode_answers_from_its_own_signals",
    ),
    proved(
        "000-REQ-003",
        "semantic mode uses vectors only",
        "tests/contracts/test_rifflux.py::test_each_mode_answers_from_its_own_signals",
    ),
    proved(
        "000-REQ-004",
        "hybrid mode fuses both ranked lists by RRF",
        "tests/contracts/test_rifflux.py::test_each_mode_answers_from_its_own_signals",
    ),
    proved(
        "000-REQ-005",
        "every result has its six fields",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
        "tests/contracts/test_rifflux_proofs.py::test_every_field_of_a_result_says_what_its_chunk_is",
    ),
    proved(
        "000-REQ-006",
        "each leg returns 2 * top_k candidates",
        "tests/contracts/test_rifflux.py::test_each_leg_brings_twice_top_k_candidates",
    ),
    proved(
        "000-REQ-007",
        "a response has at most top_k results",
        "tests/contracts/test_rifflux.py::test_no_more_than_top_k_results_come_back",
    ),
    proved(
        "000-RRF-001",
        "a rank scores 1 / (k + rank), with ranks from 1",
        "tests/ranking/test_fuse.py::test_rrf_gives_one_over_k_plus_the_rank_counted_from_one",
    ),
    proved(
        "000-RRF-002",
        "k is 60 by default and can be set",
        "tests/contracts/test_rifflux.py::test_hybrid_shows_rrf_and_both_ranks",
        "tests/ranking/test_fuse.py::test_a_low_rrf_k_lets_first_places_dominate_and_a_high_one_flattens",
    ),
    proved(
        "000-RRF-003",
        "hybrid results are sorted by descending fused score",
        "tests/contracts/test_rifflux.py::test_hybrid_shows_rrf_and_both_ranks",
        "tests/ranking/test_fuse.py::test_the_worked_example_of_rifflux",
    ),
    proved(
        "000-RRF-004",
        "bm25 and cosine are never averaged",
        "tests/ranking/test_fuse.py::test_rrf_never_looks_at_the_scores",
    ),
    proved(
        "000-SEM-001",
        "without a query embedding the semantic list is empty",
        "tests/contracts/test_rifflux.py::test_semantic_mode_without_a_query_embedding_is_empty",
    ),
    proved(
        "000-SEM-002",
        "a vector of zero norm has cosine 0.0 to everything",
        "tests/contracts/test_rifflux.py::test_a_zero_query_vector_has_cosine_zero_to_everything",
        "tests/contracts/test_rifflux.py::test_a_zero_document_vector_has_cosine_zero",
    ),
    proved(
        "000-SEM-003",
        "semantic candidates are sorted by descending cosine before the cut",
        "tests/contracts/test_rifflux.py::test_cosines_follow_the_formula_and_fall",
        "tests/contracts/test_rifflux_proofs.py::test_semantic_candidates_are_sorted_by_cosine_and_only_then_cut",
    ),
    proved(
        "000-LEX-001",
        "text is matched by FTS5's MATCH",
        "tests/contracts/test_rifflux.py::test_bm25_is_the_number_that_fts5_gives_raw_and_negative",
    ),
    proved(
        "000-LEX-002",
        "text is in the order of SQLite's own `ORDER BY bm25(...)`",
        "tests/contracts/test_bm25_columns.py::test_rifflux_and_knowledge_score_content_heading_path_and_title",
        "tests/contracts/test_rifflux.py::test_bm25_is_the_number_that_fts5_gives_raw_and_negative",
    ),
    proved(
        "000-CON-001",
        "retrieval imports nothing of any transport",
        "tests/contracts/test_rifflux.py::test_retrieval_knows_nothing_of_any_transport",
    ),
    proved(
        "000-CON-002",
        "the keys of results and breakdowns do not change",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
        "tests/golden/test_golden.py::test_the_bodies_are_those_of_the_golden_file",
    ),
    proved(
        "000-CON-003",
        "a chunk in both lists shows the metadata of one row",
        "tests/contracts/test_rifflux.py::test_a_chunk_in_both_lists_comes_once_with_one_set_of_metadata",
    ),
    proved(
        "000-CON-004",
        "reindex takes one path or several",
        "tests/mcp/test_reindex.py::test_one_place_or_several_can_be_named",
    ),
    proved(
        "000-CON-005",
        "paths overrides path",
        "tests/mcp/test_reindex.py::test_with_path_and_paths_only_paths_are_used",
    ),
    proved(
        "000-CON-006",
        "reindex without a path indexes the server's working folder",
        "tests/mcp/test_reindex.py::test_without_any_place_the_servers_working_folder_is_indexed",
    ),
    proved(
        "000-GUD-001",
        "breakdowns show raw evidence, not probabilities",
        "tests/contracts/test_rifflux.py::test_bm25_is_the_number_that_fts5_gives_raw_and_negative",
    ),
    proved(
        "000-GUD-002",
        "hybrid is the default",
        "tests/contracts/test_rifflux.py::test_the_search_service_has_the_printed_signature",
        "tests/contracts/test_rifflux.py::test_hybrid_is_the_default_and_ten_the_limit",
    ),
    proved(
        "000-4.1",
        "the search service has the printed signature",
        "tests/contracts/test_rifflux.py::test_the_search_service_has_the_printed_signature",
        "tests/contracts/test_rifflux_proofs.py::test_the_search_service_does_what_it_was_asked_for",
    ),
    proved(
        "000-4.2",
        "result fields have their types and meaning",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
        "tests/contracts/test_rifflux.py::test_a_chunk_tells_its_headings_and_its_place_in_the_file",
        "tests/indexing/test_roots.py::test_ids_do_not_depend_on_the_machine_the_order_or_other_files",
        "tests/contracts/test_rifflux_proofs.py::test_every_field_of_a_result_says_what_its_chunk_is",
    ),
    proved(
        "000-4.3",
        "each mode has its own breakdown keys",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
    ),
    proved(
        "000-4.4-BODY",
        "the response echoes query and mode, and has count and model",
        "tests/contracts/test_rifflux.py::test_the_body_echoes_the_request_and_counts_its_results",
    ),
    proved(
        "000-4.4-TOOL",
        "search_rifflux takes db_path, query, top_k and mode",
        "tests/mcp/test_tools.py::test_the_contract_tools_take_what_their_specifications_print",
        "tests/mcp/test_tools.py::test_a_link_that_leads_out_is_refused",
        "tests/mcp/test_tools.py::test_another_index_is_read_only_below_the_folder_that_holds_the_servers_own",
    ),
    proved(
        "000-4.5-INPUT",
        "reindex takes path, paths and force, with their precedence",
        "tests/mcp/test_reindex.py::test_with_path_and_paths_only_paths_are_used",
        "tests/mcp/test_tools.py::test_the_contract_tools_take_what_their_specifications_print",
        "tests/mcp/test_reindex.py::test_counts_are_added_up_over_all_places",
    ),
    proved(
        "000-4.5-OUTPUT",
        "reindex reports counts, paths, model and backend",
        "tests/mcp/test_reindex.py::test_the_answer_has_the_fields_of_the_specification_and_ours_beside_them",
        "tests/mcp/test_reindex.py::test_the_answer_names_the_embedder_and_what_could_not_be_read",
    ),
    proved(
        "000-AC-001",
        "lexical results have bm25 and need no embedder",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
    ),
    proved(
        "000-AC-002",
        "semantic results have a cosine",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
        "tests/contracts/test_rifflux.py::test_cosines_follow_the_formula_and_fall",
    ),
    proved(
        "000-AC-003",
        "hybrid results have the fused score and both ranks",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
        "tests/contracts/test_rifflux.py::test_hybrid_shows_rrf_and_both_ranks",
    ),
    proved(
        "000-AC-004",
        "semantic search without an embedding is empty, without an error",
        "tests/contracts/test_rifflux.py::test_semantic_mode_without_a_query_embedding_is_empty",
    ),
    proved(
        "000-AC-005",
        "the count never exceeds top_k in any mode",
        "tests/contracts/test_rifflux.py::test_no_more_than_top_k_results_come_back",
    ),
    proved(
        "000-AC-006",
        "the tool's answer has its five fields",
        "tests/mcp/test_tools.py::test_search_rifflux_gives_its_five_fields_with_status_and_notes_beside_them",
    ),
    proved(
        "000-AC-007",
        "fused order is by RRF, not by averaged scores",
        "tests/contracts/test_rifflux.py::test_hybrid_shows_rrf_and_both_ranks",
        "tests/ranking/test_fuse.py::test_the_worked_example_of_rifflux",
    ),
    proved(
        "000-AC-008",
        "reindex adds up the counts of all paths",
        "tests/mcp/test_reindex.py::test_counts_are_added_up_over_all_places",
    ),
    proved(
        "000-AC-009",
        "given path and paths, only paths is used",
        "tests/mcp/test_reindex.py::test_with_path_and_paths_only_paths_are_used",
    ),
    proved(
        "000-AC-010",
        "reindex without arguments indexes the working folder",
        "tests/mcp/test_reindex.py::test_without_any_place_the_servers_working_folder_is_indexed",
    ),
    proved(
        "000-COVER-1",
        "all three modes are tested",
        "tests/contracts/test_rifflux.py::test_each_mode_answers_from_its_own_signals",
    ),
    proved(
        "000-COVER-2",
        "fusion and the shape of breakdowns are tested",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
    ),
    proved(
        "000-COVER-3",
        "the missing and the zero query vector are tested",
        "tests/contracts/test_rifflux.py::test_semantic_mode_without_a_query_embedding_is_empty",
        "tests/contracts/test_rifflux.py::test_a_zero_query_vector_has_cosine_zero_to_everything",
    ),
    measured(
        "000-COVER-PERF",
        "candidate generation and fusion are timed as chunks grow",
        "bench/growth.py",
        "docs/results.md",
        "tests/bench/test_recorded.py::test_recorded_growth_has_each_leg_and_the_fusion_of_both_at_sizes_that_grow_tenfold",
    ),
    proved(
        "000-EXT-001",
        "indexed content comes from local files",
        "tests/contracts/test_rifflux.py::test_files_are_the_source_and_stay_as_they_are",
    ),
    proved(
        "000-SVC-001",
        "no remote service is called",
        "tests/contracts/test_rifflux.py::test_indexing_and_searching_open_no_socket",
    ),
    proved(
        "000-INF-001",
        "the database is SQLite with FTS5",
        "tests/contracts/test_rifflux.py::test_bm25_is_the_number_that_fts5_gives_raw_and_negative",
        "tests/contracts/test_rifflux.py::test_the_database_has_fts5_chunks_and_vectors",
    ),
    proved(
        "000-DAT-001",
        "chunks and vectors are stored in tables",
        "tests/contracts/test_rifflux.py::test_the_database_has_fts5_chunks_and_vectors",
    ),
    proved(
        "000-PLT-001",
        "Python 3.11 or later",
        "tests/contracts/test_rifflux.py::test_python_from_three_eleven_on_is_asked_for",
    ),
    proved(
        "000-PLT-002",
        "cosines agree with numpy's",
        "tests/contracts/test_rifflux.py::test_cosines_follow_the_formula_and_fall",
    ),
    proved(
        "000-COM-001",
        "data stays local: only the index folder is written",
        "tests/contracts/test_rifflux.py::test_files_are_the_source_and_stay_as_they_are",
        "tests/contracts/test_rifflux_proofs.py::test_nothing_is_written_into_home_or_working_or_temporary_folders",
    ),
    proved(
        "000-EX-UNAVAILABLE",
        "the printed search without an embedding gives an empty list",
        "tests/contracts/test_rifflux.py::test_semantic_mode_without_a_query_embedding_is_empty",
    ),
    proved(
        "000-EX-RRF",
        "the printed composition of three scores holds",
        "tests/ranking/test_fuse.py::test_the_worked_example_of_rifflux",
    ),
    proved(
        "000-EDGE-1",
        "no lexical candidate, some semantic ones",
        "tests/contracts/test_rifflux.py::test_an_empty_lexical_leg_leaves_the_semantic_order",
    ),
    proved(
        "000-EDGE-2",
        "no semantic candidate, some lexical ones",
        "tests/contracts/test_rifflux.py::test_hybrid_without_a_query_embedding_is_the_lexical_leg",
    ),
    proved(
        "000-EDGE-3",
        "no candidate at all",
        "tests/contracts/test_rifflux.py::test_two_empty_legs_give_an_empty_answer",
    ),
    proved(
        "000-EDGE-4",
        "one chunk in both lists",
        "tests/contracts/test_rifflux.py::test_a_chunk_in_both_lists_comes_once_with_one_set_of_metadata",
        "tests/ranking/test_fuse.py::test_the_worked_example_of_rifflux",
    ),
    proved(
        "000-EDGE-5",
        "a query vector of zero norm",
        "tests/contracts/test_rifflux.py::test_a_zero_query_vector_has_cosine_zero_to_everything",
        "tests/contracts/test_rifflux.py::test_in_hybrid_a_zero_query_vector_counts_as_absent",
    ),
    proved(
        "000-EDGE-6",
        "reindex with path and paths",
        "tests/mcp/test_reindex.py::test_with_path_and_paths_only_paths_are_used",
    ),
    proved(
        "000-EDGE-7",
        "reindex with an empty list of paths",
        "tests/mcp/test_reindex.py::test_an_empty_list_of_paths_counts_as_none",
    ),
    proved(
        "000-VAL-1",
        "every mode's output matches section 4",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
    ),
    proved(
        "000-VAL-2",
        "breakdown keys are exact",
        "tests/contracts/test_rifflux.py::test_results_and_breakdowns_have_exactly_their_keys",
    ),
    proved(
        "000-VAL-3",
        "fused order is recomputed by the formula",
        "tests/ranking/test_fuse.py::test_the_worked_example_of_rifflux",
    ),
    proved(
        "000-VAL-4",
        "count is the number of results",
        "tests/contracts/test_rifflux.py::test_the_body_echoes_the_request_and_counts_its_results",
    ),
    proved(
        "000-VAL-5",
        "changing raw scores does not change a fused ranking",
        "tests/ranking/test_fuse.py::test_rrf_never_looks_at_the_scores",
    ),
    proved(
        "000-VAL-6",
        "top_k cuts longer lists",
        "tests/contracts/test_rifflux.py::test_each_leg_brings_twice_top_k_candidates",
        "tests/contracts/test_rifflux.py::test_no_more_than_top_k_results_come_back",
    ),
)
