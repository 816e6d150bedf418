"""Pictures of models: a picture that could make the dashboard run or load anything is refused."""

from __future__ import annotations

import pytest

from partita_services.commitcollect.collectibles.definition import bundled
from partita_services.commitcollect.collectibles.picture import PictureRefused, check_picture

pytestmark = pytest.mark.req("C13")

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'


def drawn(inside: str = "", head: str = HEAD) -> str:
    return f'{head}{inside}<g id="part-1"><path d="M0 0h9" fill="url(#a-b)"/></g></svg>'


def test_a_drawing_is_taken_as_it_is() -> None:
    picture = drawn("<!-- a sea --><defs><linearGradient id='a-b'><stop offset='0'/></linearGradient></defs>")
    assert check_picture(picture, 1) == picture


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<g onclick='alert(1)'/>",
        "<style>@import url(//evil.test)</style>",
        "<g style='fill: url(//evil.test)'/>",
        "<image href='https://evil.test/a.png'/>",
        "<g href='#x'/>",
        "<g xmlns:x='http://www.w3.org/1999/xlink' x:href='#y'/>",
        "<a href='javascript:alert(1)'/>",
        "<foreignObject><b xmlns='http://www.w3.org/1999/xhtml'/></foreignObject>",
        "<path fill='url(https://evil.test/a.svg#b)'/>",
        "<path fill='URL( //evil.test/a.svg#b)'/>",
        "<path fill='url(&quot;#a&quot;)'/>",
        "<animate attributeName='d'/>",
        "<use href='#part-1'/>",
        "<path xmlns='http://evil.test'/>",
        "<?php echo 1 ?>",
    ],
)
def test_what_could_run_or_load_something_is_refused(inside: str) -> None:
    with pytest.raises(PictureRefused):
        check_picture(drawn(inside), 1)


@pytest.mark.parametrize(
    "picture",
    [
        "",
        "a lighthouse",
        "<svg/>",
        '<html xmlns="http://www.w3.org/1999/xhtml"/>',
        drawn(head='<svg xmlns="http://www.w3.org/2000/svg">'),
        f'<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>{drawn("<title>&b;</title>")}',
    ],
)
def test_what_is_not_a_drawing_is_refused(picture: str) -> None:
    with pytest.raises(PictureRefused):
        check_picture(picture, 1)


def test_every_part_has_its_group() -> None:
    with pytest.raises(PictureRefused, match="no group with the id part-2"):
        check_picture(drawn(), 2)


def test_the_models_that_come_with_the_service_are_taken() -> None:
    assert [(each.model_id, len(each.parts)) for each in bundled()] == [
        ("lighthouse", 10),
        ("sailing-boat", 8),
        ("steam-locomotive", 12),
    ]
