"""The other form of spec 004's filters (section 8): rank first, then keep what passes."""

from collections.abc import Mapping

from quintet.contracts import Plan
from quintet.contracts.confidence import BEST
from quintet.model.results import Facts, Ranked
from quintet.ports.reading import Catalog
from quintet.query.legs import NOTHING_PASSES, Legs, is_empty
from quintet.ranking import rank


def reach(plan: Plan) -> int:
    """How many results are ranked: ten at least, or what a later filter chooses from."""
    return max(plan.limit, plan.post_depth if plan.post_filter.conditions else BEST)


def ranked(plan: Plan, catalog: Catalog, legs: Legs, facts: Mapping[str, Facts]) -> list[Ranked]:
    """The best results; what a later filter drops is not made up for, which a note tells."""
    best = rank(plan.profile, legs.hits, facts, reach(plan))
    if not plan.post_filter.conditions:
        return best
    kept = catalog.passing(plan.post_filter, [item.best_chunk for item in best])
    legs.note("post_filtered", f"{len(kept)} of the best {len(best)} results pass the filter")
    if not kept and catalog.counts().documents and is_empty(catalog.select(plan.post_filter)):
        legs.note("nothing_passes", NOTHING_PASSES)
    return [item for item in best if item.best_chunk in kept][: plan.limit]
