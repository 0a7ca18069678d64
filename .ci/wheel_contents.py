"""Check what a wheel holds: every file of the packages that git knows, the native library, and nothing else."""

import subprocess
import sys
import zipfile

PACKAGES = ("golden", "rtl", "cosim", "hwtests", "mmau")
BUILT = {"golden/native/_mmau.so", "golden/commit.txt"}


def main(wheel: str) -> None:
    """Raise SystemExit where the wheel is not as it should be."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")}
    listed = subprocess.run(["git", "ls-files", *PACKAGES], capture_output=True, text=True, check=True).stdout.splitlines()
    expected = {*listed, *BUILT}
    problems = [f"missing: {name}" for name in sorted(expected - held)]
    problems += [f"does not belong there: {name}" for name in sorted(held - expected)]
    problems += [f"no py.typed in {package}" for package in PACKAGES if f"{package}/py.typed" not in held]
    if not any(name.startswith("golden/catalogue/") and name.endswith(".toml") for name in held):
        problems.append("no table of the catalogue")
    if problems:
        sys.exit(f"{wheel}:\n" + "\n".join(problems))
    print(f"{wheel}: {len(held)} files")


if __name__ == "__main__":
    main(sys.argv[1])
