// The trace of one dot product as text.
#pragma once

#include <memory>
#include <string>

#include "mmau/dot.hpp"

namespace trace {

/// golden's trace of a row whose parameters and operands have been checked, without the line that names the model.
std::string text_of(const mmau_parameters& parameters, const mmau::Row& row, uint64_t c);

}  // namespace trace
