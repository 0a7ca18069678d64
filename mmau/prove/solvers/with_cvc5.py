"""Asks the solver cvc5."""

import cvc5

from mmau.prove.solvers.answer import Answer


def solve(question: str, seconds: float) -> Answer:
    """Answer a question within a number of seconds."""
    found = cvc5.Solver()
    found.setOption("produce-models", "true")
    found.setOption("tlimit-per", str(int(1000 * seconds)))
    parser = cvc5.InputParser(found)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, question, "question")
    symbols = parser.getSymbolManager()
    command = parser.nextCommand()
    while not command.isNull():
        command.invoke(found, symbols)
        command = parser.nextCommand()
    result = found.checkSat()
    if result.isUnsat():
        return Answer("never")
    if result.isSat():
        values = {str(each): found.getValue(each) for each in symbols.getDeclaredTerms()}
        return Answer("sometimes", {name: int(value.getBitVectorValue(10)) for name, value in values.items()})
    return Answer("unknown", reason=str(result.getUnknownExplanation()))
