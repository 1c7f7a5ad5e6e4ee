"""Simulations and experiments as tables."""

import unittest

import gristmill
from support import TestCase


class Simulations(TestCase):
    def test_runs_are_rows(self):
        runs = gristmill.simulate("merge-min", "nanopu", cores=16, keys_per_core=32, seed=5, runs=3)
        self.assertEqual(runs["seed"], [5, 6, 7])
        self.assertEqual(runs["cores"], [16] * 3)
        self.assertEqual(runs["passed"], [True] * 3)
        self.assertTrue(all(time > 0 for time in runs["time_us"]))
        self.assertEqual(runs.height, 3)
        self.assertEqual([row["seed"] for row in runs.rows()], [5, 6, 7])
        self.assertEqual(set(runs.stages["stage"]), {"scan", "merge"})
        self.assertEqual(runs.report["program"], "merge-min")
        self.assertIn("time_us", runs.to_csv().splitlines()[0])
        self.assertIn("<th>seed</th>", runs._repr_html_())

    def test_a_seed_decides(self):
        run = lambda: gristmill.simulate("nano-sort", cores=16, seed=3)
        self.assertEqual(run(), run())

    def test_changes_of_the_machine(self):
        time = lambda **changes: gristmill.simulate("merge-min", cores=64, **changes)["time_us"][0]
        self.assertGreater(time(switch_ns=500), time())
        self.assertGreater(time(multicast=False), 0)

    def test_threads(self):
        runs = gristmill.simulate("merge-min", "threads", cores=2)
        self.assertEqual((runs["machine"], runs["passed"], runs.stages), (["threads"], [True], {}))

    def test_mistakes(self):
        wrong = [
            ("no-such", None, {}),
            ("merge-min", "no-such", {}),
            ("merge-min", None, {"colour": 5}),
            ("merge-min", None, {"cores": "many"}),
            ("merge-min", None, {"loss": 2}),
            ("merge-min", None, {"multicast": 7}),
        ]
        for program, machine, options in wrong:
            with self.assertRaises(gristmill.OptionsError, msg=(program, machine, options)):
                gristmill.simulate(program, machine, **options)

    def test_experiments(self):
        self.assertIn("nanosort/figure-4", gristmill.experiments())
        figure = gristmill.lab("figure-4", runs=1)
        self.assertEqual(set(figure), {"chart", "series", "x", "mean", "sd", "min", "max"})
        self.assertGreater(figure.height, 2)
        self.assertEqual(figure.report["name"], "nanosort/figure-4")
        with self.assertRaises(gristmill.OptionsError):
            gristmill.lab("no-such")

    def test_tables_for_other_libraries(self):
        runs = gristmill.simulate("merge-min", cores=4, runs=2)
        for name in ["pandas", "polars"]:
            try:
                library = __import__(name)
            except ImportError:
                continue
            frame = library.DataFrame(runs)
            self.assertEqual(frame.shape, (2, len(runs)))
            self.assertEqual(list(frame["seed"]), [1, 2])


if __name__ == "__main__":
    unittest.main()
