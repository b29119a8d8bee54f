"""Graphs, as text and as pictures."""

import os
import tempfile
import webbrowser


class Graph:
    """The graph of a function at one stage. Notebooks show the picture; `str()` is the text."""

    def __init__(self, title, text, svg):
        self.title = title
        self.text = text
        self.svg = svg

    def _repr_svg_(self):
        return self.svg

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<{self.title}>"

    def save(self, path):
        """Writes the picture to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def show(self):
        """Opens the picture in a browser, and returns the path of its file."""
        handle, path = tempfile.mkstemp(prefix="taipan-", suffix=".svg")
        os.close(handle)
        self.save(path)
        webbrowser.open(f"file://{path}")
        return path
