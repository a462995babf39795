"""PURE. One file a specification: parameters, profile, projection."""

from collections.abc import Mapping
from types import MappingProxyType

from quintet.contracts import cfs, harness, knowledge, mcb, quintet, rifflux
from quintet.contracts.contract import Answer, Contract, Expansion, Plan, Reading
from quintet.errors import UsageError
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


__all__ = [
    "CONTRACTS",
    "HOUSE",
    "Answer",
    "Contract",
    "Expansion",
    "Plan",
    "Reading",
    "contract_named",
    "read",
]
