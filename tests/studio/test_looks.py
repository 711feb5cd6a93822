"""What is shown of a formula is what the formula and the rows say."""

import runpy
from dataclasses import replace

import numpy as np
import pytest

from prunesymnet.coefficients import fit
from prunesymnet.data import make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.expression import parse
from prunesymnet.runs import Model, RunFolder
from prunesymnet.search import Candidate, SearchSettings, Update
from prunesymnet.structure import Reduction
from prunesymnet.studio.front import SearchesInMemory
from prunesymnet.studio.looks import extrapolates
from prunesymnet.studio.notebook import cell
from prunesymnet.studio.searches import Search

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 5, (80, 2))
Y = 3 * X[:, 0] ** 2 / X[:, 1] + RNG.normal(0, 0.1, 80)
FRONT = ["10.0", "2.0*x", "3.0*x**2/z", "3.0*x**2/z + 0.01*sin(x)"]


@pytest.fixture(scope="module")
def search(studio):
    """A search whose process was ended from outside: its lines are there, and no model."""
    made, folder = studio.workspace.new("searches")
    data = make_dataset(X, Y, names=["x", "z"], target="y")
    with RunFolder(folder / "run") as run:
        run.create([data], ["x", "z (mm)"], SearchSettings(time_limit=5.0), "law.csv")
        run.append(
            {"time": 1.0, "output": 0, "seconds": 1.0, "stage": "pairs", "fits": 4, "scored": 10, "best": FRONT[2]}
        )
        run.append({"time": 2.0, "output": 0, "seconds": 2.0, "stage": "pairs", "front": FRONT, "best": FRONT[2]})
    columns = {"target": "y", "features": ["x", "z (mm)"], "weights": None, "y_err": None, "categories": []}
    table = {"id": "0123456789abcdef", "name": "law.csv"}
    return Search(made, folder, "law", 1.0, table, columns, {"loss": "huber"}, "y", 80, wanted="stop").save()


@pytest.fixture(scope="module")
def front(client, search):
    return client.get(f"/api/searches/{search.id}").json()["front"]


@pytest.fixture(scope="module")
def api(client, search):
    def ask(path, **answers):
        path = f"/api/searches/{search.id}/{path}"
        return client.post(path, json=answers) if answers else client.get(path)

    return ask


def test_what_is_far_too_long_is_not_shown_while_a_search_runs(studio, client):
    made, folder = studio.workspace.new("searches")
    data = make_dataset(X, Y, names=["x", "z"], target="y")
    long = "3.0*x**2/z + " + " + ".join(f"1e-9*x**{k}*z**{j}" for k in range(4) for j in range(4))
    with RunFolder(folder / "run") as run:
        run.create([data], None, SearchSettings(), "law.csv")
        run.append({"time": 1.0, "output": 0, "stage": "pairs", "front": [*FRONT, long], "best": long})
    columns, table = {"target": "y", "features": ["x", "z"]}, {"id": "0123456789abcdef", "name": "law.csv"}
    Search(made, folder, "law", 1.0, table, columns, {}, "y", 80, wanted="stop").save()
    points = client.get(f"/api/searches/{made}").json()["front"]
    assert [point["complexity"] for point in points] == [parse(text).complexity for text in FRONT]
    assert [point["chosen"] for point in points] == [False, False, True, False]


def test_the_front_has_each_formula_with_its_error(front):
    assert [point["complexity"] for point in front] == [parse(text).complexity for text in FRONT]
    best = front[2]
    assert best["chosen"]
    assert best["error"] == pytest.approx(np.mean((Y - 3 * X[:, 0] ** 2 / X[:, 1]) ** 2))
    assert best["math"].startswith("<math>")


def test_all_there_is_to_see_of_a_formula(api, front):
    found = api(f"formulas/{front[2]['key']}").json()
    assert found["target"] == "y"
    (constant,) = found["constants"]
    assert float(constant["value"]) == pytest.approx(3, rel=0.01)
    assert float(constant["error"].removeprefix("± ")) < 0.02
    assert [one["label"] for one in found["variables"]] == ["x", "z (mm)"]
    assert len(found["observed"]) == len(found["predicted"]) == 80
    residuals = np.subtract(found["observed"], found["predicted"])
    assert np.std(residuals) < 0.15
    ways = {name: text for name, _, text in found["ways"]}
    assert set(ways) == {"latex", "python", "c", "excel", "text", "mathml"}
    assert "def formula" in ways["python"]
    assert api("formulas/0123456789abcdef").status_code == 404


def test_effects_follow_the_sliders(api, front):
    key = front[2]["key"]
    found = api(f"formulas/{key}/effects", at={"z": 2.0}).json()
    panel = found["panels"][0]
    assert (panel["name"], panel["from"], panel["to"]) == ("x", X[:, 0].min(), X[:, 0].max())
    assert panel["x"][0] < panel["from"] < panel["to"] < panel["x"][-1]
    expected = 3 * np.array(panel["x"]) ** 2 / 2
    assert np.allclose(panel["y"], expected, rtol=0.02)
    assert all(low < y < high for low, y, high in zip(panel["low"], panel["y"], panel["high"], strict=True))
    pole = found["panels"][1]
    assert "below" in pole["beyond"] or pole["beyond"] == ""
    assert found["warning"] == ""
    assert "Outside" in api(f"formulas/{key}/effects", at={"z": 20.0}).json()["warning"]
    assert api(f"formulas/{key}/effects", at={"z": "a", "q": 1e308, "x": None}).status_code == 200


def test_where_no_row_is_near_nothing_is_known():
    t = np.linspace(0, 1, 50)
    columns = {"a": t, "b": t}
    assert extrapolates(columns, {"a": 0.5, "b": 0.5}) == ""
    assert "No row" in extrapolates(columns, {"a": 0.0, "b": 1.0})
    assert "Outside the rows: a" in extrapolates(columns, {"a": 2.0, "b": 1.0})


def test_two_formulas_differ_most_somewhere(api, front):
    found = api(f"difference/{front[1]['key']}/{front[2]['key']}").json()
    place = dict(found["place"])
    assert set(place) == {"x", "z"}
    assert float(place["x"]) > 4.5  # where the square is far above the line
    assert float(place["z"]) < 1.5


def test_a_formula_of_ones_own_is_fitted_at_once_and_pinned(client, api, search):
    found = api("fit", form="y = a*x**b/z").json()
    assert found["numbers"][0][1].startswith(("0.99", "1 −"))
    assert found["edit"].startswith(("3", "2.9"))
    assert not found["pinned"]
    assert api("pin", key=found["key"]).status_code == 200
    shown = client.get(f"/api/searches/{search.id}").json()["front"]
    assert [point["pinned"] for point in shown if point["key"] == found["key"]] == [True]
    assert api(f"formulas/{found['key']}").json()["pinned"]
    assert api("unpin", key=found["key"]).status_code == 200
    assert len(client.get(f"/api/searches/{search.id}").json()["front"]) == len(FRONT)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("x +* z", "expected an operand"), ("", "empty"), ("a*b", "none of the columns"),
        ("__import__('os').system('true')", "column"), ("log(0*x)", "no value"), ("x" * 5000, "characters"),
        ("x.real", "column"), ("eval(x)", "column"), ("(" * 500 + "x" + ")" * 500, ""),
    ],
)  # fmt: skip
def test_what_is_no_formula_is_told_where(api, form, said):
    answer = api("fit", form=form)
    assert answer.status_code in (200, 422)
    if answer.status_code == 422:
        assert said in answer.json()["error"]
    else:
        assert said == ""


def test_errors_that_are_shares_are_counted_so(studio, client):
    """As the search found them: a formula of one's own is fitted in the same way."""
    made, folder = studio.workspace.new("searches")
    x = np.linspace(1, 30, 60)
    data = make_dataset(x, x**3 * (1 + 0.02 * RNG.normal(size=60)), names=["x"], target="y")
    law = Equation.of(fit(parse("1.0*x**3"), data.with_loss("relative")), data.with_loss("relative"))
    with RunFolder(folder / "run") as run:
        run.create([data], None, SearchSettings(), "cubes.csv")
        run.finish(Model((Front((law,), 0, "all stages are through"),), data.names, None, SearchSettings()))
    columns, table = {"target": "y", "features": ["x"]}, {"id": "0123456789abcdef", "name": "cubes.csv"}
    Search(made, folder, "cubes", 1.0, table, columns, {}, "y", 60, wanted="stop").save()
    (point,) = client.get(f"/api/searches/{made}").json()["front"]
    found = client.get(f"/api/searches/{made}/formulas/{point['key']}").json()
    assert 0.015 < np.sqrt(point["error"]) < 0.025
    own = client.post(f"/api/searches/{made}/fit", json={"form": "a*x**3"}).json()
    for one in (found, own):
        assert one["relative"]
        assert one["numbers"][2][1] in ("1.7%", "1.8%", "1.9%", "2%", "2.1%", "2.2%", "2.3%")
    assert found["constants"][0]["value"] == own["constants"][0]["value"]


def test_a_table_with_units(client, studio):
    """They are told before a search, checked, and constants carry them."""
    x = np.linspace(0.1, 2, 30)
    text = "length,force\n" + "".join(f"{a},{5 * a + 0.01 * np.sin(40 * a)}\n" for a in x)
    table = client.post("/api/tables", content=text.encode(), headers={"x-file-name": "spring.csv"}).json()["id"]
    answers = {"table": table, "columns": {"target": "force", "features": ["length"]}}

    def check(units, **options):
        asked = answers | {"options": {"units": units, **options}}
        return client.post(f"/api/tables/{table}/check", json=asked).json()

    assert "unit" in check([["length", "metres per fortnight?"]])["problem"]
    assert check([["length", "m"], ["force", "N"]])["notes"] == ["Units: length in m, force in N."]
    assert check([["length", "m"], ["force", "N"]], constant_units=False)["problem"]  # nothing makes newtons of metres
    options = {"units": [["length", "m"], ["force", "N"]], "time_limit": 1}
    made = client.post("/api/searches", json=answers | {"options": options}).json()["id"]
    found = client.post(f"/api/searches/{made}/fit", json={"form": "k*length"}).json()
    assert [one["unit"] for one in found["constants"]] == ["N/m"]
    odd = client.post(f"/api/searches/{made}/fit", json={"form": "k*exp(length)"}).json()
    assert "units do not fit" in " ".join(odd["notes"])


def test_structure_is_shown_with_the_rows_on_one_curve(studio, client):
    made, folder = studio.workspace.new("searches")
    a, b = RNG.uniform(1, 2, (2, 50))
    data = make_dataset(np.column_stack([a, b]), a * np.sin(a * b), names=["a", "b"], target="y")
    law_fit = fit(parse("1.0*a*sin(a*b)"), data)
    law = Equation.of(law_fit, data)
    one = Reduction(parse("y/a"), (parse("a*b"),), 1e-9, 0.1)
    two = Reduction(parse("y"), (parse("a*b"), parse("a")), 1e-9, 0.1, product=True)
    three = Reduction(parse("y"), (parse("a"), parse("b")), 1e-9, 0.1, sizes=(1, 1))
    columns, table = {"target": "y", "features": ["a", "b"]}, {"id": "0123456789abcdef", "name": "waves.csv"}
    Search(made, folder, "waves", 1.0, table, columns, {}, "y", 50, wanted="stop").save()
    with RunFolder(folder / "run") as run:
        run.create([data], None, SearchSettings(), "")
        best = Candidate(law_fit, 0.0, "pairs")
        run.tell(0, Update("groups", 0.1, 1, best, front=(best,)))
        run.tell(0, Update("pairs", 0.2, 1, best, front=(best,), structure=(one, two, three)))
        run.tell(0, Update("pairs", 0.3, 1, best, front=(best,), structure=(one, two, three)))
        live = client.get(f"/api/searches/{made}").json()
        run.finish(Model((Front((law,), 0, structure=(one, two, three)),), data.names, None, SearchSettings()))
    ended = client.get(f"/api/searches/{made}").json()
    assert (live["final"], ended["final"]) == (False, True)
    assert live["structure"] == ended["structure"]  # it is shown as soon as it is found
    first, second, third = ended["structure"]
    group, quantity = np.array(first["points"]).T
    assert np.allclose(quantity, np.sin(group))
    assert (first["names"], first["shades"]) == (["y/a", "a*b"], None)
    assert second["product"]
    assert np.argmax(second["shades"]) == np.argmax(a)
    assert [one["sizes"] for one in ended["structure"]] == [[1], [1, 1], [1, 1]]
    assert (third["product"], third["points"]) == (False, [])


def test_the_parts_of_a_template_are_shown(studio, client):
    made, folder = studio.workspace.new("searches")
    data = make_dataset(X, Y, names=["x", "z"], target="y")
    law = replace(Equation.of(fit(parse("3.0*x**2/z"), data), data), parts={"f(x)": parse("3.0*x**2")})
    settings = SearchSettings(template="f(x)/z")
    with RunFolder(folder / "run") as run:
        run.create([data], None, settings, "law.csv")
        run.finish(Model((Front((law,), 0),), data.names, None, settings))
    columns, table = {"target": "y", "features": ["x", "z"]}, {"id": "0123456789abcdef", "name": "law.csv"}
    Search(made, folder, "law", 1.0, table, columns, {}, "y", 80, wanted="stop").save()
    (point,) = client.get(f"/api/searches/{made}").json()["front"]
    ((name, math),) = client.get(f"/api/searches/{made}/formulas/{point['key']}").json()["parts"]
    assert (name, "<math>" in math) == ("f(x)", True)


def test_constants_of_each_category_are_asked_for_by_a_column(client):
    text = "x,site,y\n" + "".join(f"{k},{'ab'[k % 2]},{k * (2 + k % 2)}\n" for k in range(1, 31))
    table = client.post("/api/tables", content=text.encode(), headers={"x-file-name": "sites.csv"}).json()["id"]
    answers = {"table": table, "columns": {"target": "y", "features": ["x"]}, "options": {"constants_per": "site"}}
    assert client.post(f"/api/tables/{table}/check", json=answers).json()["problem"] == ""
    made = client.post("/api/searches", json=answers).json()["id"]
    cell_text = client.get(f"/api/searches/{made}/notebook").json()["text"]
    assert 'constants_per="site"' in cell_text
    assert 'table[["x", "site"]]' in cell_text
    for said, message in (
        ({"shape": "rising like a lark"}, "lark"),
        ({"template": "f(q)"}, "'q' is no column"),
        ({"template": "f(x)", "parts": [["g", {"max_complexity": 3}]]}, "parts must name functions"),
        ({"template": "f(x)", "constants_per": "site"}, "can't be used together"),
        ({"start_from": "a + b"}, "formulas of the columns"),
        ({"box": [["z", 0, 1]]}, "box of 'z'"),
        ({"loss": "poisson", "template": "f(x)"}, ""),
    ):
        problem = client.post(f"/api/tables/{table}/check", json=answers | {"options": said}).json()["problem"]
        assert message in problem if message else not problem, (said, problem)


def test_few_runs_stay_in_memory(search):
    in_memory = SearchesInMemory()
    for _ in range(3):
        in_memory.get(search)
    assert len(in_memory.cache) == 1


def test_a_report_and_no_model_yet(client, search, monkeypatch):
    monkeypatch.setattr("subprocess.run", lambda command, **_: Done(command))
    answer = client.get(f"/searches/{search.id}/report.html")
    assert answer.text == "the report"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''law.html"
    assert client.get(f"/searches/{search.id}/model.json").status_code == 404


class Done:
    """The command, as if it had been run."""

    returncode, stderr = 0, b""

    def __init__(self, command):
        assert command[1:4] == ["-m", "prunesymnet", "report"]
        with open(command[-1], "w") as page:
            page.write("the report")


def test_the_cell_of_a_notebook_does_the_same(api, tmp_path, monkeypatch, capsys):
    text = api("notebook").json()["text"]
    assert 'loss="huber"' in text
    table = "x,z (mm),y\n" + "".join(f"{a},{b},{c}\n" for (a, b), c in zip(X, Y, strict=True))
    (tmp_path / "law.csv").write_text(table)
    (tmp_path / "cell.py").write_text(text.replace("n_jobs=1", "n_jobs=1, max_evaluations=10000"))
    monkeypatch.chdir(tmp_path)
    model = runpy.run_path("cell.py")["model"]
    assert model.best_.r2 > 0.99
    assert model.feature_names_in_.tolist() == ["x", "z (mm)"]
    assert capsys.readouterr().out.startswith("  ")


def test_a_cell_with_everything():
    text = cell(
        'a "b".xlsx', {"constraints": {"max_uses": {"exp": 1}}}, target="y", features=["x", "kind"], weights="w",
        categories=["kind"], drop_missing=True, reading={"decimal": ",", "sheet": None},
    )  # fmt: skip
    assert 'read_frame("a \\"b\\".xlsx", decimal=",")' in text
    assert 'table.dropna(subset=["x", "kind", "y", "w"])' in text
    assert 'constraints={"max_uses": {"exp": 1}}, categories=["kind"]' in text
    assert 'sample_weight=table["w"]' in text
    compile(text, "cell", "exec")


@pytest.fixture(scope="module")
def by_site(studio):
    """A search with other constants at each site, of which the lines are there."""
    made, folder = studio.workspace.new("searches")
    x, site = RNG.uniform(1, 5, 60), np.arange(60) % 3 // 2  # twice as often in the north
    data = make_dataset(
        np.column_stack([x, site == 0, site == 1]), (2 + 3 * site) * x, names=["x", "site_north", "site_south"]
    )
    text = "(2.0*site_north + 5.0*site_south)*x"
    with RunFolder(folder / "run") as run:
        run.create([data], ["x", "site=north", "site=south"], SearchSettings(constants_per="site"), "sites.csv")
        front = ["7.0*x", text]
        run.append({"time": 1.0, "output": 0, "seconds": 1.0, "stage": "categories", "front": front, "best": text})
    columns, table = {"target": "y", "features": ["x", "site"]}, {"id": "0123456789abcdef", "name": "sites.csv"}
    return Search(made, folder, "sites", 1.0, table, columns, {}, "y", 60, wanted="stop").save()


def test_constants_of_categories_are_shown_by_their_names(client, by_site):
    short, best = client.get(f"/api/searches/{by_site.id}").json()["front"]
    assert (best["text"], best["complexity"], best["chosen"], short["chosen"]) == ("c1[site]*x", 3, True, False)
    found = client.get(f"/api/searches/{by_site.id}/formulas/{best['key']}").json()
    assert found["edit"] == "c1[site]*x"
    assert [one["name"] for one in found["constants"]] == ["c1[site=north]", "c1[site=south]"]
    assert [one["name"] for one in found["variables"]] == ["x"]
    places = {"north": "site_north", "south": "site_south"}
    assert found["choices"] == [{"name": "site", "places": places, "usual": "north"}]


def test_a_category_is_chosen_and_not_a_number_for_each(client, by_site):
    key = client.get(f"/api/searches/{by_site.id}").json()["front"][1]["key"]
    ask = f"/api/searches/{by_site.id}/formulas/{key}/effects"
    usual = client.post(ask, json={"at": {"x": 2.0}}).json()
    assert [panel["name"] for panel in usual["panels"]] == ["x"]
    assert (usual["value"], usual["warning"]) == ("4", "")
    south = client.post(ask, json={"at": {"x": 2.0, "site_north": 0, "site_south": 1}}).json()
    assert south["value"] == "10"


def test_a_form_of_ones_own_may_have_constants_by_category(client, by_site):
    fit_own = f"/api/searches/{by_site.id}/fit"
    found = client.post(fit_own, json={"form": "a[site]*x + b"}).json()
    assert [one["name"] for one in found["constants"]] == ["a[site=north]", "a[site=south]", "b"]
    wrong = client.post(fit_own, json={"form": "a[town]*x"})
    assert (wrong.status_code, "town is no column of categories" in wrong.json()["error"]) == (422, True)
    other = client.get(f"/api/searches/{by_site.id}").json()["front"]
    apart = client.get(f"/api/searches/{by_site.id}/difference/{other[0]['key']}/{other[1]['key']}").json()
    assert dict(apart["place"])["site"] in ("north", "south")
