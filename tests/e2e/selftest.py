#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""selftest.py - the judge judged: hand-made profiles, right ones and wrong ones.

A harness that cannot fail proves nothing: each wrong profile here must be found wrong.
"""
import re
import unittest

import folded
import rows_truth
import stats
from folded import Frame, parse_line
from judge import CALLER_LINE, COMPLETE, HELD, IMPOSSIBLE, STARTING, UNNAMED, Grammar, Verdict, numbered
from rows_names import class_errors, compare_parked, without_rescue
from rows_truth import self_shares, wrong_lines
from sonde import Thread

ROOT = [["<main>", 177], ["run", 36]]
LEGAL = [[["foo", 31], ["bar", 26], ["baz", 22], ["map", None], ["block in baz", 22], ["pred", None]],
         [["foo", 31], ["bar", 27], ["bob", 18]], [["foo", 31], ["bar", 27], ["bob", 19]]]
OUTER = "<main> (t.rb:177);run (t.rb:36)"


def kind(text):
    return Grammar(ROOT, LEGAL).classify(parse_line(f"{OUTER}{text} 1"))


class Folded(unittest.TestCase):
    def test_frames(self):
        stack = parse_line("thread a b (7);block (2 levels) in Foo#x ((eval at /a b.rb:3):7);Array#map;[moving] 42")
        self.assertEqual((stack.tid, stack.thread, stack.count), (7, "a b", 42))
        self.assertEqual(stack.frames[0], Frame("block (2 levels) in Foo#x", "(eval at /a b.rb:3)", 7))
        self.assertEqual(stack.frames[1], Frame("Array#map"))
        self.assertTrue(stack.frames[2].is_mark)

    def test_escapes(self):
        stack = parse_line(r"semi (/made\x3bup/new\nline\x5cn.rb:4) 9")
        self.assertEqual(stack.frames, (Frame("semi", "/made;up/new\nline\\n.rb", 4),))

    def test_top_and_no_line(self):
        stack = parse_line("<top (required)> (/a (1).rb:3);x (/b.rb) 1")
        self.assertEqual(stack.frames, (Frame("<top (required)>", "/a (1).rb", 3), Frame("x", "/b.rb", None)))

    def test_cut(self):
        self.assertEqual(Grammar(ROOT, LEGAL).classify(parse_line("[truncated];foo (t.rb:31);bar (t.rb:26) 1")), HELD)
        self.assertEqual(Grammar(ROOT, LEGAL).classify(parse_line("[truncated];[moving] 1")), HELD)
        self.assertEqual(Grammar(ROOT, LEGAL).classify(parse_line("[truncated];bar (t.rb:26);foo (t.rb:31) 1")), IMPOSSIBLE)

    def test_broken(self):
        for text in ("a;b", "a;;b 1", "a;b x", ";a 1"):
            with self.assertRaises(folded.FoldedError, msg=text):
                parse_line(text)
        with self.assertRaises(folded.FoldedError):
            folded.parse(b"a 1\nb 2")

    def test_labels(self):
        for label, name in (("block in Foo::Bar#baz", "baz"), ("#<Class:0x00007f>#x", "x"), ("Tight.foo", "foo"),
                            ("rescue in block in a", "a"), ("<class:Ways>", "<class:Ways>"), ("Comparable#<", "<")):
            self.assertEqual(folded.method(label), name)
        self.assertTrue(folded.same_label("block in Object#a", "block in a"))
        self.assertFalse(folded.same_label("Object#a", "block in a"))
        self.assertFalse(folded.same_label("Object#ba", "a"))


class TightLoop(unittest.TestCase):
    def test_legal(self):
        for text in ("", ";foo (t.rb:31)", ";Tight.foo (t.rb:31);Tight.bar (t.rb:27);Tight.bob (t.rb:18)",
                     ";foo (t.rb:31);bar (t.rb:26);baz (t.rb:22);map;block in baz (t.rb:22);pred",
                     ";foo (t.rb:31);bar (t.rb:26);baz (t.rb:22);map;(garbage collection)",
                     ";foo (t.rb:31);bar (t.rb)"):
            self.assertEqual(kind(text), COMPLETE, text)

    def test_impossible(self):
        for text in (";bar (t.rb:26)",                                            # foo is missing
                     ";foo (t.rb:31);bar (t.rb:27);bob (t.rb:18);map",            # bob calls nothing
                     ";foo (t.rb:31);bar (t.rb:26);baz (t.rb:22);pred",           # map is missing
                     ";foo (t.rb:31);bar (t.rb:99)",                              # no such line
                     ";foo (t.rb:31);bar (t.rb:27);bob (t.rb:18);map;[moving]",
                     ";foo (t.rb:31);[moving];bar (t.rb:27)",                     # a mark in the middle
                     ";[native]"):
            self.assertEqual(kind(text), IMPOSSIBLE, text)

    def test_caller_on_another_line(self):
        self.assertEqual(kind(";foo (t.rb:31);bar (t.rb:26);bob (t.rb:18)"), CALLER_LINE)  # 26 calls baz
        self.assertEqual(kind(";foo (t.rb:31);bar (t.rb:26);bob (t.rb:18);[moving]"), CALLER_LINE)
        self.assertEqual(kind(";foo (t.rb:31);bar (t.rb:88);bob (t.rb:18)"), IMPOSSIBLE)

    def test_root_missing(self):
        grammar = Grammar(ROOT, LEGAL)
        self.assertEqual(grammar.classify(parse_line("foo (t.rb:31);bar (t.rb:26) 1")), IMPOSSIBLE)

    def test_moving(self):
        for text in (";[moving]", ";foo (t.rb:31);[moving]", ";foo (t.rb:31);bar (t.rb:27);bob (t.rb:18);[moving]"):
            self.assertEqual(kind(text), HELD, text)
        self.assertEqual(Grammar(ROOT, LEGAL).classify(parse_line("[moving] 1")), HELD)

    def test_others(self):
        self.assertEqual(Grammar(ROOT, LEGAL).classify(parse_line("(starting) 1")), STARTING)
        self.assertEqual(kind(";(unnamed)"), UNNAMED)

    def test_verdict_counts(self):
        stacks = [parse_line(f"{OUTER};foo (t.rb:31) 90"), parse_line(f"{OUTER};[moving] 9"),
                  parse_line(f"{OUTER};map 1")]
        verdict = Verdict(Grammar(ROOT, LEGAL), stacks)
        self.assertEqual((verdict.total, verdict.share(COMPLETE), verdict.ppm(IMPOSSIBLE)), (100, 90, 10_000))
        self.assertIn("map", verdict.example(IMPOSSIBLE))
        self.assertFalse(rows_truth.impossible_figure(verdict).ok)


class Shares(unittest.TestCase):
    def test_states(self):
        stacks = [parse_line(line) for line in (
            "<main> (t:1);run (t:2);foo (t:3);bar (t:4);baz (t:5);map;block in baz (t:6);clock_gettime 30",
            "<main> (t:1);run (t:2);foo (t:3);bar (t:4);baz (t:5);map 20",
            "<main> (t:1);run (t:2) 10", "<main> (t:1);run (t:2);[moving] 900",
            "<main> (t:1);run (t:2);foo (t:3);bar (t:4);bob (t:5) 40")]
        ours = self_shares(stacks)
        self.assertEqual(ours, {"block": 0.3, "baz": 0.2, "foo": 0.1, "bob": 0.4})
        truth = {"block": 0.3, "baz": 0.2, "foo": 0.1, "bob": 0.4}
        self.assertTrue(rows_truth.share_figure("x", ours, truth, 100_000).ok)
        truth = {"block": 0.33, "baz": 0.17, "foo": 0.1, "bob": 0.4}
        self.assertFalse(rows_truth.share_figure("x", ours, truth, 100_000).ok)

    def test_bars_shrink_with_the_count(self):
        self.assertGreater(stats.share_bar(2, 0.5, 100), 15)
        self.assertLess(stats.share_bar(2, 0.5, 1_000_000), 2.3)
        self.assertAlmostEqual(stats.variation({"a": 1}, {"b": 1}), 1)

    def test_samples_of_a_starved_target_count_less(self):
        self.assertEqual(stats.effective(1000, 1000, 0.0), 1000)
        self.assertLess(stats.effective(1000, 1000, 0.5), 300)

    def test_mixed_numbers(self):
        stacks = [parse_line("fiber_1 (a:1);deep_1 (a:2) 5"), parse_line("fiber_1 (a:1);deep_2 (a:2) 3")]
        self.assertEqual(numbered(stacks, re.compile(r"(?:fiber_|deep_)(\d)"))[0], 3)

    def test_generations(self):
        right = parse_line("work_7 (/made/up/gen-7.rb:72);inner_7 (/made/up/gen-7.rb:77) 5")
        self.assertEqual(wrong_lines([right])[0], 0)
        for text in ("work_7 (/made/up/gen-8.rb:72) 2", "inner_7 (/made/up/gen-7.rb:72) 2"):
            self.assertEqual(wrong_lines([parse_line(text)])[0], 2)


class Lines(unittest.TestCase):
    FACTS = {"c_labels": ["sleep", "each"],
             "threads": [{"place": "p", "tid": 5, "full": [["Lines.park", "l.rb", 27], ["Foo#a", "l.rb", 3]],
                          "frames": [["sleep", "l.rb", 27], ["park", "l.rb", 27], ["a", "l.rb", 3]]}]}

    def compare(self, *frames, version=(3, 3)):
        thread = Thread(5, "p", "blocked", list(frames), [])
        return compare_parked({5: thread}, self.FACTS, version)[1:3]

    def test_right(self):
        frames = Frame("Kernel#sleep"), Frame("Lines.park", "l.rb", 27), Frame("Foo#a", "l.rb", 3)
        self.assertEqual(self.compare(*frames), (0, 0))

    def test_wrong(self):
        good = [Frame("sleep"), Frame("park", "l.rb", 27), Frame("a", "l.rb", 3)]
        for at, bad in ((2, Frame("a", "l.rb", 4)), (2, Frame("b", "l.rb", 3)), (2, Frame("a", "m.rb", 3)),
                        (0, Frame("each")), (2, Frame("a")), (0, Frame("sleep", "l.rb", 26))):
            frames = list(good)
            frames[at] = bad
            self.assertEqual(self.compare(*frames, version=(2, 7))[0], 1, bad)
        self.assertEqual(self.compare(*good[1:], version=(2, 7))[0], 1)
        self.assertEqual(compare_parked({}, self.FACTS, (2, 7))[1], 3)

    def test_classes(self):
        frames = Frame("sleep"), Frame("Lines.park", "l.rb", 27), Frame("Bar#a", "l.rb", 3)
        self.assertEqual(self.compare(*frames), (0, 1))
        self.assertEqual(class_errors([Frame("x")], {"full": None}), [])

    def test_rescue_frames_of_34(self):
        frames = [Frame("rescue in rescue in a", "l", 9), Frame("rescue in a", "l", 7), Frame("a", "l", 5),
                  Frame("b", "l", 1)]
        self.assertEqual(without_rescue(frames), [Frame("a", "l", 9), Frame("b", "l", 1)])


if __name__ == "__main__":
    unittest.main()
