# forge: build, test, install.  Products go to $(B); nothing is written beside the sources.
#
#   make B=/tmp/b check-unit ROOM=drv     the unit tests of one room, built elsewhere

B        ?= build
PREFIX   ?= /usr/local
DESTDIR  ?=
CC       ?= cc
PYTHON   ?= python3
SAN      ?=

# The rooms in the order of their dependence (shared by the link line and tests/support/layers.py).
ROOMS    := core drv archive lua store fetch sandbox wheel lock world index build cli

# --- libraries -------------------------------------------------------------------------------
# What is linked, and what is loaded when first needed (headers only): see core/dynlib.h.
LINKED   := lua5.4 sqlite3 jansson libcrypto libdeflate libseccomp libelf zlib
LOADED   := libcurl libarchive libzstd libsolv libsolvext
PKGS     := $(LINKED) $(LOADED)
NEEDS_LIBS := $(filter-out help deps clean format,$(or $(MAKECMDGOALS),all))
ifneq ($(NEEDS_LIBS),)
MISSING  := $(shell for p in $(PKGS); do pkg-config --exists $$p || echo $$p; done)
ifneq ($(MISSING),)
ifeq ($(filter quickstart check check-unit check-functional check-asan,$(MAKECMDGOALS)),)
$(error these libraries are missing: $(MISSING). Run "make deps", or install their -dev packages (see README.md))
endif
endif
endif

WARN     := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wformat=2 -Wvla -Wno-unused-parameter
ifneq ($(CI),)
WARN     += -Werror
endif
ifeq ($(SAN),)
OPT      := -O2 -D_FORTIFY_SOURCE=2
else
OPT      := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
HARDEN   := -fstack-protector-strong -fPIE -fcf-protection -Wl,-z,relro
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS))
ALL_CFLAGS = -std=gnu11 -g $(OPT) $(WARN) $(HARDEN) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-Isrc -I$(B)/gen $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(OPT) -pie -Wl,-z,relro -Wl,-z,now -Wl,--as-needed $(LDFLAGS)
LIBS     := $(shell pkg-config --libs $(LINKED)) -ldl

# One short line a step; V=1 shows the commands.
V        ?=
Q        := $(if $(V),,@)
say       = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))

.PHONY: all
all: $(B)/forge ## build $(B)/forge

# --- generated: the registries this machine's own clients use, as defaults (DESIGN 6) ----------
PYPI_INDEX    ?= $(shell $(PYTHON) tests/support/defaults.py pypi)
DEBIAN_MIRROR ?= $(shell $(PYTHON) tests/support/defaults.py debian)
$(B)/gen/defaults.h:
	@mkdir -p $(@D)
	@printf '#define PYPI_INDEX "%s"\n#define DEBIAN_MIRROR "%s"\n#define FORGE_DATADIR "%s"\n' \
		'$(PYPI_INDEX)' '$(DEBIAN_MIRROR)' '$(PREFIX)/share/forge' > $@

# --- objects: one archive a room ---------------------------------------------------------------
define room
$(B)/lib$(1).a: $(patsubst src/%.c,$(B)/obj/%.o,$(sort $(wildcard src/$(1)/*.c)))
	@rm -f $$@; ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room,$(r))))

# Archives up to and including room $(1), users before what they use.
upto = $(foreach r,$(call reverse,$(call until,$(1),$(ROOMS))),$(B)/lib$(r).a)
until = $(if $(2),$(firstword $(2)) $(if $(filter $(1),$(firstword $(2))),,$(call until,$(1),$(wordlist 2,99,$(2)))))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))

# SQL and other texts become C strings.
$(B)/gen/%.h: src/%
	@mkdir -p $(@D)
	@{ printf 'static const char %s_text[] =\n' $(subst .,_,$(notdir $*)); \
	   sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $<; echo ';'; } > $@

$(B)/obj/%.o: src/%.c | $(B)/gen/defaults.h
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
$(B)/obj/store/%.o: | $(B)/gen/store/schema.sql.h

$(B)/forge: $(B)/obj/main.o $(call upto,cli)
	$(call say,link,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(B)/obj/main.o $(call upto,cli) $(LIBS) -o $@

# --- tests -------------------------------------------------------------------------------------
ROOM     ?=
UNIT     := $(sort $(wildcard tests/unit/$(or $(ROOM),*)/*_test.c))
UNITBIN  := $(patsubst tests/%.c,$(B)/tests/%,$(UNIT))
FORGE_VECTORS ?= $(abspath ../shared/vectors)
export FORGE_VECTORS

.SECONDEXPANSION:
$(B)/tests/unit/%: tests/unit/%.c $$(call upto,$$(firstword $$(subst /, ,$$*)))
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -MMD -MP $(ALL_LDFLAGS) $< $(call upto,$(firstword $(subst /, ,$*))) $(LIBS) -lcmocka -o $@

.PHONY: unit
unit: $(UNITBIN) ## build and run the unit tests (ROOM=drv: one room's)
	@$(PYTHON) tests/support/run_unit.py $(UNITBIN)

-include $(shell find $(B) -name '*.d' 2>/dev/null)

.PHONY: clean help
clean: ## remove $(B)
	rm -rf $(B)
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
