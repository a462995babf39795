"""Every requirement of the five specifications, tied to what proves it.

A test carries `@pytest.mark.requirement(id, ...)`, and an entry names its tests; `test_requirements.py`
checks that the two agree. For what a test cannot prove, the entry names a benchmark and the page with the
figures.
"""

from contracts.manifest import spec_000, spec_001, spec_002, spec_003, spec_004
from contracts.manifest.entry import Requirement

SPECIFICATIONS = (spec_000, spec_001, spec_002, spec_003, spec_004)
REQUIREMENTS: tuple[Requirement, ...] = tuple(
    requirement for specification in SPECIFICATIONS for requirement in specification.REQUIREMENTS
)
