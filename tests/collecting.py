"""A pytest plugin: tests are collected at little cost, in processor time and in what workers share of it."""

from __future__ import annotations

import gc

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart() -> None:
    """Most of what is made from here on stays: looking for garbage would find none."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What has been imported stays until the end: no garbage collection has to look at it again.

    Nor does one have to come after every 700 objects: most are gone by then without it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    gc.enable()
