"""The monitor: receives the results of a design, with random stalls where it can make them wait."""

from collections import deque

from cosim.bench.board import Board
from cosim.bench.handshake import Level, Pins, Stalls, code_of, is_high
from cosim.bench.timing import Timing


class Monitor:
    """Receives results where out_valid marks them, or `latency` edges after their operands. It sees that a result which has
    to wait stays as it is.

    Attributes:
        ready: whether a result that is there is taken in this cycle.
        waited: cycles without a result although vectors are inside.
    """

    def __init__(self, pins: Pins, timing: Timing, scoreboard: Board, stalls: Stalls) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._latency = timing.latency
        self._valid = "out_valid" in timing.controls
        self._can_take = Level(pins["out_ready"]) if "out_ready" in timing.controls else None
        self.ready = True
        self._stalled_result: int | str | None = None
        self._edges = 0
        self._due: deque[int] = deque()
        self.waited = 0

    def drive(self) -> None:
        """Be ready for a result, or pause."""
        if self._can_take is not None:
            self.ready = not self._stalls.pause()
            self._can_take.show(self.ready)

    def sample(self, sent: bool) -> None:
        """Receive the result of the coming edge, if there is one.

        Args:
            sent: whether the coming edge accepts a vector.
        """
        result = self._result()
        if self._stalled_result is not None and result != self._stalled_result:
            self._scoreboard.stop("a result changed, or was withdrawn, while out_valid was high and out_ready low")
        self._stalled_result = None if self.ready else result
        if result is not None and self.ready:
            self._scoreboard.receive(result)
            self.waited = 0
        else:
            self.waited = self.waited + 1 if self._scoreboard.waiting else 0
        if sent and not self._valid:
            self._due.append(self._edges + self._latency)
        self._edges += 1

    def reset(self) -> None:
        """Begin again, in a reset of the design."""
        self._stalled_result = None
        self._due.clear()
        self.waited = 0

    def _result(self) -> int | str | None:
        """The result that stands at d, None where there is none."""
        if self._valid:
            return code_of(self._pins["d"]) if is_high("out_valid", self._pins, self._scoreboard) else None
        if not self._due or self._due[0] != self._edges:
            return None
        self._due.popleft()
        return code_of(self._pins["d"])
