"""What docs/python.md shows works."""

import os
import re
import tempfile
import unittest

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "python.md")


class Page(unittest.TestCase):
    def test_listings(self):
        with open(PAGE, encoding="utf-8") as file:
            listings = re.findall(r"^```python(.*)\n((?:.*\n)*?)```$", file.read(), re.MULTILINE)
        self.assertGreaterEqual(len(listings), 3)
        before = os.getcwd()
        names = {}
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for words, text in listings:
                    name = words.strip().replace("file=", "")
                    if name:
                        with open(name, "w", encoding="utf-8") as file:
                            file.write(text)
                    else:
                        exec(compile(text, PAGE, "exec"), names)
                self.assertEqual(names["f"](5), 120)
            finally:
                os.chdir(before)
        # The last listing told of an error.
        self.assertEqual(names["d"].code, "TP0300")


if __name__ == "__main__":
    unittest.main()
