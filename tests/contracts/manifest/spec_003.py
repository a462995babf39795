"""Spec 003, the retrieval contract. In our words: what proves each, or which step will."""

from contracts.manifest.entry import Requirement, proved

REQUIREMENTS: tuple[Requirement, ...] = (
    proved(
        "003-EXECUTION-SCOPED",
        "a request leaves nothing behind for the next",
        "tests/contracts/test_knowledge.py::test_nothing_of_one_request_reaches_the_next",
    ),
    proved(
        "003-REQ-INDEX",
        "index names what is searched; default is every folder",
        "tests/contracts/test_knowledge.py::test_the_index_of_all_folders_is_called_default",
    ),
    proved(
        "003-REQ-INDEX-KB",
        "index may name a knowledge base",
        "tests/knowledge/test_retrieval.py::test_the_canonical_request_of_the_specification_is_answered_by_its_base",
    ),
    proved(
        "003-REQ-QUERY",
        "query is the text to look for",
        "tests/contracts/test_knowledge.py::test_both_branches_get_the_normalised_query_which_is_echoed",
    ),
    proved(
        "003-REQ-TOP-K",
        "top_k is how many results are wanted",
        "tests/contracts/test_knowledge.py::test_five_semantic_results_of_the_plain_query_are_the_default",
        "tests/contracts/test_knowledge.py::test_bad_parameters_have_codes_of_their_own",
    ),
    proved(
        "003-REQ-FILTERS",
        "filters are exact matches that all must hold, before retrieval",
        "tests/contracts/test_knowledge.py::test_filters_match_every_built_in_field_exactly",
        "tests/contracts/test_knowledge.py::test_filters_apply_before_retrieval_on_both_branches",
        "tests/contracts/test_knowledge.py::test_a_filter_that_means_nothing_is_refused",
    ),
    proved(
        "003-REQ-METHOD",
        "search_method is semantic, keyword or hybrid",
        "tests/contracts/test_knowledge.py::test_bad_parameters_have_codes_of_their_own",
    ),
    proved(
        "003-REQ-PREPROCESSING",
        "query_preprocessing is none or normalize",
        "tests/contracts/test_knowledge.py::test_both_branches_get_the_normalised_query_which_is_echoed",
        "tests/contracts/test_knowledge.py::test_a_query_without_letters_is_an_error_once_normalised",
        "tests/contracts/test_knowledge.py::test_bad_parameters_have_codes_of_their_own",
    ),
    proved(
        "003-REQ-ALPHA",
        "hybrid_alpha is the semantic weight of hybrid",
        "tests/contracts/test_knowledge.py::test_alpha_is_one_half_and_only_hybrid_has_it",
        "tests/contracts/test_knowledge.py::test_alpha_without_hybrid_is_ignored_with_a_note",
        "tests/contracts/test_knowledge.py::test_bad_parameters_have_codes_of_their_own",
    ),
    proved(
        "003-DEF-TOP-K",
        "five results by default",
        "tests/contracts/test_knowledge.py::test_five_semantic_results_of_the_plain_query_are_the_default",
    ),
    proved(
        "003-DEF-METHOD",
        "semantic by default",
        "tests/contracts/test_knowledge.py::test_five_semantic_results_of_the_plain_query_are_the_default",
    ),
    proved(
        "003-DEF-PREPROCESSING",
        "no preprocessing by default",
        "tests/contracts/test_knowledge.py::test_five_semantic_results_of_the_plain_query_are_the_default",
    ),
    proved(
        "003-DEF-ALPHA",
        "one half by default, and only in hybrid",
        "tests/contracts/test_knowledge.py::test_alpha_is_one_half_and_only_hybrid_has_it",
    ),
    proved(
        "003-EXAMPLE-REQUEST",
        "the printed request is understood",
        "tests/contracts/test_knowledge.py::test_the_printed_request_gets_an_answer_of_the_printed_shape",
    ),
    proved(
        "003-EXAMPLE-RESULT",
        "its answer has the printed shape",
        "tests/contracts/test_knowledge.py::test_the_printed_request_gets_an_answer_of_the_printed_shape",
    ),
    proved(
        "003-CALL-INDEX",
        "a call tells the index",
        "tests/contracts/test_knowledge.py::test_a_call_tells_its_request_and_its_count",
    ),
    proved(
        "003-CALL-QUERY",
        "a call tells the query as it was used",
        "tests/contracts/test_knowledge.py::test_a_call_tells_its_request_and_its_count",
    ),
    proved(
        "003-CALL-TOP-K",
        "a call tells top_k",
        "tests/contracts/test_knowledge.py::test_a_call_tells_its_request_and_its_count",
    ),
    proved(
        "003-CALL-METHOD",
        "a call tells the method",
        "tests/contracts/test_knowledge.py::test_a_call_tells_its_request_and_its_count",
    ),
    proved(
        "003-CALL-PREPROCESSING",
        "a call tells the preprocessing",
        "tests/contracts/test_knowledge.py::test_a_call_tells_its_request_and_its_count",
    ),
    proved(
        "003-CALL-ALPHA",
        "a hybrid call tells alpha, others do not",
        "tests/contracts/test_knowledge.py::test_alpha_is_one_half_and_only_hybrid_has_it",
    ),
    proved(
        "003-CALL-COUNT",
        "a call counts its results",
        "tests/contracts/test_knowledge.py::test_a_call_tells_its_request_and_its_count",
    ),
    proved(
        "003-ITEM-ID",
        "an item has an id",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
    ),
    proved(
        "003-ITEM-TEXT",
        "an item has its text",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
    ),
    proved(
        "003-ITEM-METADATA",
        "an item has metadata",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
    ),
    proved(
        "003-ITEM-RELEVANCE-SCORE",
        "an item has its canonical relevance",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
    ),
    proved(
        "003-ITEM-RELEVANCE-KIND",
        "an item says what kind of relevance that is",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
    ),
    proved(
        "003-ITEM-COMPONENTS",
        "a hybrid item shows what it was fused from",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
    ),
    proved(
        "003-ITEM-SCORE",
        "an item has the provider's score",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
    ),
    proved(
        "003-ITEM-SCORE-KIND",
        "an item says what kind of score that is",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
    ),
    proved(
        "003-KIND-SIMILARITY",
        "semantic relevance is called similarity",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
        "tests/contracts/test_knowledge.py::test_semantic_relevance_is_the_similarity_never_below_zero",
    ),
    proved(
        "003-KIND-KEYWORD",
        "keyword relevance is called keyword_score",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
    ),
    proved(
        "003-KIND-HYBRID",
        "hybrid relevance is called hybrid_score",
        "tests/contracts/test_knowledge.py::test_items_have_exactly_their_keys_and_kinds",
        "tests/contracts/test_knowledge.py::test_hybrid_relevance_is_made_of_the_components_shown",
    ),
    proved(
        "003-COMP-SEMANTIC",
        "the semantic component is shown",
        "tests/contracts/test_knowledge.py::test_hybrid_relevance_is_made_of_the_components_shown",
    ),
    proved(
        "003-COMP-KEYWORD",
        "the keyword component is shown",
        "tests/contracts/test_knowledge.py::test_hybrid_relevance_is_made_of_the_components_shown",
    ),
    proved(
        "003-META-KNOWLEDGE-BASE-ID",
        "chunks know their knowledge base",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-DOCUMENT-ID",
        "chunks know their document",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-CHUNK-INDEX",
        "chunks know their place in it",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-TITLE",
        "chunks know its title",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-SOURCE-TYPE",
        "chunks know the kind of source",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-SOURCE-NAME",
        "chunks know the source's name",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-URI",
        "chunks know their address",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-SOURCE-ID",
        "chunks know the source's id",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-SOURCE-PATH",
        "chunks know their path in the source",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-MANAGED-BY-SOURCE",
        "chunks know whether the source manages them",
        "tests/contracts/test_knowledge.py::test_every_chunk_carries_the_built_in_metadata",
    ),
    proved(
        "003-META-RESERVED",
        "an author's property never hides a built-in field",
        "tests/contracts/test_knowledge.py::test_front_matter_cannot_take_the_name_of_a_built_in_field",
    ),
    proved(
        "003-META-RESERVED-SCHEMA",
        "a schema that repeats a built-in name is refused",
        "tests/knowledge/test_bases.py::test_a_schema_that_repeats_a_built_in_field_is_refused_by_name",
    ),
    proved(
        "003-FILTER-BUILT-IN",
        "every built-in field can be filtered by",
        "tests/contracts/test_knowledge.py::test_filters_match_every_built_in_field_exactly",
    ),
    proved(
        "003-FILTER-SCHEMA",
        "so can properties of a schema",
        "tests/knowledge/test_retrieval.py::test_properties_of_the_schema_are_filters_in_every_mode",
    ),
    proved(
        "003-PAGE-NUMBER",
        "chunks of a PDF know their page",
        "tests/ingest/formats/test_runs.py::test_each_phrase_is_found_on_its_page",
    ),
    proved(
        "003-PAGE-FILTER",
        "pages can be filtered by",
        "tests/ingest/formats/test_runs.py::test_pages_are_filtered_before_retrieval_by_every_method",
    ),
    proved(
        "003-PAGE-NOT-INFERRED",
        "a page is never guessed from the page count",
        "tests/ingest/formats/test_runs.py::test_a_page_is_never_guessed",
    ),
    proved(
        "003-PAGE-COUNT",
        "the page count belongs to the document",
        "tests/ingest/formats/test_runs.py::test_the_page_count_belongs_to_the_document",
    ),
    proved(
        "003-REF-PAGES",
        "references gather pages from page_number, pages or a range",
        "tests/contracts/test_references.py::test_pages_are_gathered_from_numbers_lists_and_ranges_once_and_in_order",
    ),
    proved(
        "003-REF-FILE-URL",
        "references link to an authenticated route for the file",
        "tests/http/test_knowledge.py::test_references_name_each_document_once_and_lead_to_its_file",
    ),
    proved(
        "003-REF-NO-LOCAL-PATH",
        "no local file address is shown",
        "tests/contracts/test_references.py::test_a_local_address_is_shown_in_no_reference",
        "tests/knowledge/test_documents.py::test_no_document_can_name_a_place_on_a_disk",
        "tests/http/test_knowledge.py::test_a_source_is_synced_as_a_job_and_no_answer_tells_where_it_lies",
    ),
    proved(
        "003-SEM-EMBEDDINGS",
        "semantic search uses embeddings and cannot do without",
        "tests/contracts/test_knowledge.py::test_semantic_relevance_is_the_similarity_never_below_zero",
        "tests/contracts/test_knowledge.py::test_semantic_search_without_embeddings_is_an_error",
    ),
    proved(
        "003-SEM-RELEVANCE",
        "its relevance is the similarity, scaled to [0, 1]",
        "tests/contracts/test_knowledge.py::test_semantic_relevance_is_the_similarity_never_below_zero",
    ),
    proved(
        "003-KEY-NO-EMBEDDINGS",
        "keyword search needs no embeddings",
        "tests/contracts/test_knowledge.py::test_keyword_search_needs_no_embedder_and_shows_bm25",
    ),
    proved(
        "003-KEY-RELEVANCE",
        "its relevance is the score that ranked it",
        "tests/contracts/test_knowledge.py::test_keyword_search_needs_no_embedder_and_shows_bm25",
    ),
    proved(
        "003-HYB-OWN-LOGIC",
        "hybrid runs both branches in the engine",
        "tests/contracts/test_knowledge.py::test_a_store_answers_one_signal_at_a_time",
    ),
    proved(
        "003-HYB-RELEVANCE",
        "its relevance is the fused score",
        "tests/contracts/test_knowledge.py::test_hybrid_relevance_is_made_of_the_components_shown",
    ),
    proved(
        "003-HYB-COMPONENTS",
        "the components are the numbers that were fused",
        "tests/contracts/test_knowledge.py::test_hybrid_relevance_is_made_of_the_components_shown",
    ),
    proved(
        "003-FUSE-ONCE",
        "the query is preprocessed once for both branches",
        "tests/contracts/test_knowledge.py::test_both_branches_get_the_normalised_query_which_is_echoed",
    ),
    proved(
        "003-FUSE-OVERFETCH",
        "both branches fetch min(max(3 top_k, 10), 50), never below top_k",
        "tests/contracts/test_knowledge.py::test_hybrid_over_fetches_both_branches",
    ),
    proved(
        "003-FUSE-SIMILARITY",
        "the semantic branch counts as similarity in [0, 1]",
        "tests/contracts/test_knowledge.py::test_the_worked_vector_holds_over_a_real_index",
        "tests/ranking/test_normalise.py::test_unit_clamps_a_cosine_to_zero_and_one",
    ),
    proved(
        "003-FUSE-MINMAX",
        "the keyword branch is min-max scaled",
        "tests/contracts/test_knowledge.py::test_the_worked_vector_holds_over_a_real_index",
        "tests/ranking/test_fuse.py::test_the_worked_vector_of_the_retrieval_contract",
    ),
    proved(
        "003-FUSE-FLAT",
        "equal keyword scores all count 1.0",
        "tests/contracts/test_knowledge.py::test_equal_keyword_scores_all_count_one",
        "tests/ranking/test_normalise.py::test_a_flat_list_is_all_one",
    ),
    proved(
        "003-FUSE-FORMULA",
        "alpha times semantic plus the rest times keyword",
        "tests/contracts/test_knowledge.py::test_hybrid_relevance_is_made_of_the_components_shown",
        "tests/contracts/test_knowledge.py::test_the_worked_vector_holds_over_a_real_index",
        "tests/ranking/test_fuse.py::test_the_worked_vector_of_the_retrieval_contract",
    ),
    proved(
        "003-OWN-BACKEND-REQUEST",
        "the backend shapes public requests",
        "tests/knowledge/test_retrieval.py::test_the_canonical_request_of_the_specification_is_answered_by_its_base",
        "tests/http/test_knowledge.py::test_the_canonical_request_gives_the_canonical_result",
    ),
    proved(
        "003-OWN-BACKEND-KB",
        "the backend finds the knowledge base that is meant",
        "tests/knowledge/test_bases.py::test_an_unknown_base_is_not_found",
        "tests/knowledge/test_bases.py::test_an_archived_base_answers_nothing_until_it_is_taken_back",
        "tests/http/test_knowledge.py::test_the_canonical_request_gives_the_canonical_result",
    ),
    proved(
        "003-OWN-BACKEND-FORWARD",
        "the backend hands canonical requests on",
        "tests/knowledge/test_retrieval.py::test_the_canonical_request_of_the_specification_is_answered_by_its_base",
        "tests/http/test_knowledge.py::test_the_canonical_request_gives_the_canonical_result",
    ),
    proved(
        "003-OWN-BACKEND-PROJECT",
        "the backend projects results into sources",
        "tests/contracts/test_references.py::test_each_document_is_one_reference_numbered_by_its_best_result",
        "tests/http/test_knowledge.py::test_references_name_each_document_once_and_lead_to_its_file",
    ),
    proved(
        "003-OWN-ENGINE-NORMALISE",
        "the engine normalises the request",
        "tests/contracts/test_knowledge.py::test_both_branches_get_the_normalised_query_which_is_echoed",
    ),
    proved(
        "003-OWN-ENGINE-BRANCHES",
        "the engine runs the branches",
        "tests/contracts/test_knowledge.py::test_a_store_answers_one_signal_at_a_time",
    ),
    proved(
        "003-OWN-ENGINE-FUSION",
        "the engine fuses them",
        "tests/contracts/test_knowledge.py::test_hybrid_relevance_is_made_of_the_components_shown",
    ),
    proved(
        "003-OWN-ENGINE-EMISSION",
        "the engine emits the calls",
        "tests/contracts/test_knowledge.py::test_a_call_tells_its_request_and_its_count",
    ),
    proved(
        "003-OWN-PROVIDER-QUERIES",
        "a store translates a request into its own query",
        "tests/contracts/test_knowledge.py::test_a_store_answers_one_signal_at_a_time",
    ),
    proved(
        "003-OWN-PROVIDER-SCORES",
        "a store returns its own score and says which",
        "tests/contracts/test_knowledge.py::test_keyword_search_needs_no_embedder_and_shows_bm25",
    ),
    proved(
        "003-OWN-PROVIDER-NO-HYBRID",
        "a store has no say in hybrid",
        "tests/contracts/test_knowledge.py::test_a_store_answers_one_signal_at_a_time",
    ),
    proved(
        "003-NO-NATIVE-HYBRID",
        "no store's own hybrid search is used",
        "tests/contracts/test_knowledge.py::test_a_store_answers_one_signal_at_a_time",
    ),
)
