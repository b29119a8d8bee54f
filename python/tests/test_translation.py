"""Tests of the package, with the binary that `find_binary` finds: `python -m unittest discover python/tests`."""

import os
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
        self.assertEqual(pair("it's", True), ["it's!", True])

    def test_exceptions(self):
        pick = translation("pick", [int], int).compile()
        self.assertEqual(pick([5, 6], 1), 6)
        with self.assertRaises(IndexError):
            pick([5, 6], 2)
        with self.assertRaises(taipan.RaisedError) as caught:
            pick([5, 6], 100)
        self.assertEqual(caught.exception.name, "Problem")

    def test_wrong_arguments(self):
        f = translation("f", int).compile()
        with self.assertRaises(TypeError):
            f("3")
        with self.assertRaises(TypeError):
            f(1, 2)
        with self.assertRaises(TypeError):
            f(object())


if __name__ == "__main__":
    unittest.main()
