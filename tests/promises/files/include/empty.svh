// Included by nothing: its folder is named in dut.toml.
