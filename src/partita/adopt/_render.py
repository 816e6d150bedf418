"""Render a draft as a Python module, formatted as ruff formats it, for any configured line length."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from partita.adopt._draft import EntityDraft, FieldDraft, KeyDraft, ModelDraft
from partita.adopt._names import plural, text_literal, unique
from partita.model import snake
from partita.store import IndexSchema, KeyAttribute

_WIDTH: Final = 88
"""Ruff's default. Longer calls have one argument per line and a trailing comma, which every other width keeps."""
_ROUND: Final = ("(", ")")
_SQUARE: Final = ("[", "]")
_FIELDS: Final = re.compile(r"\{(\w+)")
_FROM_PARTITA: Final = ("Entity", "Index", "Key", "KeyFormat", "KeyOnly", "LocalIndex", "Table", "get", "query")


def render(draft: ModelDraft) -> str:
    """Return the source of `model.py`."""
    body = "\n\n\n".join([_table(draft), *_declarations(draft)])
    return f"{_head(draft)}\n\n{_imports(body)}\n\n{body}\n"


def _head(draft: ModelDraft) -> str:
    lines = [f'"""The table {draft.schema.name}, inferred from {draft.sampled} of its items."""']
    if draft.notes:
        lines += ["", "# What this model cannot express about the table:", *map(_comment, draft.notes)]
    return "\n".join(lines)


def _comment(note: str) -> str:
    text = note.replace("\n", " ")  # a name may contain any character
    return textwrap.fill(text, _WIDTH, initial_indent="# - ", subsequent_indent="#   ", break_on_hyphens=False)


def _imports(body: str) -> str:
    """Return the imports that the body uses, in groups."""

    def used(name: str) -> bool:
        return re.search(rf"(?<![\w\".]){name}\b(?!\")", body) is not None

    standard = [
        _import("datetime", filter(used, ("date", "datetime"))),
        _import("decimal", filter(used, ("Decimal",))),
        _import("typing", filter(used, ("Any", "ClassVar"))),
    ]
    others = [
        _import("pydantic", filter(used, ("BaseModel", "Field"))),
        _import("partita", filter(used, _FROM_PARTITA)),
    ]
    groups = ["\n".join(filter(None, standard)), *filter(None, others)]
    return "\n\n".join([groups[0], "\n".join(sorted(groups[1:], key=lambda line: "partita" not in line))])


def _import(module: str, names: Iterator[str]) -> str:
    found = list(names)
    return _call(f"from {module} import ", found, "") if found else ""


def _call(
    head: str, arguments: Sequence[str], tail: str, brackets: tuple[str, str] | None = None, indent: int = 0
) -> str:
    """Return a call, or a list of names, on one line if it fits, else with one argument per line."""
    opening, closing = brackets or ("", "")
    line = f"{head}{opening}{', '.join(arguments)}{closing}{tail}"
    if indent + len(f"{line},") <= _WIDTH and "\n" not in line:
        return line
    opening, closing = brackets or ("(", ")")
    inner = "".join(f"{argument},\n" for argument in arguments)
    return f"{head}{opening}\n{_indented(inner)}{closing}{tail}"


def _indented(text: str) -> str:
    return re.sub("^(?=.)", "    ", text, flags=re.MULTILINE)


# --- the table ---


def _table(draft: ModelDraft) -> str:
    schema = draft.schema
    arguments = [text_literal(schema.name), f"hash={_attribute(schema.hash)}"]
    arguments.append(f"range={'None' if schema.range is None else _attribute(schema.range)}")
    if draft.indexes:
        arguments.append(_call("indexes=", [_index(index) for index in draft.indexes], "", _SQUARE, indent=4))
    if schema.ttl is not None:
        arguments.append(f"ttl={text_literal(schema.ttl)}")
    if schema.stream is not None:
        arguments.append(f"stream={text_literal(schema.stream)}")
    if (draft.separator, draft.values) != ("#", "escaped"):
        arguments.append(f'keys=KeyFormat({text_literal(draft.separator)}, values="{draft.values}")')
    if draft.type_attribute is not None:
        arguments.append(f"type_attribute={text_literal(draft.type_attribute)}")
    return _call("TABLE = Table", arguments, "", _ROUND)


def _attribute(attribute: KeyAttribute) -> str:
    name = text_literal(attribute.name)
    return name if attribute.type == "S" else f'({name}, "{attribute.type}")'


def _index(index: IndexSchema) -> str:
    arguments = [text_literal(index.name)]
    if not index.local:
        arguments.append(f"hash={_attribute(index.hash[0])}")
    arguments.append(f"range={_attribute(index.range[0]) if index.range else 'False'}")
    if index.projection == "KEYS_ONLY":
        arguments.append('projection="KEYS_ONLY"')
    elif index.projection != "ALL":
        names = [text_literal(name) for name in index.projection]
        one = f"projection=({names[0]},)"
        arguments.append(_call("projection=", names, "", _ROUND, indent=12) if len(names) > 1 else one)
    return _call("LocalIndex" if index.local else "Index", arguments, "", _ROUND, indent=8)


# --- entities and access patterns ---


def _declarations(draft: ModelDraft) -> Iterator[str]:
    taken = [entity.name for entity in draft.entities]
    for entity in draft.entities:
        yield _entity(entity)
        yield from _patterns(entity, draft, taken)


def _entity(entity: EntityDraft) -> str:
    bases = ["Entity", "table=TABLE"]
    if entity.type_name is not None and entity.type_name != entity.name:
        bases.append(f"type_name={text_literal(entity.type_name)}")
    head = _call(f"class {entity.name}", [*bases, 'extra="allow"'], ":", _ROUND)
    keys = "\n".join(map(_key, entity.keys))
    fields = "\n".join(map(_field, entity.fields))
    doc = f'"""{_said(entity)}."""'
    body = "\n\n".join(filter(None, (doc, keys, fields)))
    return f"{head}\n{_indented(body)}"


def _said(entity: EntityDraft) -> str:
    of = "Items" if entity.type_name is None else f"Items of the type {text_literal(entity.type_name)}"
    return f"{of} ({entity.count} in the sample)"


def _key(key: KeyDraft) -> str:
    arguments = [text_literal(text) for text in (key.hash, key.range) if text is not None]
    arguments += [f"index={text_literal(key.index)}"] if key.index else []
    return _call(f"{key.name}: ClassVar = Key", arguments, "", _ROUND, indent=4)


def _field(field: FieldDraft) -> str:
    head = f"{field.name}: {f'KeyOnly[{field.annotation}]' if field.key_only else field.annotation}"
    arguments = [] if field.default is None else [f"default={field.default}"]
    if field.is_set and field.default is not None:
        arguments = ["default_factory=frozenset"]
    if field.attribute == field.name:
        if not field.is_set:
            return head if field.default is None else f"{head} = {field.default}"
    else:
        arguments.append(f"alias={text_literal(field.attribute)}")
    return _call(f"{head} = Field", arguments, "", _ROUND, indent=4)


def _patterns(entity: EntityDraft, draft: ModelDraft, taken: list[str]) -> Iterator[str]:
    """Yield a get by the primary key, and a query for each key of which several items can share a part."""
    primary, one = entity.keys[0], snake(entity.name)
    fields = _fields_of(primary.hash) + _fields_of(primary.range or "")
    yield _pattern(f"@get({entity.name})", _new(one, taken), fields, entity, f"One {_words(one)} by its key.")
    if _FIELDS.search(primary.range or ""):
        yield _query(entity, primary, entity.name, taken)
    for key in entity.keys[1:]:
        yield from _index_query(entity, key, draft, taken)


def _query(entity: EntityDraft, key: KeyDraft, result: str, taken: list[str]) -> str:
    fields, several = _fields_of(key.hash), plural(snake(entity.name))
    by = key.name if key.index else f"of_{'_and_'.join(fields)}" if fields else "in_order"
    view = "" if result == entity.name else f", view={result}"
    doc = (
        f"{_words(several).capitalize()} by the index {key.index}." if key.index else f"{_words(several).capitalize()}."
    )
    decorator = f"@query({entity.name}, {entity.name}.{key.name}{view})"
    if fields and not key.index:
        doc = f"{_words(several).capitalize()} of one {' and '.join(map(_words, fields))}."
    return _pattern(decorator, _new(f"{several}_{by}", taken), fields, entity, doc)


def _index_query(entity: EntityDraft, key: KeyDraft, draft: ModelDraft, taken: list[str]) -> Iterator[str]:
    """Yield the query of an index; if the index does not hold the whole entity, with a view of the held fields."""
    index = next(each for each in draft.indexes if each.name == key.index)
    held = draft.held_fields(entity, index)
    if held is None:
        yield _query(entity, key, entity.name, taken)
    elif held:
        view = _new(f"{entity.name}In{key.name.removeprefix('by_').title().replace('_', '')}", taken)
        doc = f'"""The fields that the index {index.name} projects from {entity.name}."""'
        fields = "\n".join(_field(replace(field, key_only=False)) for field in held)
        body = _indented(f"{doc}\n\n{fields}")
        yield f"class {view}(BaseModel):\n{body}"
        yield _query(entity, key, view, taken)


def _pattern(decorator: str, name: str, fields: Sequence[str], entity: EntityDraft, doc: str) -> str:
    kinds = {field: entity.field(field).annotation.removesuffix(" | None") for field in dict.fromkeys(fields)}
    head = _call(f"def {name}", [f"{field}: {kind}" for field, kind in kinds.items()], " -> None:", _ROUND)
    return f'{decorator}\n{head}\n    """{doc}"""'


def _fields_of(template: str) -> list[str]:
    return list(dict.fromkeys(_FIELDS.findall(template)))


def _new(name: str, taken: list[str]) -> str:
    taken.append(unique(name, taken))
    return taken[-1]


def _words(name: str) -> str:
    return name.strip("_").replace("_", " ")
