"""The rankings to measure (contracts, modes, a grid of parameters), and the results of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from quintet.contracts import CONTRACTS, Contract, contract_named, read
from quintet.errors import LimitError, UsageError
from quintet.evaluation.calibration import CalibrationPoint
from quintet.model.documents import Json
from quintet.model.parameters import LIMIT_MAX, rule_of, shown
from quintet.model.results import Evidence, Note, Signal

ALL = "all"
MOST_RUNS = 500
TEXT_MODES = ("lexical", "keyword")  # two names of one mode; every contract with modes has one of them
# Parameters that must not be smaller than the limit; no other contract has such a rule.
CANDIDATES: Mapping[str, tuple[str, ...]] = {"harness": ("candidate_k_keyword", "candidate_k_vector")}

Tables = Mapping[str, Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class RankingSpec:
    """One way of ranking. `mode` is None if the contract has no modes."""

    contract: str
    mode: str | None = None
    params: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        settings = (
            f"{name}={value if isinstance(value, str) else shown(value)}"
            for name, value in self.params.items()
        )
        return " ".join((self.contract, *((self.mode,) if self.mode else ()), *settings))

    @property
    def needs_vectors(self) -> bool:
        return self.mode not in TEXT_MODES

    def parameters(self, limit: int, tables: Tables) -> dict[str, object]:
        """The parameters of a search for `limit` results, unless the spec or the settings have a limit."""
        given = dict(self.params) if self.mode is None else {**self.params, "mode": self.mode}
        contract = contract_named(self.contract)
        if {"limit", contract.limit} & {*given, *tables.get(self.contract, {})}:
            return given
        params = read(self.contract, contract.parameters, self.params, tables.get(self.contract, {}))
        most = [getattr(params, name) for name in CANDIDATES.get(self.contract, ())]
        return {**given, "limit": min(limit, LIMIT_MAX, *most)}


@dataclass(frozen=True, slots=True)
class RunResult:
    """A result as a report needs it. Only results that the report may explain have evidence."""

    item: str
    score: float
    evidence: Mapping[Signal, Evidence] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchRun:
    """The results of each query, best first. `seconds` is None for the run of another tool."""

    spec: RankingSpec
    results: Mapping[str, Sequence[RunResult]]
    seconds: float | None = None
    notes: tuple[Note, ...] = ()
    points: tuple[CalibrationPoint, ...] = ()  # if answers have a confidence

    def rankings(self) -> dict[str, list[str]]:
        return {query: [result.item for result in results] for query, results in self.results.items()}


def ranking_specs(
    contracts: Sequence[str],
    modes: Sequence[str],
    grid: Mapping[str, Sequence[object]],
    tables: Tables,
    *,
    text_only: bool,
) -> list[RankingSpec]:
    """Every combination once, checked before anything runs. `tables` are the settings of each contract.

    Without modes, each contract uses its default mode; without vectors, its text mode.
    """
    names = list(CONTRACTS) if ALL in contracts else list(dict.fromkeys(contracts))
    combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    specs = [
        RankingSpec(name, mode, params)
        for name in names
        for mode in _modes(contract_named(name), modes, text_only)
        for params in combinations
    ]
    if len(specs) > MOST_RUNS:
        raise LimitError(
            f"that would be {len(specs)} runs; at most {MOST_RUNS} are made at once: ask for fewer"
        )
    for spec in specs:
        _check(spec, tables)
    return specs


def _modes(contract: Contract, wanted: Sequence[str], text_only: bool) -> Iterator[str | None]:
    if contract.mode is None:
        yield None
        return
    declared = contract.parameters.__dataclass_fields__[contract.mode]
    known: list[str] = rule_of(declared).check.schema["enum"]
    text_mode = next(mode for mode in known if mode in TEXT_MODES)
    if ALL in wanted:
        yield from (mode for mode in known if not text_only or mode == text_mode)
        return
    chosen = wanted or ([text_mode] if text_only else [declared.default])
    yield from dict.fromkeys(text_mode if mode in TEXT_MODES else mode for mode in chosen)


def _check(spec: RankingSpec, tables: Tables) -> None:
    contract = contract_named(spec.contract)
    for reserved in ("mode", contract.mode):
        if reserved in spec.params:
            raise UsageError(
                f"{reserved} is not a parameter here; use --mode", details={"parameter": reserved}
            )
    mode = {contract.mode: spec.mode} if contract.mode else {}
    given = {contract.limit if name == "limit" else name: value for name, value in spec.params.items()}
    read(spec.contract, contract.parameters, {**mode, **given}, tables.get(spec.contract, {}))
