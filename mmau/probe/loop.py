"""The closed loop: ask, infer a model, distinguish it from candidate models, validate it; a failure asks the next question.

The steps are those of paper 000, section 3: feature probing, inference, validation by random vectors, revision; here nobody
has to look at a failing vector: it joins the evidence that the next model has to reproduce.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from golden.arrays import BitArray
from golden.device import Device
from golden.stimulus import GeneratorDraws, Operands, OperandShape, generate, volume
from golden.stimulus.integer_classes import is_integer
from golden.stimulus.shrink import smallest_operands
from mmau.probe.candidates import Candidate, consistent, pool_of, telling_rows
from mmau.probe.device_under_test import DeviceUnderTestError, Questioner, TwoAnswersError
from mmau.probe.features import features_of
from mmau.probe.features.feature import some_of
from mmau.probe.find_tree import Order, order_of
from mmau.probe.journal import Evidence, Journal
from mmau.probe.known_properties import Established, established
from mmau.probe.model import Model
from mmau.probe.model_search import Search
from mmau.probe.model_tree import as_places
from mmau.probe.start_models import possible_families, tree_starts

FIRST_CHUNK, LAST_CHUNK = 512, 1 << 16
"""Random vectors of the first and of the largest chunk of a validation. Each chunk is twice as long as the one before, so
that a wrong model costs few vectors. A chunk that fails ends the round."""

CORNER_ROWS = 1 << 16
"""Vectors of a validation that `golden.stimulus.generate` makes, with its corners; the others are made faster."""

TELLING_ROUNDS = 8
"""Number of times that rows are asked which separate the candidate models from the model found."""

RIVAL_ROWS = 1 << 16
"""Vectors on which candidate models, too, are compared with the device under test."""

FAILING = 24
"""Failing vectors of a chunk that join the evidence."""

MINIMISED = 2
"""Number of failing vectors that are minimised first."""

AGAIN = 24
"""Rows that are asked a second time: this many at the beginning, of each feature and at the end."""

REVISIONS = 40
"""Models that may fail before the probe gives up."""

Say = Callable[[str], None]


@dataclass
class Finding:
    """The findings of a probe.

    Attributes:
        model: the best model, None where nothing was learned yet.
        missed: rows of evidence that it does not reproduce.
        evidence: number of rows that were asked and recorded.
        validated: random vectors that it reproduced.
        candidates: models that give the same results, as far as was looked; `looked` says how many vectors that were.
        questions, vectors, seconds: what it cost.
        revisions: models that failed before.
        smallest: an input that no model explains, and the device's answer; known, order: properties and order of such a
            device. stopped: why the probe ended.
        two_answers: an input that had two answers, and both.
    """

    dut: str
    shape: OperandShape
    model: Model | None = None
    missed: int = 0
    evidence: int = 0
    validated: int = 0
    candidates: list[Candidate] = field(default_factory=list)
    looked: int = 0
    questions: int = 0
    vectors: int = 0
    seconds: float = 0.0
    revisions: int = 0
    smallest: tuple[Operands, int] | None = None
    known: list[Established] = field(default_factory=list)
    order: Order | None = None
    stopped: str | None = None
    two_answers: tuple[Operands, int, int] | None = None

    def is_whole(self) -> bool:
        """Whether everything that was asked is reproduced."""
        return self.model is not None and not self.missed and self.stopped is None


def probe(dut: Device, vectors: int = 1_000_000, seed: int = 0, journal: Journal | None = None,
          seconds: float | None = None, say: Say = lambda line: None) -> Finding:  # fmt: skip
    """Find the model of a device under test.

    Args:
        vectors: random vectors on which the model must agree with the device under test.
        seed: the seed of all questions.
        journal: earlier answers of the device under test; new ones are saved as they arrive.
        seconds: how long the device under test may compute in all.
        say: receives one line for each step.

    Returns:
        What was found. A device under test that misbehaves ends the probe; what was learned until then is in the finding.
    """
    if vectors < 1 or seed < 0:
        raise ValueError(f"vectors must be at least 1 and seed at least 0, got {vectors} and {seed}")
    journal = Journal(dut.name, dut.shape) if journal is None else journal
    return _Probe(dut, vectors, seed, journal, seconds, say).run()


def chunk_bounds(vectors: int) -> Iterator[tuple[int, int]]:
    """First vector and the one after the last of each chunk of a validation; none holds rows of both kinds."""
    start, count = 0, FIRST_CHUNK
    while start < vectors:
        end = min(start + count, vectors)
        if start < CORNER_ROWS:
            end = min(end, CORNER_ROWS)
        yield start, end
        start, count = end, min(2 * count, LAST_CHUNK)


class _Probe:
    """One run of the loop, and its state."""

    def __init__(self, dut: Device, vectors: int, seed: int, journal: Journal, seconds: float | None, say: Say) -> None:
        self.dut, self.shape = dut, dut.shape
        self.vectors, self.seed = vectors, seed
        self.journal, self.say = journal, say
        self.questioner = Questioner(dut, journal, seconds)
        self.found = Finding(dut.name, dut.shape)
        self._corners: Operands | None = None
        self._evidence: Evidence | None = None
        self._order: Order | None = None

    def run(self) -> Finding:
        try:
            self._loop()
        except TwoAnswersError as error:  # from such answers no model is inferred
            self.found.stopped = str(error)
            self.found.two_answers = error.row, error.first, error.then
        except DeviceUnderTestError as error:
            self.found.stopped = str(error)
            self._learned_so_far()
        finally:
            self.journal.save()
        self.found.questions, self.found.vectors = self.questioner.questions, self.questioner.vectors
        self.found.seconds = self.questioner.seconds
        return self.found

    def _loop(self) -> None:
        if not possible_families(self.shape):
            self.found.stopped = "no operation takes operands and gives results of these formats"
            return
        evidence = self._first_evidence()
        pool: Operands | None = None
        model: Model | None = None
        for revision in range(REVISIONS):
            self.found.revisions = revision
            search = Search(evidence, self.seed + revision)
            model = search.run(self.shape, model, self._in_its_order, self._suspect)
            self.found.validated = 0
            failing = evidence.failing(model)
            self.found.model, self.found.missed, self.found.evidence = model, len(failing), len(evidence)
            self.say(f"model {revision + 1}: {model}: reproduces {len(evidence) - len(failing)} of {len(evidence)}")
            if len(failing):
                self._unexplained(evidence, failing, model)
                return
            pool = pool_of(self.shape, self.seed) if pool is None else pool
            if not self._told_apart(evidence, model, pool):
                continue
            if self._validated(evidence, model):
                self._ask_again(evidence, np.arange(len(evidence)))
                return
        self.found.stopped = f"{REVISIONS} models failed, one after the other"

    def _in_its_order(self) -> list[Model]:
        """Programs of additions in the tree that the device's own answers show."""
        self._order = self._order or order_of(self.questioner)
        tree = None if self._order.tree is None else as_places(self._order.tree)
        return [] if tree is None else tree_starts(self.shape, tree)

    def _first_evidence(self) -> Evidence:
        """The features' questions, one feature after the other, and some of each a second time."""
        features, again = features_of(self.shape), 0
        for n, feature in enumerate(features):
            draws = GeneratorDraws(np.random.default_rng(np.random.SeedSequence([self.seed, 0, n])))
            operands = some_of(feature.questions(self.shape, draws), draws)
            d = self.questioner.ask(operands)
            if self._evidence is None:
                self._evidence = Evidence(operands, d, feature.name)
            else:
                self._evidence.add(operands, d, feature.name)
            self.found.evidence = len(self._evidence)
            self.journal.save()
            self.say(f"{feature.name}: {len(d)} vectors: {feature.about}")
            some = min(AGAIN * (n + 1) // len(features) - again, len(d))
            self._ask_again(self._evidence, np.arange(len(self._evidence))[-len(d) :], some)
            again += some
        assert self._evidence is not None
        return self._evidence

    def _learned_so_far(self) -> None:
        """The model that reproduces most answers, for a device under test that ended the probe before a model was found."""
        if self.found.model is None and self._evidence is not None:
            self.found.model = Search(self._evidence, self.seed).run(self.shape)
            self.found.missed = len(self._evidence.failing(self.found.model))

    def _ask_again(self, evidence: Evidence, rows: np.ndarray, most: int = AGAIN) -> None:
        """Ask some of these rows a second time.

        Raises:
            TwoAnswersError: other answers.
        """
        rng = np.random.default_rng(self.seed)
        self.questioner.ask_again(evidence.operands, evidence.d, rng.permutation(rows)[:most], rng)

    def _suspect(self, failing: np.ndarray) -> None:
        """Ask some rows again that a model misses: where answers are random, they are among them."""
        assert self._evidence is not None
        self._ask_again(self._evidence, failing)

    def _told_apart(self, evidence: Evidence, model: Model, pool: Operands) -> bool:
        """Ask questions that distinguish the model from candidate models, until the model fails or no such question remains.
        Returns whether the model passes; the remaining candidate models are stored."""
        alike: list[Candidate] = []
        for _ in range(TELLING_ROUNDS):
            candidates = [candidate for candidate in consistent(model, evidence) if candidate not in alike]
            telling, fresh = telling_rows(model, candidates, pool)
            alike += fresh
            if not len(telling):
                break
            rows = pool.rows(telling)
            evidence.add(rows, self.questioner.ask(rows), "candidate models")
            self.say(f"candidate models: {len(telling)} vectors exclude {len(candidates) - len(fresh)}, {len(alike)} remain")
            if len(evidence.failing(model)):
                break
        self.found.candidates, self.found.looked, self.found.evidence = alike, len(pool.c), len(evidence)
        return not len(evidence.failing(model))

    def _validated(self, evidence: Evidence, model: Model) -> bool:
        """Random vectors of all classes and corners; those that fail join the evidence."""
        which = f"seed {self.seed}, {min(CORNER_ROWS, self.vectors)} vectors with corners"
        text = f"{which}: {model.family} {dict(model.items)}"
        done = self.journal.validated.get(text, 0)
        for start, end in chunk_bounds(self.vectors):
            if end <= done:
                continue
            operands = self._validation_rows(start, end - start)
            d = self.questioner.ask_unrecorded(operands)
            failing = np.flatnonzero(model.differs(operands, d))
            if len(failing):
                self.say(f"validation: {len(failing)} of vectors {start} to {end - 1} fail")
                self._add_failing(evidence, model, operands.rows(failing[:FAILING]), d[failing[:FAILING]])
                return False
            if start < RIVAL_ROWS:
                self.found.looked += end - start
                self.found.candidates = [r for r in self.found.candidates if not r.model.differs(operands, d).any()]
            self.journal.validated[text] = self.found.validated = end
            self.journal.save()
        self.found.validated = self.vectors
        self.say(f"validation: {self.vectors} random vectors, no difference")
        return True

    def _validation_rows(self, start: int, count: int) -> Operands:
        """Rows start … start + count − 1 of the validation: of the whole stimulus first, then of the one at volume."""
        if is_integer(self.shape):
            return generate(self.shape, count, self.seed + start).operands
        if start >= CORNER_ROWS:
            return volume.rows(self.shape, self.seed, start, count).operands
        if self._corners is None:
            self._corners = generate(self.shape, min(CORNER_ROWS, self.vectors), self.seed).operands
        return self._corners.rows(slice(start, start + count))

    def _add_failing(self, evidence: Evidence, model: Model, operands: Operands, d: BitArray) -> None:
        evidence.add(operands, d, "failing")
        self._ask_again(evidence, np.arange(len(evidence))[-len(d) :])
        for n in range(min(MINIMISED, len(d))):
            row = self._minimised(model, operands.rows(slice(n, n + 1)))
            evidence.add(row, self.questioner.ask(row), "failing, minimised")

    def _minimised(self, model: Model, row: Operands) -> Operands:
        return smallest_operands(row, self.shape, lambda rows: model.differs(rows, self.questioner.ask(rows)))

    def _unexplained(self, evidence: Evidence, failing: np.ndarray, model: Model) -> None:
        """Store the smallest input that the best model misses, unless the device now gives another answer to it."""
        self._ask_again(evidence, failing)
        self._ask_again(evidence, np.arange(len(evidence)))
        row = self._minimised(model, evidence.operands.rows(failing[:1]))
        self.found.smallest = row, int(self.questioner.ask(row)[0])
        self.found.known = established(self.dut, evidence, min(len(evidence), AGAIN))
        self.found.order = self._order or order_of(self.questioner)
