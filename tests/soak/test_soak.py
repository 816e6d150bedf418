"""The verdict of a soak: which measures are flat, which grow, and how they are plotted."""

from __future__ import annotations

import os
from pathlib import Path

from tests.soak._plot import svg
from tests.soak._samples import MEASURES, Sample, growing, sampled


def samples(count: int, growth: float = 0.0) -> list[Sample]:
    return [Sample(10.0 * n, 200 + growth * n, 80, 1, 5, 20) for n in range(count)]


def test_what_stays_what_it_is_is_flat() -> None:
    assert growing(samples(30)) == []


def test_what_grows_is_named() -> None:
    [found] = growing(samples(30, growth=5.0))
    assert found == "memory of all processes, MB: 272.5, then 322.5"


def test_what_grows_while_it_warms_up_is_not() -> None:
    assert growing([Sample(0, 50, 10, 0, 1, 1)] * 10 + samples(20)) == []


def test_a_few_samples_are_no_verdict() -> None:
    assert growing(samples(3)) == ["there are 3 samples, and 9 are needed"]


def test_a_sample_is_of_the_process_and_its_logs(tmp_path: Path) -> None:
    (tmp_path / "partita.db-wal").write_bytes(bytes(2**20))
    sample = sampled(1.0, os.getpid(), tmp_path, [0.001, 0.002, 0.003])
    assert (sample.log_mb, sample.memory_mb > 1, sample.descriptors > 1, sample.median_ms) == (1.0, True, True, 2.0)


def test_every_measure_is_drawn() -> None:
    drawn = svg(samples(12), "one & two")
    assert drawn.count("<polyline") == len(MEASURES)
    assert "<title>one &amp; two</title>" in drawn
