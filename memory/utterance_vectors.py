"""How similar in meaning a new utterance is to earlier ones: cosines of embeddings, which the process keeps.

It is a cache: a run that is resumed elsewhere embeds earlier utterances again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..state.settings import Settings
from .embedding_texts import embed
from .retrieval import Vectors, cosines

SIMULATIONS: Final = 128
"""The most conversations kept; the one unused for longest is dropped. For each, the last window is kept."""
COMPARED_BYTES: Final = 600
"""The part of a text that is embedded, about a hundred words: lexical embeddings of longer texts become similar in any
case, and other embeddings take few tokens. N-grams compare the whole text."""


class UtteranceVectors:
    """The vectors of the last utterances, by conversation. Safe between threads and event loops.

    Args:
        limit: the most conversations kept.
    """

    def __init__(self, limit: int = SIMULATIONS) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], dict[str, Vectors]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def discard(self, simulation: str) -> None:
        """Drop the vectors of a conversation."""
        with self._lock:
            for key in [key for key in self._kept if key[1] == simulation]:
                del self._kept[key]

    async def similarities(
        self, settings: Settings, simulation: str, text: str, said: Sequence[str], *, agent: str
    ) -> list[float]:
        """Cosine of a new text's embedding with that of each earlier one, −1 to 1.

        Only new texts are embedded, in one batch; afterwards exactly these texts are kept.

        Args:
            settings: `embedding`, and those that `embed` needs.
            simulation: the run's id.
            text: the new text.
            said: earlier texts.
            agent: who speaks; named in errors.

        Raises:
            ModelError: the embedding failed (TransientModelError if trying again may help).
        """
        key = (settings.embedding, simulation)
        wanted = list(dict.fromkeys(map(_compared, (*said, text))))
        with self._lock:
            known = self._kept.get(key, {})
        missing = [part for part in wanted if part not in known]
        fresh = dict(zip(missing, await embed(settings, missing, agent=agent), strict=True)) if missing else {}
        vectors = {part: known[part] if part in known else fresh[part] for part in wanted}
        if len({vector.shape for vector in vectors.values()}) > 1:  # the server has another model than before
            vectors = dict(zip(wanted, await embed(settings, wanted, agent=agent), strict=True))
        with self._lock:
            self._kept[key] = vectors
            self._kept.move_to_end(key)
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        earlier = np.stack([vectors[_compared(part)] for part in said])
        row: list[float] = cosines(vectors[_compared(text)][np.newaxis], earlier)[0].tolist()
        return row


def _compared(text: str) -> str:
    return text.encode(errors="ignore")[:COMPARED_BYTES].decode(errors="ignore")


utterance_vectors: Final = UtteranceVectors()
"""Those of this process."""
