"""Changes of names in the simulated disk's tree, each durable or lost on its own."""

import attrs
from simulation.sim_inode import SimInode


@attrs.define(eq=False)
class NameChange:
    """`path` names `inode` now, or nothing (None). A rename takes `source`'s name away too.

    `needs` is a change that is durable whenever this one is.
    """

    path: str
    inode: SimInode | None
    source: str | None = None
    needs: "NameChange | None" = None

    def touches(self, directory: str) -> bool:
        return parent_of(self.path) == directory

    def apply(self, names: dict[str, SimInode]) -> None:
        if self.source is not None:
            names.pop(self.source, None)
        if self.inode is None:
            names.pop(self.path, None)
        else:
            names[self.path] = self.inode


def parent_of(path: str) -> str:
    """The directory that holds a path; of the root, nothing that is one."""
    return path.rpartition("/")[0] if path else "/"
