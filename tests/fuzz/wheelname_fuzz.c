/* File names of wheels and source archives: a wheel's canonical name is a name, and its own canonical form. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "wheel/name.h"
#include "wheel/tag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_canonical(const struct wheel_name *n)
{
	struct wheel_name again;
	char *file = wheel_name_format(n);
	/* Normalising can only make a name longer by the digits it writes out; past the limit it is refused. */
	if (wheel_name_parse(file, &again, NULL) == 0) {
		char *same = wheel_name_format(&again);
		if (strcmp(same, file) != 0)
			abort();
		free(same);
		wheel_name_free(&again);
	} else if (strlen(file) <= 255 && n->project[0] != '-') {
		abort();
	}
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_dup_n(data, size), *project = NULL, *version = NULL;
	struct str_list tags = STR_LIST_INIT;
	struct wheel_name n;
	if (wheel_name_parse(text, &n, NULL) == 0) {
		tag_expand(n.python, n.abi, n.platform, &tags);
		tag_agrees_with_python(n.python, n.abi, "3.13", NULL);
		tag_platform_accepted(n.platform);
		check_canonical(&n);
		wheel_name_free(&n);
	}
	sdist_name_parse(text, &project, &version, NULL);
	wheel_upload_check("fancy", "1.0", text, NULL);
	str_list_free(&tags);
	free(project);
	free(version);
	free(text);
	return 0;
}
