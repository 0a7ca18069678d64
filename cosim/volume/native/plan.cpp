#include "plan.hpp"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace volume {
namespace {

template <typename Integer = int32_t>
std::vector<Integer> integers(std::istringstream& words) {
    std::vector<Integer> found;
    for (Integer value; words >> value;) found.push_back(value);
    return found;
}

void read_parameters(mmau_parameters& parameters, std::istringstream& words) {
    static_assert(sizeof(mmau_parameters) % sizeof(int32_t) == 0);
    const std::vector<int32_t> values = integers(words);
    if (values.size() * sizeof(int32_t) != sizeof(mmau_parameters)) throw Refused("parameters of another version");
    std::memcpy(&parameters, values.data(), sizeof(mmau_parameters));
}

void read_operand(Operand& operand, std::istringstream& words) {
    size_t codes = 0;
    words >> operand.port >> operand.width >> operand.storage >> operand.is_negated >> codes;
    operand.carried = integers<uint64_t>(words);
    if (operand.carried.size() < codes) throw Refused("an operand of another version");
    const auto end = operand.carried.begin() + static_cast<int64_t>(codes);
    operand.codes.assign(operand.carried.begin(), end);
    operand.carried.erase(operand.carried.begin(), end);
}

void read_result(Product& product, std::istringstream& words) {
    int format = 0;
    words >> format >> product.nan_is_fixed;
    product.d = mmau::format_of(format);
    product.is_integer = product.d.exp_bits == 0;
}

std::string rest(std::istringstream& words) {
    std::string text;
    std::getline(words >> std::ws, text);
    return text;
}

}  // namespace

Plan read_plan(const std::string& path) {
    std::ifstream stream(path);
    if (!stream) throw Refused("the plan cannot be read: " + path);
    Plan plan;
    const auto product = [&plan]() -> Product& {
        if (plan.products.empty()) throw Refused("a plan names a product before it says what one is");
        return plan.products.back();
    };
    const std::map<std::string, std::function<void(std::istringstream&)>> keys = {
        {"library", [&](auto& words) { plan.library = rest(words); }},
        {"protocol", [&](auto& words) { words >> plan.protocol >> plan.latency >> plan.enable >> plan.reset >> plan.stages; }},
        {"results", [&](auto& words) { words >> plan.results; }},
        {"c_bits", [&](auto& words) { words >> plan.c_bits >> plan.no_c; }},
        {"distances", [&](auto& words) { plan.distances = integers<int64_t>(words); }},
        {"repeats", [&](auto& words) { plan.repeats = integers<int64_t>(words); }},
        {"compare", [&](auto& words) { words >> plan.nan >> plan.zero_sign; }},
        {"record", [&](auto& words) { for (std::string port; words >> port;) plan.record.push_back(port); }},
        {"product", [&](auto& words) { plan.products.emplace_back(); read_parameters(product().parameters, words); }},
        {"before", [&](auto& words) { read_parameters(product().before, words); }},
        {"last", [&](auto& words) { words >> product().last_K; read_parameters(product().last, words); }},
        {"select", [&](auto& words) { Input& in = product().selects.emplace_back(); words >> in.port >> in.width >> in.code; }},
        {"random", [&](auto& words) { Input& in = product().randoms.emplace_back(); words >> in.port >> in.width; }},
        {"random_bits", [&](auto& words) {
             RandomBits& random = product().random;
             int wide = 0;
             words >> random.port >> random.width >> wide >> random.half >> random.saturates >> random.negative_zero;
             random.wide = mmau::format_of(wide);
         }},
        {"echo", [&](auto& words) { Echo& echo = plan.echoes.emplace_back(); words >> echo.port >> echo.width >> echo.low >> echo.has_flags; }},
        {"flags", [&](auto& words) {
             Flags& flags = product().flags.emplace_back();
             words >> flags.port >> flags.rules;
             flags.bits = integers<int>(words);
         }},
        {"metadata", [&](auto& words) { words >> plan.metadata; plan.selections = integers<uint64_t>(words); }},
        {"mask", [&](auto& words) { words >> plan.mask; }},
        {"a", [&](auto& words) { read_operand(product().a, words); }},
        {"b", [&](auto& words) { read_operand(product().b, words); }},
        {"c", [&](auto& words) { read_operand(product().c, words); }},
        {"scale_a", [&](auto& words) { read_operand(product().scale_a, words); }},
        {"scale_b", [&](auto& words) { read_operand(product().scale_b, words); }},
        {"scales", [&](auto& words) { words >> product().scales; }},
        {"blocks", [&](auto& words) { product().blocks = integers(words); }},
        {"one_side", [&](auto& words) { OneSide& side = product().one_side; words >> side.one >> side.largest >> side.mask >> side.has_zero; }},
        {"d", [&](auto& words) { read_result(product(), words); }},
        {"tile", [&](auto& words) { words >> product().m >> product().n >> product().steps >> product().c_step >> product().rows; }},
        {"order", [&](auto& words) { product().order = integers(words); }},
        {"stimulus", [&](auto& words) { product().stimulus = integers(words); }},
        {"corners", [&](auto& words) { product().corners = rest(words); }},
    };
    for (std::string line; std::getline(stream, line);) {
        std::istringstream words(line);
        std::string key;
        words >> key;
        const auto found = keys.find(key);
        if (found == keys.end()) throw Refused(path + " is no plan of this version: key " + key);
        found->second(words);
    }
    if (plan.products.empty() || plan.record.empty() || plan.distances.empty() || plan.repeats.empty()) throw Refused(path + " is no plan of this version");
    return plan;
}

}  // namespace volume
