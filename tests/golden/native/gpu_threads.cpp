// A block of threads of a GPU on a host, one at a time: each runs until it comes to a barrier, and the next one then. No thread
// goes past a barrier before every thread is there; without it, the first would be through before the second begins.
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <vector>

#include "mmau.h"

struct Number {
    unsigned x;
};
Number threadIdx, blockIdx;

extern "C" void matrix_product(mmau_batch batch, int K);
extern "C" unsigned char __start_shared_memory[], __stop_shared_memory[];

namespace {

constexpr size_t stack_bytes = 128 << 10;

struct Thread {
    jmp_buf place;  // where it waits
    std::vector<unsigned char> stack;
    bool ended;
};

std::vector<Thread> threads;
jmp_buf scheduler;
const mmau_batch* batch_of_launch;
int K_of_launch;

Thread& current() { return threads[threadIdx.x]; }

void wait() {
    if (!_setjmp(current().place)) _longjmp(scheduler, 1);
}

void run() {
    for (;;) {
        wait();
        matrix_product(*batch_of_launch, K_of_launch);
        current().ended = true;
    }
}

/// A thread on a stack of its own, as far as its first wait.
__attribute__((noinline)) void start(ucontext_t& context) {
    getcontext(&context);
    context.uc_stack.ss_sp = current().stack.data();
    context.uc_stack.ss_size = stack_bytes;
    makecontext(&context, run, 0);
    if (!_setjmp(scheduler)) setcontext(&context);
}

/// A thread as far as its next wait.
__attribute__((noinline)) void resume() {
    if (!_setjmp(scheduler)) _longjmp(current().place, 1);
}

/// One block; false if some thread ended while others wait for it.
bool run_block(bool descending) {
    // what an earlier block left is nobody's; zeros are what every way takes, and differ from what a thread should have brought
    std::fill(__start_shared_memory, __stop_shared_memory, 0);
    const auto count = static_cast<unsigned>(threads.size());
    for (Thread& thread : threads) thread.ended = false;
    for (;;) {
        unsigned ended = 0;
        for (unsigned n = 0; n < count; ++n) {
            threadIdx.x = descending ? count - 1 - n : n;
            resume();
            ended += current().ended;
        }
        if (ended) return ended == count;
    }
}

}  // namespace

extern "C" void every_thread_is_here() { wait(); }

/// Every block of a launch: 0, or 1 where its threads part.
extern "C" int launch(const mmau_batch* batch, int K, int blocks, int count, int descending) {
    threads.resize(static_cast<size_t>(count));
    ucontext_t context;
    for (threadIdx.x = 0; threadIdx.x < static_cast<unsigned>(count); ++threadIdx.x) {
        current().stack.resize(stack_bytes);
        start(context);
    }
    batch_of_launch = batch, K_of_launch = K;
    for (blockIdx.x = 0; blockIdx.x < static_cast<unsigned>(blocks); ++blockIdx.x) {
        if (!run_block(descending)) return 1;
    }
    return 0;
}
