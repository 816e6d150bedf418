"""Infrastructure from the model: CloudFormation and policies, in plain Python.

The constructs of AWS CDK are in `partita.deploy.cdk`, which needs the extra `cdk`.
"""

from partita.deploy._compute import Compute, Containers, Functions
from partita.deploy._containers import DOCKERFILE
from partita.deploy._policy import Arns, arns_in, policy
from partita.deploy._resources import Provisioned, TableSettings
from partita.deploy._roles import ROLES, LeftOut, Need, Resource, RoleName, left_out, needs
from partita.deploy._template import template

__all__ = [
    "DOCKERFILE",
    "ROLES",
    "Arns",
    "Compute",
    "Containers",
    "Functions",
    "LeftOut",
    "Need",
    "Provisioned",
    "Resource",
    "RoleName",
    "TableSettings",
    "arns_in",
    "left_out",
    "needs",
    "policy",
    "template",
]
