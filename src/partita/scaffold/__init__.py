"""Generating new entities and services in the common structure."""

from partita.scaffold._files import Scaffold
from partita.scaffold._names import Name, field_name, service_name, singular
from partita.scaffold._project import Project
from partita.scaffold._render import new_entity, new_service
from partita.scaffold._shape import IN_INDEXES, FieldShape, Shape

__all__ = [
    "IN_INDEXES",
    "FieldShape",
    "Name",
    "Project",
    "Scaffold",
    "Shape",
    "field_name",
    "new_entity",
    "new_service",
    "service_name",
    "singular",
]
