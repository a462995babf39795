"""Every requirement of the five specifications, tied to the tests that prove it.

A test carries `@pytest.mark.requirement(id, ...)`, an entry names its tests; `test_requirements.py` checks
that the two agree. Steps: 2 canonical embeddings, 3 MCP and HTTP, 4 graph, freshness and memory, 5 knowledge
bases, 6 HNSW, cache and post-filter, 7 metrics and relevance.
"""

from contracts.manifest import spec_000, spec_001, spec_002, spec_003, spec_004
from contracts.manifest.entry import Requirement

STEPS = range(2, 9)
SPECIFICATIONS = (spec_000, spec_001, spec_002, spec_003, spec_004)
REQUIREMENTS: tuple[Requirement, ...] = tuple(
    requirement for specification in SPECIFICATIONS for requirement in specification.REQUIREMENTS
)
