"""Checks that clauses contradict each other, from the lemmas of a SAT solver; the solver need not be believed.

A *lemma* is a clause that follows from the clauses before it by unit propagation alone: if all its literals are false, some
clause becomes a single literal, which must then be true, and so on, until a clause has none left. Lemmas that end with the
empty clause are a refutation. Every lemma is checked, and none is ever taken back: a lemma follows from the first clauses,
so more of them can do no harm.

A clause is a sequence of literals: a variable's number, 1 and up, negative for its negation, as in DIMACS files.
"""

from collections.abc import Iterable, Sequence

Clause = Sequence[int]


class WrongLemma(Exception):
    """A lemma that does not follow by unit propagation."""


def check_refutation(clauses: Iterable[Clause], lemmas: Iterable[Clause]) -> int:
    """Check that clauses contradict each other; returns the number of lemmas that it took.

    Raises:
        WrongLemma: a lemma does not follow, or there is no empty clause among them.
    """
    known = _Known()
    for clause in clauses:
        known.add(clause)
    count = 0
    for count, lemma in enumerate(lemmas, 1):
        if known.is_contradictory:
            return count - 1
        if not known.implies(lemma):
            raise WrongLemma(f"lemma {count} does not follow from what stands before it: {' '.join(map(str, lemma))}")
        known.add(lemma)
    if not known.is_contradictory:
        raise WrongLemma("the lemmas do not end in a contradiction")
    return count


class _Known:
    """The clauses so far. Each stands in the lists of two of its literals that are not false: only when one of these becomes
    false need it be looked at.

    Attributes:
        is_contradictory: whether unit propagation alone finds a contradiction.
    """

    def __init__(self) -> None:
        self.is_contradictory = False
        self._true: set[int] = set()
        self._order: list[int] = []
        self._watched: dict[int, list[list[int]]] = {}

    def add(self, clause: Clause) -> None:
        """Add a clause, and what follows from it by unit propagation."""
        left = [literal for literal in dict.fromkeys(clause) if -literal not in self._true]
        if len(left) > 1:
            self._watched.setdefault(left[0], []).append(left)
            self._watched.setdefault(left[1], []).append(left)
        elif not left or not self._propagated(left):
            self.is_contradictory = True

    def implies(self, clause: Clause) -> bool:
        """Whether a clause follows by unit propagation."""
        before = len(self._order)
        is_open = self._propagated([-literal for literal in clause])
        self._true.difference_update(self._order[before:])
        del self._order[before:]
        return not is_open

    def _propagated(self, literals: Iterable[int]) -> bool:
        """Make literals true, and whatever must then be; False if that is a contradiction."""
        true, order, watched = self._true, self._order, self._watched
        place = len(order)
        for literal in literals:
            if -literal in true:
                return False
            if literal not in true:
                true.add(literal)
                order.append(literal)
        while place < len(order):
            false = -order[place]
            place += 1
            kept: list[list[int]] = []
            waiting = watched.get(false, [])
            for number, clause in enumerate(waiting):
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                other = clause[0]
                if other in true:
                    kept.append(clause)
                    continue
                for k in range(2, len(clause)):
                    if -clause[k] not in true:
                        clause[1], clause[k] = clause[k], false
                        watched.setdefault(clause[1], []).append(clause)
                        break
                else:
                    kept.append(clause)
                    if -other in true:
                        kept += waiting[number + 1 :]
                        watched[false] = kept
                        return False
                    true.add(other)
                    order.append(other)
            watched[false] = kept
        return True
