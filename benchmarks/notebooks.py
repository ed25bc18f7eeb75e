"""Runs the tutorials in a Jupyter kernel, from the first cell to the last, and writes down what they gave.

    python benchmarks/notebooks.py docs/tutorials/*.ipynb

Times and versions are left out, so that a second run of the same code changes nothing; pictures keep 64
colours, so that they are small.
"""

from __future__ import annotations

import base64
import io
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

SECONDS = 600
"""A cell that takes longer has hung."""


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook with what its cells give; a cell that fails raises."""
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=SECONDS, record_timing=False).execute(cwd=str(path.parent))
    book.metadata.language_info = {"name": "python"}
    for cell in book.cells:
        if "outputs" in cell:
            cell.outputs = joined(cell.outputs)
        for output in cell.get("outputs", ()):
            output.pop("transient", None)
            output.get("metadata", {}).clear()
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = smaller(output.data["image/png"])
    nbformat.validate(book)
    return book


def joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Prints that came one after the other, on a busy machine in pieces, as one."""
    found: list[nbformat.NotebookNode] = []
    for each in outputs:
        if found and each.get("name") and each.get("name") == found[-1].get("name"):
            found[-1].text += each.text
        else:
            found.append(each)
    return found


def smaller(picture: str) -> str:
    """A PNG in base64 with fewer colours."""
    packed = io.BytesIO()
    whole = Image.open(io.BytesIO(base64.b64decode(picture)))
    whole.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(packed, "PNG", optimize=True)
    return base64.b64encode(packed.getvalue()).decode()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nbformat.write(run(Path(name)), name)
        print(name)
