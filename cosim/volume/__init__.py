"""Co-simulation in native code: the Verilated design beside libmmau, without an interpreter in the loop.

`program.build_program` compiles a design into a program, `plan.write_plan` tells it what the design is and must answer, and
`program.run_program` sends vectors: those of a file (`rows.write_rows`), or native ones (`golden.stimulus.volume`). A whole
run is `cosim.run` with mode "volume".
"""
