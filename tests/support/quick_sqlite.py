"""SQLite that does not wait for the disk, once this module is imported.

Without that wait a database is whole after its process was killed, as tests do, and may not be
after a power cut, which no test has.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine


@event.listens_for(Engine, "connect")
def _do_not_wait(connection: Any, record: Any) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous=OFF")
