"""The burst: who applies, how often, and in which order."""

from __future__ import annotations

from random import Random

import pytest

from partita_services.events.loadtest.burst import applications, user_names

pytestmark = pytest.mark.req("E13")


def test_everybody_applies_once_and_some_twice() -> None:
    users = list(user_names(100))
    sent = applications(users, 0.3, Random(1))
    assert (len(sent), set(sent), sent == applications(users, 0.3, Random(1))) == (130, set(users), True)
    assert max(map(sent.count, users)) == 2
