"""The monitor: receives the results of a design, with random stalls where the protocol has out_ready."""

from collections import deque

from cosim.bench.handshake import Level, Pins, Stalls, code_of, is_high
from cosim.bench.protocol import Timing
from cosim.bench.scoreboard_interface import Board

AFTER_VALID = 8
"""Results at the beginning of each `PERIOD` for which out_ready rises only after out_valid, which must not wait for it."""

PERIOD = 512
"""Results."""


class Monitor:
    """Receives results when out_valid marks them, or `latency` edges after their operands, and checks that a stalled result
    does not change.

    Attributes:
        ready: whether a result is taken in this cycle.
        waited: cycles without a result while vectors are inside. was_ready: whether out_ready was high in one of them.
    """

    def __init__(self, pins: Pins, timing: Timing, scoreboard: Board, stalls: Stalls) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._latency = timing.latency
        self._valid = "out_valid" in timing.controls
        self._can_take = Level(pins["out_ready"], stalls.further) if "out_ready" in timing.controls else None
        self.ready = True
        self._stalled_result: int | str | None = None
        self._edges = 0
        self._due: deque[int] = deque()
        self._taken = 0
        self.waited = 0
        self.was_ready = False

    def drive(self) -> None:
        """Be ready for a result, or pause; at times be ready only for a result that waits."""
        if self._can_take is not None:
            after_valid = self._taken % PERIOD < AFTER_VALID and not self._stalls.is_at_speed
            self.ready = self._stalled_result is not None if after_valid else not self._stalls.pause()
            self._can_take.show(self.ready)

    def disturb(self) -> None:
        """Change out_ready while the design is disabled, which must not give a result."""
        if self._can_take is not None:
            self._can_take.waver()

    def sample(self, sent: bool) -> None:
        """Receive the result of the coming edge, if any.

        Args:
            sent: whether the coming edge accepts a vector.
        """
        result = self._result()
        if self._stalled_result is not None and result != self._stalled_result:
            self._scoreboard.stop("a result changed, or was withdrawn, while out_valid was high and out_ready low")
        self._stalled_result = None if self.ready else result
        is_waited_for = result is None and self._scoreboard.waiting > 0
        if result is not None and self.ready:
            self._scoreboard.receive(result)
            self._taken += 1
        self.waited = self.waited + 1 if is_waited_for else 0
        self.was_ready = is_waited_for and (self.was_ready or self.ready)
        if sent and not self._valid:
            self._due.append(self._edges + self._latency)
        self._edges += 1

    def reset(self) -> None:
        """Start again after a reset of the design."""
        self._stalled_result = None
        self._due.clear()
        self.waited = 0
        self.was_ready = False

    def _result(self) -> int | str | None:
        """The result at d, or None."""
        if self._valid:
            return code_of(self._pins["d"]) if is_high("out_valid", self._pins, self._scoreboard) else None
        if not self._due or self._due[0] != self._edges:
            return None
        self._due.popleft()
        return code_of(self._pins["d"])
