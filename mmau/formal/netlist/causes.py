"""Possible causes of a difference between two circuits that differ only inside one kind of sub-module."""

from bitwuzla import Kind, Term

from mmau.formal.netlist.expressions import NoTerm
from mmau.formal.netlist.terms import Bits, Terms


class Causes:
    """The differing outputs of all instances of the sub-module.

    Behind the instance each such output is a variable, defined by its term. So the variables of a formula show which outputs
    it depends on: a wire that was replaced by the equal wire of the other circuit hides the outputs before it.

    Args:
        terms: makes terms. module: the sub-module; None if it is not known, and nothing is a cause.
    """

    def __init__(self, terms: Terms, module: str | None) -> None:
        self._terms, self._module = terms, module
        self._differs: list[Term] = []
        self._definitions: list[Term] = []
        self._depends: dict[Term, frozenset[int]] = {}

    def noted(self, module: str, name: str, first: Bits, second: Bits) -> Bits:
        """The second circuit's output of an instance, as the logic behind it sees it, if it differs from the first
        circuit's.

        Raises:
            NoTerm: an output of the sub-module has another width.
        """
        if module != self._module:
            return second
        if first.width != second.width:
            raise NoTerm(f"{name} has {first.width} bits and {second.width}")
        number, variable = len(self._differs), self._terms.free(f"cause {name}", second.width)
        self._differs.append(self._terms.differs(first, variable))
        self._definitions.append(self._terms.manager.mk_term(Kind.EQUAL, [variable.term, second.term]))
        self._depends[variable.term] = frozenset({number}) | self._before(second.term)
        return variable

    def explained(self, formula: Term) -> Term:
        """A formula about a difference behind the sub-modules, together with the definitions of its variables and the
        necessary condition that one of them differs."""
        numbers = self._before(formula)
        if not numbers:
            return formula
        any_differs = self._terms.any_of([self._differs[number] for number in sorted(numbers)])
        return self._terms.manager.mk_term(Kind.AND, [self._defined(formula), any_differs])

    def explained_output(self, module: str, name: str, formula: Term) -> Term:
        """A formula about the output of an instance, with the definitions and the condition that `explained` adds. The
        condition is left out for instances of the sub-module and for instances that may be inside one (all but those of
        the top module), because their outputs may differ by themselves."""
        if module == self._module or name.count(".") > 1:
            return self._defined(formula)
        return self.explained(formula)

    def _defined(self, formula: Term) -> Term:
        """A formula together with the definitions of its variables."""
        definitions = [self._definitions[number] for number in sorted(self._before(formula))]
        return self._terms.manager.mk_term(Kind.AND, [formula, *definitions]) if definitions else formula

    def _before(self, term: Term) -> frozenset[int]:
        """The numbers of the variables that a term depends on, through their definitions too."""
        depends, waiting = self._depends, [term]
        while waiting:
            latest = waiting[-1]
            if latest not in depends:
                children = latest.children()
                unknown = [child for child in children if child not in depends]
                if unknown:
                    waiting += unknown
                    continue
                depends[latest] = frozenset().union(*(depends[child] for child in children))
            waiting.pop()
        return depends[term]
