"""Which runs are asked for: contracts, modes and a grid of parameters; and what each of them found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from quintet.contracts import CONTRACTS, Contract, contract_named, read
from quintet.errors import LimitError, UsageError
from quintet.evaluation.calibration import Outcome
from quintet.model.documents import Json
from quintet.model.parameters import LIMIT_MAX, rule_of, shown
from quintet.model.results import Evidence, Note, Signal

ALL = "all"
MOST_RUNS = 500
WORDS = ("lexical", "keyword")  # two names of one mode; every contract with modes has one of them
# These may not be fewer than the results asked for, which no other contract demands.
CANDIDATES: Mapping[str, tuple[str, ...]] = {"harness": ("candidate_k_keyword", "candidate_k_vector")}

Tables = Mapping[str, Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One way of ranking. `mode` is None where the contract has no modes."""

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
        return self.mode not in WORDS

    def given(self, limit: int, tables: Tables) -> dict[str, object]:
        """The parameters of a search, for `limit` results unless a number of results was asked for."""
        given = dict(self.params) if self.mode is None else {**self.params, "mode": self.mode}
        contract = contract_named(self.contract)
        if {"limit", contract.limit} & {*given, *tables.get(self.contract, {})}:
            return given
        params = read(self.contract, contract.parameters, self.params, tables.get(self.contract, {}))
        most = [getattr(params, name) for name in CANDIDATES.get(self.contract, ())]
        return {**given, "limit": min(limit, LIMIT_MAX, *most)}


@dataclass(frozen=True, slots=True)
class Found:
    """A result as far as a report needs it: evidence is kept only where it may be shown."""

    item: str
    score: float
    evidence: Mapping[Signal, Evidence] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """What was found for each query, best first. `seconds` is None where nobody measured it."""

    asked: Asked
    results: Mapping[str, Sequence[Found]]
    seconds: float | None = None
    notes: tuple[Note, ...] = ()
    outcomes: tuple[Outcome, ...] = ()  # where answers have a confidence

    def rankings(self) -> dict[str, list[str]]:
        return {query: [one.item for one in found] for query, found in self.results.items()}


def asked_for(
    contracts: Sequence[str],
    modes: Sequence[str],
    grid: Mapping[str, Sequence[object]],
    tables: Tables,
    *,
    text_only: bool,
) -> list[Asked]:
    """Every combination once, checked before anything runs. `tables` are the settings of each contract.

    Without modes it is the contract's own default, and that for words alone where there are no vectors.
    """
    names = list(CONTRACTS) if ALL in contracts else list(dict.fromkeys(contracts))
    combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    found = [
        Asked(name, mode, params)
        for name in names
        for mode in _modes(contract_named(name), modes, text_only)
        for params in combinations
    ]
    if len(found) > MOST_RUNS:
        raise LimitError(
            f"that would be {len(found)} runs; at most {MOST_RUNS} are made at once: ask for fewer"
        )
    for one in found:
        _check(one, tables)
    return found


def _modes(contract: Contract, wanted: Sequence[str], text_only: bool) -> Iterator[str | None]:
    if contract.mode is None:
        yield None
        return
    declared = contract.parameters.__dataclass_fields__[contract.mode]
    known: list[str] = rule_of(declared).check.schema["enum"]
    words = next(mode for mode in known if mode in WORDS)
    if ALL in wanted:
        yield from (mode for mode in known if not text_only or mode == words)
        return
    chosen = wanted or ([words] if text_only else [declared.default])
    yield from dict.fromkeys(words if mode in WORDS else mode for mode in chosen)


def _check(one: Asked, tables: Tables) -> None:
    contract = contract_named(one.contract)
    for reserved in ("mode", contract.mode):
        if reserved in one.params:
            raise UsageError(
                f"{reserved} is not a parameter here; use --mode", details={"parameter": reserved}
            )
    spelt = {contract.mode: one.mode} if contract.mode else {}
    given = {contract.limit if name == "limit" else name: value for name, value in one.params.items()}
    read(one.contract, contract.parameters, {**spelt, **given}, tables.get(one.contract, {}))
