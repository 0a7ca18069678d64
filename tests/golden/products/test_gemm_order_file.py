"""The file gemm.toml, which describes the order of a matrix product."""

import random
from pathlib import Path

import pytest

import golden
from golden.products.gemm_order import GemmOrder
from golden.products.recipes import load_order
from golden.units.unit_file import unit_to_toml
from tests.golden.products.test_gemm_order import MODELS, WGMMA, matrices, product


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "gemm.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_file_names_an_instruction(tmp_path: Path) -> None:
    order = load_order(
        written(tmp_path, 'instruction = "Hopper:wgmma.m64n128k32.f32.e4m3.e4m3"\npromote_every = 4\nsplit_k = 2\n')
    )
    assert order == GemmOrder(model=WGMMA, promote_every=4, split_k=2)
    assert golden.load_order is load_order
    made, _ = matrices(WGMMA, random.Random(17), 7 * 32, "near")
    assert (product(None, made, order=order) == product(WGMMA, made, order=order)).all()


def test_file_names_a_unit_beside_it(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(unit_to_toml(MODELS[8]), encoding="utf-8")
    text = 'unit = "own.toml"\nk_order = "stream-k"\ntile = [2, 3]\ntiles = [[[0, 2], [2, 3]], [[0, 3]]]\n'
    order = load_order(written(tmp_path, text))
    assert order.model == MODELS[8]
    assert order.tile == (2, 3)
    assert order.tiles == (((0, 2), (2, 3)), ((0, 3),))
    assert hash(order) == hash(load_order(written(tmp_path, text)))


def test_file_without_a_model(tmp_path: Path) -> None:
    assert load_order(written(tmp_path, 'k_order = "ascending"\npromote_every = 4\n')) == GemmOrder(promote_every=4)


def test_file_with_every_key_of_an_ascending_order(tmp_path: Path) -> None:
    """One stripe is none: it fits any order."""
    text = (
        'instruction = "sm_90:wgmma.m64n128k32.f32.e4m3.e4m3"\npromote_every = 4\nscale_at = "promotion"\nsplit_k = 1\n'
        'split_sum = "fp32"\nstripes = [1, 32]\nk_order = "ascending"\noutput = "fp32"\n'
    )
    order = load_order(written(tmp_path, text))
    assert order == GemmOrder(model=WGMMA, promote_every=4, scale_at="promotion", output="fp32")


STREAM = 'k_order = "stream-k"\ntile = [2, 2]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "promote = 4",
            "key must be one of instruction, unit, promote_every, scale_at, scale_block, split_k, split_tile, split_sum, "
            "stripes, k_order, k_tile, residue, stripe_order, split_order, convert, passes, pass_tile, tile, tiles, "
            "workers, epilogue, alpha, beta, output; "
            "got 'promote' (did you mean 'promote_every'?)",
        ),
        ("promote_every = -1", "promote_every must be an integer from 0 to 1073741824, got -1"),
        ("promote_every = true", "promote_every must be an integer from 0 to 1073741824, got True"),
        ("split_k = 0", "split_k must be an integer from 1 to 1073741824, got 0"),
        (
            'k_order = "descending"',
            "k_order must be one of ascending, reverse, stream-k; got 'descending' (did you mean 'ascending'?)",
        ),
        ("tile = [2, 2]", "tile is for k_order = 'stream-k' alone, got k_order = 'ascending'; leave it out"),
        ("workers = 3", "workers is for k_order = 'stream-k' alone, got k_order = 'ascending'; leave it out"),
        (
            'k_order = "stream-k"',
            "tile is missing: k_order = 'stream-k' needs the rows and columns of an output tile, as [128, 128]",
        ),
        (
            STREAM + "workers = 2\nsplit_k = 2",
            "split_k must be 1 with k_order = 'stream-k', which takes its pieces from tiles or workers; got 2",
        ),
        (STREAM, "k_order = 'stream-k' needs either tiles, a list for each output tile, or workers; got neither"),
        (
            STREAM + "workers = 2\ntiles = [[[0, 1]]]",
            "k_order = 'stream-k' needs either tiles, a list for each output tile, or workers; got both",
        ),
        (STREAM + "workers = 0", "workers must be an integer from 1 to 1073741824, got 0"),
        ('k_order = "stream-k"\nworkers = 2\ntile = [2]', "tile must be two integers [rows, columns], got [2]"),
        ('k_order = "stream-k"\nworkers = 2\ntile = [0, 2]', "rows of tile must be an integer from 1 to 1073741824, got 0"),
        (STREAM + "tiles = []", "tiles must be a list with a list of pieces for each output tile, got []"),
        (
            STREAM + "tiles = [[]]",
            "output tile 0 of tiles must be a list of pieces [first, end] of its instructions, got []",
        ),
        (
            STREAM + "tiles = [[[0, 1, 2]]]",
            "a piece of output tile 0 of tiles must be two integers [first, end], got [0, 1, 2]",
        ),
        (
            STREAM + "tiles = [[[0, 0]]]",
            "the end of a piece of output tile 0 of tiles that begins at 0 must be an integer from 1 to 1073741824, got 0",
        ),
        (
            STREAM + "tiles = [[[0, 2], [3, 4]]]",
            "output tile 0 of tiles must have every instruction once, in one of its pieces; instruction 2 is missing",
        ),
        (
            STREAM + "tiles = [[[0, 2], [1, 4]]]",
            "output tile 0 of tiles must have every instruction once, in one of its pieces; instruction 1 is repeated",
        ),
        (
            STREAM + "tiles = [[[1, 2]]]",
            "output tile 0 of tiles must have every instruction once, in one of its pieces; instruction 0 is missing",
        ),
        (
            STREAM + "tiles = [[[0, 2]], [[0, 3]]]",
            "every output tile of tiles must have as many instructions; tile 0 has 2, output tile 1 of tiles 3",
        ),
        (
            'instruction = "wgmma.m64n128k32.f32.e4m3.e4m3"',
            'instruction must be "ARCH:NAME", as "sm_90:wgmma.m64n128k32.f32.e4m3.e4m3"; got '
            "'wgmma.m64n128k32.f32.e4m3.e4m3'",
        ),
        ("instruction = 3", 'instruction must be "ARCH:NAME", as "sm_90:wgmma.m64n128k32.f32.e4m3.e4m3"; got 3'),
        (
            'instruction = "sm_90:x"\nunit = "u.toml"',
            "give instruction or unit, not both; got instruction = 'sm_90:x', unit = 'u.toml'",
        ),
        ("unit = 1", "unit must be the path of a unit's file, got 1"),
        (
            'instruction = "sm_90:mma.m16n8k4.f64.f64.f64.f64"\npromote_every = 2',
            "promote_every adds to an fp32 accumulator, which does not hold fp64; "
            "mma.m16n8k4.f64.f64.f64.f64 gives fp64: take promote_every = 0",
        ),
        (
            'instruction = "x86-avx512:vpdpbusd"\nsplit_k = 2',
            "promotion, split-K and stream-K add in floating point; vpdpbusd gives int32: take "
            "promote_every = 0, split_k = 1 and k_order = 'ascending'",
        ),
    ],
)
def test_file_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        load_order(path)
    assert str(caught.value) == f"{path}: {message}"


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"own\.toml"):
        load_order(written(tmp_path, 'unit = "own.toml"'))
    with pytest.raises(ValueError, match=r"gemm\.toml: sm_90 instruction 'mma' is not one of"):
        load_order(written(tmp_path, 'instruction = "sm_90:mma"'))
