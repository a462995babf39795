"""The other form of spec 004's filters (section 8): rank first, then keep what passes."""

from collections.abc import Mapping

from quintet.contracts import Plan
from quintet.contracts.confidence import BEST
from quintet.model import Facts, Ranked
from quintet.ports import Catalog
from quintet.ranking import rank
from quintet.search.signals import Legs


def ranked(plan: Plan, catalog: Catalog, legs: Legs, facts: Mapping[str, Facts]) -> list[Ranked]:
    """The best results, ten at least; what a later filter drops is not made up for, which a note tells."""
    if not plan.post_filter.conditions:
        return rank(plan.profile, legs.hits, facts, max(plan.limit, BEST))
    best = rank(plan.profile, legs.hits, facts, max(plan.post_depth, plan.limit))
    kept = catalog.passing(plan.post_filter, [item.best_chunk for item in best])
    legs.note("post_filtered", f"{len(kept)} of the best {len(best)} results pass the filter")
    return [item for item in best if item.best_chunk in kept][: plan.limit]
