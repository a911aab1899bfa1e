/* The counting of std::exception_ptr, which headers call by itself since gcc 11 (CXXABI_1.3.13), by what has always
 * counted: a copy that is made and forgotten, and a destructor. */
#define POINTER "_ZNSt15__exception_ptr13exception_ptr"
void old_copy(void *to, const void *from) __asm__(POINTER "C1ERKS0_");
void old_end(void *pointer) __asm__(POINTER "D1Ev");

#define HIDDEN(name) __asm__(POINTER name) __attribute__((visibility("hidden"), weak))
void forge_addref(void *pointer) HIDDEN("9_M_addrefEv");
void forge_release(void *pointer) HIDDEN("10_M_releaseEv");

void forge_addref(void *pointer)
{
	void *copy;
	old_copy(&copy, pointer);
}

void forge_release(void *pointer)
{
	old_end(pointer);
}
