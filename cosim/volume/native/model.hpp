// The interface of a Verilated design for the test bench: its ports as memory, and its evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace volume {

/// A port of the top module. Verilator stores it as a little-endian integer of 1, 2, 4 or 8 bytes, or of 4-byte words if it is
/// wider; the bits above its width are zero.
struct Port {
    std::string name;
    uint8_t* data;
    int bits;
    bool is_input;

    int bytes() const { return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 64 ? 8 : (bits + 31) / 32 * 4; }
};

/// The design ended the simulation: $finish, $stop, $fatal, a failed assertion, or a loop that does not settle. The text is
/// Verilator's message with its place.
struct Ended : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Model {
  public:
    virtual ~Model() = default;
    /// Evaluate the outputs for the current inputs.
    /// @throws Ended
    virtual void eval() = 0;
    /// Run the design's `final` procedures.
    /// @throws Ended
    virtual void end() = 0;
    /// Advance simulated time by half a clock period.
    virtual void wait(int64_t ns) = 0;
    const std::vector<Port>& ports() const { return ports_; }

  protected:
    std::vector<Port> ports_;
};

/// Power up the design.
/// @param plusargs Verilator's arguments for the contents of registers at power-up.
std::unique_ptr<Model> make_model(const std::vector<std::string>& plusargs);

}  // namespace volume
