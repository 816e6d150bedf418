"""AWS CDK constructs for declared tables, queues and services. Needs the extra: `pip install 'partita[cdk]'`."""

from partita.deploy.cdk._node import use_bundled_node

use_bundled_node()  # CDK starts Node as soon as it is imported

from partita.deploy.cdk._constructs import DeclaredQueue, DeclaredTable, DeployedService, VersionedTable  # noqa: E402 - see above

__all__ = ["DeclaredQueue", "DeclaredTable", "DeployedService", "VersionedTable"]
