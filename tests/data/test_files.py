"""Files as people have them: what is read, what is assumed, and what is refused before it fills the memory."""

import datetime
import gzip
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from prunesymnet.data import from_frame, read_frame, read_table, sources
from prunesymnet.data.cells import decimal_of, with_numbers
from prunesymnet.data.messages import MOST_OF_A_MESSAGE, listed, printable
from prunesymnet.errors import DataError, DataWarning

A, Y = [1.5, 2.5, 1234.5], [10.0, 20.0, 35.0]


def refused(*parts: str):
    return pytest.raises(DataError, match=".*".join(re.escape(part) for part in parts))


def told(*parts: str):
    return pytest.warns(DataWarning, match=".*".join(re.escape(part) for part in parts))


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def holds(table, a=A, y=Y):
    return table.frame["a"].tolist() == a and table.frame["y"].tolist() == y


# Dialects of text


@pytest.mark.parametrize(
    ("content", "assumed"),
    [
        ("a;y\n1,5;10\n2,5;20\n1234,5;35\n", ["decimal commas (a)"]),
        ("a;y\n1,5;10\n2,5;20\n1.234,5;35\n", ["decimal commas (a)", "points between thousands (a)"]),
        ("a\ty\n1,5\t10\n2,5\t20\n1 234,5\t35\n", ["decimal commas (a)", "spaces between thousands (a)"]),
        ("a\ty\n1.5\t10\n2.5\t20\n1\u202f234.5\t35\n", ["spaces between thousands (a)"]),
        ("a y\n1,5 10\n2,5 20\n1234,5 35\n", ["decimal commas (a)"]),
        ('a,y\n1.5,10\n2.5,20\n"1,234.5",35\n', ["commas between thousands (a)"]),
        ("a;y\n1.5;10\n2.5;20\n1'234.5;35\n", ["apostrophes between thousands (a)"]),
        ("# lab 3\n#\na,y\n1.5,10\n# pause\n2.5,20\n1234.5,35\n", ["comments in lines 1, 2 and 5"]),
        ("# by hand\n# a y\n1.5 10\n2.5 20\n1234.5 35\n", ["comments in lines 1 and 2", "the comment in line 2"]),
        ("#,a,y\n0,1.5,10\n1,2.5,20\n2,1234.5,35\n", ["the comment in line 1", "as row numbers"]),
        (",a,y\n7,1.5,10\n8,2.5,20\n9,1234.5,35\n", ["the first column, which has no name, as row numbers"]),
        ("a,y,g\n1.5,10,µ\n2.5,20,µ\n1234.5,35,µ\n".encode("latin-1"), ["Latin-1"]),
        (b"a,y,g\n1.5,10,\x81\n2.5,20,\x81\n1234.5,35,\x81\n", ["Latin-1"]),
        ("time, s;a;y\n1,5;1,5;10\n2,5;2,5;20\n3,5;1234,5;35\n", ["decimal commas (time, s, a)"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".csv", ".dat", ".txt.gz"])
def test_what_had_to_be_assumed_is_said_in_one_line(tmp_path, content, assumed, suffix):
    data = content if isinstance(content, bytes) else content.encode()
    file = written(tmp_path / f"t{suffix}", gzip.compress(data) if suffix.endswith(".gz") else data)
    with pytest.warns(DataWarning) as caught:
        table = read_frame(file)
    assert holds(table)
    (one,) = caught
    message = str(one.message)
    assert message.startswith(f"{file}: read with ")
    for part in assumed:
        assert part in message


@pytest.mark.parametrize(
    "content",
    [
        "a,y\n1.5,10\n2.5,20\n1234.5,35\n".encode("utf-8-sig"),
        "a\ty\r\n1.5\t10\r\n2.5\t20\r\n1234.5\t35\r\n".encode("utf-16"),
        b"a|y\n1.5|10\n2.5|20\n1234.5|35\n",
        b"a,y,\n1.5,10,\n2.5,20,\n1234.5,35,\n",  # separators at the ends of lines
        b'a,y,n\n1.5,10,"two\n# lines"\n2.5,20,-\n1234.5,35,-\n',
    ],
)
def test_what_can_be_meant_in_one_way_is_read_without_a_word(tmp_path, content):
    assert holds(read_frame(written(tmp_path / "t.csv", content)))


def test_a_column_that_stands_alone_may_have_blanks_in_its_name(tmp_path):
    frame = read_frame(written(tmp_path / "t.csv", "time (h)\n1.5\n2.5\n")).frame
    assert list(frame.columns) == ["time (h)"]
    assert frame["time (h)"].tolist() == [1.5, 2.5]
    assert list(read_frame(written(tmp_path / "u.csv", "a y\n1 2\n3 4\n")).frame.columns) == ["a", "y"]


def test_numbers_that_can_be_read_in_two_ways(tmp_path):
    content = "a\ty\n1,234\t1\n5,678\t2\n9,012\t3\n"
    file = written(tmp_path / "t.tsv", content)
    with refused("column 'a': '1,234' in row 1", "(line 2 of the file)", "it may be 1.234 or 1234"):
        read_table(file, "y")
    with told("decimal commas (a)"):
        assert read_table(file, "y", decimal=",").X[:, 0].tolist() == [1.234, 5.678, 9.012]
    with told("commas between thousands (a)"):
        assert read_table(file, "y", decimal=".").X[:, 0].tolist() == [1234, 5678, 9012]
    with refused("decimal must be '.' or ','", "';'"):
        read_table(file, "y", decimal=";")
    # A separator, or another column, decides.
    with told("decimal commas (a)"):
        assert read_frame(written(tmp_path / "s.csv", content.replace("\t", ";"))).frame["a"][0] == 1.234
    with told("commas between thousands (a)"):
        assert read_frame(written(tmp_path / "p.tsv", content.replace("\t1", "\t1.5"))).frame["a"][0] == 1234


def test_points_between_thousands_are_seen_where_commas_are_decimal(tmp_path):
    file = written(tmp_path / "t.csv", "a;b;c;d\n0,5;1.234;0.125;1\n1,5;5.678;0.250;2\n")
    with told("decimal commas (a); points between thousands (b)"):
        frame = read_frame(file).frame
    assert frame["b"].tolist() == [1234, 5678]
    assert frame["c"].tolist() == [0.125, 0.25]  # no thousand begins with 0


def test_percent_signs_leave_the_numbers_as_they_are_written(tmp_path):
    file = written(tmp_path / "t.csv", "a,y\n8.2%,1\n7,2\n-,3\n-5.25 %,4\n")
    with told("percent signs left out (a)"):
        assert read_frame(file).frame["a"].dropna().tolist() == [8.2, 7, -5.25]
    with told("decimal commas (a)", "percent signs left out (a)"):
        assert read_frame(written(tmp_path / "u.csv", "a;y\n8,2%;1\n7,5%;2\n")).frame["a"].tolist() == [8.2, 7.5]
    frame = read_frame(written(tmp_path / "v.csv", "a,y\n8.2%,1\n7%%,2\n%,3\n")).frame
    assert frame["a"].tolist() == ["8.2%", "7%%", "%"]  # text stays text


def test_words_for_missing_values(tmp_path):
    file = written(tmp_path / "t.csv", "a,y,who\n1.5,1,NA\nn/a,2,CH\n3.5,-,FR\n4.5,4,NA\n")
    with told("'-' as a missing value (y)", "'n/a' as a missing value (a)"):
        table = read_frame(file)
    assert table.frame["a"].isna().tolist() == [False, True, False, False]
    assert table.frame["who"].tolist() == ["NA", "CH", "FR", "NA"]  # a country's, not a missing value
    with told(), refused("column 'a': no value (NaN) in row 2", "(line 3 of the file)"):
        read_table(file, "y", features=["a"])
    with told("read with"), told("left out 2 of 4 rows, which lack a value: rows 2 and 3"):
        data = read_table(file, "y", features=["a"], drop_missing=True)
    assert data.y.tolist() == [1, 4]


def test_lines_are_right_after_rows_were_left_out(tmp_path):
    file = written(tmp_path / "t.csv", "a,y\n,1\n2,2\nx,3\n4,4\n")
    with told("left out 1 of 4 rows"), refused("'x' in row 2", "(line 4 of the file)"):
        read_table(file, "y", drop_missing=True)


def test_files_without_names(tmp_path):
    file = written(tmp_path / "t.dat", " 1.5   10\n 2.5   20\n 1234.5 35\n")
    with told("the names x1, x2, since the first line is numbers"):
        data = read_table(file, "x2")
    assert data.X[:, 0].tolist() == A
    file = written(tmp_path / "u.csv", "1,5;10\n2,5;20\n")
    with told("the names x1, x2", "decimal commas (x1)"):
        assert read_frame(file).frame["x1"].tolist() == [1.5, 2.5]


def test_row_numbers_are_no_feature(tmp_path):
    FRAME = pd.DataFrame({"a": A, "b": [3.0, 1.0, 2.0], "y": Y})
    FRAME.to_csv(tmp_path / "t.csv")
    with told("as row numbers"):
        assert read_table(tmp_path / "t.csv", "y").names == ("a", "b")
    FRAME.rename(columns={"a": ""})[["", "b", "y"]].to_csv(tmp_path / "u.csv", index=False)
    with refused("column '' is empty"):  # it does not count
        read_table(tmp_path / "u.csv", "y")


def test_columns_are_excluded(tmp_path):
    file = written(tmp_path / "t.csv", "who,a,b,y\nu,1,3,2\nv,2,1,3\n")
    assert read_table(file, "y", exclude=["who"]).names == ("a", "b")
    assert read_table(file, "y", features=["a", "b"], exclude=["b"]).names == ("a",)
    with refused("t.csv: no column is named 'whom'; did you mean 'who'?"):
        read_table(file, "y", exclude=["whom"])
    with refused("exclude must be a list", "['who']"):
        read_table(file, "y", exclude="who")
    with refused("no feature columns"):
        read_table(file, "y", exclude=["who", "a", "b"])


def test_numbers_are_exact_in_every_style():
    values = [0.1, 1234567.890123, 1e-17, 2.0**-1074, 12345678.9]
    texts = [f"{value:,}" if value > 1 else repr(value) for value in values]
    frame, _ = with_numbers(pd.DataFrame({"a": texts}), ".")
    assert frame["a"].tolist() == values
    swapped = [text.translate(str.maketrans(".,", ",.")) for text in texts]
    frame = pd.DataFrame({"a": swapped})
    assert decimal_of(frame) == ","
    assert with_numbers(frame, ",")[0]["a"].tolist() == values


# JSON


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1.5, "y": 10}\n\n{"a": 2.5, "y": 20}\n{"a": 1234.5, "y": 35}\n',
        '[{"a": 1.5, "y": 10}, {"a": 2.5, "y": 20}, {"a": 1234.5, "y": 35}]',
        '{"a": [1.5, 2.5, 1234.5],\n "y": [10, 20, 35]}',
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".json.gz"])
def test_json(tmp_path, text, suffix):
    data = text.encode()
    assert holds(read_frame(written(tmp_path / f"t{suffix}", gzip.compress(data) if suffix[-1] == "z" else data)))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('{"a": 1, "y": 2}\n\n{"a": "x", "y": 3}\n{"a": 3, "y": 3}\n', ["'x' in row 2", "(line 3 of the file)"]),
        ('{"a": 1, "y": 2}\n{"y": 3}\n', ["no value (NaN) in row 2", "(line 2 of the file)"]),
        ('{"a": 1, "y": 2}\n{"a": 1, "y"\n', ["line 2 is not JSON"]),
        ("[1, 2]", ["is not a table", "on each line"]),
        ("3", ["is not a table"]),
        ('{"a": [1], "y": [1, 2]}', ["from 1 to 2 values"]),
        ('{"a": {"b": 1}, "y": 2}\n{"a": {"b": 2}, "y": 3}\n', ["object of type dict"]),
        ("[" * 100_000, ["is not"]),
    ],
)
def test_json_that_is_no_table(tmp_path, text, parts):
    with refused("t.json: ", *parts):
        read_table(written(tmp_path / "t.json", text), "y")


def test_keys_that_are_all_different_do_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_CELLS", 10**6)
    text = "\n".join(json.dumps({f"k{k}": k}) for k in range(2000))
    with refused("has 2,000 rows and 2,000 columns, more than 1,000,000 cells"):
        read_frame(written(tmp_path / "t.json", text))


# Sheets


ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">
<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"""
REST = '<table:table-cell table:number-columns-repeated="16000"/>'
END = f'<table:table-row table:number-rows-repeated="1048000">{REST}</table:table-row>'


def ods_cell(value):
    if isinstance(value, str):
        text = f"<text:p>{value}</text:p>"
        return (
            f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
            if value
            else "<table:table-cell/>"
        )
    return f'<table:table-cell office:value-type="float" office:value="{value}"><text:p>so</text:p></table:table-cell>'


def ods_table(rows, name="one", end=END):
    body = "".join(f"<table:table-row>{''.join(map(ods_cell, row))}{REST}</table:table-row>" for row in rows)
    return f'<table:table table:name="{name}">{body}{end}</table:table>'


def ods(path, *tables):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("content.xml", ODS.format(tables="".join(tables)))
    return path


ROWS = [["a", "y", "who"], [1.5, 10.0, "u"], [2.5, 20.0, "v"], [1234.5, 35.0, "w"]]


def xlsx(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("make", ["xlsx", "ods"])
def test_sheets(tmp_path, make):
    def write(**sheets):
        if make == "xlsx":
            return xlsx(tmp_path / "t.xlsx", **sheets)
        return ods(tmp_path / "t.ods", *(ods_table(rows, name) for name, rows in sheets.items()))

    assert holds(read_frame(write(one=ROWS)))
    with told("the first of its sheets, 'one'"):
        assert holds(read_frame(write(one=ROWS, two=[["b"], [1]])))
    assert holds(read_frame(write(one=[["b"], [1]], two=ROWS), sheet="two"))
    with refused("has no sheet 'three'; the sheets are one, two"):
        read_frame(write(one=ROWS, two=ROWS), sheet="three")
    titled = [["Measured in March"], [""], *ROWS[:2], ["", "", ""], *ROWS[2:]]
    with told("the names in row 3 of the sheet"):
        table = read_frame(write(one=titled))
    assert holds(table)
    with refused("column 'who': 'u' in row 1", "(row 4 of the sheet)"):
        table.numbers(["who"])
    commas = [["a", "y"], ["1,5", 10.0], ["2,5", 20.0], ["1.234,5", 35.0]]
    with told("decimal commas (a)", "points between thousands (a)"):
        assert holds(read_frame(write(one=commas)))
    with refused("the sheet 'one' is empty"):
        read_frame(write(one=[[""], [""]]))


def test_a_sheet_with_dates(tmp_path):
    dates = [f'<table:table-cell office:value-type="date" office:date-value="2021-03-0{k}"/>' for k in (1, 2, 3)]
    rows = "".join(f"<table:table-row>{date}{ods_cell(k)}</table:table-row>" for k, date in enumerate(dates))
    names = f"<table:table-row>{ods_cell('when')}{ods_cell('y')}</table:table-row>"
    file = ods(tmp_path / "t.ods", f'<table:table table:name="t">{names}{rows}</table:table>')
    with refused("column 'when' holds dates", "the time since a start"):
        read_table(file, "y")


def test_sheets_that_claim_more_cells_than_there_are(tmp_path):
    many = '<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="1000000000"/>'
    file = ods(tmp_path / "t.ods", ods_table([["a", "y"]], end=f"<table:table-row>{many}</table:table-row>"))
    with refused("more than 16,384 columns"):
        read_frame(file)
    row = f'<table:table-row table:number-rows-repeated="1000000000">{ods_cell(1)}</table:table-row>'
    with refused("or 1,048,576 rows"):
        read_frame(ods(tmp_path / "t.ods", ods_table([["a", "y"]], end=row)))


def test_a_spreadsheet_that_unpacks_to_much_more(tmp_path, monkeypatch):
    monkeypatch.setattr("prunesymnet.data.sheets.MOST_BYTES", 10**6)
    file = ods(tmp_path / "t.ods", ods_table([["a" * 10**6, "y"]]))
    assert file.stat().st_size < 10**5
    with refused("holds more than 1,000,000 bytes"):
        read_frame(file)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"PK\x03\x04 and then nothing"])
@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_files_that_are_no_spreadsheets(tmp_path, content, suffix):
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
    with refused(f"t{suffix}: ", "can't be read as a spreadsheet"):
        read_frame(written(tmp_path / f"t{suffix}", content))


def test_the_package_that_reads_excel_is_named_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    file = ods(tmp_path / "t.xlsx", ods_table(ROWS))
    with pytest.raises(ImportError, match=r"pip install 'prunesymnet\[tables\]'"):
        read_frame(file)


def test_sheet_is_for_spreadsheets(tmp_path):
    with refused("sheet is for .xlsx and .ods"):
        read_frame(written(tmp_path / "t.csv", "a,y\n1,2\n"), sheet="one")


def test_dates_in_excel(tmp_path):
    file = xlsx(tmp_path / "t.xlsx", one=[["when", "y"], *([datetime.date(2021, 3, k), k] for k in (1, 2, 3))])
    with refused("column 'when' holds dates", "the time since a start"):
        read_table(file, "y")


# Damaged files


def contents() -> dict[str, bytes]:
    """A table in each format."""
    frame = pd.DataFrame({"a": A * 5, "b b": np.arange(15) ** 2, "t": ["x y"] * 15, "y": Y * 5})
    text = frame.to_csv(index=False).encode()
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as file:
        rows = [list(frame.columns), *frame.to_numpy().tolist()]
        file.writestr("content.xml", ODS.format(tables=ods_table(rows)))
    found = {
        ".csv": text,
        ".dat": b"# by hand\n" + frame.to_csv(sep=";", decimal=",").encode(),
        ".txt.gz": gzip.compress(text),
        ".json": frame.to_json(orient="records", lines=True).encode(),
        ".parquet": frame.to_parquet(),
        ".ods": packed.getvalue(),
    }
    if importlib.util.find_spec("openpyxl"):
        frame.to_excel(sheet := io.BytesIO(), index=False)
        found[".xlsx"] = sheet.getvalue()
    return found


PIECES = [
    b"",
    b"\0",
    b"\xff",
    b'"',
    b",",
    b";",
    b"\n",
    b"#",
    b"1e999",
    b"1,5",
    b"{",
    b"]",
    b"\x1b[2J",
    b"9" * 400,
    b"\xff\xfe",
]


@pytest.mark.parametrize("suffix", contents())
def test_a_damaged_file_is_a_table_or_one_of_our_errors(tmp_path, suffix):
    whole, rng = contents()[suffix], np.random.default_rng(0)
    for _ in range(60):
        content = bytearray(whole)
        for _ in range(rng.choice([1, 2, 8])):
            start = rng.integers(len(content) + 1)
            content[start : start + rng.choice([0, 1, 20, 10**6])] = PIECES[rng.integers(len(PIECES))]
        file = written(tmp_path / f"t{suffix}", bytes(content))
        message = ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            try:
                from_frame(read_frame(file).frame, "y", repair=True)
            except DataError as problem:
                message = str(problem)
        assert len(message) < MOST_OF_A_MESSAGE


# What would not end, or would fill the memory


def test_pipes_and_devices_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with refused("is a pipe or a device", "standard input (-)"):
        read_frame(tmp_path / "t.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with refused("is a pipe or a device"):
        read_frame(tmp_path / "zero.csv")


def test_a_link_to_a_table_is_a_table(tmp_path):
    (tmp_path / "link.csv").symlink_to(written(tmp_path / "t.csv", "a,y\n1.5,10\n2.5,20\n1234.5,35\n"))
    assert holds(read_frame(tmp_path / "link.csv"))


def test_sizes_are_bounded_before_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_BYTES", 10**6)
    with open(tmp_path / "t.csv", "wb") as file:
        file.truncate(10**12)  # without any content on the disk
    with refused("holds more than 1,000,000 bytes", "draw some of its rows"):
        read_frame(tmp_path / "t.csv")


def test_a_gzip_of_ten_gigabytes_is_left_in_time(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_BYTES", 2 * 10**7)
    part = gzip.compress(b"1,2\n" * 2_500_000)  # ten megabytes in ten kilobytes
    file = written(tmp_path / "t.csv.gz", gzip.compress(b"a,y\n") + part * 1000)
    with refused("holds more than 20,000,000 bytes"):
        read_frame(file)


class Endless(io.RawIOBase):
    """A stream without an end; reads are counted."""

    def __init__(self, line):
        self.line, self.reads = line, 0

    def read(self, size=-1):
        assert size > 0, "all of an endless stream was asked for"
        self.reads += 1
        return self.line * (size // len(self.line))


def test_endless_streams_are_left_in_time(monkeypatch):
    monkeypatch.setattr(sources, "MOST_BYTES", 10**7)
    with refused("holds more than 10,000,000 bytes"):
        read_frame(Endless(b"1,2\n"))
    zeros = Endless(b"\0")
    with refused("is not a text file"):
        read_frame(zeros)
    assert zeros.reads == 1


def test_a_stream_may_be_packed():
    assert holds(read_frame(io.BytesIO(gzip.compress(b"a,y\n1.5,10\n2.5,20\n1234.5,35\n"))))


def test_many_names_and_many_short_lines_do_not_fill_the_memory(tmp_path):
    names = ",".join(f"c{k}" for k in range(20_000))
    file = written(tmp_path / "t.csv", names + "\n" + "1\n" * 1_000_000)
    with refused("20,000 columns, more than 100,000,000 cells"):
        read_frame(file)


def test_a_file_of_20000_columns_is_a_table(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).random((4, 20_001)), columns=[*(f"c{k}" for k in range(20_000)), "y"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = read_table(tmp_path / "t.csv", "y")
    assert np.array_equal(data.X, frame.to_numpy()[:, :-1])
    with refused("no column is named 'c20000'", "columns are c0, c1", "and 19989 more"):
        read_table(tmp_path / "t.csv", "c20000")


def test_a_parquet_file_is_bounded_by_what_it_says_of_itself(tmp_path, monkeypatch):
    pd.DataFrame({"a": np.zeros(10**5)}).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(sources, "MOST_CELLS", 10**4)
    with refused("has 100,000 rows and 1 columns, more than 10,000 cells"):
        read_frame(tmp_path / "t.parquet")


def test_a_long_cell_is_not_echoed(tmp_path):
    cell = "9" * 1_000_000 + "\x1b[2J"
    with pytest.raises(DataError) as caught:
        read_table(written(tmp_path / "t.csv", f"a,y\n{cell},2\n3,4\n5,6\n"), "y")
    assert len(str(caught.value)) < 500
    with pytest.raises(DataError) as caught:
        read_table(written(tmp_path / "t.csv", f"{cell},y\n1,2\n3,4\n"), "z")
    assert len(str(caught.value)) < 500
    assert "\x1b" not in str(caught.value)


def test_messages_are_cut_and_escaped():
    assert len(printable("x" * 10**7)) <= MOST_OF_A_MESSAGE + 3
    assert printable("a\x1b]0;title\x07b\u202ec\x9b1m") == r"a\x1b]0;title\x07b\u202ec\x9b1m"
    assert printable("a formula, µ ≤ 3 — and so on") == "a formula, µ ≤ 3 — and so on"
    assert "\x1b" not in listed(["\x1b[2J"])


def test_a_writer_that_never_comes_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    code = f"from prunesymnet.data import read_frame; read_frame({str(tmp_path / 't.csv')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "is a pipe or a device" in done.stderr
