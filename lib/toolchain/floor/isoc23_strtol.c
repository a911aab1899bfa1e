/* Since 2.38 glibc's headers put C23's functions in the place of these, which differ in that they know "0b1" to be a
 * number. */
#define NUMBER(type, name) \
	type old_##name(const char *text, char **end, int base) __asm__(#name); \
	type forge_##name(const char *text, char **end, int base) __asm__("__isoc23_" #name) __attribute__((visibility("hidden"), weak)); \
	type forge_##name(const char *text, char **end, int base) \
	{ \
		return old_##name(text, end, base); \
	}

NUMBER(long, strtol)
NUMBER(unsigned long, strtoul)
NUMBER(long long, strtoll)
NUMBER(unsigned long long, strtoull)
