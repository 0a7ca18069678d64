"""`python -m studies.analysis`."""

from pathlib import Path

import pytest

from studies.analysis import __main__
from studies.analysis.__main__ import PAGES, main
from tests.docs.documents import ROOT


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["discrepancy", "risks", "bias", "mitigation", pytest.param("symmetry", marks=pytest.mark.long)]
)
def test_page_is_written_as_committed(name: str, tmp_path: Path) -> None:
    """Of bounds and monotonicity, which take minutes, tests hold records again."""
    main([name, str(tmp_path / "new")])
    for written in (tmp_path / "new").iterdir():
        if written.suffix != ".svg":  # drawn by a library whose versions draw differently
            committed = ROOT / "docs/evidence/analysis" / written.name
            assert written.read_bytes() == committed.read_bytes(), f"run make analysis-{name}"


def test_every_page_has_a_target_and_is_committed() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in PAGES:
        assert f"\n\t$(BIN)/python -m studies.analysis {name} docs/evidence/analysis\n" in makefile
        assert f"`make analysis-{name}` writes this page." in (ROOT / f"docs/evidence/analysis/{name}.md").read_text(
            encoding="utf-8"
        )


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^give PAGE FOLDER \[SEED\], got 1 arguments$"):
        main(["risks"])
    with pytest.raises(ValueError, match=r"^PAGE must be one of discrepancy, .* got 'risk'"):
        main(["risk", str(tmp_path)])
    assert not list(tmp_path.iterdir())
    assert __main__.__doc__
