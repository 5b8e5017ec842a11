# pale: one non-recursive Makefile.  `make help` lists the targets.
#
#   CONFIG=release|debug|asan|tsan|cov   PREFIX=/usr/local  DESTDIR=  SETUID=1|SERVICE=1  V=1

.DEFAULT_GOAL := all
SHELL := /bin/bash

CONFIG  ?= release
PREFIX  ?= /usr/local
DESTDIR ?=
SETUID  ?=
SERVICE ?=
CC      ?= gcc
ifeq ($(origin CC),default)
CC      := gcc
endif

B := .build/$(CONFIG)
# V=1 shows the commands; otherwise one short line each.
Q := $(if $(V),,@)
note = $(if $(V),,@echo '  $(1)	$@')

VERSION := 0.1.0

# --- flags (hardening as the OpenSSF guide, less what gcc 12 lacks) -------------------------------

WARN := -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla -Wimplicit-fallthrough \
	-Wswitch-enum -Wformat=2 $(if $(CI),-Werror)
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection=full \
	-ftrivial-auto-var-init=zero
FORTIFY := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
BASE := -std=gnu17 -g -fvisibility=hidden -I. -D_GNU_SOURCE -DPALE_VERSION='"$(VERSION)"' -MMD -MP $(WARN)
# Where a time is given, for packages, the programs do not name the directory that they were built in.
BASE += $(if $(SOURCE_DATE_EPOCH),-ffile-prefix-map=$(CURDIR)=.)
LDHARDEN := -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs

CFLAGS_release := -O2 $(HARDEN)
CFLAGS_debug   := -O0 $(HARDEN)
# What nobody set is not 0 there, as it is in a release.
UNSET := -ftrivial-auto-var-init=pattern
CFLAGS_asan    := -O1 $(UNSET) -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# It knows no fences: what it makes of a seqlock it may take for a race, which would be seen.
CFLAGS_tsan    := -O1 $(UNSET) -fsanitize=thread -fno-omit-frame-pointer -Wno-tsan
CFLAGS_cov     := -O0 --coverage
LDFLAGS_asan   := -fsanitize=address,undefined
LDFLAGS_tsan   := -fsanitize=thread
LDFLAGS_cov    := --coverage

PROG_CFLAGS = $(BASE) $(CFLAGS_$(CONFIG)) -fPIE $(if $(filter release,$(CONFIG)),$(FORTIFY))
PROG_LDFLAGS = -pie $(LDHARDEN) $(LDFLAGS_$(CONFIG))
# The object that is loaded into other people's programs: no sanitizer, no fortify, no builtin surprises.
SO_CFLAGS = $(BASE) -DPALE_PRELOAD -O2 $(HARDEN) -fPIC -fno-plt -U_FORTIFY_SOURCE \
	-fasynchronous-unwind-tables -fno-delete-null-pointer-checks -Wno-nonnull-compare $(SO_DENSE)
# Its .text is paid for in every process: one unit for the linker, nothing padded, small functions not copied
# about, and a hook that ends in another hook calls ours, whoever else has a function of that name.
SO_DENSE := -flto -flto-partition=one -fno-semantic-interposition -ffunction-sections -falign-functions=1 \
	-fno-align-jumps -fno-align-loops -fno-align-labels -fno-tree-vectorize -fno-ipa-cp --param=max-inline-insns-auto=5
# Paid for at every exec: one segment for text and what is constant, our own names bound here and not looked
# up by the loader, no start files (nothing here needs their registrations).
SO_LDFLAGS = -shared $(LDHARDEN) -nostartfiles -Wl,-z,initfirst,-z,nodlopen,-z,noseparate-code,-Bsymbolic-functions \
	-Wl,-soname,libpale.so,--gc-sections,-O1,--as-needed

# Linked statically: at the start of `pale run` the loader's work for nine shared objects costs as much as
# all of pale's own (STATIC= links them shared, for distributions that have no archives).
STATIC  ?= 1
# The helper asks no name service, so it needs no loader at all; a sanitizer needs one.
HELPER_STATIC := $(if $(STATIC),$(if $(filter asan tsan cov,$(CONFIG)),,-static-pie))
LIBS_policy := -linih -ljansson -lsodium -lpsl -lidn2 $(if $(STATIC),-lunistring)
LIBS_helper := $(LIBS_policy) -lbsd $(if $(STATIC),-lmd) -lz
LIBS_tools  := $(LIBS_helper) -lmd -lelf -lncursesw -ltinfo
ifneq ($(STATIC),)
LIBS_policy := -Wl,-Bstatic $(LIBS_policy) -Wl,-Bdynamic
LIBS_helper := $(if $(HELPER_STATIC),$(LIBS_helper),-Wl,-Bstatic $(LIBS_helper) -Wl,-Bdynamic)
LIBS_tools  := -Wl,-Bstatic $(LIBS_tools) -Wl,-Bdynamic
endif

comma := ,

# --- sources --------------------------------------------------------------------------------------

# The files of a folder's rooms (tests/rooms.txt).
ROOMS := $(shell sed -E '/^\#|^circle |^\t/d; s/ *\|.*//' tests/rooms.txt)
in_rooms = $(sort $(wildcard $(patsubst %,%/*.c,$(filter $(1) $(1)/%,$(ROOMS)))))

# What the preload links: the evaluator and its kin; nothing here may allocate (tests/symbols.sh).
PURE := policy/base policy/file policy/wire policy/image policy/command policy/judge
POLICY_SRC := $(call in_rooms,policy) policy/presets/presets.S
PURE_SRC := $(filter $(PURE:%=%/%),$(POLICY_SRC))
PRELOAD_SRC := $(call in_rooms,preload)
HELPER_SRC := $(call in_rooms,helper)
REMOTE_SRC := $(wildcard tools/remote/*.c)
TOOLS_SRC := $(filter-out $(REMOTE_SRC) tools/gate/serve/%,$(call in_rooms,tools))
GATE_SRC := $(call in_rooms,tools/gate/serve)
UNIT_SRC := $(sort $(wildcard tests/unit/*.c))
VICTIM_SRC := $(sort $(wildcard tests/victims/*.c))

obj = $(patsubst %.S,$(B)/%.o,$(patsubst %.c,$(B)/%.o,$(1)))
POLICY_OBJ := $(call obj,$(POLICY_SRC))
HELPER_OBJ := $(call obj,$(HELPER_SRC))
TOOLS_OBJ := $(call obj,$(TOOLS_SRC) tools/import/templates.S tools/commands/machine/texts.S)
GATE_OBJ := $(call obj,$(GATE_SRC))
UNIT_OBJ := $(call obj,$(UNIT_SRC))
# Tools of agents are judged by the supervisor and the helper alone.
SO_OBJ := $(patsubst %.c,$(B)/so/%.o,$(filter-out policy/judge/eval_tool.c,$(PURE_SRC)) $(PRELOAD_SRC))
VICTIMS := $(patsubst tests/victims/%.c,$(B)/victims/%,$(VICTIM_SRC))

# ldns wants all of libcrypto for keys and signatures, which nobody here has: its archive without those, so that
# a call of one would be a call of nothing.
LDNS_OWN := $(if $(STATIC),$(B)/libldns.a)
LDNS_CRYPTO := BIO BN CRYPTO DSA EC ECDSA ENGINE ERR EVP HMAC MD5 OPENSSL PEM RAND RSA SHA SSL UI X509 d2i i2d i2o o2i
LIBS_dns := $(if $(STATIC),$(B)/libldns.a -Wl$(comma)-z$(comma)nodynamic-undefined-weak,-lldns)
LIBS_tools := $(LIBS_dns) $(LIBS_tools)
$(B)/libldns.a: Makefile
	@mkdir -p $(@D)
	$(call note,AR)
	$(Q)objcopy --wildcard $(LDNS_CRYPTO:%=--weaken-symbol='%_*') --weaken-symbol='MD5' --weaken-symbol='HMAC' --weaken-symbol='SHA*' \
		$$($(CC) -print-file-name=libldns.a) $@

PROGRAMS := $(B)/pale $(B)/pale-helper $(B)/pale-gate $(B)/git-remote-pale $(B)/libpale.so

# Hooks of agents that are files; they stand beside libpale.so.
HOOKS := $(B)/tool-opencode.js
$(HOOKS): $(B)/%: tools/texts/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

all: $(PROGRAMS) $(HOOKS)

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call note,CC)
	$(Q)$(CC) $(PROG_CFLAGS) -c -o $@ $<

$(B)/%.o: %.S $(wildcard policy/presets/*.ini policy/presets/agents/*.ini) policy/presets/agents.def tools/import/templates.json $(wildcard tools/texts/*) Makefile
	@mkdir -p $(@D)
	$(call note,AS)
	$(Q)$(CC) -I. -c -o $@ $<

# .text is paid for in every process.  Fast is what each judged open passes and counts in its time, small what
# any call on files passes, smallest all else.
SO_FAST := policy/base/path policy/wire/ring policy/judge/trie preload/process/clock preload/tell/log preload/judge/check_open
SO_SMALL := policy/judge/eval policy/judge/eval_path policy/base/fileop policy/file/resolve_walk \
	preload/judge/near preload/process/sys preload/judge/gate
$(SO_SMALL:%=$(B)/so/%.o): SO_CFLAGS += -Os
$(filter-out $(SO_FAST:%=$(B)/so/%.o) $(SO_SMALL:%=$(B)/so/%.o),$(SO_OBJ)): SO_CFLAGS += -Oz
$(B)/so/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call note,CC)
	$(Q)$(CC) $(SO_CFLAGS) -c -o $@ $<

$(B)/libpolicy.a: $(POLICY_OBJ)
	@rm -f $@
	$(call note,AR)
	$(Q)$(AR) rcs $@ $^

# What the sanitizers are told.
SANITIZE := $(if $(filter asan tsan,$(CONFIG)),$(B)/tests/sanitize.o)
$(B)/pale: $(SANITIZE) $(TOOLS_OBJ) $(B)/libpolicy.a | $(LDNS_OWN)
	$(call note,LD)
	$(Q)$(CC) $(PROG_LDFLAGS) -o $@ $^ $(LIBS_tools)

$(B)/helper/%.o: PROG_CFLAGS += $(if $(filter release,$(CONFIG)),-fzero-call-used-regs=used-gpr)
$(B)/pale-helper: $(SANITIZE) $(HELPER_OBJ) $(B)/libpolicy.a
	$(call note,LD)
	$(Q)$(CC) $(PROG_LDFLAGS) $(HELPER_STATIC) -o $@ $^ $(LIBS_helper)

$(B)/git-remote-pale: $(SANITIZE) $(call obj,$(REMOTE_SRC)) $(B)/libpolicy.a
	$(call note,LD)
	$(Q)$(CC) $(PROG_LDFLAGS) -o $@ $^ $(LIBS_policy)
# Of the tools, it links what it calls.
$(B)/pale-gate: $(SANITIZE) $(GATE_OBJ) $(B)/libtools.a $(B)/libpolicy.a
	$(call note,LD)
	$(Q)$(CC) $(PROG_LDFLAGS) -o $@ $^ $(LIBS_policy) -lpthread

$(B)/libpale.so: $(SO_OBJ) $(B)/exports.map
	$(call note,LD)
	$(Q)$(CC) $(SO_CFLAGS) $(SO_LDFLAGS) -Wl,--version-script=$(B)/exports.map -o $@ $(SO_OBJ)

# The export list comes from hooks.def, so an accident cannot be exported; init.c says what else.
$(B)/exports.map: preload/hooks/hooks.def Makefile
	@mkdir -p $(@D)
	@{ echo '{ global:'; sed -n 's/^HOOK(\([A-Za-z0-9_]*\),.*/\t\1;/p' $<; \
		echo '	__asan_default_options; __tsan_default_suppressions; local: *; };'; } > $@

# --- tests ----------------------------------------------------------------------------------------

STATIC_VICTIMS := carried errors execs names net plain_calls raw reader shed storm words

# Of the tools, a suite links what it calls; the dispatcher is the suite's own.
$(B)/libtools.a: $(filter-out $(B)/tools/pale.o,$(TOOLS_OBJ))
	@rm -f $@
	$(call note,AR)
	$(Q)$(AR) rcs $@ $^

# The preload without its hooks, its system calls made by tests/unit/faked.c: its other names are local, since
# they are the tools' names, too.  It takes str* and mem* from libc.
FAKED_OBJ := $(patsubst %.c,$(B)/faked/%.o,$(filter-out preload/process/string.c,$(filter preload/judge/% preload/process/% preload/tell/%,$(PRELOAD_SRC))))
FAKED_KEEPS := check_open check_path name_call process process_init session spot_done sys_anchor sys_lexical sys_near \
	sys_wander
$(FAKED_OBJ): $(B)/faked/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call note,CC)
	$(Q)$(CC) $(PROG_CFLAGS) -DRAW_FAKED -c -o $@ $<
$(B)/faked.o: $(FAKED_OBJ)
	$(call note,LD)
	$(Q)$(LD) -r -o $@ $^
	$(Q)objcopy $(FAKED_KEEPS:%=--keep-global-symbol=%) $@

$(B)/unit: $(UNIT_OBJ) $(B)/faked.o $(filter-out %/pale_gate.o,$(GATE_OBJ)) $(B)/libtools.a $(B)/libpolicy.a | $(LDNS_OWN)
	$(call note,LD)
	$(Q)$(CC) $(PROG_LDFLAGS) -o $@ $^ $(LIBS_dns) $(LIBS_policy) -lmd -lpthread $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)

# Victims are built as other people's programs are: no flags of ours.
$(B)/victims/%: tests/victims/%.c preload/hooks/hooks.def Makefile
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) -std=gnu17 -O1 -g -I. -D_GNU_SOURCE -Wall -o $@ $< -lpthread
$(B)/victims/traps: tests/victims/traps.h
$(B)/victims/errors $(B)/victims/errors-static: $(wildcard tests/victims/errors_*.h)
$(B)/victims/%-static: tests/victims/%.c Makefile
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) -std=gnu17 -O1 -g -I. -D_GNU_SOURCE -Wall -static -o $@ $<

# Escapes: the same probes once for each way of making a system call (tests/escapes/escape.h).
ESCAPE_SRC := $(addprefix tests/escapes/,escape.c reads.c writes.c removals.c attributes.c git.c denied_programs.c pales.c netprobe.c tcp.c udp.c letters.c dnsquery.c dns.c beside.c listen.c unix_sockets.c ipc.c seen.c kernel.c)
ESCAPE_DEP := $(ESCAPE_SRC) tests/escapes/escape.h tests/escapes/netprobe.h tests/escapes/dnsquery.h $(wildcard tests/escapes/probes*.def) tests/victims/rawcall.h policy/image/image.h Makefile
ESCAPE_CFLAGS := -std=gnu17 -O1 -g -I. -D_GNU_SOURCE -Wall -Wno-unused-result
ESCAPES := $(addprefix $(B)/victims/,$(addprefix escape-,libc raw dig static musl) race exec_race exec_race-static escbanned esctool pale-rings)
$(B)/victims/escape-raw: ESCAPE_HOW := -DESCAPE_RAW
$(B)/victims/escape-dig: ESCAPE_HOW := -DESCAPE_DIG
$(B)/victims/escape-static: ESCAPE_HOW := -static
$(B)/victims/escape-%: $(ESCAPE_DEP)
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) $(ESCAPE_CFLAGS) $(ESCAPE_HOW) -o $@ $(ESCAPE_SRC)
# musl has no headers of the kernel.
$(B)/victims/escape-musl: $(ESCAPE_DEP)
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)musl-gcc -static $(ESCAPE_CFLAGS) -idirafter /usr/include -idirafter /usr/include/$(shell $(CC) -print-multiarch) -o $@ $(ESCAPE_SRC)
$(B)/victims/race: tests/escapes/race.c tests/victims/rawcall.h Makefile
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) $(ESCAPE_CFLAGS) -static -o $@ $<
$(B)/victims/exec_race-static: ESCAPE_HOW := -static
$(B)/victims/exec_race $(B)/victims/exec_race-static: tests/escapes/exec_race.c Makefile
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) $(ESCAPE_CFLAGS) $(ESCAPE_HOW) -o $@ $< -lpthread
$(B)/victims/escbanned $(B)/victims/esctool: tests/escapes/banned.c Makefile
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) $(ESCAPE_CFLAGS) -o $@ $<
# A pale of which rings can be taken away, from the very objects of the other.
$(B)/victims/pale-rings: $(TOOLS_OBJ) $(B)/tests/escapes/pale_rings.o $(B)/libpolicy.a | $(LDNS_OWN)
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) $(PROG_LDFLAGS) -Wl,--wrap=landlock_restrict,--wrap=filter_build -o $@ $^ $(LIBS_tools)

# A pale of another version: the same objects, but for those that know a number (tests/upgrade/bumped.h).
BUMPED := $(addprefix $(B)/victims/bumped/,pale pale-helper libpale.so)
BUMPED_SRC := $(shell grep -lE '\<(IMAGE_NUMBERS|(RING|WIRE|START|CONTROL|PALE)_VERSION)\>' $(POLICY_SRC) $(PRELOAD_SRC) $(HELPER_SRC) $(TOOLS_SRC))
bumped = $(foreach o,$(1),$(if $(filter $(o:$(B)/$(2)%.o=%.c),$(BUMPED_SRC)),$(o:$(B)/%=$(B)/bumped/%),$(o)))
$(B)/bumped/so/%.o: %.c tests/upgrade/bumped.h Makefile
	@mkdir -p $(@D)
	$(call note,CC)
	$(Q)$(CC) $(SO_CFLAGS) -include tests/upgrade/bumped.h -c -o $@ $<
$(B)/bumped/%.o: %.c tests/upgrade/bumped.h Makefile
	@mkdir -p $(@D)
	$(call note,CC)
	$(Q)$(CC) $(PROG_CFLAGS) -include tests/upgrade/bumped.h -c -o $@ $<
$(B)/victims/bumped/pale: $(call bumped,$(TOOLS_OBJ) $(POLICY_OBJ)) | $(LDNS_OWN)
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) $(PROG_LDFLAGS) -o $@ $^ $(LIBS_tools)
$(B)/victims/bumped/pale-helper: $(call bumped,$(HELPER_OBJ) $(POLICY_OBJ))
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) $(PROG_LDFLAGS) $(HELPER_STATIC) -o $@ $^ $(LIBS_helper)
$(B)/victims/bumped/libpale.so: $(call bumped,$(SO_OBJ),so/) $(B)/exports.map
	@mkdir -p $(@D)
	$(call note,LD)
	$(Q)$(CC) $(SO_CFLAGS) $(SO_LDFLAGS) -Wl,--version-script=$(B)/exports.map -o $@ $(filter %.o,$^)

tests: all $(BUMPED) $(B)/unit $(ESCAPES) $(VICTIMS) $(patsubst %,$(B)/victims/%-static,$(filter $(STATIC_VICTIMS),$(VICTIM_SRC:tests/victims/%.c=%)))

# T="SCENARIO[/TEST] ..." runs these alone.
check: deps
	@$(MAKE) --no-print-directory -j$$(nproc) tests
	@$(if $(T),,$(MAKE) --no-print-directory -j$$(nproc) CONFIG=asan .build/asan/replay)
	@tests/run.sh $(B) $(T)
	@$(if $(T),,ABI_MAX=2 tests/run.sh $(B) $(OLDER))

# Before a commit: the units, the checks of the tree, and the main job at one level.
QUICK := checks story/first-day hooks/each approvals/answers ledger/verify fence/open
check-quick:
	@$(MAKE) --no-print-directory -j$$(nproc) tests
	@LEVELS=full tests/run.sh $(B) $(QUICK)

# What Landlock bounds on newer kernels alone, as on Debian 12's own.
OLDER := story/first-day fence/open hooks/gate hooks/agreement

try: deps-try
	@$(MAKE) --no-print-directory all
	@tests/try.sh $(B)

# Real agents from npm under the fence, offline against a scripted model (needs the npm registry once).
agents: deps
	@$(MAKE) --no-print-directory all
	@bash tests/agents/agents.sh $(B)

# Paths, links, directories, addresses and arguments flipped by a second thread: a million tries of each; the
# memory of the records, written over for ten minutes; helper, supervisor or agent killed at 300 random moments.
RACES ?= 1000000
RING_FUZZ_S ?= 600
KILLS ?= 300
race: deps
	@$(MAKE) --no-print-directory tests
	@RACES=$(RACES) RING_FUZZ_S=$(RING_FUZZ_S) LEVELS="full strict" tests/run.sh $(B) escapes/races \
		ledger/ring/fuzzed_without_rest ledger/ring/fuzzed_seldom
	@KILLS=$(KILLS) tests/run.sh $(B) ledger/killed/any_of_them_killed_at_any_moment

# Suites that others wrote, bare and inside: T="cpython/test_os bash/*" SHARD=1/4 (tests/parity/parity.sh).
parity: all
	@set -f; tests/parity/parity.sh $(B) $(T)

# Ordinary work, bare and at each level: status, output and tree must be equal.
compat: deps-compat
	@$(MAKE) --no-print-directory all
	@tests/compat/compat.sh $(B)

# Ratios to bare, then the same work beside other fences.
bench: deps-bench
	@$(MAKE) --no-print-directory tests
	@tests/bench/bench.sh $(B)
	@tests/bench/bench.sh $(B) --peers
	@tests/bench/exec.sh $(B)
	@tests/bench/network.sh $(B)
	@tests/bench/terminal_cost.sh $(B)

# Everything but the object itself under AddressSanitizer and UBSan; CK_FORK=no so that leaks are seen.
asan: deps
	@$(MAKE) --no-print-directory CONFIG=asan .build/asan/unit .build/asan/pale .build/asan/pale-helper
	CK_FORK=no .build/asan/unit

# A question's whole way, from the hook to the answer, with all programs' memory or threads watched.  First
# each program is made to do what must be found; then nothing may be.
FLOW := approvals helper/protocols
FOUND := /tmp/pale-sanitize
MUST_FIND_asan := heap-use-after-free|detected memory leaks
MUST_FIND_tsan := data race
%-flow: deps
	@$(MAKE) --no-print-directory CONFIG=$* tests
	@rm -rf $(FOUND) && mkdir -m 1777 $(FOUND) && touch $(FOUND)/prove
	@for p in pale pale-helper; do .build/$*/$$p --version >/dev/null; \
		[ "$$(cat $(FOUND)/report.* | grep -cE '(ERROR|WARNING): .*($(MUST_FIND_$*))')" = $(words $(subst |, ,$(subst $() ,,$(MUST_FIND_$*)))) ] || \
			{ cat $(FOUND)/*; echo "$* does not see what $$p does"; exit 1; }; rm -f $(FOUND)/report.*; done; rm $(FOUND)/prove
	@LEVELS=full CONFIG=$* tests/run.sh .build/$* $(FLOW)
	@! cat $(FOUND)/* 2>/dev/null | grep -E 'ERROR: |WARNING: |runtime error: ' || { cat $(FOUND)/*; exit 1; }
	@echo "$*: no findings; $$(cat $(FOUND)/* 2>/dev/null | grep -c 'LeakSanitizer has encountered') processes could not be looked at for leaks"

FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
# Beside policy/, what a target of these names is about.
FUZZ_DNS := tools/dns/query.c tools/dns/answer.c tools/dns/reply.c tools/dns/nameserver.c
# What all targets are linked with is compiled once.
FUZZ_FLAGS := -std=gnu17 -g -O1 -I. -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FUZZ_OBJ := $(patsubst %.c,.build/fuzz/o/%.o,$(filter %.c,$(POLICY_SRC)))
FUZZ_DNS_OBJ := $(FUZZ_DNS:%.c=.build/fuzz/o/%.o)
.build/fuzz/dns_%: FUZZ_MORE := $(FUZZ_DNS_OBJ) -lldns
.build/fuzz/sockaddr: FUZZ_MORE := .build/fuzz/o/tools/dns/nameserver.o
.build/fuzz/o/%.o: %.c Makefile
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -MMD -MP -c -o $@ $<
.build/fuzz/%: tests/fuzz/fuzz_%.c $(FUZZ_OBJ) $(FUZZ_DNS_OBJ) $(wildcard tests/fuzz/*.h)
	clang $(FUZZ_FLAGS) -o $@ $< $(FUZZ_OBJ) policy/presets/presets.S $(FUZZ_MORE) $(LIBS_policy)
fuzz: deps-fuzz
	@$(MAKE) --no-print-directory $(FUZZERS:%=.build/fuzz/%)
	@for f in $(FUZZERS); do mkdir -p .build/corpus/$$f; echo "fuzz $$f"; \
		.build/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
			-artifact_prefix=.build/corpus/$$f- .build/corpus/$$f $$(ls -d tests/corpus/$$f 2>/dev/null) \
			2>.build/corpus/$$f.log || { tail -30 .build/corpus/$$f.log; exit 1; }; \
		tail -1 .build/corpus/$$f.log; done

# Each target once over its corpus, which `make check` runs.
REPLAYED := $(notdir $(wildcard tests/corpus/*))
REPLAYED_OBJ := $(REPLAYED:%=.build/asan/tests/fuzz/fuzz_%.o) .build/asan/tests/fuzz/replay.o
$(REPLAYED_OBJ): .build/asan/tests/fuzz/%.o: tests/fuzz/%.c Makefile
	@mkdir -p $(@D)
	$(call note,CC)
	$(Q)$(CC) $(BASE) $(CFLAGS_asan) -Wno-missing-prototypes -DLLVMFuzzerTestOneInput=$* '-DTARGETS=$(patsubst %,X(%),$(REPLAYED))' -c -o $@ $<
.build/asan/replay: $(REPLAYED_OBJ) $(FUZZ_DNS:%.c=.build/asan/%.o) .build/asan/libpolicy.a
	$(call note,LD)
	$(Q)$(CC) $(LDFLAGS_asan) -o $@ $^ -lldns $(LIBS_policy)

# All that is too long for `make check`, at every level, and a table of it.
nightly: deps
	@tests/nightly.sh

# A Debian 12 with its own kernel, in qemu; ROWS="try landlock" of tests/vm/guest.sh alone, MIRROR=URL for packages.
vm: deps-vm
	@$(MAKE) --no-print-directory tests
	@tests/vm/vm.sh $(B) $(ROWS)

cov: deps
	@$(MAKE) --no-print-directory CONFIG=cov .build/cov/unit
	@rm -f $$(find .build/cov -name '*.gcda')
	CK_FORK=no .build/cov/unit
	@lcov -q -c -d .build/cov/policy -o .build/cov/all.info --no-external -b . 2>/dev/null
	@lcov -q -e .build/cov/all.info '*/policy/*' -o .build/cov/policy.info
	@lcov --list .build/cov/policy.info | grep -v '^\[' 

# What is reported is mended, or said at its line to be no bug and why.  A file at a time, so that one broken
# file hides no other.  _cleanup_ is the house style of helper/ and tools/, and neither cppcheck nor clang 14
# follows that attribute: leaks there are LeakSanitizer's to find.  cppcheck leaves out a file with a macro that
# it has not seen, so it is given the headers whose macros stand for statements.
CPPCHECK_SEES = /usr/include/jansson.h /usr/include/$(shell $(CC) -print-multiarch)/sys/queue.h
TIDY = printf '%s\n' $(1) | xargs -P "$$(nproc)" -I@ clang-tidy --quiet $(2) @ -- -std=gnu17 -I. -D_GNU_SOURCE \
	-DPALE_VERSION='"$(VERSION)"' 2>/dev/null
lint-code: deps-lint
	cppcheck --quiet --std=c11 --error-exitcode=1 --enable=warning,portability --inline-suppr -I. -D_GNU_SOURCE -D__x86_64__ \
		$(CPPCHECK_SEES:%=--include=%) --suppress=memleak:helper/* --suppress=memleak:tools/* policy preload helper tools
	$(call TIDY,$(filter %.c,$(POLICY_SRC)) $(PRELOAD_SRC))
	$(call TIDY,$(HELPER_SRC) $(TOOLS_SRC),--checks=-clang-analyzer-unix.Malloc)

C_FILES = $(shell git ls-files '*.c' '*.h' 2>/dev/null)
format:
	clang-format -i $(C_FILES)
format-check:
	clang-format --dry-run -Werror $(C_FILES)

# --- packages this needs (Debian) ------------------------------------------------------------------

# To build; then to try, and to test.
DEPS_BUILD := gcc libc6-dev make pkg-config libinih-dev libelf-dev libbsd-dev libsodium-dev libjansson-dev libidn2-dev \
	libunistring-dev libpsl-dev libldns-dev libncurses-dev zlib1g-dev libpam0g-dev
DEPS_TRY := $(DEPS_BUILD) git curl
DEPS := $(DEPS_TRY) check libnotify-bin mandoc python3 bubblewrap util-linux procps strace nodejs fakeroot faketime clang-format \
	musl-tools busybox-static g++ gdb valgrind libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0 libeatmydata1 \
	iproute2 dnsmasq-base nginx-light openssl wget bind9-dnsutils bind9-host netcat-openbsd openssh-client tmux less vim zsh fish \
	lighttpd lighttpd-mod-openssl openssh-server gitolite3 git-lfs
DEPS_BENCH := iproute2 dnsmasq-base proot firejail fakechroot sudo
DEPS_DEB := debhelper dpkg-dev fakeroot lintian
DEPS_FUZZ := clang libclang-rt-14-dev
DEPS_LINT := cppcheck clang-tidy clang-format
DEPS_VM := qemu-system-x86 mmdebstrap e2fsprogs
DEPS_COMPAT = $(shell sed -n 's/^# needs: //p' tests/compat/tasks/*.sh)
SUDO = $(if $(filter 0,$(shell id -u)),,sudo)
define need
	@missing=$$(dpkg-query -W -f='$${Status} $${Package}\n' $(1) 2>/dev/null | sed -n 's/^install ok installed //p' | sort -u | \
		comm -13 - <(printf '%s\n' $(1) | sort -u)); \
	[ -z "$$missing" ] || { echo "installing:" $$missing; $(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; }
endef
deps:
	$(call need,$(DEPS))
deps-build:
	$(call need,$(DEPS_BUILD))
deps-try:
	$(call need,$(DEPS_TRY))
deps-bench: deps
	$(call need,$(DEPS_BENCH))
deps-deb: deps
	$(call need,$(DEPS_DEB))
deps-dist: deps-build
	$(call need,git $(DEPS_DEB) $(if $(KEY),signify-openbsd))
deps-fuzz: deps
	$(call need,$(DEPS_FUZZ))
deps-vm: deps
	$(call need,$(DEPS_VM))
deps-compat: deps
	$(call need,$(DEPS_COMPAT))
deps-lint: deps
	$(call need,$(DEPS_LINT))

# --- install ---------------------------------------------------------------------------------------

# The manual pages, with links between them.
html: $(patsubst %,$(B)/html/%.html,$(notdir $(wildcard tools/man/*.[1-8] helper/*.[1-8])))
$(B)/html/%.html: tools/man/%
	@mkdir -p $(@D)
	$(Q)mandoc -T html -O man=%N.%S.html $< >$@
$(B)/html/%.html: helper/%
	@mkdir -p $(@D)
	$(Q)mandoc -T html -O man=%N.%S.html $< >$@

BIN := $(DESTDIR)$(PREFIX)/bin
LIB := $(DESTDIR)$(PREFIX)/lib/pale
LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/pale
MAN := $(DESTDIR)$(PREFIX)/share/man
MAN1 := $(wildcard tools/man/*.1)
MAN5 := $(wildcard tools/man/*.5 helper/*.5)
MAN7 := $(wildcard tools/man/*.7)
MAN8 := $(wildcard helper/*.8)

# Where the shells look; of these names each has another.
SHARE := $(DESTDIR)$(PREFIX)/share
COMPLETIONS := $(SHARE)/bash-completion/completions/pale $(SHARE)/fish/vendor_completions.d/pale.fish \
	$(SHARE)/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)/_pale
shell_of = $(if $(findstring /fish/,$(1)),fish,$(if $(findstring /zsh/,$(1)),zsh,bash))

# Whole or not at all: a session that runs starts programs meanwhile.
replace = install -m $(1) $(2) $(3).new && mv -f $(3).new $(3)

# An older helper may have another name somewhere (a hard link), which must not stay setuid.
install: all
	install -d $(BIN) $(LIB) $(LIBEXEC) $(MAN)/man1 $(MAN)/man5 $(MAN)/man7 $(MAN)/man8
	$(call replace,0755,$(B)/pale,$(BIN)/pale)
	$(call replace,0644,$(B)/libpale.so,$(LIB)/libpale.so)
	install -m 0644 $(HOOKS) $(LIB)
	[ ! -u $(LIBEXEC)/pale-helper ] || chmod ug-s $(LIBEXEC)/pale-helper
	$(call replace,0755,$(B)/pale-helper,$(LIBEXEC)/pale-helper)
	$(call replace,0755,$(B)/git-remote-pale,$(LIBEXEC)/git-remote-pale)
	$(call replace,0755,$(B)/pale-gate,$(LIBEXEC)/pale-gate)
	install -m 0644 $(MAN1) $(MAN)/man1
	for n in pending deny turn; do ln -sf pale-approve.1 $(MAN)/man1/pale-$$n.1; done
	ln -sf pale-grants.1 $(MAN)/man1/pale-revoke.1
	for n in review push; do ln -sf pale-changes.1 $(MAN)/man1/pale-$$n.1; done
	install -m 0644 $(MAN5) $(MAN)/man5
	install -m 0644 $(MAN7) $(MAN)/man7
	install -m 0644 $(MAN8) $(MAN)/man8
	install -d $(dir $(COMPLETIONS))
	$(foreach f,$(COMPLETIONS),$(B)/pale completion $(call shell_of,$(f)) >$(f) && chmod 0644 $(f) &&) true
	$(if $(PRIVILEGED),$(call install_system))
	$(if $(SETUID),$(if $(DESTDIR),,chown pale:pale $(LIBEXEC)/pale-helper && chmod 6755 $(LIBEXEC)/pale-helper))

# A helper of its own user, by the setuid bit (SETUID=1) or as a service (SERVICE=1).  With DESTDIR nothing is
# chowned and no user made: that is the package's business.
PRIVILEGED := $(or $(SETUID),$(SERVICE))
SYSTEM := $(if $(filter /usr /usr/local,$(PREFIX)),$(PREFIX)/lib,/etc)
UNITDIR ?= $(SYSTEM)/systemd/system
TMPFILESDIR ?= $(SYSTEM)/tmpfiles.d
UNITS := pale-helper.socket pale-helper@.service
OWNER = $(if $(DESTDIR),,-o pale -g pale)
# What lies outside of the prefix says in its first line whose it is, so that `make uninstall` of another prefix
# leaves it alone.
SYSTEM_FILES := $(UNITS:%=$(DESTDIR)$(UNITDIR)/%) $(DESTDIR)$(TMPFILESDIR)/pale.conf $(DESTDIR)/etc/pam.d/pale
OWNED := \# Installed with pale in $(PREFIX).
system_source = helper/install/$(if $(findstring /pam.d/,$(1)),pale.pam,$(notdir $(1)))
define install_system
	$(if $(DESTDIR),,getent passwd pale >/dev/null || useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin pale)
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(TMPFILESDIR) $(DESTDIR)/etc/pam.d $(DESTDIR)/etc/pale/policy.d
	install -d -m 0711 $(OWNER) $(DESTDIR)/var/lib/pale $(if $(DESTDIR),,/run/pale)
	$(foreach f,$(SYSTEM_FILES),{ echo '$(OWNED)'; sed 's|@LIBEXEC@|$(PREFIX)/libexec/pale|' $(call system_source,$(f)); } >$(f) && chmod 0644 $(f) &&) true
	[ -e $(DESTDIR)/etc/pale/policy.ini ] || install -m 0644 helper/install/policy.ini $(DESTDIR)/etc/pale/policy.ini
endef

# What sessions wrote and what the administrator wrote stays: /var/lib/pale, /etc/pale, the user.
uninstall:
	rm -f $(BIN)/pale $(LIB)/libpale.so $(HOOKS:$(B)/%=$(LIB)/%) $(addprefix $(LIBEXEC)/,pale-helper pale-gate git-remote-pale)
	rm -f $(addprefix $(MAN)/man1/pale-,pending.1 deny.1 turn.1 revoke.1 review.1 push.1)
	rm -f $(foreach n,1 5 7 8,$(addprefix $(MAN)/man$(n)/,$(notdir $(MAN$(n)))))
	rm -f $(COMPLETIONS)
	@for f in $(SYSTEM_FILES); do [ ! -e "$$f" ] || { head -1 "$$f" | grep -qxF '$(OWNED)' && rm -f "$$f"; } || \
		echo "$$f stays: it is not of the installation in $(PREFIX)"; done
	-rmdir $(LIB) $(LIBEXEC) 2>/dev/null
	@echo "left: $(DESTDIR)/etc/pale, $(DESTDIR)/var/lib/pale, the user pale, and of each user ~/.config/pale, ~/.local/state/pale and ~/.local/share/pale"

# --- the Debian package ----------------------------------------------------------------------------

# From a copy in which tools/debian stands where dpkg wants it.
DEB := .build/deb
deb: deps-deb
	@rm -rf $(DEB) && mkdir -p $(DEB)/pale
	@tar -c --exclude=./.build --exclude=./.git . | tar -x -C $(DEB)/pale
	@cp -r tools/debian $(DEB)/pale/debian
	cd $(DEB)/pale && dpkg-buildpackage --build=binary --no-sign >../build.log 2>&1 || { tail -30 ../build.log; exit 1; }
	lintian --fail-on error,warning --info $(DEB)/*.changes
	@ls -l $(DEB)/*.deb

# Installed, run as an ordinary user, removed and purged, in a root directory that is thrown away.
deb-check: deb
	@$(SUDO) tests/deb.sh $$(ls $(DEB)/pale_*.deb)

# The tarball, the packages, what they link, checksums; KEY=FILE signs these with signify(1).
DIST := .build/dist
dist: deps-dist
	@tools/release/release.sh $(DIST) $(KEY)

# Made in two directories, it is the same.
dist-check: deps-dist
	$(call need,signify-openbsd)
	@tests/dist.sh

clean:
	rm -rf .build

help:
	@echo 'make            build pale, pale-helper and libpale.so into $(B)'
	@echo 'make try        build, then show a wrapped session: allow, denial, approval, ledger'
	@echo 'make check      build and run all tests; T="SCENARIO[/TEST] ...": these alone'
	@echo 'make check-quick  what to run before a commit'
	@echo 'make html       the manual pages as HTML into $(B)/html'
	@echo 'make install    PREFIX=$(PREFIX) DESTDIR=    make uninstall'
	@echo '                SETUID=1: the helper under a user of its own by the setuid bit, SERVICE=1: by systemd'
	@echo 'make deb        the Debian package, lintian clean; make deb-check installs, runs and removes it'
	@echo 'make dist       a release in $(DIST): tarball, packages, what is linked, checksums; KEY=FILE signs it;'
	@echo '                make dist-check makes it in two directories and compares'
	@echo 'make asan       unit tests under AddressSanitizer and UBSan'
	@echo 'make asan-flow  approvals under AddressSanitizer and UBSan, make tsan-flow: under TSan'
	@echo 'make fuzz       FUZZ_SECONDS=60 each: $(FUZZERS)'
	@echo 'make cov        coverage of policy/      make lint-code   static analysis'
	@echo 'make agents     real agents from npm under the fence, offline'
	@echo 'make compat     ordinary work bare and fenced at each level must be the same'
	@echo 'make parity     suites that others wrote, bare and inside (T="cpython/test_os bash/*" SHARD=1/4)'
	@echo 'make nightly    everything that is too long for make check, and a table of it'
	@echo 'make vm         what must hold on a Debian 12 with its own kernel, in qemu (slow without KVM)'
	@echo 'make race       a million tries each to win a race against the supervisor'
	@echo 'make bench      ratios to bare execution make format      clang-format'

-include $(shell find $(B)/bumped -name '*.d' 2>/dev/null) $(FUZZ_OBJ:.o=.d) $(FUZZ_DNS_OBJ:.o=.d) $(POLICY_OBJ:.o=.d) $(HELPER_OBJ:.o=.d) $(TOOLS_OBJ:.o=.d) $(GATE_OBJ:.o=.d) $(UNIT_OBJ:.o=.d) $(SO_OBJ:.o=.d) $(FAKED_OBJ:.o=.d)

.PHONY: all tests check check-quick nightly vm html try agents race compat parity bench asan fuzz cov lint-code format format-check deps deps-build deps-try deps-bench deps-fuzz deps-vm deps-lint deps-compat deps-deb deps-dist deb deb-check dist dist-check install uninstall clean help
.DELETE_ON_ERROR:
