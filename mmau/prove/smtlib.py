"""Terms as SMT-LIB 2 text; the text of a formula does not depend on the names of its variables."""

from collections.abc import Sequence

from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order, number, width

_NAMES = {
    Kind.BV_ADD: "bvadd", Kind.BV_SUB: "bvsub", Kind.BV_MUL: "bvmul", Kind.BV_NEG: "bvneg",
    Kind.BV_AND: "bvand", Kind.BV_OR: "bvor", Kind.BV_XOR: "bvxor", Kind.BV_XNOR: "bvxnor", Kind.BV_NOT: "bvnot",
    Kind.BV_SHL: "bvshl", Kind.BV_SHR: "bvlshr", Kind.BV_ASHR: "bvashr", Kind.BV_CONCAT: "concat",
    Kind.BV_ULT: "bvult", Kind.BV_ULE: "bvule", Kind.BV_UGT: "bvugt", Kind.BV_UGE: "bvuge",
    Kind.BV_SLT: "bvslt", Kind.BV_SLE: "bvsle", Kind.BV_SGT: "bvsgt", Kind.BV_SGE: "bvsge",
    Kind.EQUAL: "=", Kind.DISTINCT: "distinct", Kind.ITE: "ite",
    Kind.NOT: "not", Kind.AND: "and", Kind.OR: "or", Kind.IMPLIES: "=>",
}  # fmt: skip


def question(formula: Term) -> tuple[str, list[Term]]:
    """The script that asks whether a Boolean term can be true, and its variables, which the script calls v0, v1 ….

    Raises:
        ValueError: an operation that has no name here.
    """
    lines, names, found = ["(set-logic QF_BV)"], dict[Term, str](), list[Term]()
    for term in in_order([formula]):
        if term.is_value():
            names[term] = _constant(term)
        elif term.is_const():
            names[term] = f"v{len(found)}"
            found.append(term)
            lines.append(f"(declare-const {names[term]} {_sort(term)})")
        else:
            names[term] = f"t{len(names)}"
            lines.append(
                f"(define-fun {names[term]} () {_sort(term)} {_applied(term, [names[c] for c in term.children()])})"
            )
    lines.append(f"(assert {names[formula]})")
    return "\n".join(lines) + "\n", found


def _sort(term: Term) -> str:
    return f"(_ BitVec {width(term)})" if width(term) else "Bool"


def _constant(term: Term) -> str:
    if not width(term):
        return "true" if number(term) else "false"
    return f"(_ bv{number(term)} {width(term)})"


def _applied(term: Term, operands: Sequence[str]) -> str:
    kind, inside = term.kind(), " ".join(operands)
    below = width(term.children()[0])
    if kind == Kind.BV_EXTRACT:
        high, low = term.indices()
        return f"((_ extract {high} {low}) {inside})"
    if kind in (Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND):
        return f"((_ {'zero' if kind == Kind.BV_ZERO_EXTEND else 'sign'}_extend {term.indices()[0]}) {inside})"
    if kind == Kind.BV_REDOR:
        return f"(ite (= {inside} (_ bv0 {below})) (_ bv0 1) (_ bv1 1))"
    if kind == Kind.BV_REDAND:
        return f"(ite (= {inside} (bvnot (_ bv0 {below}))) (_ bv1 1) (_ bv0 1))"
    if kind == Kind.BV_REDXOR:
        bits = " ".join(f"((_ extract {k} {k}) {inside})" for k in range(below))
        return f"(bvxor {bits})" if below > 1 else inside
    if kind not in _NAMES:
        raise ValueError(f"{kind} has no name in SMT-LIB here")
    return f"({_NAMES[kind]} {inside})"
