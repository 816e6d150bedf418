"""Planting faults: each is one small change that Python can still parse, and a seed always plants the same ones."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.mutation.__main__ import chosen
from tests.mutation.faults import Fault, faults_of
from tests.mutation.past import BUGS, Past
from tests.mutation.reach import Reach
from tests.mutation.subjects import CORE, ROOT, SERVICES
from tests.mutation.trial import reaching_tests

SOURCE = '''"""A docstring with 1 and True."""
LIMIT: int = 3


def rule(a: int, *, b: bool = False) -> int:
    """Another one."""
    if a < LIMIT and not b:
        raise ValueError(f"{a} < 3")
    note(a)
    return min(a + 1, 9)


def write(item):
    yield from insert(item).when(any_of(item, b"x"))
'''


@pytest.fixture
def faults(tmp_path: Path) -> list[Fault]:
    path = tmp_path / "shop" / "rules.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    return faults_of(tmp_path, path)


def test_every_kind_of_mistake_is_made(faults: list[Fault]) -> None:
    changed = {(fault.line, " ".join(fault.before.split()), " ".join(fault.after.split())) for fault in faults}
    assert changed == {
        (2, "3", "4"),
        (5, "False", "True"),
        (7, "a < LIMIT and not b", "not (a < LIMIT and not b)"),
        (7, "<", "<="),
        (7, "and", "or"),
        (7, "not b", "(b)"),
        (8, 'raise ValueError(f"{a} < 3")', "pass"),
        (9, "note(a)", "pass"),
        (10, "min", "max"),
        (10, "+", "-"),
        (10, "1", "2"),
        (10, "9", "10"),
        (14, 'yield from insert(item).when(any_of(item, b"x"))', "yield from ()"),
        (14, 'insert(item).when(any_of(item, b"x"))', "insert(item)"),
        (14, "insert", "__import__('partita').put"),
        (14, "any_of", "__import__('partita').all_of"),
    }


def test_every_fault_can_be_read_and_differs(faults: list[Fault]) -> None:
    for fault in faults:
        planted = fault.applied(SOURCE.encode())
        assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(SOURCE)), fault


def test_what_runs_at_import_is_known(faults: list[Fault]) -> None:
    assert {fault.line for fault in faults if fault.is_static} == {2, 5}


def test_what_runs_at_import_is_tried_with_all_tests_of_the_service(faults: list[Fault]) -> None:
    slow, quick, far, other = (f"tests/services/{name}" for name in ("shop/a", "shop/b", "shop/c", "cafe/d"))
    reach = Reach({slow: 2.0, quick: 1.0, far: 0.1, other: 0.1}, {"shop/rules.py": {7: [slow, quick], 9: [slow]}})
    by_line = {fault.line: reaching_tests(fault, reach, SERVICES) for fault in faults}
    assert by_line == {2: [quick, slow, far], 5: [quick, slow, far], 7: [quick, slow], 8: [], 9: [slow], 10: [], 14: []}


def test_a_seed_chooses_from_the_rules_of_all_services() -> None:
    assert chosen(SERVICES, 5, 20) == chosen(SERVICES, 5, 20) != chosen(SERVICES, 6, 20)
    modules = {str(path.relative_to(SERVICES.source)) for path in SERVICES.rule_modules()}
    assert {module.partition("/")[0] for module in modules} == {
        "accounts",
        "commitcollect",
        "countries",
        "events",
        "todo",
    }
    assert {"commitcollect/milestones/awarding.py", "events/queueing/sweeper.py", "todo/model.py"} <= modules
    assert {
        module for module in modules if "bootstrap" in module or "simulator" in module or "samples" in module
    } == set()


def test_the_core_is_what_keeps_promises() -> None:
    modules = {str(path.relative_to(CORE.source)) for path in CORE.rule_modules()}
    assert {
        "_sqlite/_group_commit.py",
        "expressions/_evaluate.py",
        "model/keys/_template.py",
        "operations/writes/_index_keys.py",
        "recipes/counter.py",
        "recipes/idempotency.py",
        "recipes/leases.py",
        "session/_pipeline.py",
        "store/embedded/_transactions.py",
    } <= modules
    assert all((CORE.source / module).is_file() for module in modules)
    assert len(chosen(CORE, 5, 20)) == 20


def test_tests_of_the_same_part_come_first(tmp_path: Path) -> None:
    near, far = "tests/recipes/test_leases.py::a", "tests/contract/test_x.py::b"
    (fault, *_) = chosen(CORE, 1, 1, "recipes/leases.py")
    reach = Reach({near: 2.0, far: 1.0}, {fault.module: {fault.line: [far, near]}})
    assert reaching_tests(fault, reach, CORE)[:2] == [near, far]


def test_a_trial_has_no_more_tests_than_there_is_time_for() -> None:
    (fault, *_) = chosen(CORE, 1, 1, "model/keys/_template.py")
    tests = {f"tests/model/keys/test_x.py::{number}": 50.0 for number in range(5)}
    reach = Reach(tests, {fault.module: {fault.line: list(tests)}})
    assert len(reaching_tests(fault, reach, CORE)) == 2


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_past_bug_can_be_put_back(bug: Past) -> None:
    source = (CORE.source / bug.module).read_text(encoding="utf-8")
    put_back = bug.put_back(source)
    assert ast.dump(ast.parse(put_back)) != ast.dump(ast.parse(source))
    assert all(Path(test.partition("::")[0]).is_file() for test in bug.tests)


def test_the_page_lists_every_past_bug() -> None:
    page = (ROOT / "docs/how-we-know.md").read_text(encoding="utf-8")
    rows = [(bug.name, bug.about, ", ".join(f"`{test.removeprefix('tests/')}`" for test in bug.tests)) for bug in BUGS]
    assert [row for row in rows if f"| {' | '.join(row)} |" not in page] == []


def test_a_fix_that_is_not_there_any_more_is_told() -> None:
    with pytest.raises(ValueError, match="has 0 times"):
        BUGS[0].put_back("another source")
