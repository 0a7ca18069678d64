// Runs mutants of a Verilated design: the vectors, pauses and resets of a co-simulation, for one mutant after another.
//
// Usage: loop VECTORS FIRST LAST
//   VECTORS  what vectors.py writes: operands and expected results of every simulation of a run, and when it pauses
//   FIRST, LAST  the mutants to run; 0 is the design itself
// Prints a line for each mutant: its number, results that differ, the first vector among them or -1, and why the run
// stopped early, which no design that works does.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "ports.hpp"  // made for the design: Model, operands(), result(), and which of the controls there are

namespace {

constexpr int PATIENCE = 1000;      // cycles without a transfer after which a design is stuck
constexpr int EXTRA_CYCLES = 1000;  // after the last result: none may come any more
constexpr int RESET_CYCLES = 4;

struct Simulation {
    int32_t rand_reset, rand_seed;       // what registers hold at first
    std::vector<uint8_t> operands;       // rows of ROW_BYTES
    std::vector<uint64_t> expected;      // d
    std::vector<uint8_t> pause_in, pause_out;
    std::vector<int64_t> resets;         // first cycle of the first, then cycles from one to the next
};

struct Run {
    uint64_t nan_mask = 0, infinity = 0;  // where any NaN is as good: d without its sign; 0 where bits must be equal
    std::vector<Simulation> simulations;
};

struct Verdict {
    int64_t differ = 0, first = -1;
    std::string stopped;
};

template <typename T>
std::vector<T> array(std::ifstream& file) {
    uint64_t count = 0;
    file.read(reinterpret_cast<char*>(&count), sizeof count);
    std::vector<T> values(count);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    return values;
}

Run read_run(const char* path) {
    std::ifstream file(path, std::ios::binary);
    Run run;
    auto header = array<uint64_t>(file);  // bytes of a row, simulations, nan_mask, infinity
    if (!file || header.size() != 4 || header[0] != ROW_BYTES) {
        std::fprintf(stderr, "%s is not of this design\n", path);
        std::exit(2);
    }
    run.nan_mask = header[2];
    run.infinity = header[3];
    for (uint64_t k = 0; k < header[1]; ++k) {
        Simulation s;
        auto power_up = array<int32_t>(file);
        s.rand_reset = power_up.at(0);
        s.rand_seed = power_up.at(1);
        s.operands = array<uint8_t>(file);
        s.expected = array<uint64_t>(file);
        s.pause_in = array<uint8_t>(file);
        s.pause_out = array<uint8_t>(file);
        s.resets = array<int64_t>(file);
        run.simulations.push_back(std::move(s));
    }
    if (!file) {
        std::fprintf(stderr, "%s is cut short\n", path);
        std::exit(2);
    }
    return run;
}

bool agrees(const Run& run, uint64_t got, uint64_t expected) {
    if (got == expected) return true;
    return run.nan_mask && (got & run.nan_mask) > run.infinity && (expected & run.nan_mask) > run.infinity;
}

struct Bench {
    const Run& run;
    const Simulation& simulation;
    int64_t offset;  // vectors before this simulation
    Verdict& verdict;
    VerilatedContext context;
    std::unique_ptr<Model> model;
    std::deque<int64_t> waiting;  // vectors inside

    Bench(const Run& run, const Simulation& simulation, int64_t offset, int mutant, Verdict& verdict)
        : run(run), simulation(simulation), offset(offset), verdict(verdict) {
        context.randReset(simulation.rand_reset);
        if (simulation.rand_seed) context.randSeed(simulation.rand_seed);
        model = std::make_unique<Model>(&context);
        model->mutant = static_cast<SData>(mutant);
    }
    ~Bench() { model->final(); }

    int64_t rows() const { return static_cast<int64_t>(simulation.expected.size()); }
    const uint8_t* row(int64_t k) const { return &simulation.operands[static_cast<size_t>(k) * ROW_BYTES]; }
    void stop(const char* reason) {
        if (verdict.stopped.empty()) verdict.stopped = reason;
    }
    void compare(int64_t k, uint64_t got) {
        if (agrees(run, got, simulation.expected[static_cast<size_t>(k)])) return;
        if (verdict.first < 0) verdict.first = offset + k;
        ++verdict.differ;
    }

    void combinational() {
        for (int64_t k = 0; k < rows(); ++k) {
            operands(*model, row(k));
            model->eval();
            compare(k, result(*model));
        }
    }

#if CLOCKED
    size_t pauses_in = 0, pauses_out = 0, next_offer = 0, resets = 0;
    std::deque<int64_t> again;
    int64_t next = 0;       // vector on offer, or the next one; rows(): none is left
    int64_t fresh = 1;      // the first vector that was never on offer
    bool offering = false;
    int waited_in = 0, waited_out = 0;

    int64_t following() {
        if (!again.empty()) {
            int64_t k = again.front();
            again.pop_front();
            return k;
        }
        return fresh < rows() ? fresh++ : rows();
    }

    void edge() {
        model->clk = 0;
        model->eval();
        model->clk = 1;
        model->eval();
    }

    void reset(int edges) {
        model->clk = 0;
        model->rst = 1;
        model->eval();
        for (int k = 0; k < edges; ++k) edge();
        model->clk = 0;
        model->eval();
        model->rst = 0;
        model->eval();
    }

    void reset_in_the_middle(int64_t cycle, int64_t& next_reset) {
        std::deque<int64_t> dropped(waiting);
        if (next < rows()) dropped.push_back(next);
        dropped.insert(dropped.end(), again.begin(), again.end());
        again.swap(dropped);
        waiting.clear();
        next = following();
        offering = false;
        waited_in = waited_out = 0;
        model->in_valid = 0;
        reset(1);
        ++resets;
        next_reset = resets < simulation.resets.size() ? cycle + simulation.resets[resets] : INT64_MAX;
    }

    void clocked() {
        if (rows() == 0) return;
        int64_t next_reset = simulation.resets.empty() ? INT64_MAX : simulation.resets[0];
        reset(RESET_CYCLES);
        int extra = 0;
        bool stalled = false;
        uint64_t stalled_result = 0;
        for (int64_t cycle = 0; extra < EXTRA_CYCLES && verdict.stopped.empty(); ++cycle) {
            if (cycle >= next_reset && !waiting.empty()) {
                reset_in_the_middle(cycle, next_reset);
                stalled = false;
            }
            model->clk = 0;
            if (!offering) {
                offering = next < rows() && !simulation.pause_in.at(pauses_in++ % simulation.pause_in.size());
                model->in_valid = offering;
                if (offering) operands(*model, row(next));
            }
            bool ready = !simulation.pause_out.at(pauses_out++ % simulation.pause_out.size());
            model->out_ready = ready;
            model->eval();
            bool accepted = offering && model->in_ready;
            waited_in = offering && !accepted ? waited_in + 1 : 0;
            int64_t sent = next;
            if (accepted) {
                waiting.push_back(sent);
                offering = false;
                next = following();
            }
            bool valid = model->out_valid;
            uint64_t d = result(*model);
            if (stalled && (!valid || d != stalled_result)) stop("a waiting result changed or was withdrawn");
            stalled = valid && !ready;
            stalled_result = d;
            if (valid && ready) {
                if (waiting.empty()) {
                    stop("a result that no vector asked for");
                } else {
                    compare(waiting.front(), d);
                    waiting.pop_front();
                }
                waited_out = 0;
            } else {
                waited_out = waiting.empty() ? 0 : waited_out + 1;
            }
            model->clk = 1;
            model->eval();
            if (waited_in > PATIENCE) stop("in_ready stayed low");
            if (waited_out > PATIENCE) stop("out_valid stayed low with vectors inside");
            extra = next == rows() && waiting.empty() ? extra + 1 : 0;
        }
    }
#endif
};

Verdict judged(const Run& run, int mutant) {
    Verdict verdict;
    int64_t offset = 0;
    for (const Simulation& simulation : run.simulations) {
        Bench bench(run, simulation, offset, mutant, verdict);
#if CLOCKED
        bench.clocked();
#else
        bench.combinational();
#endif
        offset += bench.rows();
        if (!verdict.stopped.empty()) break;
    }
    return verdict;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: loop VECTORS FIRST LAST\n");
        return 2;
    }
    const Run run = read_run(argv[1]);
    for (int mutant = std::atoi(argv[2]); mutant <= std::atoi(argv[3]); ++mutant) {
        Verdict verdict = judged(run, mutant);
        std::printf("%d %lld %lld %s\n", mutant, static_cast<long long>(verdict.differ), static_cast<long long>(verdict.first),
                    verdict.stopped.c_str());
        std::fflush(stdout);
    }
    return 0;
}
