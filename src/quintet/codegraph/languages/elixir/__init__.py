"""Elixir: definitions only."""

from quintet.codegraph.language import Family, Language, NameRules

FAMILY = Family("elixir", NameRules("none"))
ELIXIR = Language("elixir", "text/x-elixir", ("ex", "exs"), FAMILY, f"{__name__}.extract")
