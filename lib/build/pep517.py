"""Build the wheel of the source in the current folder by its PEP 517 hooks: `pep517.py <folder for the wheel>`.

The hooks are called directly in this process: what they need was installed by the recipe, so nothing is
resolved, isolated or downloaded here.
"""
import importlib
import json
import os
import sys
import tomllib
from pathlib import Path

# The interpreter put this file's folder first; PEP 517 wants neither it nor the source there.
sys.path.pop(0)


def build_system(root):
    """The [build-system] table; PEP 518's default where there is none."""
    file = root / "pyproject.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8")).get("build-system") if file.exists() else None
    return table or {}


def load_backend(root, table):
    """The object that has the hooks: "module:object", found in backend-path first where that is given."""
    module, _, attributes = table.get("build-backend", "setuptools.build_meta:__legacy__").partition(":")
    folders = [(root / folder).resolve() for folder in table.get("backend-path", ())]
    for folder in folders:
        if not folder.is_relative_to(root):
            sys.exit(f"pyproject.toml: backend-path {folder} is outside the source")
    sys.path[:0] = map(str, folders)
    backend = importlib.import_module(module)
    if folders and not any(Path(backend.__file__).resolve().is_relative_to(folder) for folder in folders):
        sys.exit(f"pyproject.toml: the backend {module} was not found in backend-path")
    for attribute in filter(None, attributes.split(".")):
        backend = getattr(backend, attribute)
    return backend


def main():
    root = Path.cwd().resolve()
    settings = json.loads(os.environ.pop("FORGE_CONFIG_SETTINGS", "null"))
    backend = load_backend(root, build_system(root))
    sys.argv[:] = [str(root / "setup.py")]
    print("made", backend.build_wheel(DIST, settings), flush=True)


if __name__ == "__main__":
    DIST = str(Path(sys.argv[1]).resolve())
    main()
