"""The step-by-step proof that a netlist meets a specification: each value of the specification is found among the wires."""

from collections.abc import Callable

from golden import Implementation
from mmau.formal.netlist.terms import Bits
from mmau.formal.obligations.cut_netlist import CutNetlist
from mmau.formal.obligations.facts import Fact
from mmau.formal.obligations.netlist_proof import Proof
from mmau.formal.obligations.rounded_sums import RoundedSumProof
from mmau.formal.obligations.step_facts import StepFacts
from mmau.formal.specification.observer import Observer
from mmau.formal.specification.rounded_sums import RoundedSum


class ProvedSteps(StepFacts):
    """The facts of every step, those of rounded sums and of results among them.

    Args:
        proof: collects the facts. implementation: options of the datapath.
    """

    def __init__(self, proof: Proof, implementation: Implementation) -> None:
        super().__init__(proof, implementation)
        #: For the next encoded rounded sum: the netlist's code, the exact sum's code, and the fact of their equality.
        self._rounded: tuple[Bits, Bits, Fact] | None = None

    def rounded(self, name: str, summed: RoundedSum) -> Bits:
        assert self._guard is not None
        self._rounded = RoundedSumProof(self, name, summed, self._guard).prove()
        return summed.code()

    def code(self, name: str, code: Bits) -> Bits:
        # first the code of the netlist's sum, then that of the exact sum
        rounded, self._rounded, self._guard = self._rounded, None, None
        wire = self._netlist.cut(f"{name}.d")
        exact = self.terms.equal(wire, code)
        ours = exact if rounded is None else self.terms.manager.substitute_term(exact, {rounded[1].term: rounded[0].term})
        about = self._released_about([ours, self._netlist.definitions[wire.term].term])
        facts = self.proof.establish(name, [ours], unfold=[wire.term], assume=about)
        if rounded is not None:
            codes = [wire.term, rounded[0].term, rounded[1].term]
            assume = [*facts, self.proof.released(rounded[2])]
            facts = self.proof.establish(f"{name} exact", [exact], assume=assume, generalise=codes)
        self.proof.means(wire.term, code.term, facts[0])
        return wire

    def conclude(self, output: str, specified: Bits, whole: Bits) -> None:
        """Establish the result, and check that the chain is complete."""
        self._guard = None
        equal = self.terms.equal(self._netlist.outputs[output], specified)
        about = self._released_about([equal])
        (result,) = self.proof.establish(output, [equal], assume=about)
        self.proof.concluded(result, output, specified, whole)


def proved_steps(specify: Callable[[Observer], Bits], netlist: CutNetlist, implementation: Implementation) -> Proof:
    """The proof that the output d of a netlist equals its specification.

    Args:
        specify: builds the specification.

    Raises:
        IncompleteProof: the steps do not lead from the ports to d. NoTerm: a wire of a step is missing.
    """
    proof = Proof(netlist)
    whole = specify(Observer())
    steps = ProvedSteps(proof, implementation)
    steps.conclude("d", specify(steps), whole)
    return proof
