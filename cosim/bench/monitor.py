"""The monitor: receives the results of a design with valid/ready handshake, with random stalls."""

from cosim.bench.handshake import Pins, Stalls, code_of, is_high
from cosim.bench.scoreboard import Scoreboard


class Monitor:
    """Receives results, and sees that one which has to wait stays as it is.

    Attributes:
        waited: cycles without a result although vectors are inside.
    """

    def __init__(self, pins: Pins, scoreboard: Scoreboard, stalls: Stalls) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._ready = False
        self._stalled_result: int | str | None = None
        self.waited = 0

    def drive(self) -> None:
        """Be ready for a result, or pause."""
        self._ready = not self._stalls.pause()
        self._pins["out_ready"].value = int(self._ready)

    def sample(self) -> None:
        """Receive the result of the coming edge, if there is one."""
        valid = is_high("out_valid", self._pins, self._scoreboard)
        result = code_of(self._pins["d"]) if valid else None
        if self._stalled_result is not None and result != self._stalled_result:
            self._scoreboard.stop("a result changed, or was withdrawn, while out_valid was high and out_ready low")
        self._stalled_result = None if self._ready else result
        if result is not None and self._ready:
            self._scoreboard.receive(result)
            self.waited = 0
        else:
            self.waited = self.waited + 1 if self._scoreboard.waiting else 0
