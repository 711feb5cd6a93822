"""The page about GPUs shows the results file, and its problems are what it says of them."""

from itertools import islice

from benchmarks import gpu, gpu_tables, readme
from prunesymnet.search.budget import Budget


def test_the_page_shows_the_results_file():
    page = (readme.ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")
    assert page.count("<!-- bench:gpu-") == 7
    assert readme.filled(page) == page


def test_every_part_says_what_made_it():
    for part in gpu_tables.read().values():
        assert part["commit"]
        assert part["machine"]
        assert part["versions"]["torch"]
        assert part["rows"]


def test_formulas_that_need_a_larger_bank_can_be_sampled():
    assert Budget.of(1, on_gpu=True).pair_nodes > Budget.of(1).pair_nodes
    for _, problem, _ in islice(gpu.deep_problems(), 2):
        assert problem.sample(20, 0).rows == 20


def test_networks_are_compared_on_problems_that_a_seed_draws():
    for kind, (columns, _, _) in gpu.KINDS.items():
        one, again = (gpu.hard_problem(kind, 3) for _ in range(2))
        assert len(one[0].names) == columns
        assert (one[0].y == again[0].y).all()
