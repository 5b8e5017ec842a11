# pale: one non-recursive Makefile.  `make help` lists the targets.
#
#   CONFIG=release|debug|asan|cov   PREFIX=/usr/local  DESTDIR=  SETUID=1  V=1

CONFIG  ?= release
PREFIX  ?= /usr/local
DESTDIR ?=
SETUID  ?=
CC      ?= gcc
ifeq ($(origin CC),default)
CC      := gcc
endif

B := .build/$(CONFIG)

VERSION := 0.1.0

# --- flags (hardening as the OpenSSF guide, less what gcc 12 lacks) -------------------------------

WARN := -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla -Wimplicit-fallthrough \
	-Wswitch-enum -Wformat=2 $(if $(CI),-Werror)
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection=full \
	-ftrivial-auto-var-init=zero
FORTIFY := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
BASE := -std=gnu17 -g -fvisibility=hidden -I. -D_GNU_SOURCE -DPALE_VERSION='"$(VERSION)"' -MMD -MP $(WARN)
LDHARDEN := -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs

CFLAGS_release := -O2 $(HARDEN)
CFLAGS_debug   := -O0 $(HARDEN)
CFLAGS_asan    := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS_cov     := -O0 --coverage
LDFLAGS_asan   := -fsanitize=address,undefined
LDFLAGS_cov    := --coverage

PROG_CFLAGS = $(BASE) $(CFLAGS_$(CONFIG)) -fPIE $(if $(filter release,$(CONFIG)),$(FORTIFY))
PROG_LDFLAGS = -pie $(LDHARDEN) $(LDFLAGS_$(CONFIG))
# The object that is loaded into other people's programs: no sanitizer, no fortify, no builtin surprises.
SO_CFLAGS = $(BASE) -O2 $(HARDEN) -fPIC -fno-plt -U_FORTIFY_SOURCE -fno-asynchronous-unwind-tables
SO_LDFLAGS = -shared $(LDHARDEN) -Wl,-z,initfirst,-z,nodlopen,-soname,libpale.so,--gc-sections,-O1,--as-needed

LIBS_policy := -linih -ljansson -lsodium -lidn2
LIBS_helper := $(LIBS_policy) -lbsd
LIBS_tools  := $(LIBS_policy) -lbsd -lelf -lpsl

# --- sources --------------------------------------------------------------------------------------

# What the preload links: the evaluator and its kin; nothing here may allocate (tests/symbols.sh).
PURE := op buf path image eval eval_path eval_cmd eval_host argv git describe wire ring resolve resolve_walk elfkind
POLICY_SRC := $(sort $(wildcard policy/*.c)) policy/presets.S
PURE_SRC := $(PURE:%=policy/%.c)
PRELOAD_SRC := $(sort $(wildcard preload/*.c))
HELPER_SRC := $(sort $(wildcard helper/*.c))
TOOLS_SRC := $(sort $(wildcard tools/*.c))
UNIT_SRC := $(sort $(wildcard tests/unit/*.c))
VICTIM_SRC := $(sort $(wildcard tests/victims/*.c))

obj = $(patsubst %.S,$(B)/%.o,$(patsubst %.c,$(B)/%.o,$(1)))
POLICY_OBJ := $(call obj,$(POLICY_SRC))
HELPER_OBJ := $(call obj,$(HELPER_SRC))
TOOLS_OBJ := $(call obj,$(TOOLS_SRC))
UNIT_OBJ := $(call obj,$(UNIT_SRC))
SO_OBJ := $(patsubst %.c,$(B)/so/%.o,$(PURE_SRC) $(PRELOAD_SRC))
VICTIMS := $(patsubst tests/victims/%.c,$(B)/victims/%,$(VICTIM_SRC))

PROGRAMS := $(B)/pale $(B)/pale-helper $(B)/libpale.so

all: $(PROGRAMS)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(PROG_CFLAGS) -c -o $@ $<

$(B)/%.o: %.S $(wildcard policy/presets/*.ini)
	@mkdir -p $(@D)
	$(CC) -I. -c -o $@ $<

$(B)/so/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(SO_CFLAGS) -c -o $@ $<

$(B)/libpolicy.a: $(POLICY_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(B)/pale: $(TOOLS_OBJ) $(B)/libpolicy.a
	$(CC) $(PROG_LDFLAGS) -o $@ $^ $(LIBS_tools)

$(B)/helper/%.o: PROG_CFLAGS += $(if $(filter release,$(CONFIG)),-fzero-call-used-regs=used-gpr)
$(B)/pale-helper: $(HELPER_OBJ) $(B)/libpolicy.a
	$(CC) $(PROG_LDFLAGS) -o $@ $^ $(LIBS_helper)

$(B)/libpale.so: $(SO_OBJ) $(B)/exports.map
	$(CC) $(SO_CFLAGS) $(SO_LDFLAGS) -Wl,--version-script=$(B)/exports.map -o $@ $(SO_OBJ)

# The export list comes from hooks.def, so an accident cannot be exported.
$(B)/exports.map: preload/hooks.def
	@mkdir -p $(@D)
	@{ echo '{ global:'; sed -n 's/^HOOK(\([A-Za-z0-9_]*\),.*/\t\1;/p' $<; echo 'local: *; };'; } > $@

-include $(POLICY_OBJ:.o=.d) $(HELPER_OBJ:.o=.d) $(TOOLS_OBJ:.o=.d) $(UNIT_OBJ:.o=.d) $(SO_OBJ:.o=.d)

.PHONY: all
