"""How much a new utterance means the same as what was said: cosines of embeddings, earlier ones kept in the process.

It is a cache: a run that is resumed elsewhere embeds what was said once more.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

from persimchat.memory.embedding_texts import embed
from persimchat.memory.retrieval import Vectors, cosines
from persimchat.state.settings import Settings

SIMULATIONS: Final = 128
"""Conversations whose utterances are kept; the one unused for longest goes. Of each, the last window is kept."""
COMPARED_BYTES: Final = 600
"""So much of a text is embedded, about a hundred words: the longer two texts, the more alike are their lexical
embeddings, whatever they say, and other embeddings take few tokens. N-grams compare the whole."""


class UtteranceVectors:
    """The vectors of what was last said, by conversation. Safe between threads and event loops.

    Args:
        limit: conversations kept.
    """

    def __init__(self, limit: int = SIMULATIONS) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], dict[str, Vectors]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    async def similarities(
        self, settings: Settings, simulation: str, text: str, said: Sequence[str], *, agent: str
    ) -> list[float]:
        """Cosine of a new text's embedding with that of each earlier one, −1 to 1.

        Only what is not known yet is embedded, in one batch; afterwards these texts are known and no others.

        Args:
            settings: `embedding` and what `embed` needs.
            simulation: the run's id.
            text: the new text.
            said: earlier texts.
            agent: who speaks; named in errors.

        Raises:
            ModelError: the embedding failed (TransientModelError where trying again may help).
        """
        key = (settings.embedding, simulation)
        wanted = list(dict.fromkeys(map(_compared, (*said, text))))
        with self._lock:
            known = self._kept.get(key, {})
        missing = [part for part in wanted if part not in known]
        fresh = dict(zip(missing, await embed(settings, missing, agent=agent), strict=True)) if missing else {}
        vectors = {part: known[part] if part in known else fresh[part] for part in wanted}
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
