"""Tables are kept as they came, under names that no file chose; what is wrong with them is said with what helps."""

import io
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

from prunesymnet.studio.tables import Columns, suffix_of

GOOD = b"a,b\n1,2\n2,4\n3,7\n4,8\n"


def bring(client, content, name="table.csv"):
    return client.post("/api/tables", content=content, headers={"x-file-name": quote(name)})


def test_an_example_is_a_table(client):
    found = client.get(f"/api/tables/{client.post('/api/examples/planets').json()['id']}").json()
    assert (found["name"], found["rows"]) == ("planets.csv", 9)
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {"planet": "text", "semi_major_axis": "number", "period": "number"}
    period = found["columns"][2]
    assert sum(period["histogram"]["counts"]) == 9
    assert len(period["points"]) == 9
    assert client.post("/api/examples/nothing").status_code == 404


@pytest.mark.parametrize(
    "name",
    ["../../../evil.csv", "/etc/passwd.csv", "..\\..\\a.csv", "a\x00b.csv", "<script>alert(1)</script>.csv", "CON.csv",
     ".csv", "a" * 290 + ".csv", "\u202egnp.csv", "~/.bashrc.csv", "$(reboot).csv"],
)  # fmt: skip
def test_a_name_becomes_no_path(client, studio, name):
    before = {path.name for path in studio.workspace.path.iterdir()}
    made = bring(client, GOOD, name)
    assert made.status_code == 200, made.text
    folder = studio.workspace.path / "tables" / made.json()["id"]
    assert sorted(path.name for path in folder.iterdir()) == ["table.csv", "table.json"]
    assert {path.name for path in studio.workspace.path.iterdir()} == before
    page = client.get(f"/tables/{made.json()['id']}").text
    assert "<script>alert" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (GOOD, "a.exe", "format that can't be read"),
        (GOOD, "table", "format that can't be read"),
        (b"", "a.csv", "a.csv"),
        (b"\x00\x01\x02" * 50, "a.csv", "not a text file"),
        (b"PK\x03\x04nothing", "a.xlsx", "spreadsheet"),
        (b"PAR1nothingPAR1", "a.parquet", "Parquet"),
        (b"\x1f\x8bnothing", "a.csv.gz", "unpacked"),
    ],
)
def test_what_is_no_table_is_not_kept(client, studio, content, name, said):
    before = studio.workspace.ids("tables")
    answer = bring(client, content, name)
    assert answer.status_code == 422
    assert said in answer.json()["error"]
    assert str(studio.workspace.path) not in answer.json()["error"]  # the file's own name, not where it was put
    assert studio.workspace.ids("tables") == before
    assert not [path for path in studio.workspace.path.iterdir() if path.name.startswith(".incoming")]


def test_a_file_may_not_be_larger_than_the_limit(client, studio):
    answer = bring(client, b"a,b\n" + b"1,2\n" * 400_000)
    assert answer.status_code == 413
    assert "1 MiB" in answer.json()["error"]
    assert not [path for path in studio.workspace.path.iterdir() if path.name.startswith(".incoming")]


def test_a_table_with_more_cells_than_a_studio_holds_is_refused(client, monkeypatch):
    monkeypatch.setattr("prunesymnet.studio.tables.MOST_CELLS", 7)
    answer = bring(client, GOOD)
    assert answer.status_code == 422
    assert "more than 7 cells" in answer.json()["error"]


def test_tables_are_listed_and_can_be_removed(client, studio):
    made = bring(client, GOOD, "mine <1>.csv").json()["id"]
    assert "mine &lt;1&gt;.csv" in client.get("/").text
    assert client.post(f"/api/tables/{made}/remove").status_code == 200
    assert "mine" not in client.get("/").text
    assert client.post(f"/api/tables/{made}/remove").status_code == 404
    assert not (studio.workspace.path / "tables" / made).exists()


def test_few_tables_stay_in_memory(client, studio):
    for _ in range(6):
        client.get(f"/api/tables/{bring(client, GOOD).json()['id']}")
    assert len(studio.tables.cache) <= 4


def test_a_problem_is_shown_where_it_is_with_what_helps(client):
    text = "kind,x,y\nsteel,1,2\nwood,,4\nsteel,3,6.5\nwood,4,8\nsteel,5,10\n"
    made = bring(client, text.encode()).json()["id"]
    columns = {column["name"]: column for column in client.get(f"/api/tables/{made}").json()["columns"]}
    missing, words = columns["x"]["problem"], columns["kind"]["problem"]
    assert "row 2" in missing["message"]
    assert missing["where"] == "line 3 of the file"
    assert missing["rows"] == [1]
    assert [what for what, _ in missing["remedies"]] == ["drop_missing", "exclude"]
    assert [what for what, _ in words["remedies"]] == ["categories", "exclude"]
    assert columns["y"]["problem"] is None

    def check(**columns):
        asked = {"columns": {"target": "y", **columns}, "options": {}}
        return client.post(f"/api/tables/{made}/check", json=asked).json()

    assert "row 2" in check(features=["x"])["problem"]
    helped = check(features=["x", "kind"], drop_missing=True, categories=["kind"])
    assert helped["problem"] == ""
    assert "left out 1 of 5 rows" in helped["notes"][0]
    assert "choose the column" in check(target="", features=["x"])["problem"]
    assert "at least one" in check(features=["y"])["problem"]
    assert "no column is named" in check(features=["z"])["problem"]


def test_a_decimal_sign_is_chosen_by_a_click(client):
    made = bring(client, b'x;y\n"1,234";"2,500"\n"2,345";"4,690"\n"3,456";"6,912"\n').json()["id"]
    assert client.post(f"/api/tables/{made}/read", json={"decimal": "."}).status_code == 200
    assert client.get(f"/api/tables/{made}").json()["columns"][0]["median"] == 2345
    client.post(f"/api/tables/{made}/read", json={"decimal": ","})
    assert client.get(f"/api/tables/{made}").json()["columns"][0]["median"] == 2.345


def test_a_sheet_is_chosen_of_several(client):
    with io.BytesIO() as file:
        with pd.ExcelWriter(file) as book:
            pd.DataFrame({"a": [1, 2, 3], "b": [1, 4, 9]}).to_excel(book, sheet_name="first", index=False)
            pd.DataFrame({"c": [1, 2, 3], "d": [2, 4, 6]}).to_excel(book, sheet_name="second", index=False)
        made = bring(client, file.getvalue(), "book.xlsx").json()["id"]
    assert client.get(f"/api/tables/{made}").json()["sheets"] == ["first", "second"]
    client.post(f"/api/tables/{made}/read", json={"sheet": "second"})
    assert [column["name"] for column in client.get(f"/api/tables/{made}").json()["columns"]] == ["c", "d"]
    assert client.post(f"/api/tables/{made}/read", json={"sheet": "third"}).status_code == 422


def test_parquet_with_every_kind_of_column(client):
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3], "f": [1.5, np.nan, np.inf], "t": ["a", None, "<b>"], "yes": [True, False, True],
            "when": pd.date_range("2024-01-01", periods=3), "=1+1": [1.0, 1.0, 1.0],
        }
    )  # fmt: skip
    found = client.get(f"/api/tables/{bring(client, frame.to_parquet(), 'all.parquet').json()['id']}").json()
    assert {column["name"]: column["kind"] for column in found["columns"]} == {
        "n": "number", "f": "number", "t": "text", "yes": "number", "when": "dates", "=1+1": "number",
    }  # fmt: skip
    assert found["cells"][1] == ["2", None, None, "False", "2024-01-02 00:00:00", "1"]


def test_columns_are_said_by_their_names():
    assert Columns.of({"target": "y", "features": ["x"]}) == Columns("y", ("x",))
    for wrong in (None, [], {"target": 1}, {"features": "x"}, {"features": [1]}, {"weights": ["a"]}):
        with pytest.raises(ValueError, match=r"names|lists"):
            Columns.of(wrong)


@pytest.mark.parametrize("name", ["a.csv", "A.TSV", "b.txt.gz", "c.json", "d.xlsx", "e.parquet"])
def test_formats_that_can_be_read(name):
    assert suffix_of(name) == name[name.index(".") :].lower()
    assert suffix_of(name + "x") is None
