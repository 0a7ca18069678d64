"""Right designs in VHDL of the protocols that the wrapper adapts, and what is wrong with copies of them."""

from tests.cosim.dut.sequence_designs import EACH_OPERAND, FIRST_LAST, MATRIX, OUTER_PRODUCTS, ROW_BY_ROW, STARTED, Sequence

HEAD = """library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;
package types is
  type bytes is array (natural range <>) of signed(7 downto 0);
  type words is array (natural range <>) of signed(31 downto 0);
  function dot(x, y : bytes(1 downto 0)) return signed;
end package;
package body types is
  function dot(x, y : bytes(1 downto 0)) return signed is
  begin
    return resize(x(0) * y(0), 32) + resize(x(1) * y(1), 32);
  end function;
end package body;
library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all; use work.types.all;
"""

PORTS = "clk, rst_n : in std_logic; a, b : in bytes(1 downto 0)"


def _design(ports: str, declared: str, body: str, reset: str) -> str:
    """An entity with one clocked process."""
    return f"""{HEAD}entity dut is port ({ports}); end entity;
architecture rtl of dut is
{declared}
begin
  process (clk, rst_n) begin
    if rst_n = '0' then {reset}
    elsif rising_edge(clk) then
{body}
    end if;
  end process;
end architecture;
"""


def _vhdl(text: str, of: Sequence, faults: dict[str, tuple[str, str]]) -> Sequence:
    """The protocol of a design in Verilog."""
    return Sequence(text, of.described, faults, of.unit, file="dut.vhd")


ACCUMULATOR = _vhdl(
    _design(
        f"{PORTS}; c : in signed(31 downto 0); in_valid, first, last : in std_logic; out_valid : out std_logic; "
        "d : out signed(31 downto 0)",
        "  signal v, f, l : std_logic; signal p, start, sum : signed(31 downto 0);",
        """      v <= in_valid; f <= first; l <= last; p <= dot(a, b); start <= c;
      out_valid <= v and l;
      if v = '1' then
        if f = '1' then sum <= p + start; d <= p + start; else sum <= p + sum; d <= p + sum; end if;
      end if;""",
        "v <= '0'; out_valid <= '0'; sum <= (others => '0');",
    ),
    FIRST_LAST,
    {
        "last is dropped": ("out_valid <= v and l;", "out_valid <= v and l and not f;"),
        "the accumulator is stale": ("f <= first;", "f <= first and not last;"),
        "c is that of the last transfer": ("start <= c;", "if last = '1' then start <= c; end if;"),
    },
)

START = _vhdl(
    _design(
        f"{PORTS}; c : in signed(31 downto 0); start : in std_logic; busy : out std_logic; done : out std_logic; "
        "d : out signed(31 downto 0)",
        "  signal x, y : bytes(1 downto 0); signal z : signed(31 downto 0); signal left : natural range 0 to 3;",
        """      done <= '0';
      if left = 0 then
        if start = '1' then x <= a; y <= b; z <= c; left <= 3; busy <= '1'; end if;
      else
        left <= left - 1;
        if left = 1 then d <= z + dot(x, y); done <= '1'; busy <= '0'; end if;
      end if;""",
        "left <= 0; done <= '0'; busy <= '0';",
    ),
    STARTED,
    {
        "operands are read after start": ("d <= z + dot(x, y);", "d <= z + dot(x, b);"),
        "done comes too early": ("left <= left - 1;", "left <= left - 1; if left = 2 then done <= '1'; end if;"),
    },
)

HANDSHAKES = _vhdl(
    _design(
        f"{PORTS}; c : in signed(31 downto 0); a_stb, b_stb, c_stb, z_ack : in std_logic; "
        "a_ack, b_ack, c_ack, z_stb : buffer std_logic; d : out signed(31 downto 0)",
        "  signal x, y : bytes(1 downto 0); signal z : signed(31 downto 0);",
        """      if a_stb = '1' and a_ack = '1' then x <= a; a_ack <= '0'; end if;
      if b_stb = '1' and b_ack = '1' then y <= b; b_ack <= '0'; end if;
      if c_stb = '1' and c_ack = '1' then z <= c; c_ack <= '0'; end if;
      if (a_ack or b_ack or c_ack or z_stb) = '0' then z_stb <= '1'; d <= z + dot(x, y); end if;
      if z_stb = '1' and z_ack = '1' then z_stb <= '0'; a_ack <= '1'; b_ack <= '1'; c_ack <= '1'; end if;""",
        "z_stb <= '0'; a_ack <= '1'; b_ack <= '1'; c_ack <= '1';",
    ),
    EACH_OPERAND,
    {
        "a is taken with b": ("then y <= b; b_ack", "then y <= b; x <= a; b_ack"),
        "the result does not wait for c": ("(a_ack or b_ack or c_ack or z_stb)", "(a_ack or b_ack or z_stb)"),
    },
)

TYPES = "clk, rst_n : in std_logic; a : in bytes(5 downto 0); b : in bytes(3 downto 0); c : in words(5 downto 0)"

AT_ONCE = _vhdl(
    _design(
        f"{TYPES}; in_valid : in std_logic; out_valid : out std_logic; d : out words(5 downto 0)",
        "",
        """      out_valid <= in_valid;
      for i in 0 to 2 loop
        for j in 0 to 1 loop
          d(2 * i + j) <= c(2 * i + j) + resize(a(2 * i) * b(j), 32) + resize(a(2 * i + 1) * b(2 + j), 32);
        end loop;
      end loop;""",
        "out_valid <= '0';",
    ),
    MATRIX,
    {
        "rows are swapped": ("d(2 * i + j) <= c(2 * i + j)", "d(2 * ((4 - i) mod 3) + j) <= c(2 * i + j)"),
        "b is read by columns": ("a(2 * i) * b(j)", "a(2 * i) * b(2 * j)"),
    },
)

BY_ROWS = _vhdl(
    _design(
        f"{TYPES}; in_valid, out_ready : in std_logic; in_ready, out_valid : buffer std_logic; d : out words(1 downto 0)",
        """  signal x : bytes(5 downto 0); signal y : bytes(3 downto 0); signal z : words(5 downto 0);
  signal row : natural range 0 to 2;""",
        """      if in_valid = '1' and in_ready = '1' then
        x <= a; y <= b; z <= c; in_ready <= '0'; out_valid <= '1'; row <= 0;
      elsif out_valid = '1' and out_ready = '1' then
        if row = 2 then out_valid <= '0'; in_ready <= '1'; else row <= row + 1; end if;
      end if;""",
        "in_ready <= '1'; out_valid <= '0'; row <= 0;",
    ).replace(
        "begin\n  process",
        """begin
  d(0) <= z(2 * row) + resize(x(2 * row) * y(0), 32) + resize(x(2 * row + 1) * y(1), 32);
  d(1) <= z(2 * row + 1) + resize(x(2 * row) * y(2), 32) + resize(x(2 * row + 1) * y(3), 32);
  process""",
    ),
    ROW_BY_ROW,
    {
        "the last row is missing": ("if row = 2 then", "if row >= 1 then"),
        "a row comes twice": ("else row <= row + 1;", "else row <= 2;"),
    },
)

OUTER = _vhdl(
    _design(
        f"{TYPES}; in_valid, load, last : in std_logic; out_valid : out std_logic; d : buffer words(5 downto 0)",
        "",
        """      out_valid <= in_valid and last;
      for i in 0 to 2 loop
        for j in 0 to 1 loop
          if load = '1' then d(2 * i + j) <= c(2 * i + j);
          elsif in_valid = '1' then
            d(2 * i + j) <= d(2 * i + j) + resize(a(i) * b(j), 32) + resize(a(3 + i) * b(2 + j), 32);
          end if;
        end loop;
      end loop;""",
        "out_valid <= '0'; d <= (others => (others => '0'));",
    ),
    OUTER_PRODUCTS,
    {
        "one element is not loaded": ("if load = '1' then", "if load = '1' and (i /= 2 or j /= 1 or d(5) < 0) then"),
        "operands are added in a gap": ("elsif in_valid = '1' then", "elsif in_valid = '1' or c(0)(3) = '1' then"),
    },
)

VHDL_SEQUENCES = {
    "accumulator": ACCUMULATOR,
    "start and done": START,
    "a handshake for each operand": HANDSHAKES,
    "a matrix": AT_ONCE,
    "a matrix by rows": BY_ROWS,
    "outer products": OUTER,
}
"""A design of each protocol."""
