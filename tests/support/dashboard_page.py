"""optuna-dashboard's answer on a study, as its page reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import json
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler
from wsgiref.simple_server import make_server
from wsgiref.util import setup_testing_defaults

import optuna
import optuna_dashboard


IDS = {
    "zaps-prediction",
    "zaps-acquisition",
    "zaps-proxies",
    "zaps-map",
    "zaps-importance",
    "zaps-best",
}


class Page:
    """Figures and note of a study.

    Attributes:
        texts: JSON of each figure.
        figures: Each figure.
        note: The note.
        objective_names: Names of the objectives.
    """

    def __init__(self, study: optuna.Study) -> None:
        environ: dict[str, Any] = {"PATH_INFO": f"/api/studies/{study._study_id}"}
        setup_testing_defaults(environ)
        app = optuna_dashboard.wsgi(study._storage)
        answer = json.loads(b"".join(app(environ, lambda *_: None)))
        self.texts: dict[str, str] = {
            each["id"]: each["graph_object"] for each in answer["plotly_graph_objects"]
        }
        self.figures: dict[str, Any] = {name: json.loads(t) for name, t in self.texts.items()}
        self.note: str = answer["note"]["body"]
        self.objective_names = answer.get("objective_names")

    def title(self, identity: str) -> str:
        """Title of a figure and the sentences below it."""
        return str(self.figures[identity]["layout"]["title"]["text"])

    def trace(self, identity: str, name: str) -> dict[str, Any]:
        """Trace of a figure by its name."""
        (trace,) = (t for t in self.figures[identity]["data"] if t.get("name") == name)
        return dict(trace)


class _Silent(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def served(storage: optuna.storages.BaseStorage) -> Iterator[str]:
    """Address of the dashboard of a storage."""
    with make_server(
        "127.0.0.1", 0, optuna_dashboard.wsgi(storage), handler_class=_Silent
    ) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/dashboard"
        server.shutdown()
        thread.join()
