"""Tests of the package, with the binary that `find_binary` finds: `python -m unittest discover python/tests`."""

import os
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree

import taipan

PROG = os.path.join(os.path.dirname(__file__), "prog.py")


def translation(function, *argtypes):
    return taipan.Translation(PROG, function, argtypes)


class Stages(unittest.TestCase):
    def test_annotation_of_the_result(self):
        self.assertEqual(translation("f", int).annotate(), "SomeInteger")
        self.assertEqual(repr(translation("half", float).annotate()), "SomeFloat")
        self.assertEqual(translation("f", "SomeInteger(nonneg)").annotate(), "SomeInteger(nonneg)")

    def test_graphs_are_pictures(self):
        for stage in taipan.STAGES:
            graph = translation("total", [int]).view(stage)
            picture = ElementTree.fromstring(graph._repr_svg_())
            self.assertTrue(picture.tag.endswith("svg"), stage)
            self.assertIn("block", str(graph), stage)

    def test_low_level_operations(self):
        self.assertIn("int_add", str(translation("f", int).rtype()))
        self.assertIn("int_add", str(translation("f", int).optimize()))

    def test_machine_code(self):
        self.assertIn("ret", translation("f", int).source("asm"))

    def test_no_such_stage(self):
        with self.assertRaises(ValueError):
            translation("f", int).view("asm")

    def test_no_such_file(self):
        with self.assertRaises(FileNotFoundError):
            taipan.Translation("nowhere.py", "f", [int])

    def test_no_such_function(self):
        with self.assertRaisesRegex(taipan.TaipanError, "nothing"):
            translation("nothing", int).annotate()


class Errors(unittest.TestCase):
    def test_places_of_a_conflict(self):
        with self.assertRaises(taipan.CompileError) as caught:
            translation("wrong", int).annotate()
        [found] = caught.exception.diagnostics
        self.assertEqual(found.code, "TP0300")
        self.assertEqual(found.severity, "error")
        self.assertTrue(found.file.endswith("prog.py"))
        self.assertGreaterEqual(found.line, 33)
        self.assertTrue(found.notes)
        self.assertIn(f"{found.file}:{found.line}", str(caught.exception))

    def test_compile_says_the_same(self):
        with self.assertRaises(taipan.CompileError):
            translation("wrong", int).compile()


class Calls(unittest.TestCase):
    def test_integers(self):
        f = translation("f", int).compile()
        self.assertEqual(f(3), 4)
        self.assertEqual(f(-1), 0)

    def test_floats_take_integers(self):
        self.assertEqual(translation("half", float).compile()(3), 1.5)

    def test_lists_tuples_and_texts(self):
        self.assertEqual(translation("total", [int]).compile()([1, 2, 3]), 6)
        pair = translation("pair", str, bool).compile()
        self.assertEqual(pair("it's", True), ("it's!", True))
        self.assertEqual(translation("count", str).compile()("abca"), {"a": 2, "b": 1, "c": 1})
        self.assertEqual(translation("value", {str: int}, str).compile()({"a": 1}, "a"), 1)

    def test_text_is_text(self):
        echo = translation("echo", str).compile()
        for text in ("\u00e4\u00f6\u20ac\U0001f600", "it's \"x\" \n \x00 \\", ""):
            self.assertEqual(echo(text), text)
        # RPython counts bytes.
        self.assertEqual(translation("size", str).compile()("\u00e4"), 2)
        # Bytes that are no UTF-8 come back as Python keeps them in texts.
        self.assertEqual(echo(b"\xff").encode("utf-8", "surrogateescape"), b"\xff")
        self.assertEqual(translation("size", bytes).compile()(b"\xff\x00"), 2)
        wide = translation("echo", "SomeUnicodeString").compile()
        self.assertEqual(wide("\u00e4\u20ac"), "\u00e4\u20ac")

    def test_texts_in_any_locale(self):
        code = "import taipan; print(ascii(taipan.Translation(%r, 'echo', [str]).compile()('\\u00e4')))" % PROG
        environment = dict(os.environ, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
        self.assertEqual(out.stdout, b"'\\xe4'\n", out.stderr)

    def test_floats(self):
        half = translation("half", float).compile()
        self.assertEqual(half(float("inf")), float("inf"))
        nan = half(float("nan"))
        self.assertNotEqual(nan, nan)

    def test_exceptions(self):
        pick = translation("pick", [int], int).compile()
        self.assertEqual(pick([5, 6], 1), 6)
        with self.assertRaises(IndexError):
            pick([5, 6], 2)
        with self.assertRaises(taipan.RaisedError) as caught:
            pick([5, 6], 100)
        self.assertEqual(caught.exception.name, "Problem")
        self.assertEqual(str(caught.exception), "Problem: no place 100")

    def test_exceptions_that_the_program_does_not_catch(self):
        item = translation("item", [int], int).compile()
        self.assertEqual(item([5, 6], -1), 6)
        for index in (2, -3, 10 ** 6):
            with self.assertRaises(IndexError):
                item([5, 6], index)
        with self.assertRaises(IndexError):
            translation("word", int).compile()(3)
        with self.assertRaises(ZeroDivisionError):
            translation("divide", int, int).compile()(1, 0)
        with self.assertRaises(KeyError):
            translation("value", {str: int}, str).compile()({"a": 1}, "b")
        with self.assertRaises(RuntimeError):
            translation("endless", int).compile()(1)

    def test_places_of_exceptions(self):
        item = translation("item", [int], int).compile()
        with self.assertRaises(IndexError) as caught:
            item([5, 6], 2)
        if hasattr(caught.exception, "__notes__"):
            [note] = caught.exception.__notes__
            self.assertRegex(note, r"prog\.py:\d+ in item$")

    def test_a_crash_ends_a_process_of_its_own(self):
        f = translation("attribute", int).compile()
        self.assertEqual(f(1), 7)
        with self.assertRaisesRegex(taipan.TaipanError, signal.Signals.SIGSEGV.name):
            f(0)
        self.assertEqual(f(1), 7)

    def test_output_is_shown(self):
        code = "import taipan; taipan.Translation(%r, 'shout', [int]).compile()(3)" % PROG
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(out.stdout, "three times 3\n", out.stderr)

    def test_types_of_the_program(self):
        # The program calls it with an int, which is not negative.
        f = taipan.Translation(os.path.join(os.path.dirname(PROG), "target.py"), "twice").compile()
        self.assertEqual(f(4), 8)
        with self.assertRaises(TypeError):
            f("4")

    def test_a_result_that_is_not_passed(self):
        with self.assertRaisesRegex(taipan.TaipanError, r"its result is SomeInstance\(Box"):
            translation("box", int).compile()

    def test_the_time_of_a_call(self):
        f = translation("f", int).compile()
        f(1)
        best = None
        for _ in range(50):
            before = time.perf_counter()
            for _ in range(100):
                f(1)
            took = (time.perf_counter() - before) / 100
            best = took if best is None else min(best, took)
        self.assertLess(best, 50e-6)

    def test_wrong_arguments(self):
        f = translation("f", int).compile()
        with self.assertRaises(TypeError):
            f("3")
        with self.assertRaises(TypeError):
            f(1, 2)
        for other in (object(), 1.5, None, [1], lambda: 1):
            with self.assertRaises(TypeError, msg=repr(other)):
                f(other)
        with self.assertRaises(OverflowError):
            f(2 ** 63)
        with self.assertRaises(TypeError):
            translation("total", [int]).compile()([1, 1.5])
        with self.assertRaises(TypeError):
            translation("value", {str: int}, str).compile()({"a": "x"}, "a")

    def test_arguments_that_are_not_negative(self):
        f = translation("first", str, "SomeInteger(nonneg)").compile()
        self.assertEqual(f("abc", 2), "ab")
        with self.assertRaisesRegex(OverflowError, "not negative"):
            f("abc", -1)


if __name__ == "__main__":
    unittest.main()
