"""The models that can be collected: what they are called, and their parts in the order in which they are earned."""

from __future__ import annotations

from typing import Final, NamedTuple

from partita_services.commitcollect.model import Model, Part


class _Sketch(NamedTuple):
    name: str
    story: str
    parts: tuple[str, ...]


_CATALOGUE: Final = {
    "lighthouse": _Sketch(
        "Lighthouse",
        "It stands where the land ends, and says so every ten seconds.",
        (
            "Rocks",
            "Keeper's cottage",
            "Plinth",
            "Lower tower",
            "Middle tower",
            "Upper tower",
            "Gallery",
            "Lantern",
            "Cupola",
            "Beam of light",
        ),
    ),
    "sailing-boat": _Sketch(
        "Sailing boat",
        "Twenty-six feet of larch on oak, and a jib that has seen three owners.",
        ("Hull", "Deck", "Cabin", "Mast", "Boom", "Mainsail", "Jib", "Pennant"),
    ),
    "steam-locomotive": _Sketch(
        "Steam locomotive",
        "Four driving wheels, one fire, and a timetable that it keeps.",
        (
            "Track",
            "Frame",
            "Leading wheels",
            "Driving wheels",
            "Coupling rod",
            "Boiler",
            "Smokebox",
            "Chimney",
            "Domes",
            "Cab",
            "Headlamp",
            "Steam",
        ),
    ),
}

MODEL_IDS: Final = tuple(_CATALOGUE)
"""All models there are: they are read by key."""


def models() -> list[Model]:
    """The models, without their parts."""
    return [Model(model_id=key, name=sketch.name, story=sketch.story) for key, sketch in _CATALOGUE.items()]


def parts() -> list[Part]:
    """The parts of all models."""
    return [
        Part(model_id=key, part_index=index, name=name, svg=f"part-{index}")
        for key, sketch in _CATALOGUE.items()
        for index, name in enumerate(sketch.parts, start=1)
    ]
