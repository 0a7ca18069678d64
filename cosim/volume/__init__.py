"""Co-simulation in native code: a program of the Verilated design and libmmau, without Python in the loop.

`program.build_program` compiles the program of a design, `plan.write_plan` describes the design and its reference to it, and
`program.run_program` sends vectors: those of a file (`vector_files.write_rows`), or native ones (`golden.stimulus.volume`).
`cosim.run` with mode "volume" is a whole run.
"""
