"""Read the settings of a model folder, as sentence-transformers writes them: modules, pooling, prompts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from quintet.embed.canonical.weights import Pooling
from quintet.embed.tokens import TextFormat
from quintet.errors import UsageError
from quintet.settings import regular_text

MODULES = "modules.json"
ENCODER, POOLING, NORMALISE = "Transformer", "Pooling", "Normalize"  # the last part of a module's type
# Only the direction of a vector is kept, so the sum over the square root of the length is the mean, too.
POOLINGS: Mapping[str, Pooling] = {
    "cls_token": "cls",
    "cls": "cls",
    "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean",
    "mean": "mean",
    "max_tokens": "max",
    "max": "max",
}
QUERY_PROMPTS = ("query",)
PASSAGE_PROMPTS = ("document", "passage", "corpus")  # the order of sentence-transformers
LONGEST_PROMPT = 2000  # characters
SMALLEST_WINDOW = 8  # tokens


@dataclass(frozen=True, slots=True)
class ModelModules:
    """The folder with the encoder's files, and how the vectors of its tokens become one."""

    encoder: Path
    pooling: Pooling


def read_json(file: Path, *, optional: bool = False) -> Any:
    """The content of a JSON file; an empty object if it is optional and missing."""
    try:
        return json.loads(regular_text(file))
    except FileNotFoundError:
        if optional:
            return {}
        raise UsageError(
            f"the model folder {file.parent} has no {file.name}; "
            "save the model with sentence-transformers, or copy all of its files"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        reason = str(error)[:200] or type(error).__name__
        raise UsageError(f"{file} cannot be read: {reason}") from error


def read_object(file: Path, *, optional: bool = False) -> Mapping[str, Any]:
    found = read_json(file, optional=optional)
    if not isinstance(found, dict):
        raise UsageError(f"{file} is no JSON object")
    return found


def read_modules(folder: Path) -> ModelModules:
    """The modules must be an encoder and a pooling. Vectors are always normalised."""
    file = folder / MODULES
    modules = [_module(file, entry) for entry in _entries(file)]
    kinds = [kind for kind, _ in modules]
    if kinds[:2] != [ENCODER, POOLING] or kinds[2:] not in ([], [NORMALISE]):
        allowed = f"Quintet runs {ENCODER}, {POOLING} and {NORMALISE}"
        raise UsageError(f"the modules in {file} are {', '.join(kinds)[:200] or 'none'}; {allowed}")
    return ModelModules(modules[0][1], _pooling(modules[1][1] / "config.json"))


def _entries(file: Path) -> Sequence[Any]:
    entries = read_json(file)
    if not isinstance(entries, list):
        raise UsageError(f"{file} is no JSON list")
    return entries


def _module(file: Path, entry: Any) -> tuple[str, Path]:
    """The kind of a module and its folder, which must be inside the model's."""
    kind, place = (entry.get("type"), entry.get("path")) if isinstance(entry, dict) else (None, None)
    if not isinstance(kind, str) or not isinstance(place, str):
        raise UsageError(f"{file} lists a module without type and path")
    parts = PurePosixPath(place).parts
    if "/" in parts or ".." in parts or set(place) & set("\\:\0"):
        raise UsageError(f"{file} names the folder {place[:100]!r}; it must be inside the model's folder")
    return kind.rpartition(".")[2], file.parent.joinpath(*parts)


def _pooling(file: Path) -> Pooling:
    config = read_object(file)
    named = config.get("pooling_mode")  # by later versions of sentence-transformers; one or several
    marks = [name for name, value in config.items() if name.startswith("pooling_mode_") and value]
    chosen = named if isinstance(named, list) else [named] if named else marks
    chosen = [str(name).removeprefix("pooling_mode_") for name in chosen]
    if len(chosen) != 1 or chosen[0] not in POOLINGS:
        given = ", ".join(chosen)[:200] or "none"
        raise UsageError(f"the pooling in {file} is {given}; it must be one of: cls, mean, max")
    if config.get("include_prompt") is False:
        raise UsageError(f"{file} leaves prompts out of the pooling; Quintet includes them")
    return POOLINGS[chosen[0]]


def read_format(folder: Path, encoder: Path, longest: int) -> TextFormat:
    """How text becomes tokens. `longest` is the most that the encoder takes."""
    file = encoder / "sentence_bert_config.json"
    config = read_object(file, optional=True)
    window = config.get("max_seq_length")
    if window is None:
        window = longest
    if type(window) is not int or window < SMALLEST_WINDOW:
        allowed = f"it must be a whole number from {SMALLEST_WINDOW}"
        raise UsageError(f"max_seq_length in {file} is {window!r:.60}; {allowed}")
    query, passage = _prompts(folder / "config_sentence_transformers.json")
    return TextFormat(min(window, longest), query, passage, config.get("do_lower_case") is True)


def _prompts(file: Path) -> tuple[str, str]:
    """What stands in front of a query and of a passage."""
    config = read_object(file, optional=True)
    prompts = config.get("prompts") or {}
    usual = config.get("default_prompt_name")
    if not isinstance(prompts, dict) or not all(_is_prompt(prompt) for prompt in prompts.values()):
        allowed = f"they must be texts of at most {LONGEST_PROMPT} characters, by name"
        raise UsageError(f"the prompts in {file} are {prompts!r:.100}; {allowed}")
    if usual is not None and (not isinstance(usual, str) or usual not in prompts):
        raise UsageError(f"default_prompt_name in {file} is {usual!r:.60}, which is not one of its prompts")
    query = next((prompts[name] for name in (*QUERY_PROMPTS, usual) if name in prompts), "")
    passage = next((prompts[name] for name in (*PASSAGE_PROMPTS, usual) if name in prompts), "")
    return query, passage


def _is_prompt(prompt: object) -> bool:
    return isinstance(prompt, str) and len(prompt) <= LONGEST_PROMPT
