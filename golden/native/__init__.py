"""The native engine and its C++17 library (include/, src/): the same steps as golden's operations, held to the reference."""
