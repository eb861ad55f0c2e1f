"""A storage's password stands nowhere in what a person sees."""

from __future__ import annotations

import pytest

from harness.run.passwords import hidden
from harness.run.passwords import without_passwords


URLS = {
    "postgresql+psycopg://me:hunter2@host:5432/db?sslmode=require":
        "postgresql+psycopg://me:***@host:5432/db?sslmode=require",
    "mysql+pymysql://me:hunter2%40x@host/db": "mysql+pymysql://me:***@host/db",
    "mysql+pymysql://me:hunter2@x/y:z@host/db": "mysql+pymysql://me:***@host/db",
    "redis://:hunter2@host/0": "redis://:***@host/0",
    "postgresql://host/db?user=me&password=hunter2": "postgresql://host/db?user=me&password=***",
    "mssql+pyodbc:///?odbc_connect=UID%3Dme%3BPWD%3Dhunter2": "mssql+pyodbc:///?odbc_connect=***",
    "postgresql:/me:hunter2@host/db": "postgresql:/me:***@host/db",
    "me:hunter2@host/db": "me:***@host/db",
}  # fmt: skip


@pytest.mark.parametrize(("url", "shown"), URLS.items())
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert hidden(url) == shown


@pytest.mark.parametrize("url", [
    "sqlite:///studies.db", "sqlite:////data/a:b@c.db", "postgresql://host:5432/db",
    "postgresql://me@host:5432/db",
])  # fmt: skip
def test_a_url_without_a_password_is_shown_as_it_is(url: str) -> None:
    assert hidden(url) == url


@pytest.mark.parametrize("url", URLS)
def test_a_message_is_shown_without_the_password(url: str) -> None:
    password = "hunter2@x" if "%40" in url else "hunter2"
    for message in (f"Could not parse {url!r}", f"FATAL: password '{password}' is wrong"):
        assert "hunter2" not in without_passwords(message, url)


def test_a_password_that_was_cut_at_its_at_is_hidden_with_the_message() -> None:
    shown = without_passwords("no host 'x/y:z@host'", "mysql://me:hunter2@x/y:z@host/db")
    assert shown == "an @ in a password must be written %40, and an @ elsewhere too"


def test_an_escaped_password_is_hidden_as_it_is_meant() -> None:
    url = "mysql://me:p%40ss+w%2Frd@host/db"
    for written in ("p@ss+w/rd", "p%40ss+w%2Frd", "p@ss w/rd", "mysql://other:secret@host"):
        shown = without_passwords(f"cannot use {written}", url)
        assert shown in ("cannot use ***", "cannot use mysql://other:***@host")
