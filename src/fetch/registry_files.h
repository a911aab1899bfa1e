/* Inside the room: reading the configuration files of pip and apt, as far as they name places. */
#ifndef FORGE_FETCH_REGISTRY_FILES_H
#define FORGE_FETCH_REGISTRY_FILES_H

#include "core/str.h"

/* index-url of pip's configuration: what pip reads later wins ($PIP_CONFIG_FILE over the virtual
 * environment's over the user's over the machine's; [install] over [global]).  *file says which.
 * NULL: none.  Both owned by the caller. */
char *registry_pip_index(char **file);

/* index-url in the text of one pip.conf, NULL if none; owned by the caller. */
char *registry_pip_text(struct slice text);

/* The Debian archives that the sources below etc (/etc/apt) name, first those of the main archive,
 * then those of security suites only.  Other archives (a suite that is no Debian release) are left out. */
void registry_apt_sources(const char *etc, struct str_list *urls);

/* One file's text: the one-line form, or deb822. */
void registry_apt_list(struct slice text, struct str_list *main, struct str_list *security);
void registry_apt_deb822(struct slice text, struct str_list *main, struct str_list *security);

/* The value of an option ("Acquire::Check-Valid-Until") in apt's configuration below etc (/etc/apt): what apt reads
 * last wins.  NULL: none.  Owned by the caller. */
char *registry_apt_conf(const char *etc, const char *option);

/* In the text of one apt.conf, which is read as far as it has the right form. */
char *registry_apt_conf_text(struct slice text, const char *option);

#endif
