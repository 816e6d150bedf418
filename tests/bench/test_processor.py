"""The processor time of other processes includes all of their threads, also those that have ended."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from bench._processor import can_be_counted, process_tree, used

pytestmark = pytest.mark.skipif(not can_be_counted(), reason="nobody counts it here")

_THREADS_THAT_END = """
import sys, threading, time

def spend():
    while time.thread_time() < 0.2:
        pass

thread = threading.Thread(target=spend)
thread.start()
thread.join()
print("ended", flush=True)
sys.stdin.read()
"""


def test_a_thread_that_has_ended_counts() -> None:
    command = [sys.executable, "-c", _THREADS_THAT_END]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ended\n"
        seconds, wakes = used(process.pid)
        assert process.pid in process_tree(os.getpid())
        process.communicate("")
    assert seconds >= 0.2
    assert wakes > 0
