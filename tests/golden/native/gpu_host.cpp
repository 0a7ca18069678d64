// The kernels of matrix products on GPUs (mmau/gpu/), compiled for the host: every block, its threads in either order.
#include <memory>
#include <vector>

#include "mmau/gpu/ways.hpp"

namespace {

/// The plan of the call.
thread_local mmau::Plan plan_of_call;

struct Planned {
    const mmau::Plan& operator()() const { return plan_of_call; }
};

template <int way>
void each_tile(const mmau::Product<Planned>& product, bool descending) {
    using Way = mmau::Way<way>;
    const auto block = std::make_unique<mmau::Block<typename Way::Own>>();
    block->descending = descending;
    std::vector<uint64_t> words(Way::bytes(plan_of_call) / sizeof(uint64_t) + 3);
    auto* memory = reinterpret_cast<unsigned char*>(reinterpret_cast<uintptr_t>(words.data() + 1) / 16 * 16);
    for (int64_t number = 0; number < product.tiles(); ++number) {
        // what an earlier block left is nobody's: words that no quick way takes, or zeros, which every way does
        std::fill(words.begin(), words.end(), descending ? 0 : 0xA5A5A5A5A5A5A5A5u);
        plan_of_call.narrow ? Way::template compute<int64_t>(product, number, memory, *block)
                            : Way::template compute<mmau::Widest>(product, number, memory, *block);
    }
}

}  // namespace

/// D by the kernel of any operation, or by the quick one that takes the plan: -1 where none does.
extern "C" int mmau_gpu_product(const mmau_parameters* parameters, const mmau_batch* batch, int K, int descending, int quick) {
    if (const int status = mmau::check(*parameters)) return status;
    plan_of_call = mmau::make_plan(*parameters);
    const mmau::Product<Planned> product{*batch, K};
    if (!quick) {
        each_tile<mmau::general_way>(product, descending);
        return 0;
    }
    switch (mmau::way_of(plan_of_call)) {
        case mmau::quick_way: each_tile<mmau::quick_way>(product, descending); return 0;
        case mmau::group_way: each_tile<mmau::group_way>(product, descending); return 0;
        default: return -1;
    }
}
