#include "wheel/label.h"

#include <stdlib.h>

#include "core/mem.h"
#include "wheel/version.h"

static int check_project(const struct wheel_name *name, const char *declared, struct err *err)
{
	_cleanup_free_ char *project = wheel_normalise_name(declared);
	if (!str_eq(project, name->project))
		return err_set(err, ERR_INPUT, "the wheel is of %s, the recipe of %s", name->project, project);
	return 0;
}

/* Are the versions the same, their local parts aside? */
static bool same_public(const struct version *a, const struct version *b)
{
	_cleanup_version_ struct version x = { 0 }, y = { 0 };
	return !version_parse(version_public(a), &x, NULL) && !version_parse(version_public(b), &y, NULL) &&
		version_compare(&x, &y) == 0;
}

static int add_local(struct wheel_name *name, const struct version *have, const struct version *declared,
	const char *text, struct err *err)
{
	_cleanup_free_ char *label = NULL;
	if (version_local_parse(slice_of(text), &label, err))
		return -1;
	if (!same_public(have, declared))
		return err_set(err, ERR_INPUT, "the wheel's version is %s, the recipe's %s", have->text, declared->text);
	const struct version *both[] = { have, declared };
	for (int i = 0; i < 2; i++)
		if (both[i]->local.n && !slice_is(both[i]->local, label))
			return err_set(err, ERR_INPUT, "the version %s has a local part already, which is not the label %s",
				both[i]->text, label);
	struct slice public = version_public(have);
	free(name->version);
	name->version = mem_printf("%.*s+%s", (int)public.n, public.p, label);
	return 0;
}

static int add_build(struct wheel_name *name, const char *text, struct err *err)
{
	if (!wheel_build_valid(slice_of(text)))
		return err_set(err, ERR_INPUT, "\"%s\" is not a build tag: it begins with a digit and holds letters, "
			"digits, '_' and '.' (PEP 427)", text);
	if (name->build && !str_eq(name->build, text))
		return err_set(err, ERR_INPUT, "the wheel has the build tag %s already, which is not the label %s",
			name->build, text);
	free(name->build);
	name->build = mem_dup(text);
	return 0;
}

int wheel_label(struct wheel_name *name, const struct wheel_finish *spec, struct err *err)
{
	_cleanup_version_ struct version have = { 0 }, declared = { 0 };
	if (check_project(name, spec->name, err) || version_parse(slice_of(spec->version), &declared, err) ||
	    version_parse(slice_of(name->version), &have, err))
		return -1;
	if (spec->label != WHEEL_LABEL_NONE && !spec->label_text)
		return err_set(err, ERR_USAGE, "a label without text");
	if (spec->label == WHEEL_LABEL_LOCAL)
		return add_local(name, &have, &declared, spec->label_text, err);
	if (version_compare(&have, &declared) != 0)
		return err_set(err, ERR_INPUT, "the wheel's version is %s, the recipe's %s", have.text, declared.text);
	return spec->label == WHEEL_LABEL_BUILD ? add_build(name, spec->label_text, err) : 0;
}
