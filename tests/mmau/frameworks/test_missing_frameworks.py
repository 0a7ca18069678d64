"""A framework that is not installed is named with the extra that brings it."""

import subprocess
import sys

import pytest

EXTRAS = {
    "torch_mode": ("torch", "this needs PyTorch, which is not installed: pip install 'mmau[torch]'"),
    "triton_dot": ("triton", "triton_dot needs Triton, which is not installed: pip install 'mmau[triton]'"),
    "tinygrad_wmma": ("tinygrad", "tinygrad_wmma needs tinygrad, which is not installed: pip install 'mmau[tinygrad]'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("module", EXTRAS)
def test_missing_framework_is_named_with_its_extra(module: str) -> None:
    package, message = EXTRAS[module]
    program = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
try:
    import mmau.frameworks.{module}
except ModuleNotFoundError as error:
    print(error, error.name)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{message} {package}\n"
