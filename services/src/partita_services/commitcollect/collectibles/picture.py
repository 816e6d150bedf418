"""Pictures of models: the SVG that they may contain. The dashboard embeds them, so they must not run or load anything.

<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400">
  <g class="scenery">…</g>
  <g id="part-1">…</g>
  <g id="part-2">…</g>
</svg>
"""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree as ET

SVG: Final = "{http://www.w3.org/2000/svg}"
ELEMENTS: Final = frozenset(
    {
        "svg",
        "defs",
        "g",
        "path",
        "circle",
        "ellipse",
        "rect",
        "line",
        "polyline",
        "polygon",
        "linearGradient",
        "radialGradient",
        "stop",
        "title",
        "desc",
    }
)
ATTRIBUTES: Final = frozenset(
    {
        "id",
        "class",
        "viewBox",
        "transform",
        "d",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "fx",
        "fy",
        "width",
        "height",
        "points",
        "offset",
        "fill",
        "fill-opacity",
        "fill-rule",
        "opacity",
        "stroke",
        "stroke-width",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-opacity",
        "stroke-dasharray",
        "stop-color",
        "stop-opacity",
        "gradientUnits",
        "gradientTransform",
        "spreadMethod",
    }
)
_DECLARATION: Final = re.compile(r"<!(?!--)|<\?(?!xml\s)")
_VALUE: Final = re.compile(r"url\((?!#[\w-]+\))|:|&|<", re.IGNORECASE)
"""What an attribute must not contain: a reference to anything outside the picture, or the beginning of a script."""


class PictureRefused(ValueError):
    """The picture contains something that is not allowed, or lacks a part."""


def check_picture(svg: str, parts: int) -> str:
    """Return the picture, which is safe to show and has a group for each part.

    Raises:
        PictureRefused: the picture is not safe, or lacks a part.
    """
    if _DECLARATION.search(svg):  # before parsing, because entities could expand without limit
        raise PictureRefused("A picture must not have declarations.")
    try:
        root = ET.fromstring(svg)  # noqa: S314 - without declarations there are no entities
    except ET.ParseError as error:
        raise PictureRefused(f"The picture is not XML ({error}).") from None
    if root.tag != f"{SVG}svg" or "viewBox" not in root.attrib:
        raise PictureRefused("A picture must be an <svg> with a viewBox.")
    for element in root.iter():
        _check_element(element)
    groups = {group.get("id") for group in root.iter(f"{SVG}g")}
    missing = [f"part-{index}" for index in range(1, parts + 1) if f"part-{index}" not in groups]
    if missing:
        raise PictureRefused(f"The picture has no group with the id {missing[0]}.")
    return svg


def _check_element(element: ET.Element) -> None:
    name = element.tag.removeprefix(SVG) if isinstance(element.tag, str) else ""
    if name not in ELEMENTS:
        raise PictureRefused(f"A picture must not have the element <{name}>.")
    for attribute, value in element.attrib.items():
        if attribute not in ATTRIBUTES:
            raise PictureRefused(f"<{name}> must not have the attribute {attribute} in a picture.")
        if _VALUE.search(value):
            raise PictureRefused(f"The attribute {attribute} of <{name}> refers to something outside the picture.")
