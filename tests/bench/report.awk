# The table of `make bench`, or JSON of it, from lines of NAME LEVEL BARE VALUE STATUS [RATIO] between tabs.
#
#   awk -f report.awk -v json=1 -v levels=full,strict
#   awk -f report.awk -v beside=1 -v levels=full,strict,bwrap      a table (Markdown) of ratios alone
#
# A bound is a ratio to bare, or where `kind` says so the value itself (most, least) or what it gains.
# "-" is none: the figure is told.

function row(name, hooks, full, unit, text, kind)
{
	bound[name, "hooks"] = hooks
	bound[name, "full"] = full
	bound[name, "strict"] = "-"
	unit_of[name] = unit
	text_of[name] = text
	kind_of[name] = kind ? kind : "ratio"
}

function rows_of_calls()
{
	row("open-read-abs", 1.25, 1.50, "time", "open for reading, absolute, 6 deep")
	row("open-read-rel", 1.25, 1.50, "time", "open for reading, relative")
	row("open-write", 1.20, 1.35, "time", "open for writing")
	row("unlink-create", 1.20, 1.20, "time", "unlink and create")
	row("rename-pair", 1.20, 1.15, "time", "rename there and back")
	row("threads", 1.25, 1.50, "time", "8 threads opening at once")
	row("processes", 1.25, 1.50, "time", "200 processes opening at once")
	row("list", 1.20, "-", "time", "opendir, readdir of 30, closedir")
	row("connect", "-", 1.7, "time", "connect on loopback, close")
	row("posix_spawn", 1.25, 1.30, "time", "posix_spawn of true")
	row("posix_spawn-floor", "-", 1.20, "time", "the same, reads = floor")
	row("fork-exec", 1.25, "-", "time", "fork and exec of true")
	row("getpid", "-", 1.15, "time", "getpid: any other call")
	row("raw-open-read", "-", 9, "time", "unhooked: open for reading")
	row("raw-open-write", "-", 11, "time", "unhooked: open for writing")
	row("raw-unlink-create", "-", 7, "time", "unhooked: unlink and create")
	row("raw-connect", "-", 1.7, "time", "unhooked: connect on loopback, close")
}

function rows_of_work()
{
	row("git-status", 1.05, 1.06, "time", "git status, 4,000 files")
	row("git-clone", 1.05, 1.06, "time", "git clone, 4,000 files")
	row("make", 1.05, 1.06, "time", "make -j2, 200 C files")
	row("grep", 1.05, 1.06, "time", "grep -r, 4,000 files")
	row("find", 1.05, 1.06, "time", "find, 4,000 files")
	row("tar-x", 1.05, 1.06, "time", "tar x, 5,000 files")
	row("rm-rf", 1.05, 1.06, "time", "rm -rf, 5,000 files")
	row("python3", 1.05, 1.06, "time", "python3 start")
	row("node", 1.05, 1.06, "time", "node start")
	row("include", "-", 1.3, "time", "grep -r /usr/include")
	row("raw-include", "-", 3, "time", "unhooked: grep -r /usr/include")
	row("start", "-", "-", "time", "start of true behind it")
	row("pale-run", "-", 1e7, "time", "pale run true, on pipes", "most")
	row("pale-run-true", 1.5, "-", "time", "pale run true, against bwrap")
}

function rows_of_parts()
{
	row("calls-per-open", "-", 10, "", "supervisor: system calls a judged open", "most")
	row("opens-per-second", "-", 60000, "", "supervisor: opens a second, one core", "least")
	row("crowd", "-", 2e6, "time", "supervisor: p99 of 64 callers", "most")
	row("drain", 200000, 200000, "", "ledger: unlike records a second to the disk", "least")
	row("drain-cpu", "-", "-", "time", "ledger: CPU time of a record")
	row("gc", "-", 1e9, "time", "sweep of 1,000 stale sessions", "most")
	row("part-answer", "-", "-", "time", "of an open: the answer of a memo")
	row("part-walk", "-", "-", "time", "of an open: the walk, without a memo")
	row("part-record", "-", "-", "time", "of an open: its record")
	row("memory", 131072, 131072, "KiB", "private (dirty) memory of a process", "gain")
	row("text", 106496, 106496, "KiB", "libpale.so, .text", "most")
	row("needed", 1, 1, "", "libpale.so, NEEDED (libc alone)", "most")
	row("compile", 100, 100, "ms", "10,000 rules: compile", "most")
	row("decide-path", 2, 2, "time", "10,000 rules: decide a path")
	row("decide-command", 2, 2, "time", "10,000 rules: decide a command")
	row("decide-host", 2, 2, "time", "10,000 rules: decide a host")
}

# What a look-up may gain is in nanoseconds.
function rows_of_net()
{
	row("net-connect", "-", 1.7, "time", "connect on loopback, close")
	row("net-connect-veth", "-", 1.7, "time", "connect over a veth, close")
	row("net-raw-connect-veth", "-", 1.7, "time", "unhooked: connect over a veth, close")
	row("net-stream", "-", 1.02, "time", "1 MiB through a stream on loopback")
	row("net-stream-veth", "-", 1.02, "time", "1 MiB through a stream over a veth")
	row("net-lookup", "-", 150000, "time", "look-up by a datagram", "gain")
	row("net-raw-lookup", "-", 150000, "time", "unhooked: look-up by a datagram", "gain")
	row("net-lookup-fresh", "-", 150000, "time", "look-up on a new socket each", "gain")
	row("net-lookup-tcp", "-", 150000, "time", "look-up by a stream", "gain")
	row("net-lookup-libc", "-", 150000, "time", "getaddrinfo", "gain")
	row("net-queries", "-", 5000, "", "forwarder: queries a second, one core", "least")
	row("net-threads", "-", 2, "", "threads more with 500 connects waiting", "most")
	row("net-pending", "-", 1e8, "time", "pale pending with 500 connects waiting", "most")
}

function show(v, unit)
{
	if (unit == "time")
		return v >= 1e6 ? sprintf("%.2f ms", v / 1e6) : v >= 1e3 ? sprintf("%.2f us", v / 1e3) : sprintf("%.0f ns", v)
	return unit == "KiB" ? sprintf("%.1f KiB", v / 1024) : sprintf("%.6g%s", v, unit ? " " unit : "")
}

function show_bound(name, b)
{
	return kind_of[name] == "ratio" || b == "-" ? b : show(b, unit_of[name])
}

function is_met(name, got, b)
{
	return b == "-" || (kind_of[name] == "least" ? got >= b : got <= b)
}

function print_json(name, level, bare, value, got, b, word)
{
	printf "%s{\"row\":\"%s\",\"level\":\"%s\",\"bare\":%s,\"wrapped\":%s,\"value\":%.6g,\"bound\":%s,\"result\":\"%s\"}",
		(n > 1 ? ",\n" : "["), name, level, bare, value, got, (b == "-" ? "null" : b), word
}

# The first level with its bound, what is beside it without.
function print_row(name, level, bare, value, ratio, b, word)
{
	shown = kind_of[name] == "ratio" ? sprintf("%.2f", ratio) : ""
	if (level != first && level != "-") {
		printf "  %s %s", level, (shown != "" ? shown : show(value, unit_of[name]))
		return
	}
	printf "%s%-40s %10s %10s %6s %8s  %-6s", (n > 1 ? "\n" : ""), text_of[name],
		(bare > 0 ? show(bare, unit_of[name]) : ""), show(value, unit_of[name]), shown, show_bound(name, b), word
	fflush()
}

# A row of the table, when all of its columns are known.
function print_beside(name,   i, v)
{
	printf "| %s | %s |", text_of[name], show(bare_of[name], unit_of[name])
	for (i = 1; i <= columns; i++) {
		v = cell[name, list[i]]
		printf " %s |", v == "" ? "-" : v
	}
	print ""
	fflush()
}

BEGIN {
	FS = "\t"
	columns = split(levels, list, ",")
	first = list[1]
	rows_of_calls()
	rows_of_work()
	rows_of_parts()
	rows_of_net()
	if (beside) {
		printf "| ratio to bare | bare |"
		for (i = 1; i <= columns; i++)
			printf " %s |", list[i]
		printf "\n|---|---|"
		for (i = 1; i <= columns; i++)
			printf "---|"
		print ""
	} else if (!json)
		printf "%-40s %10s %10s %6s %8s\n", "", "bare", first, "ratio", "at most"
}

{
	name = $1; level = $2; bare = $3; value = $4; status = $5
	ratio = NF > 5 ? $6 : bare > 0 ? value / bare : 0
	if (beside && !json) {
		if (bare > 0)
			bare_of[name] = bare
		cell[name, level] = status == 0 ? sprintf(ratio < 9.995 ? "%.2f" : "%.0f", ratio) : "fails"
		if (level == list[columns])
			print_beside(name)
		next
	}
	kind = kind_of[name]
	got = kind == "ratio" ? ratio : kind == "gain" ? value - bare : value
	b = bound[name, level == "-" ? first : level]
	ok = status == 0 && is_met(name, got, b)
	word = status != 0 ? "FAILED (" status ")" : b == "-" ? "" : ok ? "ok" : "MISSED"
	n++
	bounded += b != "-"
	missed += !ok
	if (json)
		print_json(name, level, bare, value, got, b, word)
	else
		print_row(name, level, bare, value, ratio, b, word)
}

END {
	if (json)
		print "]"
	else if (!beside)
		printf "\n%d bounds, %d missed\n", bounded, missed
}
