/* std::__throw_bad_array_new_length(): containers call it, and libstdc++ has it only since gcc 11 (GLIBCXX_3.4.29). The
 * ABI's own function throws the same since gcc 4.9. */
void __cxa_throw_bad_array_new_length(void) __attribute__((noreturn));
void forge_bad_array_length(void) __asm__("_ZSt28__throw_bad_array_new_lengthv") __attribute__((visibility("hidden"), weak, noreturn));

void forge_bad_array_length(void)
{
	__cxa_throw_bad_array_new_length();
}
