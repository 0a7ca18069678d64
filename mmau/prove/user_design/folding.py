"""Substitution in terms, with constant folding."""

from collections.abc import Mapping

from bitwuzla import Kind, Term, TermManager

from mmau.prove.evaluation import apply_to, in_order, number, width


class Folding:
    """Replaces terms by others.

    Args:
        manager: the manager of the terms. by: the replacement of each replaced term.
    """

    def __init__(self, manager: TermManager, by: Mapping[Term, Term]) -> None:
        self._manager, self._known = manager, dict(by)

    def of(self, root: Term) -> Term:
        """A term after all replacements."""
        if root not in self._known:
            for term in in_order([root], self._known):
                self._known[term] = self._made(term)
        return self._known[root]

    def replace(self, term: Term, other: Term) -> None:
        """Add a replacement of one term by another."""
        self._known[term] = other

    def _made(self, term: Term) -> Term:
        olds = term.children()
        if not olds:
            return term
        children = [self._known[child] for child in olds]
        simple = self._simplified(term, children)
        if simple is not None:
            return simple
        if children == list(olds):
            return term
        return self._manager.mk_term(term.kind(), children, list(term.indices()))

    def _simplified(self, term: Term, children: list[Term]) -> Term | None:
        """The term if it reduces to a number or to one of its operands; else None."""
        if all(child.is_value() for child in children):
            return self._number(apply_to(term, children), term)
        kind = term.kind()
        if kind == Kind.BV_EXTRACT:
            return self._part(children[0], *term.indices())
        if kind == Kind.BV_CONCAT:
            return self._concatenated(children)
        if kind == Kind.ITE:
            condition, yes, no = children
            if condition.is_value():
                return yes if condition.is_true() else no
            if yes == no:
                return yes
        elif kind == Kind.BV_XOR and len(children) == 2:
            return self._toggled(*children)
        elif kind in (Kind.BV_NOT, Kind.NOT):
            return self._inverted(kind, children[0])
        elif kind in (Kind.EQUAL, Kind.DISTINCT) and len(children) == 2:
            return self._compared(kind, *children)
        elif kind in (Kind.BV_AND, Kind.BV_OR, Kind.AND, Kind.OR):
            return self._joined(term, children)
        elif kind in (Kind.BV_REDOR, Kind.BV_REDAND):
            return self._reduced(term, children[0])
        return None

    def _reduced(self, term: Term, whole: Term) -> Term | None:
        """Whether any bit is 1, or whether all are, where a constant part of the term decides it."""
        is_any = term.kind() == Kind.BV_REDOR
        for part in whole.children() if whole.kind() == Kind.BV_CONCAT else ():
            if part.is_value() and number(part) != (0 if is_any else (1 << width(part)) - 1):
                return self._number(int(is_any), term)
        return None

    def _toggled(self, x: Term, y: Term) -> Term | None:
        """A bit vector xor zeros or ones."""
        if x.is_value():
            x, y = y, x
        if not y.is_value() or number(y) not in (0, (1 << width(y)) - 1):
            return None
        return self._inverted(Kind.BV_NOT, x) or self._manager.mk_term(Kind.BV_NOT, [x]) if number(y) else x

    def _inverted(self, kind: Kind, inside: Term) -> Term | None:
        return inside.children()[0] if inside.kind() == kind else None

    def _compared(self, kind: Kind, x: Term, y: Term) -> Term | None:
        """A comparison of a Boolean's bit with a constant as that Boolean or its negation; constants are compared here."""
        if x == y:
            return self._truth(kind == Kind.EQUAL)
        if x.is_value():
            x, y = y, x
        if not y.is_value():
            return None
        if x.kind() == Kind.BV_CONCAT:
            return self._compared_by_parts(kind, x, number(y))
        if width(x) != 1 or x.kind() != Kind.ITE:
            return None
        condition, yes, no = x.children()
        if not (yes.is_value() and no.is_value() and yes != no):
            return None
        holds = (yes == y) == (kind == Kind.EQUAL)
        return condition if holds else self._manager.mk_term(Kind.NOT, [condition])

    def _compared_by_parts(self, kind: Kind, whole: Term, value: int) -> Term | None:
        place, left = width(whole), list[tuple[Term, int]]()
        for part in whole.children():
            place -= width(part)
            expected = value >> place & ((1 << width(part)) - 1)
            if not part.is_value():
                left.append((part, expected))
            elif number(part) != expected:
                return self._truth(kind != Kind.EQUAL)
        if len(left) == len(whole.children()):
            return None
        parts, rest = [part for part, _ in left], 0
        for part, expected in left:
            rest = rest << width(part) | expected
        joined = parts[0] if len(parts) == 1 else self._manager.mk_term(Kind.BV_CONCAT, parts)
        other = self._manager.mk_bv_value(joined.sort(), rest)
        simple = self._compared(kind, joined, other)
        return self._manager.mk_term(kind, [joined, other]) if simple is None else simple

    def _truth(self, value: bool) -> Term:
        return self._manager.mk_true() if value else self._manager.mk_false()

    def _joined(self, term: Term, children: list[Term]) -> Term | None:
        bits = max(1, width(term))
        ones = self._number((1 << bits) - 1, term)
        zero = self._number(0, term)
        absorbing, neutral = (zero, ones) if term.kind() in (Kind.BV_AND, Kind.AND) else (ones, zero)
        if absorbing in children:
            return absorbing
        left = [child for child in dict.fromkeys(children) if child != neutral]
        if len(left) == 1:
            return left[0]
        if not left:
            return neutral
        return None if len(left) == len(children) else self._manager.mk_term(term.kind(), left)

    def _part(self, whole: Term, high: int, low: int) -> Term | None:
        """Bits of a concatenation that lie in one of its parts, or of other bits of a term."""
        if high - low + 1 == width(whole):
            return whole
        if whole.kind() == Kind.BV_EXTRACT:
            inside, below = whole.children()[0], whole.indices()[1]
            return self._bits(inside, high + below, low + below)
        if whole.kind() != Kind.BV_CONCAT:
            return None
        place = width(whole)
        for part in whole.children():
            place -= width(part)
            if place <= low and high < place + width(part):
                return self._bits(part, high - place, low - place)
        return None

    def _bits(self, whole: Term, high: int, low: int) -> Term:
        if whole.is_value():
            return self._manager.mk_bv_value(
                self._manager.mk_bv_sort(high - low + 1), number(whole) >> low & ((2 << (high - low)) - 1)
            )
        simple = self._part(whole, high, low)
        return self._manager.mk_term(Kind.BV_EXTRACT, [whole], [high, low]) if simple is None else simple

    def _concatenated(self, children: list[Term]) -> Term | None:
        """A concatenation without concatenations in it, in which neighbouring bits of a term are one part; None if it is
        none of these already."""
        parts = list[Term]()
        for child in children:
            for part in child.children() if child.kind() == Kind.BV_CONCAT else [child]:
                both = self._neighbours(parts[-1], part) if parts else None
                parts[-1:] = [*parts[-1:], part] if both is None else [both]
        if len(parts) == 1:
            return parts[0]
        return None if parts == children else self._manager.mk_term(Kind.BV_CONCAT, parts)

    def _neighbours(self, upper: Term, lower: Term) -> Term | None:
        """Two parts of a concatenation as one, if they are neighbouring bits of a term."""
        if not upper.kind() == lower.kind() == Kind.BV_EXTRACT or upper.children() != lower.children():
            return None
        (high, middle), (below, low) = upper.indices(), lower.indices()
        return self._bits(upper.children()[0], high, low) if middle == below + 1 else None

    def _number(self, value: int, like: Term) -> Term:
        if like.sort().is_bool():
            return self._truth(bool(value & 1))
        return self._manager.mk_bv_value(like.sort(), value)


class SumFolding(Folding):
    """Folding that also adds constants of sums together, takes the low bits of sums from the low bits of their terms, takes
    bits of a concatenation from its parts, and leaves out constant bits where all or any of several bits are asked for."""

    def _simplified(self, term: Term, children: list[Term]) -> Term | None:
        simple = super()._simplified(term, children)
        if simple is not None:
            return simple
        kind = term.kind()
        if kind == Kind.BV_EXTRACT:
            high, low = term.indices()
            return self._across(children[0], high, low) or (self._low_bits(children[0], high) if low == 0 else None)
        if kind in (Kind.BV_ADD, Kind.BV_SUB) and len(children) == 2:
            return self._sum(kind, *children)
        if kind in (Kind.BV_REDAND, Kind.BV_REDOR):
            return self._without_constants(kind, children[0])
        return None

    def _bits(self, whole: Term, high: int, low: int) -> Term:
        simple = self._across(whole, high, low)
        if simple is None and low == 0 and high + 1 < width(whole):
            simple = self._low_bits(whole, high)
        return super()._bits(whole, high, low) if simple is None else simple

    def _across(self, whole: Term, high: int, low: int) -> Term | None:
        """Bits of a concatenation as bits of its parts."""
        parts, found, place = _flat(whole), list[Term](), width(whole)
        if len(parts) == 1 or high - low + 1 == width(whole):
            return None
        for part in parts:
            place -= width(part)
            top, bottom = min(high, place + width(part) - 1) - place, max(low, place) - place
            if top >= bottom:
                found.append(part if top - bottom + 1 == width(part) else self._bits(part, top, bottom))
        return self._concatenated(found)

    def _concatenated(self, children: list[Term]) -> Term:
        """A concatenation, always built in the same way: neighbouring bits of a term are one part, and constants are."""
        parts = list[Term]()
        for part in (each for child in children for each in _flat(child)):
            both = self._neighbours(parts[-1], part) if parts else None
            if both is None and parts and parts[-1].is_value() and part.is_value():
                bits = width(parts[-1]) + width(part)
                value = number(parts[-1]) << width(part) | number(part)
                both = self._manager.mk_bv_value(self._manager.mk_bv_sort(bits), value)
            parts[-1:] = [*parts[-1:], part] if both is None else [both]
        return parts[0] if len(parts) == 1 else self._manager.mk_term(Kind.BV_CONCAT, parts)

    def _low_bits(self, whole: Term, high: int) -> Term | None:
        """The low bits of a sum of two terms."""
        if whole.kind() not in (Kind.BV_ADD, Kind.BV_SUB) or len(whole.children()) != 2:
            return None
        parts = [self._bits(child, high, 0) for child in whole.children()]
        simple = self._sum(whole.kind(), *parts)
        return self._manager.mk_term(whole.kind(), parts) if simple is None else simple

    def _sum(self, kind: Kind, x: Term, y: Term) -> Term | None:
        """The sum of a term and a constant; None if neither operand is one."""
        modulus = 1 << width(x)
        if kind == Kind.BV_ADD and x.is_value():
            x, y = y, x
        if not y.is_value():
            return None
        constant = number(y) if kind == Kind.BV_ADD else -number(y) % modulus
        if x.kind() == Kind.BV_ADD and x.children()[1].is_value():
            x, inner = x.children()
            constant = (constant + number(inner)) % modulus
        return self._manager.mk_term(Kind.BV_ADD, [x, self._number(constant, x)]) if constant else x

    def _without_constants(self, kind: Kind, whole: Term) -> Term | None:
        parts, is_any = _flat(whole), kind == Kind.BV_REDOR
        left = [part for part in parts if not part.is_value()]
        if len(left) == len(parts):
            return None
        if any(number(part) != (0 if is_any else (1 << width(part)) - 1) for part in parts if part.is_value()):
            return self._number(int(is_any), self._manager.mk_term(kind, [whole]))
        if len(left) == 1 and width(left[0]) == 1:
            return left[0]
        return self._manager.mk_term(kind, [left[0] if len(left) == 1 else self._manager.mk_term(Kind.BV_CONCAT, left)])


def _flat(term: Term) -> list[Term]:
    """The parts of a concatenation, those of concatenations in it among them."""
    return [part for child in term.children() for part in _flat(child)] if term.kind() == Kind.BV_CONCAT else [term]
