"""Make an environment with only a wheel and what it requires, linked from this environment.

python tests/tools/bare_environment.py WHEEL FOLDER      # prints the path of its Python
"""

import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def main(wheel: str, folder: str) -> Path:
    """Make the environment, and return the path of its Python."""
    venv.create(folder, symlinks=True)
    where = {"base": folder, "platbase": folder}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=where))
    zipfile.ZipFile(wheel).extractall(packages)
    (installed,) = packages.glob("*.dist-info")
    for each in required(Distribution.at(installed), set()):
        tops = {file.parts[0] for file in each.files or () if ".." not in file.parts}
        for top in tops - {"__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(each.locate_file(top))
    return Path(sysconfig.get_path("scripts", "venv", vars=where)) / "python"


def required(by: Distribution, known: set[str]) -> Iterator[Distribution]:
    """Yield what a distribution requires, and what that requires."""
    for requirement in map(Requirement, by.requires or ()):
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in known:
            known.add(requirement.name)
            found = distribution(requirement.name)
            yield found
            yield from required(found, known)


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
