"""New entities and services, written in the shape that all of them have."""

from partita.scaffold._files import Scaffold
from partita.scaffold._names import Name
from partita.scaffold._project import Project
from partita.scaffold._render import new_entity, new_service
from partita.scaffold._shape import FieldShape, Shape

__all__ = ["FieldShape", "Name", "Project", "Scaffold", "Shape", "new_entity", "new_service"]
