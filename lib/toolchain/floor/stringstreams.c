/* Constructors of string streams without arguments, which libstdc++ has only since gcc 9 (GLIBCXX_3.4.26), by those that
 * are told the mode; of both ABIs of std::string. What derives from one calls that of a base (C2). */
enum { IN = 8, OUT = 16 }; /* std::ios_base::openmode */

#define HIDDEN(name) __asm__(name) __attribute__((visibility("hidden"), weak))
#define MADE(id, class, mode) \
	void old_##id(void *stream, int openmode) __asm__("_ZN" class "EC1ESt13_Ios_Openmode"); \
	void old_base_##id(void *stream, const void *tables, int openmode) __asm__("_ZN" class "EC2ESt13_Ios_Openmode"); \
	void forge_##id(void *stream) HIDDEN("_ZN" class "EC1Ev"); \
	void forge_base_##id(void *stream, const void *tables) HIDDEN("_ZN" class "EC2Ev"); \
	void forge_##id(void *stream) \
	{ \
		old_##id(stream, mode); \
	} \
	void forge_base_##id(void *stream, const void *tables) \
	{ \
		old_base_##id(stream, tables, mode); \
	}
#define CHARS(id, class, mode) \
	MADE(id##_c, class "IcSt11char_traitsIcESaIcE", mode) \
	MADE(id##_w, class "IwSt11char_traitsIwESaIwE", mode)

CHARS(both, "St7__cxx1118basic_stringstream", IN | OUT)
CHARS(in, "St7__cxx1119basic_istringstream", IN)
CHARS(out, "St7__cxx1119basic_ostringstream", OUT)
CHARS(old_both, "St18basic_stringstream", IN | OUT)
CHARS(old_in, "St19basic_istringstream", IN)
CHARS(old_out, "St19basic_ostringstream", OUT)
