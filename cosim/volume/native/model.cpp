// The only file that is compiled for each design: it wraps the Verilated class as a volume::Model. ports.inc has a line
// MMAU_PORT(name, bits, is_input) for each port.
#include "model.hpp"

#include "Vmmau.h"
#include "verilated.h"

namespace volume {
namespace {

class VerilatedDesign final : public Model {
  public:
    explicit VerilatedDesign(const std::vector<std::string>& plusargs) {
        std::vector<const char*> arguments = {"design"};
        for (const std::string& argument : plusargs) arguments.push_back(argument.c_str());
        context_.commandArgs(static_cast<int>(arguments.size()), arguments.data());
        top_ = std::make_unique<Vmmau>(&context_);
#define MMAU_PORT(name, bits, is_input) ports_.push_back({#name, reinterpret_cast<uint8_t*>(&top_->name), bits, is_input});
#include "ports.inc"
#undef MMAU_PORT
    }
    void eval() override { top_->eval(); }
    void end() override { top_->final(); }
    void wait(int64_t ns) override { context_.timeInc(static_cast<uint64_t>(ns) * 1000); }

  private:
    VerilatedContext context_;
    std::unique_ptr<Vmmau> top_;
};

}  // namespace

std::unique_ptr<Model> make_model(const std::vector<std::string>& plusargs) {
    return std::make_unique<VerilatedDesign>(plusargs);
}

}  // namespace volume
