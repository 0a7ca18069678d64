"""The native engine and its C++17 library (include/, src/): golden's operations, compared with the reference."""
