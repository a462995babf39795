"""PURE. One file for each specification: parameters, profile, projection, result type."""

from collections.abc import Mapping
from types import MappingProxyType

from quintet.contracts import cfs, harness, knowledge, mcb, quintet, rifflux
from quintet.contracts.contract import Answer, Contract, Expansion, Plan, Reading
from quintet.errors import UsageError
from quintet.model.documents import Json
from quintet.model.parameters import read, shown

CONTRACTS: Mapping[str, Contract] = MappingProxyType(
    {module.CONTRACT.name: module.CONTRACT for module in (quintet, rifflux, harness, mcb, knowledge, cfs)}
)
HOUSE = "quintet"


def contract_named(name: object) -> Contract:
    if not isinstance(name, str) or name not in CONTRACTS:
        raise UsageError(
            f"there is no contract {shown(name)}; there are: {', '.join(CONTRACTS)}",
            code="unknown_contract",
        )
    return CONTRACTS[name]


def check_defaults(tables: Mapping[str, Mapping[str, Json]]) -> None:
    """Check the defaults that the tables `[contracts.NAME]` of quintet.toml set."""
    for name, table in tables.items():
        try:
            read(name, contract_named(name).parameters, {}, table)
        except UsageError as error:
            message = f"[contracts.{name}] of quintet.toml: {error.message}"
            raise UsageError(message, code=error.code, details=error.details) from error


__all__ = [
    "CONTRACTS",
    "HOUSE",
    "Answer",
    "Contract",
    "Expansion",
    "Plan",
    "Reading",
    "check_defaults",
    "contract_named",
    "read",
]
