#include "compile/option.h"

#include <string.h>

#include "core/str.h"

/* -fno-NAME or -mno-NAME of the -fNAME or -mNAME in the table? */
static bool is_negated(const char *word, const char *name)
{
	return strncmp(word, name, 2) == 0 && strncmp(word + 2, "no-", 3) == 0 && strcmp(word + 5, name + 2) == 0;
}

static bool match_nvcc(const struct option *o, const char *word, const char *next, struct option_match *m)
{
	if (word[0] != '-')
		return false;
	word += word[1] == '-' ? 2 : 1;
	size_t n = strlen(o->name);
	if (strncmp(word, o->name, n) != 0)
		return false;
	if (o->form == OPTION_NVCC_FLAG) {
		*m = (struct option_match){ o, NULL, 1 };
		return word[n] == '\0';
	}
	if (word[n] == '=') {
		*m = (struct option_match){ o, word + n + 1, 1 };
		return true;
	}
	*m = (struct option_match){ o, next, 2 };
	return word[n] == '\0' && next;
}

static bool match_one(const struct option *o, const char *word, const char *next, struct option_match *m)
{
	size_t n = strlen(o->name);
	bool begins = strncmp(word, o->name, n) == 0;
	*m = (struct option_match){ o, NULL, 1 };
	switch (o->form) {
	case OPTION_EXACT:
		return begins && word[n] == '\0';
	case OPTION_NEGATABLE:
		return (begins && word[n] == '\0') || is_negated(word, o->name);
	case OPTION_NUMBER:
		m->value = word + n;
		return begins && word[n] && word[n + strspn(word + n, "0123456789")] == '\0';
	case OPTION_JOINED:
	case OPTION_SEPARATE:
	case OPTION_EITHER:
		if (!begins)
			return false;
		if (word[n] && o->form != OPTION_SEPARATE) {
			m->value = word + n;
			return true;
		}
		m->value = next;
		m->words = 2;
		return !word[n] && next && o->form != OPTION_JOINED;
	case OPTION_NVCC_FLAG:
	case OPTION_NVCC_VALUE:
		return match_nvcc(o, word, next, m);
	}
	return false;
}

bool option_find(const struct option_table *table, char *const *argv, size_t argc, size_t at,
	struct option_match *match)
{
	const char *next = at + 1 < argc ? argv[at + 1] : NULL;
	size_t longest = 0;
	for (size_t i = 0; i < table->count; i++) {
		struct option_match m;
		size_t n = strlen(table->options[i].name);
		if (n > longest && match_one(&table->options[i], argv[at], next, &m)) {
			*match = m;
			longest = n;
		}
	}
	return longest > 0;
}
