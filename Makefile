# forge: build, test, install.  Products go to $(B); nothing is written beside the sources.
#
#   make B=/tmp/b check-unit ROOM=drv     the unit tests of one room, built elsewhere

B        ?= build
PREFIX   ?= /usr/local
DESTDIR  ?=
CC       ?= cc
# the system's own, for which Debian packages pytest
PYTHON   ?= $(firstword $(wildcard /usr/bin/python3) python3)
SAN      ?=

# The rooms in the order of their dependence (shared by the link line and tests/support/lint.py).
ROOMS    := core drv archive lua store fetch sandbox wheel lock world compile index build lint cli

# --- libraries -------------------------------------------------------------------------------
# What is linked, and what is loaded when first needed (headers only): see core/dynlib.h.
LINKED   := lua5.4 sqlite3 jansson libcrypto libdeflate libseccomp libelf zlib
LOADED   := libcurl libgit2 libarchive libzstd libsolv libsolvext
PKGS     := $(LINKED) $(LOADED)
# Goals that install what is missing first, or need nothing, start without them.
FREE_GOALS := help deps deps-test clean format quickstart check
ifneq ($(filter-out $(FREE_GOALS),$(or $(MAKECMDGOALS),all)),)
MISSING  := $(shell command -v pkg-config >/dev/null || echo pkg-config; \
	for p in $(PKGS); do pkg-config --exists $$p 2>/dev/null || echo $$p; done)
ifneq ($(MISSING),)
$(error these libraries are missing: $(strip $(MISSING)). "make deps" installs them)
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
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
ALL_CFLAGS = -std=gnu11 -g $(OPT) $(WARN) $(HARDEN) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-Isrc -I$(B)/gen $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(OPT) -pie -Wl,-z,relro -Wl,-z,now -Wl,--as-needed $(LDFLAGS)
LIBS     := $(shell pkg-config --libs $(LINKED) 2>/dev/null) -ldl

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
$(foreach r,$(ROOMS) shim,$(eval $(call room,$(r))))

# Archives up to and including room $(1), users before what they use; shim/ is a program that sees no room.
upto = $(foreach r,$(if $(filter shim,$(1)),shim,$(call reverse,$(call until,$(1),$(ROOMS)))),$(B)/lib$(r).a)
until = $(if $(2),$(firstword $(2)) $(if $(filter $(1),$(firstword $(2))),,$(call until,$(1),$(wordlist 2,99,$(2)))))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))

# SQL and other texts become C strings.
QUOTE    := sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/'
$(B)/gen/%.h: src/%
	@mkdir -p $(@D)
	@{ printf 'static const char %s_text[] =\n' $(subst .,_,$(notdir $*)); $(QUOTE) $<; echo ';'; } > $@

# The sources of the shim, by name: derivations carry them, and each world's compiler compiles them.
SHIM     := $(sort $(wildcard src/shim/*.[ch]))
$(B)/gen/shim_texts.h: $(SHIM) src/shim
	@mkdir -p $(@D)
	@{ $(foreach f,$(SHIM),printf '{ "%s",\n' $(notdir $f); $(QUOTE) $f; echo '},';) } > $@

# The tracer, loaded into compilers: built by itself, as it stands in front of the C library (src/trace/trace.h).
TRACE_CFLAGS := -std=gnu11 -O2 -fPIC -fvisibility=hidden -fno-stack-protector -fcf-protection -U_FORTIFY_SOURCE \
	-D_GNU_SOURCE -Isrc
$(B)/trace.so: $(sort $(wildcard src/trace/*.c)) $(wildcard src/trace/*.h)
	@mkdir -p $(@D)
	$(call say,link,$@)
	$(Q)$(CC) $(TRACE_CFLAGS) $(WARN) -shared -nostdlib -Wl,-z,relro,-z,now $(filter %.c,$^) -o $@
$(B)/gen/trace_bytes.h: $(B)/trace.so
	@mkdir -p $(@D)
	@od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g' > $@

$(B)/obj/%.o: src/%.c | $(B)/gen/defaults.h
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
$(B)/obj/store/db.o: $(B)/gen/store/schema.sql.h
$(B)/obj/lua/shim.o: $(B)/gen/shim_texts.h
$(B)/obj/build/compile_trace.o: $(B)/gen/trace_bytes.h

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

# Programs for functional tests, named after the room they stand on: tests/support/wheel_tool.c.
$(B)/tests/support/%: tests/support/%.c $$(call upto,$$(firstword $$(subst _, ,$$*)))
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -MMD -MP $(ALL_LDFLAGS) $< $(call upto,$(firstword $(subst _, ,$*))) $(LIBS) -o $@

# The shim as it is, but built by this machine's compiler.
$(B)/shim: $(B)/libshim.a
	$(call say,link,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -Wl,-u,main $< -o $@
$(B)/tests/unit/shim/place_test: | $(B)/shim

TOOLS    := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/support/*_tool.c))

.PHONY: unit
unit: $(UNITBIN) ## build and run the unit tests (ROOM=drv: one room's)
	@$(PYTHON) tests/support/run_unit.py $(UNITBIN)

-include $(shell find $(B) -name '*.d' -type f 2>/dev/null)

# --- what people call --------------------------------------------------------------------------
SUDO      := $(if $(filter 0,$(shell id -u)),,sudo)
DEPS      := gcc libc6-dev make pkg-config ca-certificates gpgv debian-archive-keyring \
	python3 python3-pip python3-venv \
	liblua5.4-dev libcurl4-openssl-dev libgit2-dev libarchive-dev libsqlite3-dev libjansson-dev libssl-dev \
	libdeflate-dev libzstd-dev zlib1g-dev libseccomp-dev libelf-dev libsolv-dev libsolvext-dev
DEPS_TEST := busybox-static g++-12 libcmocka-dev python3-pytest nix-bin e2fsprogs unzip curl openssl git gpg gpg-agent libasan8 libubsan1

PIPUV     := $(abspath build/tools)
export FORGE_TOOLS := $(PIPUV)

# Installs only what is missing, so that a second run needs neither network nor root.
.PHONY: deps deps-test
deps: ## install the Debian packages that building needs
	@tests/support/install.sh "$(SUDO)" $(DEPS)
deps-test: deps ## and what the tests need: packages, and pip, uv and a registry in build/tools
	@tests/support/install.sh "$(SUDO)" $(DEPS_TEST)
	@[ -x $(PIPUV)/usr/bin/docker-registry ] || tests/support/unpack_deb.sh docker-registry $(PIPUV)
	@[ -x $(PIPUV)/bin/uv ] || { $(PYTHON) -m venv $(PIPUV) && $(PIPUV)/bin/pip install -q uv; }

RECIPE   ?= recipes/causal-conv1d.lua
.PHONY: quickstart
quickstart: ## install what is missing, build forge and a real CUDA wheel, export an index
	@MAKE="$(MAKE)" PYTHON="$(PYTHON)" tests/support/quickstart.sh $(B) $(RECIPE)

.PHONY: check check-all check-unit check-functional check-asan check-compiles lint
check: deps-test ## install what the tests need and run them all
	@$(MAKE) --no-print-directory check-all
check-all: all
	@$(PYTHON) tests/support/run_all.py $(MAKE) $(B)
check-unit: unit ## the unit tests
check-functional: all $(TOOLS) ## the functional tests (TESTS=tests/functional/test_x.py: some)
	@FORGE_BUILD=$(abspath $(B)) $(PYTHON) -m pytest -q -rs $(or $(TESTS),tests/functional)
check-asan: ## unit and functional tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory B=$(B)/asan SAN=1 check-unit check-functional
check-compiles: all ## objects from the store against the compilers' own, by real packages' builds (COMPILES="pillow": some)
	@FORGE_BUILD=$(abspath $(B)) $(PYTHON) tests/compiles/check.py $(COMPILES)
lint: ## the order of the rooms, forbidden functions, the registries' hosts
	@$(PYTHON) tests/support/lint.py $(ROOMS)
bench: all $(TOOLS) ## speed and memory, as ratios against named peers (BENCH="noop builds")
	@FORGE_BUILD=$(abspath $(B)) $(PYTHON) tests/bench/bench.py $(BENCH)

.PHONY: format install
format: ## lay out the C code (clang-format, see .clang-format)
	clang-format -i $(wildcard src/*.c src/*/*.c src/*/*.h tests/unit/*/*.c)
install: all ## into $(DESTDIR)$(PREFIX): the program, the Lua library, the recipes
	install -D -m 755 $(B)/forge $(DESTDIR)$(PREFIX)/bin/forge
	@for f in $$(cd lib && find . -type f); do \
		install -D -m 644 lib/$$f $(DESTDIR)$(PREFIX)/share/forge/lib/$$f || exit 1; done
	@for f in $$(cd recipes && find . -type f); do \
		install -D -m 644 recipes/$$f $(DESTDIR)$(PREFIX)/share/forge/recipes/$$f || exit 1; done

.PHONY: clean help
clean: ## remove $(B)
	rm -rf $(B)
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20
