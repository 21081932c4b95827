"""Text generation."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Union

from . import _vitrine
from ._arguments import PathLike, count, items


@dataclass(frozen=True)
class Generation:
    """A generated text. str() returns it."""

    text: str  # without special tokens
    prompt_ids: list[int]
    ids: list[int]  # the new tokens, including the end token
    reason: str  # why it ended: "end_token", "length" or "stopped"
    statistics: dict[str, Any]  # times and counts of ExecuTorch's runner

    def __str__(self) -> str:
        return self.text


class LanguageModel:
    """A language model (.pte) with its tokenizer, and a conversation with it.

    `tokenizer` is a file of SentencePiece, Hugging Face, tiktoken or llama2.c. `threads` and `data` are those of
    `Program`. Calls of one model wait for each other.
    """

    def __init__(self, program: PathLike, tokenizer: PathLike, *, threads: int = 0,
                 data: Sequence[PathLike] = ()) -> None:
        self._path = os.fspath(program)
        self._model = _vitrine.LanguageModel(self._path, os.fspath(tokenizer), count("threads", threads, 0),
                                             [os.fspath(file) for file in items("data", data)])

    def generate(self, prompt: Union[str, Sequence[int]], *, max_new_tokens: Optional[int] = None,
                 temperature: float = 0.8, top_p: float = 0.9, top_k: int = 0, seed: Optional[int] = None,
                 num_bos: int = 0, add_template: bool = False, ignore_eos: bool = False,
                 on_text: Optional[Callable[[str], Any]] = None) -> Generation:
        """Continues the conversation after a prompt: text or token ids.

        Without `max_new_tokens`, the text ends with an end token or with the context. `temperature=0` takes the most
        probable token each time. `on_text` gets each piece of text as soon as it is known; an exception in it ends
        the text. `num_bos` begin tokens precede the prompt; `add_template` adds the tokens that a tokenizer.json puts
        around a text.
        """
        options = _vitrine.GenerateOptions()
        options.max_new_tokens = -1 if max_new_tokens is None else count("max_new_tokens", max_new_tokens, 0)
        options.temperature = temperature
        options.top_p = top_p
        options.top_k = count("top_k", top_k, 0)
        options.seed = None if seed is None else count("seed", seed, 0)
        options.num_bos = count("num_bos", num_bos, 0)
        options.add_template = add_template
        options.ignore_eos = ignore_eos
        given = prompt if isinstance(prompt, str) else [int(token) for token in prompt]
        text, prompt_ids, ids, reason, statistics = self._model.generate(given, options, on_text)
        return Generation(text, prompt_ids, ids, reason, json.loads(statistics))

    def stop(self) -> None:
        """Stops generate(), which runs in another thread, after the current token."""
        self._model.stop()

    def reset(self) -> None:
        """Starts a new conversation."""
        self._model.reset()

    @property
    def position(self) -> int:
        """The number of tokens that the model has seen."""
        return self._model.position()

    @property
    def max_context(self) -> int:
        """The largest number of tokens in a conversation."""
        return self._model.max_context()

    def encode(self, text: str) -> list[int]:
        return self._model.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self._model.decode([int(token) for token in ids])

    def __repr__(self) -> str:
        return f"vitrine.LanguageModel({self._path!r})"
