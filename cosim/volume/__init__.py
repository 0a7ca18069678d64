"""Co-simulation in native code: the Verilated design beside libmmau, without an interpreter in the loop.

`build_program` compiles a design into a program, `write_plan` tells it what the design is and must answer, and
`run_program` sends vectors: those of a file (`write_rows`), or native ones (`golden.stimulus.volume`). `volume_report` is a
whole run, as `mmau cosim --mode volume` shows it.
"""
