// The floating-point environment that the kernels need.
#pragma once

#include <cfenv>

namespace mmau {

/// Every kernel computes with the default floating-point environment, whatever the caller's is.
class DefaultFloatEnvironment {
  public:
    DefaultFloatEnvironment() {
        std::fegetenv(&callers_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultFloatEnvironment() { std::fesetenv(&callers_); }
    DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
    DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

  private:
    std::fenv_t callers_;
};

}  // namespace mmau
