// Compares a Verilated design with libmmau: one process, one stream of vectors, one JSON object on stdout. The design's own
// output goes to stderr. Exit status: 0 for any outcome, 2 for an invalid request.
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "bench.hpp"
#include "judge.hpp"
#include "json.hpp"
#include "model.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "rows.hpp"

namespace {

using namespace volume;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Write the outcome and exit without destructors: the model may be in the middle of an evaluation.
[[noreturn]] void leave(int out, const std::string& text, int status) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t written = write(out, text.data() + done, text.size() - done);
        if (written <= 0) std::_Exit(3);
        done += static_cast<size_t>(written);
    }
    std::_Exit(status);
}

/// The places of the operand ports in a transfer; their widths are from the model.
Record record_of(const Plan& plan, const Model& model) {
    std::vector<int> bytes;
    for (const std::string& name : plan.record) {
        for (const Port& port : model.ports()) {
            if (port.name == name) bytes.push_back(port.bytes());
        }
    }
    if (bytes.size() != plan.record.size()) throw Refused("the design has other ports than the plan");
    return {plan.record, bytes};
}

/// Measure the design alone: send the vectors of a file repeatedly at full speed, without comparison.
void run_bare(const Options& options, const Plan& plan, Model& model, const Record& record, int out) {
    std::vector<uint8_t> transfers;
    Batch batch;
    for (const std::unique_ptr<Source> source = rows_of_file(options.rows, plan, record); source->next(batch);) {
        transfers.insert(transfers.end(), batch.transfers, batch.transfers + batch.vectors * plan.transfers() * record.bytes());
    }
    const int64_t count = static_cast<int64_t>(transfers.size()) / record.bytes();
    std::vector<Port> ports;
    uint8_t* clk = nullptr;
    for (const Record::Field& field : record.fields()) {
        for (const Port& port : model.ports()) {
            if (port.name == field.port) ports.push_back(port);
        }
    }
    for (const Port& port : model.ports()) {
        if (port.name == "clk") clk = port.data;
        if (port.name == "en" || port.name == "in_valid" || port.name == "out_ready") *port.data = 1;
    }
    const Clock::time_point start = Clock::now();
    for (int64_t done = 0, at = 0; done < options.bare; ++done, at = at + 1 == count ? 0 : at + 1) {
        if (clk) *clk = 0;
        const uint8_t* transfer = transfers.data() + at * record.bytes();
        for (size_t i = 0; i < ports.size(); ++i) {
            const Record::Field& field = record.fields()[i];
            std::memcpy(ports[i].data, transfer + field.offset, static_cast<size_t>(field.bytes));
        }
        model.eval();
        if (clk) {
            *clk = 1;
            model.eval();
        }
    }
    leave(out, "{\"transfers\":" + std::to_string(options.bare) + ",\"seconds\":" + std::to_string(seconds_since(start)) + "}\n", 0);
}

void run(const Options& options, int out) {
    const Plan plan = read_plan(options.plan);
    const std::unique_ptr<Model> model = make_model(options.plusargs);
    const Record record = record_of(plan, *model);
    if (options.bare) run_bare(options, plan, *model, record, out);
    Judge judge(plan, record, options.keep);
    const Schedule schedule = read_schedule(options.schedule);
    Bench bench(*model, plan, record, judge, schedule, options.stops_at_first, options.held);
    const std::unique_ptr<Source> source =
        options.rows.empty() ? native_rows(plan, record, options.seed, options.first, options.vectors, options.base,
                                           options.selection)
                             : rows_of_file(options.rows, plan, record);
    const Clock::time_point start = Clock::now();
    std::atomic<bool> is_over{false};
    const auto finish = [&]() {
        judge.finish();
        leave(out, as_json(plan, record, bench, judge, source->left_out, seconds_since(start)), 0);
    };
    // For a design that does not return from an evaluation; no other thread changes the counts then.
    std::thread watchdog([&]() {
        uint64_t last = 0;
        for (int still = 0; still < options.standstill;) {
            std::this_thread::sleep_for(std::chrono::seconds(1));
            const uint64_t beats = bench.beats.load(std::memory_order_relaxed);
            still = beats == last ? still + 1 : 0;
            last = beats;
        }
        if (is_over.exchange(true)) return;
        bench.counts.stopped = "the simulation stood still for " + std::to_string(options.standstill) +
                               " s, as in a loop without delay";
        bench.counts.stopped_by = "standstill";
        bench.counts.waiting = bench.counts.sent - bench.counts.received;
        finish();
    });
    watchdog.detach();
    bench.run(*source);
    if (!is_over.exchange(true)) {
        std::fflush(stdout);  // what the design printed
        finish();
    }
    for (;;) pause();  // the watchdog is writing
}

}  // namespace

int main(int count, char** arguments) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // end with an interrupted parent
    std::signal(SIGPIPE, SIG_DFL);
    const int out = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    try {
        run(read_options(count, arguments), out);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
