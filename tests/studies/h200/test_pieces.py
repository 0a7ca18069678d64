"""Results in pieces: nothing above its size, nothing lost, damage noticed."""

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from studies.h200.pieces import pack, unpack

PIECE = 1 << 20


def written(root: Path, **sizes: int) -> list[str]:
    rng = np.random.default_rng(1)
    for name, size in sizes.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.bytes(size))
    return [name.replace("__", "/") for name in sizes]


def test_pieces_have_their_size_and_give_everything_back(tmp_path: Path) -> None:
    names = written(tmp_path / "from", a=10, b=PIECE * 5 // 2, deep__c=PIECE // 2, d=0, e=PIECE)
    (tmp_path / "out").mkdir()
    assert pack(tmp_path / "from", names, tmp_path / "out", PIECE, 16 * PIECE) == names
    pieces = sorted((tmp_path / "out").iterdir())
    assert all(path.stat().st_size <= PIECE for path in pieces)
    assert len(pieces) >= 4
    assert sorted(unpack([tmp_path / "out"], tmp_path / "into")) == sorted(names)
    for name in names:
        assert (tmp_path / "into" / name).read_bytes() == (tmp_path / "from" / name).read_bytes()


def test_what_does_not_fit_waits_for_the_next_call(tmp_path: Path) -> None:
    names = written(tmp_path / "from", a=PIECE, b=PIECE, c=100)
    (tmp_path / "out").mkdir()
    assert pack(tmp_path / "from", names, tmp_path / "out", PIECE, 2 * PIECE) == ["a", "c"]
    assert sum(path.stat().st_size for path in (tmp_path / "out").iterdir()) <= 2 * PIECE


def test_last_call_has_the_last_word(tmp_path: Path) -> None:
    for number, text in enumerate(("old", "new")):
        out = tmp_path / str(number)
        out.mkdir()
        (tmp_path / "summary").write_text(text)
        pack(tmp_path, ["summary"], out, PIECE, PIECE)
    unpack([tmp_path / "0", tmp_path / "1"], tmp_path / "into")
    assert (tmp_path / "into" / "summary").read_text() == "new"


def test_pieces_of_several_calls_lie_in_one_folder(tmp_path: Path) -> None:
    """The same command again adds pieces; of a file that has grown the newer one counts, whatever its parts."""
    (tmp_path / "out").mkdir()
    for size in (PIECE * 3, 70):
        pack(tmp_path / "from", written(tmp_path / "from", a=size, b=5), tmp_path / "out", PIECE, 16 * PIECE)
    assert len(list((tmp_path / "out").iterdir())) == 5
    unpack([tmp_path / "out"], tmp_path / "into")
    assert (tmp_path / "into" / "a").stat().st_size == 70


def test_missing_piece_is_noticed(tmp_path: Path) -> None:
    names = written(tmp_path / "from", a=PIECE * 3)
    (tmp_path / "out").mkdir()
    pack(tmp_path / "from", names, tmp_path / "out", PIECE, 16 * PIECE)
    (tmp_path / "out" / "piece-002.tar").unlink()
    with pytest.raises(ValueError, match=r": a is damaged or not all there; copy the pieces again$"):
        unpack([tmp_path / "out"], tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_changed_byte_is_noticed(tmp_path: Path) -> None:
    names = written(tmp_path / "from", a=5000)
    (tmp_path / "out").mkdir()
    pack(tmp_path / "from", names, tmp_path / "out", PIECE, PIECE)
    path = tmp_path / "out" / "piece-001.tar"
    content = bytearray(path.read_bytes())
    content[content.index((tmp_path / "from" / "a").read_bytes()[:100])] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r": a is damaged or not all there; copy the pieces again$"):
        unpack([tmp_path / "out"], tmp_path / "into")


@pytest.mark.parametrize("content", [b"", b"no tar file at all" * 100])
def test_file_that_is_no_piece_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "piece-001.tar").write_bytes(content)
    with pytest.raises(ValueError, match=r"piece-001\.tar is no piece of results: .*; copy it again$"):
        unpack([tmp_path], tmp_path / "into")


def test_folder_without_pieces_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r" holds no pieces \(piece-001\.tar …\)$"):
        unpack([tmp_path], tmp_path / "into")


@pytest.mark.parametrize("name", ["../outside", "/outside", "unlisted"])
def test_member_that_leads_out_of_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "piece-001.tar", "w") as archive:
        listed = "" if name == "unlisted" else f'"{name}": "0"'
        for member, content in (("manifest.json", f"{{{listed}}}".encode()), (name, b"x")):
            info = tarfile.TarInfo(member)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    with pytest.raises(ValueError, match="is not in its manifest or leads out of the folder"):
        unpack([tmp_path], tmp_path / "into")
    assert not (tmp_path.parent / "outside").exists()
