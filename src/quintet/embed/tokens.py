"""From text to windows of token ids."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quintet.errors import UsageError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How many tokens a model reads at once, and what is done to a text before it is cut into tokens."""

    window: int
    query_prompt: str = ""
    passage_prompt: str = ""
    lower_case: bool = False


class TokenWindows:
    """The tokenizer of a model that knows as many tokens as `vocabulary` says."""

    def __init__(self, description: str, form: TextFormat, vocabulary: int) -> None:
        self.tokenizer = _read(description)
        if form.lower_case:
            from tokenizers import normalizers

            own = [self.tokenizer.normalizer] if self.tokenizer.normalizer else []
            self.tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *own])
        self._around = self.tokenizer.encode("").ids
        self._window = form.window
        self._check(form, vocabulary)

    def _check(self, form: TextFormat, vocabulary: int) -> None:
        if len(self._around) != 2:
            raise UsageError(f"tokenizer.json adds {len(self._around)} tokens to a text; it must add two")
        largest = max(self.tokenizer.get_vocab(with_added_tokens=True).values(), default=0)
        if largest >= vocabulary:
            raise UsageError(
                f"tokenizer.json has token {largest}, but the model has {vocabulary} tokens; "
                "they are not of the same model"
            )
        for prompt in (form.query_prompt, form.passage_prompt):
            if 2 * len(self.tokenizer.encode(prompt, add_special_tokens=False).ids) > self._window:
                raise UsageError(f"the prompt {prompt[:60]!r} takes more than half of {self._window} tokens")

    def __call__(self, text: str, prompt: str = "") -> list[list[int]]:
        """The token ids of each window, between the special tokens of the model. Each has the prompt."""
        encoding = self.tokenizer.encode(_well_formed(prompt + text), add_special_tokens=False)
        ids: list[int] = encoding.ids
        head: list[int] = []
        if prompt:  # tokens are cut from both together, because the first of the text can depend on it
            ends = [end for _, end in encoding.offsets]
            count = next((at for at, end in enumerate(ends) if end > len(prompt)), len(ids))
            head, ids = ids[:count], ids[count:]
        first, last = self._around
        room = max(1, self._window - 2 - len(head))
        starts = range(0, max(len(ids), 1), room)
        return [[first, *head, *ids[start : start + room], last] for start in starts]


def _read(description: str) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_str(description)
    except Exception as error:  # the library has no class of its own for it
        raise UsageError(f"tokenizer.json cannot be read: {str(error)[:200]}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "<s>" in a text is three characters, not a special token
    return tokenizer


def _well_formed(text: str) -> str:
    """Replaces lone surrogates, which no tokenizer can read."""
    return text.encode("utf-8", "replace").decode()
