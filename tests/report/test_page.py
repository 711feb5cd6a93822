"""The report: all that was found is on the page, nothing that a person wrote can be more than text, and it needs
nothing from elsewhere."""

import base64
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from markupsafe import escape
from PIL import Image

from prunesymnet.coefficients import fit
from prunesymnet.data import Dataset, load_example, make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.expression import parse, to_text
from prunesymnet.operators import make_operator
from prunesymnet.report import draw_formula, write_report
from prunesymnet.report.live import live_front
from prunesymnet.report.numbers import share, with_digits
from prunesymnet.report.rendering import as_svg, render
from prunesymnet.report.section import Section
from prunesymnet.runs import Model, Run, read_run, run
from prunesymnet.search import Constraints, SearchSettings, Start
from prunesymnet.version import __version__

rng = np.random.default_rng(0)
NAMES = ["formula.png", "front.png", "predictions.png", "residuals.png", "effects.png", "network.png"]
HOSTILE = ['<script>alert("1")</script>', "$\\frac{a}{b}$ & 'q' --> %#~", "温度 (°C)\n</style>"]
X = rng.uniform(0.5, 3.0, (80, 3))
Y = 2.5 * X[:, 0] ** 2 - 1.3 * X[:, 1] + rng.normal(0, 0.2, 80)
DATA = make_dataset(X, Y, names=["a", "b", "c"], target="y")
FORMS = ("1.0*a", "1.0*a**2 + 1.0", "1.0*a**2 - 1.0*b", "1.0*a**2 - 1.0*b + 1.0*c")


def equation(formula, data=DATA, **changes):
    return replace(Equation.of(fit(parse(formula), data), data, heldout_r2=0.9), **changes)


def front_of(*equations, chosen=0, status="stopped at the time limit", ties=()):
    return Front(equations, chosen, status, 4.2, 123, ties)


def run_of(folder, *fronts, tables=(DATA,), columns=None, settings=SearchSettings(), ended=True):  # noqa: B008 - frozen
    columns = None if columns is None else tuple(columns)
    model = Model(fronts, tables[0].names, columns, settings)
    starts = tuple(Start(tuple(e.expression for e in front)) for front in fronts)
    return Run(folder, tuple(tables), columns, settings, starts, model if ended else None)


class Page(HTMLParser):
    """What a browser would make of a page: elements with their attributes, texts, and the rows of tables."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text()
        self.elements, self.open, self.rows, self.classes = [], [], [], []
        self.texts = {}
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.elements.append((tag, named))
        if tag == "tr":
            self.rows.append([])
            self.classes.append(named.get("class"))
        if tag == "td":
            self.rows[-1].append("")
        if tag not in ("meta", "img", "path", "use", "rect", "image", "br"):
            self.open.append((tag, named))

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if any(tag == "td" for tag, _ in self.open):
            self.rows[-1][-1] += data
        for _, named in self.open:
            for name in [*(named.get("class") or "").split(), named.get("id")]:
                self.texts[name] = self.texts.get(name, "") + data

    def table(self, name):
        """The rows of the tables of a class."""
        inside = re.findall(rf'<table class="{name}">(.*?)</table>', self.source, re.DOTALL)
        return [row for table in inside for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL) if "<td" in row]


@contextmanager
def blank_pictures():
    """Pictures are drawn but not written, which takes most of the time: for tests of what the page says."""
    blank = base64.b64encode(b"<x:svg xmlns:x='http://www.w3.org/2000/svg'/>").decode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prunesymnet.report.rendering.as_svg", lambda figure: f"data:image/svg+xml;base64,{blank}")
        yield


def written(folder, *fronts, run=None, **options):
    """The page; its pictures as files, which take as long again, are looked at in other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prunesymnet.report.page.save", lambda figure, path: None)
        page = Page(write_report(run or run_of(folder, *fronts, **options), folder / "page.html")[0])
    check_self_contained(page)
    return page


def check_self_contained(page):
    assert page.open == []
    assert len(page.source) < 3_000_000
    assert "http://" not in page.source
    assert "https://" not in page.source
    assert not re.search(r"url\((?!#)|@import", page.source)
    ids = [named["id"] for _, named in page.elements if "id" in named]
    assert len(ids) == len(set(ids))
    for tag, named in page.elements:
        for name, value in named.items():
            assert not name.startswith("on"), (tag, name)
            if name == "href":
                assert value[0] == "#", value
                assert value[1:] in ids
            if name == "src":
                check_picture(value)
            if name == "data-copy":
                assert value in ids
        if tag == "img":
            assert named["alt"].strip()  # for those who do not see it
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert [tag for tag, _ in page.elements].count("style") == 1
    assert not {"link", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in page.elements}


def check_picture(address):
    """A vector graphic that runs nothing and asks for nothing elsewhere."""
    start, encoded = address.split(",", 1)
    assert start == "data:image/svg+xml;base64"
    picture = ElementTree.fromstring(base64.b64decode(encoded))  # noqa: S314 - drawn here
    ids = {element.get("id") for element in picture.iter()}
    for element in picture.iter():
        assert element.tag.split("}")[1] not in ("script", "foreignObject", "a", "animate", "set")
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            if name.endswith("href"):
                assert value[1:] in ids or value.startswith("data:image/png;base64,")
            assert all(reference in ids for reference in re.findall(r"url\(#([^)]*)\)", value))
            assert not re.search(r"url\((?!#)", value)


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A real run of two targets, and its report."""
    folder = tmp_path_factory.mktemp("searched")
    second = make_dataset(X, X[:, 2] * X[:, 1] + rng.normal(0, 0.1, 80), names=DATA.names, target="z_2")
    settings = SearchSettings(time_limit=float("inf"), max_fits=20, seed=3)
    run([DATA, second], settings, columns=HOSTILE, folder=folder / "run", progress=False)
    return read_run(folder / "run"), write_report(read_run(folder / "run"), folder / "page.html")


def test_a_real_run_is_reported_with_a_section_for_each_target(searched):
    kept, paths = searched
    page = Page(paths[0])
    check_self_contained(page)
    assert page.texts["over"].startswith("PruneSymNet report · ")
    fronts = kept.latest().fronts
    assert [front.target for front in fronts] == ["y", "z_2"]
    for front in fronts:
        assert escape(to_text(front.best.expression)) in page.source
        assert escape(front.best.latex()) in page.source
        assert escape(front.best.python()) in page.source
    assert len(page.table("front")) == sum(map(len, fronts))
    assert [row.count("chosen</span>") for row in page.table("front")].count(1) == 2
    assert [tag for tag, _ in page.elements].count("h2") == 2
    links = [named["href"] for tag, named in page.elements if tag == "a"]
    assert links == ["#t0", "#t1"]


def test_pictures_are_beside_the_page(searched):
    _, paths = searched
    expected = [f"{start}{name}" for start in ("1-y-", "2-z_2-") for name in NAMES]
    assert [path.name for path in paths] == ["page.html", *expected]
    assert {path.parent for path in paths[1:]} == {paths[0].with_suffix("")}
    for path in paths[1:]:
        with Image.open(path) as image:
            image.verify()
            assert image.format == "PNG"


def test_the_names_of_columns_are_text_whatever_they_are(searched):
    _, paths = searched
    page = Page(paths[0])
    assert HOSTILE[0] not in page.source
    assert "</style>" not in page.source.split("</style>", 1)[1]
    rows = page.table("columns")
    assert len(rows) == 3
    for row, column in zip(rows, HOSTILE, strict=True):
        assert escape(column) in row
    labels = [named["alt"] for tag, named in page.elements if tag == "img"]
    assert any(HOSTILE[0] in label for label in labels)  # as text: the parser has undone what was escaped


def test_the_same_run_gives_the_same_page(searched, tmp_path, monkeypatch):
    monkeypatch.setattr("prunesymnet.report.page.save", lambda figure, path: None)
    kept, paths = searched
    (tmp_path / "report").mkdir()
    again = write_report(kept, tmp_path)
    assert again[0] == tmp_path / "report.html"
    assert again[0].read_bytes() == paths[0].read_bytes()
    assert [path.name for path in again[1:]] == [path.name for path in paths[1:]]


def test_a_run_that_was_cut_off_has_a_report_too(searched, tmp_path):
    kept, _ = searched
    cut = replace(kept, model=None)
    with blank_pictures():
        page = written(tmp_path, run=cut)
    assert "The run was ended from outside." in page.texts["lead"]
    assert len(page.table("front")) == sum(map(len, cut.latest().fronts))
    assert re.match(r"[\d,]+ formulas? (was|were) fitted to 80 rows of 3 columns in \d", page.texts["lead"])


def test_numbers_of_the_page_are_those_of_the_equations(tmp_path):
    front = front_of(*map(equation, FORMS), chosen=2)
    settings = SearchSettings(seed=7, constraints=Constraints(max_uses={"exp": 1}))
    with blank_pictures():
        page = written(tmp_path, front, settings=settings)
    best = front.best
    assert page.texts["lead"] == "123 formulas were fitted to 80 rows of 3 columns in 4.2 s. Stopped at the time limit."
    assert page.texts["value"].startswith(f"{share(best.r2)}0.9000")
    constants = page.table("constants")
    assert len(constants) == len(best.constants) == 2
    for row, estimate in zip(constants, best.constants, strict=True):
        value, error, low, high = with_digits(estimate)
        assert f'title="{estimate.value!r}"' in row
        assert f">{value}<" in row
        assert f"± {error}" in row
        assert f"{low} to {high}" in row
        assert float(value.replace("−", "-")) == pytest.approx(estimate.value, abs=estimate.standard_error / 10)
    rows = page.table("front")
    assert len(rows) == len(front) == 4
    for k, (row, found) in enumerate(zip(rows, front, strict=True)):
        assert escape(found.text()) in row
        assert f">{found.complexity}<" in row
        assert f">{share(found.r2)}<" in row
        assert ("chosen" in row) == (k == 2)
    for name, version in (("prunesymnet", __version__), ("numpy", np.__version__)):
        assert f"{name} {version}" in page.source
    assert sys.version.split()[0] in page.source
    changed, same = page.source.split("Changed:")[1].split("By default:")
    assert re.findall(r"<code>(.*?)</code>", changed) == ["seed", "constraints.max_uses.exp"]
    assert "<code>time_limit</code>" in same
    assert "<code>exhaustive.levels</code>" in same
    assert "<code>seed</code>" not in same


@pytest.mark.parametrize(
    ("forms", "bits", "chosen", "selection", "said"),
    [
        (("1.0*a", "1.0*a**2"), (10, 20), 0, "mdl", "was chosen because it takes the fewest bits to write down"),
        (("1.0*a", "1.0*a**2"), (10, 20), 1, "mdl", "predicts these rows better by more than chance explains"),
        (("1.0*a", "1.0*a**2"), (10, 20), 0, "bic", "The marked one was chosen."),
        (("1.0*a", "1.0*a**2"), (10, 20), 1, "accuracy", "was chosen because it has the smallest error."),
        (("1.0*a", "1.0*a**2"), (10, 20), 0, "", "was chosen by a function of the user’s."),
    ],
)
def test_why_a_formula_was_chosen_is_true(forms, bits, chosen, selection, said):
    equations = [equation(form, description_length=float(b)) for form, b in zip(forms, bits, strict=True)]
    section = Section(front_of(*equations, chosen=chosen), DATA, {}, selection, 1.0, 1)
    with blank_pictures():
        assert said in render("section.html", section=section, id="t")


def test_near_ties_are_marked_and_explained(tmp_path):
    with blank_pictures():
        page = written(tmp_path, front_of(*map(equation, FORMS), chosen=2, ties=(1, 3)))
        alone = written(tmp_path, front_of(*map(equation, FORMS), chosen=2))
    assert ["≈ nearly as likely" in row for row in page.table("front")] == [False, True, False, True]
    assert "From those marked ≈ the data hardly tell it" in page.texts["say"]
    assert "≈" not in alone.source


def test_a_formula_without_constants_that_is_exact(tmp_path):
    data = make_dataset(X, X[:, 0] ** 2 / X[:, 1], names=DATA.names, target="y")
    status = "found a formula that is exact on held-out rows"
    page = written(tmp_path, front_of(equation("a**2/b", data), status=status), tables=[data])
    assert page.table("constants") == []
    assert "The formula has no fitted constants" in page.texts["say"]
    assert page.texts["value"] == "10.900004"
    assert "Found a formula that is exact on held-out rows." in page.texts["lead"]


def test_constants_and_errors_that_are_not_known(tmp_path):
    lost = equation("1.0*log(a - 1.0) + 1.0*b", loss=np.nan, r2=np.nan, heldout_r2=np.nan)
    lost = replace(lost, covariance=np.full((3, 3), np.inf))
    page = written(tmp_path, front_of(lost))
    assert page.source.count("not determined by the data") == 3
    assert "so there is no band of uncertainty" in page.texts["say"]
    undefined = int(np.isnan(lost.predict(DATA.columns)).sum())
    assert f"The formula is not defined in {undefined} rows of the table." in page.texts["say"]
    assert page.texts["value"] == "———" + str(lost.complexity)
    assert "not measured" in page.texts["sub"]


def test_parameters_keep_their_names(tmp_path):
    hubble = load_example("hubble")
    form = parse("H*distance + v0")
    law = Equation.of(fit(form, hubble, parameters=["H", "v0"]), hubble)
    page = written(tmp_path, front_of(law), tables=[hubble])
    assert len(page.table("constants")) == 2
    assert law.parameters["H"] == pytest.approx(454.158, rel=1e-4)
    for value in law.parameters.values():
        assert f'title="{value!r}"' in page.source


@pytest.mark.filterwarnings("ignore:target 'y' is")
def test_a_number_alone_and_an_operator_of_the_users(tmp_path):
    page = written(tmp_path, front_of(equation("1.0")))
    assert "What each variable does" not in page.source
    both = make_operator("hypotenuse", lambda a, b: np.sqrt(a * a + b * b))
    names = ["a", "温度"]
    data = make_dataset(X[:, :2], np.hypot(X[:, 0], X[:, 1]), names=names, target="длина")
    law = Equation.of(fit(parse("1.0*hypotenuse(a, 温度)", operators=[both]), data), data)
    page = written(tmp_path, front_of(law), tables=[data])
    assert "As LaTeX" in page.source
    assert "As a Python function" not in page.source
    assert page.texts["plain"] == str(law)  # no font of ours has these letters


def test_fifty_columns_with_weights(tmp_path):
    names = [f"x{k}" for k in range(50)]
    wide = rng.normal(1, 1, (900, 50))
    data = make_dataset(wide, wide.sum(axis=1), names=names, target="y", weights=rng.integers(0, 3, 900))
    law = Equation.of(fit(parse(" + ".join(f"1.5*{name}" for name in names)), data), data)
    columns = [f"column {k} with a long name, in metres <per> second" for k in range(50)]
    with blank_pictures():
        page = written(tmp_path, front_of(law), tables=[data], columns=columns)
    assert "900 weighted rows of 50 columns" in page.texts["lead"]
    assert len(page.table("constants")) == len(page.table("columns")) == 50
    assert "50 constants" in page.source
    assert "Of 50 variables, the 12 that change it most." in page.texts["say"]
    effects = [named for _, named in page.elements if (named.get("alt") or "").endswith("varies")]
    assert len(effects) == 12


def test_a_formula_of_a_thousand_parts_is_text(tmp_path):
    long = parse(" + ".join(f"{k}*a*b" for k in range(2, 400)))
    with blank_pictures():
        page = written(tmp_path, front_of(equation("1.0*a", form=long, covariance=np.zeros((0, 0)))))
    assert "too long to be drawn as a network" in page.texts["say"]
    assert page.texts["plain"].startswith("y = 2*a*b + 3*a*b")
    assert "…" in page.table("front")[0]


def test_a_well_known_formula_is_called_by_its_name(tmp_path):
    with blank_pictures():
        page = written(tmp_path, front_of(equation("1.0*a"), equation("1.0*a**2 - 1.0*b"), chosen=0))
        other = written(tmp_path, front_of(equation("1.0*a"), equation("1.0*a**2 - 1.0*b"), chosen=1))
    assert page.texts["known"] == "Has the form of proportionality; also Hooke's law, Ohm's law, Hubble's law."
    assert "known" not in other.texts


def test_the_front_can_be_drawn_from_what_the_page_has(tmp_path):
    front = front_of(*map(equation, FORMS), chosen=2, ties=(3,))
    with blank_pictures():
        page = written(tmp_path, front)
    (found,) = [json.loads(named["data-front"]) for _, named in page.elements if "data-front" in named]
    assert [point["complexity"] for point in found["points"]] == [one.complexity for one in front]
    assert [point["chosen"] for point in found["points"]] == [False, False, True, False]
    assert [point["tie"] for point in found["points"]] == [False, False, False, True]
    assert np.allclose(found["points"][2]["predicted"], front.best.predict(DATA.columns), rtol=1e-4)
    assert np.allclose(found["observed"], DATA.y, rtol=1e-4)
    assert "grid" not in found  # formulas of several columns have no curve
    assert [row.count("<math>") for row in page.table("front")] == [1] * 4  # typeset
    assert [re.search(r'data-row="(\d)"', row)[1] for row in page.table("front")] == ["0", "1", "2", "3"]


def test_formulas_of_one_column_have_their_curve():
    hubble = load_example("hubble")
    law = equation("1.0*distance", hubble)
    found = json.loads(live_front(front_of(law), hubble))
    assert found["name"] == "distance"
    assert np.allclose(found["points"][0]["curve"], law.predict({"distance": np.array(found["grid"])}), rtol=1e-3)


def test_the_name_of_the_data_file_is_on_the_page(tmp_path):
    with blank_pictures():
        named = written(tmp_path, run=replace(run_of(tmp_path, front_of(equation("1.0*a"))), source="<law>.csv"))
        bare = written(tmp_path, front_of(equation("1.0*a")))
    assert named.texts["over"].endswith(" · <law>.csv")
    assert "csv" not in bare.texts["over"]


def section_of(found, data=DATA):
    """The page's part about one formula."""
    with blank_pictures():
        return render("section.html", section=Section(front_of(found), data, {}, "mdl", 0.0, 1), id="t")


def test_rows_that_stand_for_several_measurements_are_told_so():
    twice = Dataset(X, Y, DATA.names, "y", np.full(80, 2.0), count=160)
    said = section_of(equation("1.0*a"), twice)
    assert "1 formula was fitted to 80 rows (160 measurements) of 3 columns. Stopped" in said


def test_constants_have_names_that_no_column_has():
    clash = make_dataset(X, Y, names=["c1", "b", "c"], target="y")
    assert "The formula with names for its constants" in section_of(equation("1.0*a**2 - 1.0*b"))
    law = equation("1.0*c1**2 - 1.0*b", clash)
    assert [constant.name for constant in law.constants] == ["c2", "c3"]
    said = section_of(law, clash)
    assert "The formula with names for its constants" in said
    assert said.split('<table class="constants">')[1].split("</table>")[0].count("<tr>") == 3


def test_constants_have_units_where_the_table_has():
    assert "<th>unit</th>" not in section_of(equation("1.0*a**2 - 1.0*b"))
    said = section_of(equation("1.0*a**2 - 1.0*b", units=("N/m^2", "")))
    rows = said.split('<table class="constants">')[1].split("</table>")[0].split("<tr>")[1:]
    assert [row.split("<td>")[-1].split("</td>")[0] for row in rows[1:]] == ["N/m^2", "1"]


def test_rounded_constants_are_shown_with_what_was_fitted():
    found = fit(parse("3*a**2 - 1.0*b"), DATA)
    law = Equation.of(replace(found, before_rounding=found.expression), DATA)
    said = section_of(law)
    rows = said.split('<table class="constants">')[1].split("</table>")[0].split("<tr>")[2:]
    for estimate, row in zip(law.constants, rows, strict=True):
        assert f">{estimate.in_formula}, fitted {with_digits(estimate)[0]}<" in row
    assert law.constants[0].in_formula == "3"
    assert "Some constants of the formula are rounded." in said
    assert "Some constants" not in section_of(equation("1.0*a**2"))


def test_a_picture_is_the_same_each_time_and_sharp_at_any_size():
    first, second = (as_svg(draw_formula(parse("sin(x) + y"))) for _ in range(2))
    assert first == second
    check_picture(first)


def test_reports_written_at_the_same_time_are_as_they_are_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("prunesymnet.report.page.save", lambda figure, path: None)

    def page(folder):
        folder.mkdir()
        run = run_of(folder, front_of(equation("1.0*a**2 + 1.0")))
        return re.sub("report · .*", "", write_report(run, folder)[0].read_text())

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(page, [tmp_path / "a", tmp_path / "b"]))
    assert set(together) == {page(tmp_path / "c")}


def test_reading_runs_draws_nothing():
    code = "import sys, prunesymnet.runs; print([n for n in ('matplotlib', 'PIL') if n in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
