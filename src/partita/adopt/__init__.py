"""A model for an existing table: inferred from a sample, written as a module, and proved on the items."""

from partita.adopt._adopt import Adoption, adopt_items
from partita.adopt._draft import EntityDraft, FieldDraft, KeyDraft, ModelDraft
from partita.adopt._infer import infer_model
from partita.adopt._proof import Difference, Proof, prove, prove_file, table_in_file
from partita.adopt._render import render
from partita.adopt._sample import Estimate, Sample, describe, estimate, read_sample

__all__ = [
    "Adoption",
    "Difference",
    "EntityDraft",
    "Estimate",
    "FieldDraft",
    "KeyDraft",
    "ModelDraft",
    "Proof",
    "Sample",
    "adopt_items",
    "describe",
    "estimate",
    "infer_model",
    "prove",
    "prove_file",
    "read_sample",
    "render",
    "table_in_file",
]
