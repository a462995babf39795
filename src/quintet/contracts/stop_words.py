"""Words that say nothing about what a query is about."""

from collections.abc import Mapping
from typing import Literal

StopWords = Literal["none", "lucene", "english"]

# Lucene's English list: small, old, and the one most engines mean by "stop words".
LUCENE = """
    a an and are as at be but by for if in into is it no not of on or such
    that the their then there these they this to was will with
"""
# Articles, pronouns, prepositions, auxiliary verbs and question words.
ENGLISH = """
    a about above after again all also am an and any are as at
    be because been before being below between both but by
    can cannot could did do does doing done down during
    each either else ever every few for from further
    had has have having he her here hers him his how however
    i if in into is it its itself just
    many may me might more most much must my
    no nor not of off often on once only onto or other our out over own
    per please rather same shall she should since so some such
    than that the their them then there these they this those through thus to too
    under until up upon us use used uses using very via
    was way we well were what when where whether which while who whom whose why will with within without
    would yes yet you your
"""
STOP_WORDS: Mapping[StopWords, frozenset[str]] = {
    "none": frozenset(),
    "lucene": frozenset(LUCENE.split()),
    "english": frozenset(ENGLISH.split()),
}
