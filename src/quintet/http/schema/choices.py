"""Names for the choices in the OpenAPI document. Without one, generators make a class for every field."""

from collections.abc import Mapping
from typing import get_args

from quintet.contracts import CONTRACTS
from quintet.contracts.bases import PROPERTY_KINDS
from quintet.contracts.contract import EF, Strategy, Syntax
from quintet.contracts.knowledge import Method, Preprocessing
from quintet.http.jobs import Kind, State
from quintet.knowledge.documents import OutcomeKind
from quintet.knowledge.results import BaseState
from quintet.knowledge.runs import RunState, RunStep
from quintet.model.memories import KINDS, AboutState, MemoryFreshness
from quintet.model.results import Freshness, Signal, Status
from quintet.model.symbols import Confidence

# By the values: the name and the description.
CHOICES: Mapping[tuple[str, ...], tuple[str, str]] = {
    tuple(CONTRACTS): ("ContractName", "A ranking contract."),
    ("lexical", "semantic", "hybrid"): ("SearchMode", "By words, by meaning, or by both."),
    get_args(Method): ("SearchMethod", "By meaning, by words, or by both."),
    get_args(Preprocessing): ("QueryPreprocessing", "Whether the query is normalised first."),
    get_args(Syntax): ("QuerySyntax", "Plain words, or the query language of FTS5."),
    tuple(EF): ("VectorSearch", "Compare every vector, or let HNSW propose candidates."),
    ("pre", "post"): ("FilterMode", "Filter before retrieval, or after ranking."),
    ("on", "off"): ("Switch", "On or off."),
    ("document", "chunk"): ("ResultUnit", "Whether results are documents or chunks."),
    ("max", "avg"): ("Aggregation", "How the scores of chunks make the score of a document."),
    get_args(Status): ("AnswerStatus", "How the answer came about."),
    get_args(Signal): ("SignalName", "What finds or scores a chunk."),
    get_args(Freshness): ("Freshness", "Whether the file changed since it was indexed."),
    get_args(MemoryFreshness): ("MemoryFreshness", "Whether what a memory is about has changed."),
    get_args(AboutState): ("SubjectState", "What became of what a memory is about."),
    tuple(KINDS): ("MemoryKind", "What kind of memory it is."),
    ("meaning", "words"): ("SimilarityKind", "What two memories have in common."),
    ("code", "memory"): ("RankedKind", "Which list an item comes from."),
    get_args(Strategy): ("GraphStrategy", "Which edges of the code graph to follow."),
    get_args(Confidence): ("EdgeConfidence", "How certain an edge of the code graph is."),
    ("cosine", "bm25", "hybrid_score"): ("ScoreKind", "What a score is."),
    ("similarity", "keyword_score", "hybrid_score"): ("RelevanceKind", "What a relevance score is."),
    tuple(PROPERTY_KINDS): ("PropertyType", "The type of a property."),
    get_args(BaseState): ("KnowledgeBaseState", "The state of a knowledge base."),
    get_args(OutcomeKind): ("OutcomeKind", "What became of a document."),
    get_args(RunState): ("RunState", "How a run over a source stands."),
    get_args(RunStep): ("RunStep", "What a run over a source does."),
    get_args(Kind): ("JobKind", "What a job does."),
    get_args(State): ("JobState", "How a job stands."),
    ("progress", "end"): ("JobEventName", "Whether the job has ended."),
    ("ok", "ready"): ("HealthState", "The process answers, or the index can be read."),
}
BY_VALUES = {frozenset(values): (values, *words) for values, words in CHOICES.items()}
