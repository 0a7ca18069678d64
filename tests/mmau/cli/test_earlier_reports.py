"""No command that ends with an error leaves the report of an earlier run, which may say that a design passed."""

import xml.dom.minidom
from pathlib import Path

import pytest

from cosim.coverage.file import ucis_xml
from cosim.rtl_coverage.file_coverage import FileCoverage, lcov_info
from cosim.runner.html_report import report_page
from cosim.runner.junit import junit_xml
from mmau.cli import main
from tests.cosim.runner.reports import passed
from tests.mmau.cli.unit_texts import TINY

pytestmark = pytest.mark.attack("reports of co-simulation")

FILES = {"--junit": "j.xml", "--html": "r.html", "--ucis": "u.xml", "--rtl-coverage": "c.info"}

NAMED = [word for pair in FILES.items() for word in pair]


@pytest.fixture(autouse=True)
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of an earlier run that passed."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(TINY)
    Path("j.xml").write_bytes(junit_xml([passed()], {}, 0))
    Path("r.html").write_text(report_page([passed()], {}, 0))
    Path("u.xml").write_bytes(ucis_xml([], 0, True, "1"))
    Path("c.info").write_text(lcov_info([FileCoverage("a.v", {1: 2}, {})]))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--unit", "none.toml"], "No such file or directory"),
        (["--unit", "tiny.toml", "--dut", "none.toml"], "No such file or directory"),
        (["--unit", "tiny.toml", "--top", "x"], "go with --dut FILE.v"),
        (["--slice", "1/2"], "--slice is for --all and --coverage"),
        (["--unit", "tiny.toml", "--coverage-file", "tiny.toml"], "must be another file than the input"),
        (["--unit", "tiny.toml", "--seed", "-1"], "seed must be"),
        (["--unit", "tiny.toml", "--coverage-file", "j.xml"], "must name two files, got j.xml twice"),
    ],
)
def test_error_of_the_request_stands_in_the_reports(argv: list[str], message: str) -> None:
    assert main.main(["cosim", *argv, *NAMED]) == 2
    assert not Path("c.info").exists()
    assert not Path("u.xml").exists() or 'testStatus="false"' in Path("u.xml").read_text()
    (error,) = xml.dom.minidom.parse("j.xml").getElementsByTagName("error")
    assert message in error.getAttribute("message")
    page = Path("r.html").read_text()
    assert message in page
    assert "1 of 1 designs passed" not in page


@pytest.mark.parametrize(
    "argv",
    [
        ["cosim", "--vectros", "3", *NAMED],
        ["cosim", "--vectors", "many", *NAMED],
        ["cosmi", *NAMED],
        ["cosim", "--jun=j.xml", "--htm", "r.html", "--uc", "u.xml", "--rtl-cov=c.info", "extra"],
        ["list", "--arch", "none", *NAMED],
    ],
)
def test_no_report_stays_after_a_wrong_command_line(argv: list[str]) -> None:
    assert main.main(argv) == 2
    assert not any(Path(name).exists() for name in FILES.values())


def test_what_is_no_report_stays() -> None:
    """A word too many puts an input, or another program's file, in the place of a report."""
    others = {"tiny.toml": TINY, "j.xml": "<testsuites/>", "r.html": "<p>mmau</p>", "c.info": "TN:\nSF:a.v\nend_of_record\n"}
    for name, text in others.items():
        Path(name).write_text(text)
    Path("folder").mkdir()
    Path("u.xml").chmod(0o444)
    assert main.main(["cosim", "--junit", "tiny.toml", "--html", "folder", *NAMED, "--unit", "none.toml"]) == 2
    assert {name: Path(name).read_text() for name in others} == others
    assert Path("u.xml").exists()
    assert Path("folder").is_dir()


def test_help_removes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["cosim", *NAMED, "--help"]) == 0
    assert all(Path(name).exists() for name in FILES.values())
