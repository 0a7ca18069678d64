"""space.toml: the documented file is read whole; every key is known, and the message names key, rule and value."""

import re
from pathlib import Path

import numpy as np
import pytest

from mmau.explore.design_space import Accuracy, Cosimulation, Search
from mmau.explore.space_file import load_space
from tests.mmau.explore.texts import MEASURED, SMALL, space_of

DOCUMENTED = """
name = "fp8-accumulation"
[fixed]
operation = "T-FDPA"
a = "e4m3"
b = "e4m3"
c = "fp32"
rho = "RZ-FP32"
e_zero = -133
[sweep]
L = [16, 32]
F = {from = 8, to = 30}
[sweep.implementation]
encoding = ["ones-complement", "sign-magnitude"]
[constraints]
max_cells = 60000
[reference]
instructions = ["sm_90:wgmma.m64n8k32.f32.e4m3.e4m3"]
[accuracy]
workloads = ["normal", "outliers", "chain-4096"]
rows = 1000000
[proof]
vectors = 100000
"""


def test_documented_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text(DOCUMENTED)
    space = load_space(path)
    assert (space.name, space.size, space.text) == ("fp8-accumulation", 2 * 23 * 2, DOCUMENTED)
    assert [(axis.key, len(axis.values)) for axis in space.axes] == [("L", 2), ("F", 23), ("implementation.encoding", 2)]
    names = ["normal", "outliers", "chain-4096"]
    assert space.accuracy == Accuracy(dict(zip(names, names, strict=True)), 1_000_000, 0)
    assert (space.cosimulation, space.proof_seconds) == (Cosimulation(100_000, 0), None)
    assert (space.cost, space.strategy) == ({}, None)
    points = list(space.points())
    assert all(point.is_valid for point in points)
    assert points[0].name == "L=16 F=8 ones-complement"
    assert points[-1].name == "L=32 F=30 sign-magnitude"
    assert [point.name for point in space.reference_points()] == ["sm_90:wgmma.m64n8k32.f32.e4m3.e4m3"]


def test_search_is_read() -> None:
    strategy = (
        '[strategy]\nkind = "search"\npoints = 6\n'
        'objectives = {area_um2 = "min", "accuracy.normal.snr_db" = "max"}\npopulation = 4\nseed = 3\n'
    )
    objectives = {"area_um2": "min", "accuracy.normal.arithmetic_snr_db": "max"}
    assert space_of(SMALL + MEASURED + strategy).strategy == Search(objectives, 6, 4, 3)


def test_parts_that_are_not_wanted_are_left_out() -> None:
    space = space_of(SMALL.replace("[fixed]", "cost = false\n[fixed]") + "[cosimulation]\n")
    assert (space.accuracy, space.cost, space.cosimulation) == (None, None, Cosimulation(100_000, 0))


@pytest.mark.parametrize(
    ("tables", "vectors", "seed", "seconds"),
    [
        ("", None, None, None),
        ("[cosimulation]\nvectors = 7\nseed = 3\n", 7, 3, None),
        ("[cosimulation]\nvectors = 7\n[proof]\nseconds = 2\n", 7, 0, 2.0),
        ("[proof]\nseconds = 2\n", 100_000, 0, 2.0),
        ("[proof]\nvectors = 7\nseed = 3\nseconds = 2\n", 7, 3, 2.0),
        ("[proof]\n", 100_000, 0, None),
    ],
)
def test_what_is_simulated_and_what_is_proved(
    tables: str, vectors: int | None, seed: int | None, seconds: float | None
) -> None:
    space = space_of(SMALL + tables)
    found = space.cosimulation
    assert ((None, None) if found is None else (found.vectors, found.seed)) == (vectors, seed)
    assert space.proof_seconds == seconds


def test_file_of_arrays_is_meant_beside_the_space(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", a=np.zeros((3, 4), np.uint8))
    path = tmp_path / "space.toml"
    path.write_text(SMALL + '[accuracy]\nworkloads = [{kind = "file", path = "mine.npz", name = "mine"}]\n')
    accuracy = load_space(path).accuracy
    assert accuracy is not None
    workload = accuracy.workloads["mine"]
    assert isinstance(workload, dict)
    assert workload["path"] == str(tmp_path / "mine.npz")
    assert len(workload["sha256"]) == 64


def changed(old: str, new: str) -> str:
    assert old in SMALL + MEASURED
    return (SMALL + MEASURED).replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed("[sweep]", "[sweeps]"),
         "key must be one of name, fixed, array, sweep, constraints, questions, reference, accuracy, cost, "
         "cosimulation, proof, strategy; got 'sweeps' (did you mean 'sweep'?)"),
        ('operation = "FMA"\na = "fp32"\n',
         "it describes a unit, not a design space: its keys go into a table [fixed], and those that vary into [sweep]"),
        (changed('name = "small"', ""), "key name must be a non-empty string of printable characters, got None"),
        (SMALL.replace("[fixed]", "fixed = 3\n[accuracy]"), "fixed must be a table, got 3"),
        (changed('operation = "T-FDPA"', ""), "[fixed] must name the operation, or [sweep] several; it is one of FMA, "),
        (changed("T-FDPA", "T-FDAP"), "[fixed] operation must be one of FMA, "),
        (changed("e_zero", "e_zer"), "[fixed] key must be one of operation, a, b, c, L, F, rho, e_zero, "),
        (changed("a = ", "a = [1]\nx = "), "[fixed] key must be one of "),
        (changed('a = "e4m3"', 'a = ["e4m3", "e5m2"]'),
         "[fixed] a must be one integer, text, true or false, got ['e4m3', 'e5m2']; several go into [sweep]"),
        (changed("e_zero = -133", "e_zero = -133\nF = 9"), "a key is either in [fixed] or in [sweep]; F is in both"),
        (changed("F = {", "FF = {"), "[sweep] key must be one of operation, a, b, c, L, F, "),
        (changed("encoding", "encodings"), "[sweep.implementation] key must be one of encoding, stages, "),
        (changed("[2, 4]", "[]"), "[sweep] L must be a list of values or a range {from = …, to = …}, got []"),
        (changed("[2, 4]", "[2, 2]"), "[sweep] L must have each value once, got 2 twice in 2, 2"),
        (changed("[2, 4]", '[2, "2"]'), "[sweep] L must have each value once, got '2' twice in '2', '2'"),
        (changed("[2, 4]", "[2, 4.5]"), "[sweep] L must hold integers, texts, true and false, got 4.5"),
        (changed("[2, 4]", "4"), "[sweep] L must be a list of values or a range {from = …, to = …}, got 4"),
        (changed("to = 10", "until = 10"), "[sweep] F: key must be one of from, to, step; got 'until'"),
        (changed(", to = 10", ""), "[sweep] F: a range needs from, to, and to is missing"),
        (changed("to = 10", "to = 7"), "[sweep] F: to must be at least from = 8, got 7"),
        (changed("to = 10", "to = 10, step = 0"), "[sweep] F: step must be an integer from 1 to 2147483648, got 0"),
        (changed("to = 10", 'to = "10"'), "[sweep] F: to must be an integer from -2147483648 to 2147483648, got '10'"),
        (changed("to = 10", "to = 90000"), "[sweep] F must have at most 10000 values, got 89993"),
        (changed('["normal"]', '["norml"]'), "[accuracy] workloads: workload must be one of "),
        (changed('["normal"]', '["normal", "normal"]'),
         "[accuracy] workloads must have distinct names, got normal twice"),
        (changed('["normal"]', "[]"), "[accuracy] workloads must be a list of at least one workload, got []"),
        (changed('["normal"]', '[{kind = "file", path = "none.npz"}]'), "[accuracy] workloads: path of the workload file "),
        (changed("rows = 1000", "rows = 0"), "[accuracy] rows must be an integer from 1 to 10000000, got 0"),
        (changed("rows = 1000", "rows = 10000001"), "[accuracy] rows must be an integer from 1 to 10000000, got 10000001"),
        (changed("rows = 1000", "row = 1000"),
         "[accuracy] key must be one of workloads, rows, seed; got 'row' (did you mean 'rows'"),
        (changed("vectors = 1000", "vectors = true"),
         "[cosimulation] vectors must be an integer from 1 to 1099511627776, got True"),
        (SMALL + "[cosimulation]\nvectors = 0",
         "[cosimulation] vectors must be an integer from 1 to 1099511627776, got 0"),
        (SMALL + "[cosimulation]\nseconds = 9", "[cosimulation] key must be one of vectors, seed; got 'seconds'"),
        (SMALL + "[cosimulation]\n[proof]\nvectors = 7",
         "[proof] vectors must stand in [cosimulation], where the file has that table"),
        (SMALL + "[proof]\nseconds = 0",
         "[proof] seconds must be a number above 0, the limit for the proof of a point, got 0"),
        (SMALL + "[proof]\nseconds = nan",
         "[proof] seconds must be a number above 0, the limit for the proof of a point, got nan"),
        (SMALL + "[proof]\nseconds = true",
         "[proof] seconds must be a number above 0, the limit for the proof of a point, got True"),
        (SMALL + "[cost]\nclock = 2\n", "[cost] "),
        (SMALL + "[cost]\nlibrary = 'osu050'\n", "[cost] library must be osu018, osu035, asap7, nangate45, "),
        (SMALL + "[cost]\nlibrary = 'none.lib'\n", "[cost] library must be a Liberty file that exists, got 'none.lib'"),
        (SMALL + "[cost]\nsaif = 1\n", "[cost] saif must be True or False, got 1"),
        (SMALL + "[cost]\nsaif = true\n",
         "[cost] saif takes rows of operands and a folder: name a workload as the activity, got activity = 0.1"),
        (SMALL + "[cost]\nlibrary = 3\n", "[cost] library must be a str, got 3"),
        (SMALL.replace("[fixed]", "cost = false\n[fixed]"),
         "nothing is requested: a space needs [accuracy], [cost], [cosimulation] or [proof]"),
        (SMALL + '[reference]\ninstructions = ["sm_90"]\n', "an instruction must be written ARCH:NAME, like sm_90:"),
        (SMALL + '[reference]\ninstructions = ["sm_90:wgmma"]\n', "sm_90 instruction 'wgmma' is not one of the "),
        (SMALL + '[reference]\ninstruction = ["sm_90:wgmma"]\n', "[reference] key must be one of instructions; got "),
        (SMALL + '[strategy]\nkind = "random"\n', "[strategy] kind must be one of all, search, estimate; got 'random'"),
        (SMALL + "[strategy]\npoints = 3\n",
         '[strategy] points goes with kind = "search" or "estimate", not with "all"; with it every point is evaluated'),
        (SMALL + '[strategy]\nkind = "search"\npoints = 3\n', "[strategy] a search needs objectives, like "),
        (SMALL + '[strategy]\nkind = "search"\nsample = 3\n',
         '[strategy] sample goes with kind = "estimate", not with "search"'),
        (SMALL + '[strategy]\nkind = "estimate"\npoints = 3\n', "[strategy] an estimate needs objectives, like "),
        (SMALL + MEASURED + '[strategy]\nkind = "estimate"\nobjectives = {"accuracy.normal.ulp.mean" = "min"}\n',
         "[strategy] an estimate needs a cost among its objectives, got accuracy.normal.ulp.mean"),
        (SMALL + '[strategy]\nkind = "estimate"\nobjectives = {cells = "min"}\npoints = 3\nsample = 4\n',
         "[strategy] sample must be an integer from 2 to 3, got 4"),
        ("cost = false\n" + SMALL + MEASURED + '[strategy]\nkind = "estimate"\nobjectives = {cells = "min"}\n',
         '[strategy] kind = "estimate" needs costs, and the file has cost = false'),
        (SMALL + '[strategy]\nkind = "search"\nobjectives = {cells = "min"}\n',
         "[strategy] a search needs points, the number that it may evaluate, and it is missing"),
        (SMALL + '[strategy]\nkind = "search"\npoints = 3\nobjectives = {cell = "min"}\n',
         "[strategy] objectives: column must be one of cells, "),
        (SMALL + '[strategy]\nkind = "search"\npoints = 3\nobjectives = {cells = "least"}\n',
         "[strategy] objectives: cells must be one of min, max; got 'least'"),
    ],
)  # fmt: skip
def test_bad_file_is_one_message(text: str, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        space_of(text)
    assert str(caught.value).startswith(message)


def test_space_that_is_too_large_asks_for_a_search() -> None:
    text = changed("[2, 4]", "{from = 1, to = 64}").replace("to = 10", "to = 1000")
    with pytest.raises(ValueError, match=r"^a space whose points are all evaluated must have at most 20,000, got 127,104: "):
        space_of(text)
    estimate = '[strategy]\nkind = "estimate"\nobjectives = {cells = "min"}\n'
    assert space_of(text + estimate).size == 127_104
    with pytest.raises(ValueError, match=r"^a space whose costs are estimated must have at most 200,000 points, got 254,"):
        space_of(text.replace("to = 64", "to = 128") + estimate)


def test_message_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text("name = 3\n")
    with pytest.raises(ValueError, match=r"space\.toml: key name must be a non-empty string"):
        load_space(path)
    path.write_text("name = \n")
    with pytest.raises(ValueError, match=r"space\.toml: not a TOML file: "):
        load_space(path)


QUESTIONS = """
[questions.small]
"min_accuracy.normal.snr_db" = 60
max_F = 9

[questions."fast and plain"]
best = "delay_ns"
where = {encoding = "sign-magnitude", L = 2}
"""


def test_questions_are_read() -> None:
    small, fast = space_of(SMALL + MEASURED + QUESTIONS).questions
    assert (small.name, small.best, small.where) == ("small", None, {})
    assert [(each.column, each.parameter) for each in small.constraints] == [
        ("accuracy.normal.arithmetic_snr_db", None),
        ("F", "F"),
    ]
    assert (fast.name, fast.best, fast.where) == ("fast and plain", "delay_ns", {"encoding": "sign-magnitude", "L": 2})
    asked = space_of(SMALL + MEASURED + QUESTIONS).asked
    assert asked.columns == ["accuracy.normal.arithmetic_snr_db", "cost.delay_ns"]
    assert all(point.is_valid for point in space_of(SMALL + MEASURED + QUESTIONS).points())


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        (QUESTIONS.replace("delay_ns", "delay"), "[questions.fast and plain] best: column 'delay' is not one of the "),
        (QUESTIONS.replace("delay_ns", "accuracy.normal.bias.mean_ulp"),
         "[questions.fast and plain] best must be a column whose least or largest value is the best, got "),
        (QUESTIONS.replace("max_F", "mux_F"), "[questions.small] key must be one of max_L, "),
        (QUESTIONS.replace("L = 2", "L = 3"), "[questions.fast and plain.where] L must be one of 2, 4; got 3"),
        (QUESTIONS.replace("encoding", "encodings"), "[questions.fast and plain.where] key must be one of L, F, encoding; "),
        ("[questions]\nsmall = 3\n", "questions.small must be a table, got 3"),
    ],
)  # fmt: skip
def test_bad_question_is_one_message(questions: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        space_of(SMALL + MEASURED + questions)


WORDS = SMALL.replace('rho = "RZ-FP32"\n', "").replace("[sweep]", '[sweep]\nrho = ["RZ-FP32", "RD-FP32"]')


@pytest.mark.attack("a value of [sweep] that is misspelt")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SMALL + 'library = ["osu018", "asap8"]\n', "[sweep] implementation.library: asap8: library must be osu018, "),
        (SMALL + 'library = ["osu050"]\n', "[sweep] implementation.library: osu050: library must be osu018, "),
        (SMALL.replace("[sweep]", '[fixed.implementation]\nlibrary = "asap"\n[sweep]'),
         "[fixed.implementation] library: library must be osu018, "),
        (SMALL.replace("sign-magnitude", "sign-magnitud"),
         "[sweep] implementation.encoding: no point with sign-magnitud is a unit: encoding must be one of "),
        (WORDS.replace("RD-FP32", "RD-FP23"), "[sweep] rho: no point with RD-FP23 is a unit: rho must be "),
        (SMALL.replace("[sweep]", '[sweep]\ncells = [{name = "old", implementation = {library = "osu018"}}, {name = "new", '
                       'implementation = {library = "asap"}}]'),
         "[sweep] cells: new: library must be osu018, "),
    ],
)  # fmt: skip
def test_misspelt_value_of_a_swept_key_is_one_message_before_any_work(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text(text + MEASURED)
    with pytest.raises(ValueError, match="^" + re.escape(f"{path}: {message}")):
        load_space(path)


def test_word_that_some_points_cannot_have_is_no_mistake() -> None:
    """A mode of rounding that one operation lacks, and numbers beyond their range."""
    space_of(SMALL.replace("to = 10", "to = 129, step = 121") + MEASURED)
    mixed = 'mixed = [{operation = "T-FDPA"}, {operation = "FMA", a = "fp32", b = "fp32"}]'
    text = SMALL.replace('operation = "T-FDPA"\n', "").replace('a = "e4m3"\nb = "e4m3"\n', "")
    text = text.replace("[sweep]", f"[sweep]\n{mixed}").replace(
        '{operation = "T-FDPA"}', '{operation = "T-FDPA", a = "e4m3", b = "e4m3"}'
    )
    assert len(list(space_of(text + MEASURED).points())) == 14
